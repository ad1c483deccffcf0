//! Rules that end a run early, such as `errors>5% for 10s`: judged each interval, as those of alerts are.

use super::figure::{Figure, time};
use super::{Metric, MisplacedRuleError, Scope, ThresholdRule};
use crate::collector::Progress;
use crate::result::Threshold;
use crate::sessions::EntryName;
use std::time::Duration;

/// A rule that ends a run once it has held in each interval for a time.
#[derive(Debug, Clone, PartialEq)]
pub struct AbortRule {
    rule: ThresholdRule,
    window: Duration,
}

impl AbortRule {
    /// Returns a rule that has to hold for so long; one interval is enough where that is zero.
    ///
    /// # Errors
    /// If no single interval has the rule's figure.
    pub fn new(rule: ThresholdRule, window: Duration) -> Result<Self, String> {
        let is_known = match (&rule.scope, rule.metric) {
            (Scope::Run, Metric::Rps | Metric::Errors) => true,
            (Scope::Run | Scope::Gaps, metric) => metric.is_time(),
            _ => false,
        };
        match is_known {
            true => Ok(Self { rule, window }),
            false => Err(format!(
                "'{}' cannot end a run: use rps, errors, min, mean, stddev, max, p50 to p99.99, or for streams gap_max and \
                 gap_p50 to gap_p99.99",
                rule.text
            )),
        }
    }

    /// Checks that the rule fits a run, as [`ThresholdRule::check`] does.
    ///
    /// # Errors
    /// [`MisplacedRuleError`].
    pub fn check(&self, entries: &[EntryName], has_streams: bool) -> Result<(), MisplacedRuleError> {
        if has_streams && self.rule.scope == Scope::Run && self.rule.metric.is_time() {
            return Err(MisplacedRuleError::WholeStreams(self.rule.text.clone()));
        }
        self.rule.check(entries, has_streams)
    }
}

/// Returns a rule as it was given.
fn text(rule: &ThresholdRule, window: Duration) -> String {
    match window.is_zero() {
        true => rule.text.clone(),
        false => format!("{} for {window:?}", rule.text),
    }
}

/// The rules of a run that may end it, and how long each of them has held.
#[derive(Debug, Default)]
pub struct AbortWatch {
    rules: Vec<(AbortRule, Held)>,
    /// The end of the interval before, in seconds of the run.
    end_s: f64,
    /// The requests that had ended and failed by then.
    ended: u64,
    errors: u64,
    /// The rule that has ended the run.
    aborted: Option<Threshold>,
}

/// How long a rule has held.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Held {
    Not,
    /// Since the beginning of an interval, in seconds of the run.
    Since(f64),
}

impl AbortWatch {
    /// Returns the watch of a run that begins.
    pub fn new(rules: Vec<AbortRule>) -> Self {
        Self { rules: rules.into_iter().map(|rule| (rule, Held::Not)).collect(), ..Self::default() }
    }

    /// Takes an interval. Returns whether the run has to end.
    pub fn see(&mut self, progress: &Progress) -> bool {
        let begin_s = std::mem::replace(&mut self.end_s, progress.elapsed_s);
        let ended = progress.ended.saturating_sub(std::mem::replace(&mut self.ended, progress.ended));
        let errors = progress.errors.saturating_sub(std::mem::replace(&mut self.errors, progress.errors));
        for (AbortRule { rule, window }, held) in &mut self.rules {
            let figure = match rule.metric {
                Metric::Rps => Some(Figure { value: progress.rps, of: 0 }),
                Metric::Errors => Some(Figure { value: errors as f64, of: ended }),
                metric => time(metric, &progress.latency).map(|value| Figure { value, of: 0 }),
            };
            let measured = figure.and_then(|figure| rule.in_unit(figure));
            let Some(measured) = measured.filter(|measured| rule.comparison.holds(*measured, rule.limit)) else {
                *held = Held::Not;
                continue;
            };
            let since = match *held {
                Held::Not => begin_s,
                Held::Since(since) => since,
            };
            *held = Held::Since(since);
            // Times of intervals are sums of fractions.
            if self.aborted.is_none() && progress.elapsed_s - since >= window.as_secs_f64() - 1e-6 {
                let at = format!("{}, so the run ended after {:.1} s", rule.show(measured), progress.elapsed_s);
                self.aborted = Some(Threshold { rule: text(rule, *window), measured: Some(at), failed: true });
            }
        }
        self.aborted.is_some()
    }

