//! The metrics that one thread records, without locks.

use super::builtin;
use super::checks::CheckKey;
use super::collector::Collector;
use super::kind::MetricId;
use super::merged::Merged;
use super::plan::MetricsPlan;
use super::recent::{Recent, place};
use super::samples::{Sample, SampleSender};
use super::tag_set::{TagSet, TagSets};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use torr_net::Nanos;

/// How often a recorder hands over what it has: thresholds are evaluated every 2 s, and should not be late by much.
const HAND_OVER: Nanos = 250_000_000;

/// What the samples of a request are tagged by, beside what all samples of its user carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestFacts<'f> {
    /// The method.
    pub method: &'f str,
    /// The URL.
    pub url: &'f Rc<str>,
    /// The status code of the response.
    pub status: u16,
    /// The version of HTTP.
    pub version: &'static str,
    /// Whether the status is expected, if anything is said of it.
    pub expected: Option<bool>,
}

/// A request whose samples were tagged lately.
#[derive(Debug)]
struct RecentRequest {
    base: TagSet,
    method: String,
    url: Rc<str>,
    status: u16,
    version: &'static str,
    expected: Option<bool>,
}

impl RecentRequest {
    #[inline]
    fn is(&self, base: &TagSet, facts: &RequestFacts<'_>) -> bool {
        self.base.address() == base.address()
            && (Rc::ptr_eq(&self.url, facts.url) || *self.url == **facts.url)
            && (self.status, self.expected) == (facts.status, facts.expected)
            && self.method == facts.method
            && self.version == facts.version
    }
}

/// A check that ran lately.
#[derive(Debug)]
struct RecentCheck {
    base: TagSet,
    name: String,
    group: String,
    is_tagged: bool,
}

/// The metrics that one thread records.
#[derive(Debug, Default)]
pub struct Recorder {
    collector: Collector,
    plan: Arc<MetricsPlan>,
    tag_sets: TagSets,
    pending: Merged,
    samples: Option<SampleSender>,
    requests: Recent<RecentRequest, TagSet>,
    /// The tags of checks, and their positions among the counts.
    checks: Recent<RecentCheck, (TagSet, Option<usize>)>,
    due: Nanos,
    is_off: bool,
}

impl Recorder {
    /// Returns a recorder that hands over to a collector, and sends samples to the outputs if there are any.
    #[must_use]
    pub fn new(collector: &Collector, samples: Option<SampleSender>) -> Self {
        let mut recorder = Self::default();
        recorder.plan = collector.plan().clone();
        recorder.collector = collector.clone();
        recorder.samples = samples;
        recorder
    }

    /// Returns the set of the tags of `base` and further ones. A further tag replaces one of the same name.
    pub fn tag_set(&mut self, base: &TagSet, further: &[(&str, &str)]) -> TagSet {
        self.tag_sets.of(&self.plan, base, further)
    }

