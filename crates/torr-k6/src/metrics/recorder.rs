//! The metrics that one thread records, without locks.

use super::builtin;
use super::checks::CheckKey;
use super::collector::Collector;
use super::kind::MetricId;
use super::merged::Merged;
use super::plan::MetricsPlan;
use super::samples::{Sample, SampleSender};
use super::tag_set::{TagSet, TagSets};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use torr_net::Nanos;

/// How often a recorder hands over what it has: thresholds are evaluated every 2 s, and should not be late by much.
const HAND_OVER: Nanos = 250_000_000;

/// The metrics that one thread records.
#[derive(Debug, Default)]
pub struct Recorder {
    collector: Collector,
    plan: Arc<MetricsPlan>,
    tag_sets: TagSets,
    pending: Merged,
    samples: Option<SampleSender>,
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

    /// Records a value of a metric, measured now.
    #[inline]
    pub fn add(&mut self, metric: MetricId, value: f64, tags: &TagSet) {
        let now = if self.samples.is_some() { SystemTime::now() } else { SystemTime::UNIX_EPOCH };
        self.add_at(metric, value, tags, now);
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

    /// Records the outcome of a check. The tags are those of the sample, the group's path and the scenario among them.
    pub fn check(&mut self, name: &str, passed: bool, tags: &TagSet, group: &str) {
        if self.is_off {
            return;
        }
        self.add(builtin::CHECKS, f64::from(u8::from(passed)), tags);
        let text = |tag: &str, value: &str| match tags.shared(tag) {
            Some(shared) if **shared == *value => shared.clone(),
            _ => Arc::from(value),
        };
        let scenario = tags.shared("scenario").cloned().unwrap_or_default();
        let key = CheckKey { group: text("group", group), name: text("check", name), scenario };
        self.pending.checks_mut().count(key, u64::from(passed), u64::from(!passed));
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
            recorder.check("ok", thread == 0, &base, "::g");
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