    /// Returns the rules with their outcomes once the run has ended, and whether one of them has ended it.
    pub fn finish(self) -> (Vec<Threshold>, bool) {
        let aborted = self.aborted;
        let outcome = |(AbortRule { rule, window }, _): &(AbortRule, Held)| {
            let rule = text(rule, *window);
            match aborted.as_ref().filter(|aborted| aborted.rule == rule) {
                Some(aborted) => aborted.clone(),
                None => Threshold { rule, measured: Some("did not hold so long".to_owned()), failed: false },
            }
        };
        (self.rules.iter().map(outcome).collect(), aborted.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Latency;

    fn rule(text: &str, seconds: u64) -> AbortRule {
        AbortRule::new(ThresholdRule::parse(text).unwrap(), Duration::from_secs(seconds)).unwrap()
    }

    /// An interval of a second: its number from 1, the requests that have ended and failed so far, and a response time.
    fn second(number: u64, ended: u64, errors: u64, ms: u64) -> Progress {
        let mut latency = Latency::default();
        latency.record(ms * 1_000_000);
        Progress {
            elapsed_s: number as f64,
            requests: ended - errors,
            ended,
            errors,
            sessions: Default::default(),
            events: 0,
            events_per_s: 0.0,
            rps: (ended - errors) as f64 / number as f64,
            p99_us: None,
            connections: 1,
            busy_share: None,
            cpu: None,
            latency,
        }
    }

    /// The seconds at which a watch lets a run end.
    fn ends(rule: AbortRule, seconds: &[(u64, u64, u64)]) -> Option<usize> {
        let mut watch = AbortWatch::new(vec![rule]);
        let mut numbered = seconds.iter().enumerate();
        numbered.find_map(|(at, &(ended, errors, ms))| {
            watch.see(&second(at as u64 + 1, ended, errors, ms)).then_some(at + 1)
        })
    }

    #[test]
    fn a_rule_has_to_hold_in_each_interval_of_its_time() {
        // The errors of each second: 10%, none, 10%, 10%, 10%.
        let run = [(100, 10, 1), (200, 10, 1), (300, 20, 1), (400, 30, 1), (500, 40, 1)];
        assert_eq!(ends(rule("errors>5%", 3), &run), Some(5));
        assert_eq!(ends(rule("errors>5%", 2), &run), Some(4));
        assert_eq!(ends(rule("errors>5%", 0), &run), Some(1));
        assert_eq!(ends(rule("errors>10", 0), &run), None, "ten of each second are not more than ten");
        assert_eq!(ends(rule("errors>=10", 0), &run), Some(1));
        assert_eq!(ends(rule("errors>5%", 4), &run), None);
    }

    #[test]
    fn times_are_those_of_the_interval_and_no_request_holds_no_rule_but_that_of_the_rate() {
        let run = [(10, 0, 300), (20, 0, 20), (20, 0, 20)];
        assert_eq!(ends(rule("max>100ms", 0), &run), Some(1));
        assert_eq!(ends(rule("p99>100ms", 0), &run), None, "one response does not tell a percentile");
        assert_eq!(ends(rule("max<50ms", 2), &run), Some(3));
        let stands = [(0, 0, 1), (0, 0, 1)];
        assert_eq!(ends(rule("errors>=0%", 1), &stands), None);
        assert_eq!(ends(rule("rps<1", 2), &stands), Some(2));
    }

    #[test]
    fn the_outcome_says_what_was_measured_and_when() {
        let mut watch = AbortWatch::new(vec![rule("errors>5%", 0), rule("p99>1m", 10)]);
        assert!(watch.see(&second(1, 100, 10, 1)));
        let (outcome, aborted) = watch.finish();
        let shown = outcome.iter().map(|one| (one.rule.as_str(), one.measured.as_deref().unwrap(), one.failed));
        let expected = [
            ("errors>5%", "10%, so the run ended after 1.0 s", true),
            ("p99>1m for 10s", "did not hold so long", false),
        ];
        assert_eq!((shown.collect::<Vec<_>>(), aborted), (expected.to_vec(), true));
    }

    #[test]
    fn figures_that_no_interval_has_are_refused() {
        for text in ["unfinished>1", "timeout>1", "p99{a}>1s", "sessions_failed>1%", "first_event_p99>1s"] {
            let made = AbortRule::new(ThresholdRule::parse(text).unwrap(), Duration::ZERO);
            assert!(made.is_err_and(|why| why.contains("cannot end a run")), "{text}");
        }
        let of_streams = |text: &str| rule(text, 1).check(&[], true).is_ok();
        assert_eq!((of_streams("gap_p99>1s"), of_streams("p99>1s"), of_streams("errors>1%")), (true, false, true));
    }
}