    /// Returns the set of the tags of `base` and those of a request, which `further` makes of the facts if no request before was like it.
    pub fn request_tags<'t>(
        &mut self,
        base: &TagSet,
        facts: &RequestFacts<'_>,
        further: impl FnOnce() -> Vec<(&'t str, &'t str)>,
    ) -> TagSet {
        let at = place(base, facts.url);
        let is_usual = base.metadata().is_empty();
        if is_usual && let Some(tags) = self.requests.get(at, |request| request.is(base, facts)) {
            return tags.clone();
        }
        let tags = self.tag_set(base, &further());
        if is_usual {
            let RequestFacts { method, url, status, version, expected } = *facts;
            let (base, method, url) = (base.clone(), method.to_owned(), url.clone());
            let request = RecentRequest { base, method, url, status, version, expected };
            self.requests.put(at, request, tags.clone());
        }
        tags
    }

    /// Returns the time that samples get which are measured now. Only outputs show it.
    #[inline]
    pub fn now(&self) -> SystemTime {
        if self.samples.is_some() { SystemTime::now() } else { SystemTime::UNIX_EPOCH }
    }

    /// Records a value of a metric, measured now.
    #[inline]
    pub fn add(&mut self, metric: MetricId, value: f64, tags: &TagSet) {
        self.add_at(metric, value, tags, self.now());
    }

    /// Records a value of a metric with the time at which it was measured.
    #[inline]
    pub fn add_at(&mut self, metric: MetricId, value: f64, tags: &TagSet, time: SystemTime) {
        if self.is_off {
            return;
        }
        self.pending.add(&self.plan, metric, value, tags);
        if let Some(samples) = &mut self.samples {
            samples.push(Sample { metric, time, value, tags: tags.clone() });
        }
    }

    /// Records a time.
    #[inline]
    pub fn add_time(&mut self, metric: MetricId, time: Duration, tags: &TagSet) {
        self.add(metric, time.as_secs_f64() * 1_000.0, tags);
    }

    /// Records the outcome of a check in a group. The tags are those of the sample, the group's path and the scenario among them; `name`
    /// becomes one of them if it `is_tagged`.
    pub fn check(&mut self, name: &str, passed: bool, base: &TagSet, group: &str, is_tagged: bool) {
        if self.is_off {
            return;
        }
        let at = place(base, name);
        let is_usual = base.metadata().is_empty();
        let is_it = |check: &RecentCheck| {
            check.base.address() == base.address()
                && check.name == name
                && check.group == group
                && check.is_tagged == is_tagged
        };
        let known = self.checks.get(at, is_it).filter(|_| is_usual).cloned();
        let (tags, position) = known.unwrap_or_else(|| {
            let own = ("check", name);
            let tags = self.tag_set(base, if is_tagged { std::slice::from_ref(&own) } else { &[] });
            let position = self.check_position(name, &tags, group);
            if is_usual {
                let (name, group) = (name.to_owned(), group.to_owned());
                self.checks.put(
                    at,
                    RecentCheck { base: base.clone(), name, group, is_tagged },
                    (tags.clone(), position),
                );
            }
            (tags, position)
        });
        self.add(builtin::CHECKS, f64::from(u8::from(passed)), &tags);
        if let Some(position) = position {
            self.pending.checks_mut().count(position, u64::from(passed), u64::from(!passed));
        }
    }

    /// Returns the position of a check among the counts.
    fn check_position(&mut self, name: &str, tags: &TagSet, group: &str) -> Option<usize> {
        let text = |tag: &str, value: &str| match tags.shared(tag) {
            Some(shared) if **shared == *value => shared.clone(),
            _ => Arc::from(value),
        };
        let scenario = tags.shared("scenario").cloned().unwrap_or_default();
        let key = CheckKey { group: text("group", group), name: text("check", name), scenario };
        self.pending.checks_mut().position(key)
    }

    /// Records how late an iteration of an arrival rate began after it was due.
    pub fn add_send_lag(&mut self, late: Duration) {
        self.pending.add_send_lag(late.as_secs_f64() * 1_000.0);
    }

    /// Drops all further samples until the recorder is switched on: what an interrupted iteration still records.
    pub fn set_off(&mut self, is_off: bool) {
        self.is_off = is_off;
    }

    /// Hands over what was recorded, if the last time is long enough ago. Cheap enough for each turn of a loop.
    #[inline]
    pub fn tick(&mut self, now: Nanos) {
        if now >= self.due {
            self.due = now + HAND_OVER;
            self.hand_over();
        }
    }

    /// Hands over what was recorded. To be called at the end of a thread as well.
    pub fn hand_over(&mut self) {
        self.collector.merged().merge(&self.plan, &mut self.pending);
        if let Some(samples) = &mut self.samples {
            samples.flush();
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.hand_over();
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::MetricKind;
    use super::super::registry::Registry;
    use super::super::sink::Sink;
    use super::*;

    #[test]
    fn sub_metrics_are_matched_by_tags_over_threads() {
        let registry = Registry::default();
        let mine = registry.register("mine", MetricKind::Counter, false).expect("the name is new");
        let plan = MetricsPlan::new(&registry, ["mine{a:1}", "mine{a:2}", "http_reqs"], true).expect("all are metrics");
        let collector = Collector::new(Arc::new(plan));
        for thread in 0..2 {
            let mut recorder = Recorder::new(&collector, None);
            let base = recorder.tag_set(&TagSet::default(), &[("scenario", "s"), ("group", "::g")]);
            let tags = recorder.tag_set(&base, &[("a", "1")]);
            recorder.add(mine, 2.0, &tags);
            recorder.tick(1);
            recorder.add(mine, 3.0, &base);
            recorder.check("ok", thread == 0, &base, "::g", false);
            recorder.set_off(true);
            recorder.add(mine, 100.0, &tags);
        }
        let mut merged = collector.merged();
        let metric = merged.metrics().find(|metric| &*metric.info.name == "mine").expect("it has samples");
        let sum = |sink: Option<&mut Sink>| match sink {
            Some(Sink::Counter { sum, .. }) => *sum,
            other => panic!("{other:?}"),
        };
        assert_eq!(sum(metric.values(None)), 10.0);
        assert_eq!(sum(metric.values(Some("a:1"))), 4.0);
        assert_eq!(sum(metric.values(Some("a:2"))), 0.0);
        assert!(metric.values(Some("a:3")).is_none());
        let [count] = merged.checks() else { panic!("one check") };
        assert_eq!((&*count.key.group, &*count.key.scenario, count.passes, count.fails), ("::g", "s", 1, 1));
        let scoped: Vec<_> = merged.scopes().filter(|(_, id, _)| *id == mine).collect();
        assert_eq!(scoped.len(), 1);
        assert_eq!(&*scoped[0].0.group, "::g");
    }

    #[test]
    fn a_request_like_one_before_has_its_tags_and_no_other_has() {
        let mut recorder = Recorder::default();
        let base = recorder.tag_set(&TagSet::default(), &[("scenario", "s")]);
        let url: Rc<str> = "http://a.test/".into();
        let facts = RequestFacts { method: "GET", url: &url, status: 200, version: "1.1", expected: Some(true) };
        let first = recorder.request_tags(&base, &facts, || vec![("status", "200")]);
        let same_url: Rc<str> = "http://a.test/".into();
        let again = RequestFacts { url: &same_url, ..facts };
        let known = recorder.request_tags(&base, &again, || panic!("it is known"));
        assert_eq!(known.address(), first.address());
        let further_url: Rc<str> = "http://b.test/".into();
        let others = [
            RequestFacts { method: "PUT", ..facts },
            RequestFacts { url: &further_url, ..facts },
            RequestFacts { status: 201, ..facts },
            RequestFacts { version: "1.0", ..facts },
            RequestFacts { expected: None, ..facts },
        ];
        for (number, other) in others.iter().enumerate() {
            let number = number.to_string();
            let tags = recorder.request_tags(&base, other, || vec![("number", number.as_str())]);
            assert_eq!(tags.get("number"), Some(&*number), "{other:?}");
        }
        let metadata = Some(Arc::new(vec![("iter".to_owned(), "1".to_owned())]));
        let of_iteration = recorder.request_tags(&base.clone().with_metadata(metadata), &facts, || vec![("a", "1")]);
        assert_eq!((of_iteration.get("a"), of_iteration.metadata().len()), (Some("1"), 1));
    }

    #[test]
    fn checks_are_counted_by_name_and_group_and_tagged_where_that_is_wanted() {
        let (sender, receiver) = std::sync::mpsc::sync_channel(4);
        let collector = Collector::default();
        let mut recorder = Recorder::new(&collector, Some(SampleSender::new(sender)));
        let base = recorder.tag_set(&TagSet::default(), &[("group", "::g")]);
        for (name, passed, group, is_tagged) in
            [("a", true, "::g", true), ("a", false, "::g", true), ("a", true, "", true), ("b", true, "::g", false)]
        {
            recorder.check(name, passed, &base, group, is_tagged);
        }
        drop(recorder);
        let samples = receiver.recv().expect("a batch was sent");
        let names: Vec<_> = samples.iter().map(|sample| sample.tags.get("check")).collect();
        assert_eq!(names, [Some("a"), Some("a"), Some("a"), None]);
        let merged = collector.merged();
        let counts =
            merged.checks().iter().map(|count| (&*count.key.name, &*count.key.group, count.passes, count.fails));
        assert_eq!(counts.collect::<Vec<_>>(), [("a", "::g", 1, 1), ("a", "", 1, 0), ("b", "::g", 1, 0)]);
    }

    #[test]
    fn samples_reach_the_outputs_with_tags_and_metadata() {
        let collector = Collector::default();
        let (sender, receiver) = std::sync::mpsc::sync_channel(4);
        let mut recorder = Recorder::new(&collector, Some(SampleSender::new(sender)));
        let metadata = Arc::new(vec![("vu".to_owned(), "1".to_owned())]);
        let tags = recorder.tag_set(&TagSet::default(), &[("a", "1")]).with_metadata(Some(metadata));
        recorder.add(builtin::HTTP_REQS, 1.0, &tags);
        drop(recorder);
        let samples = receiver.recv().expect("a batch was sent");
        assert_eq!((samples[0].metric, samples[0].tags.metadata().len()), (builtin::HTTP_REQS, 1));
        assert!(samples[0].time > SystemTime::UNIX_EPOCH);
        assert!(receiver.recv().is_err());
    }
}
