//! What is shown of a procedure: loads one after the other, such as the experiments of a diagnosis or the steps of a search.

use crate::words;
use torr_gauge::Latency;
use torr_gauge::collector::Progress;
use torr_gauge::series::{IntervalCounts, Point, Series};

/// The most steps that are kept.
const MOST: usize = 500;
/// The shortest time without load that plots show, in seconds.
const GAP_S: f64 = 0.05;

/// What a procedure is, in words.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The procedure with its article, such as `the diagnosis`.
    pub name: &'static str,
    /// One of its loads, such as `experiment`.
    pub step: &'static str,
    /// The target, without a password.
    pub target: String,
    /// The procedure in a line.
    pub words: String,
    /// The longest time that it takes, in seconds.
    pub budget_s: f64,
}

/// A load of a procedure.
#[derive(Debug, Clone)]
pub struct Step {
    /// When it began, in seconds since the procedure began.
    pub begun_s: f64,
    /// Its name.
    pub name: String,
    /// The question that it is to decide; may be empty.
    pub why: String,
    /// The responses so far.
    pub requests: u64,
    /// The errors so far.
    pub errors: u64,
    /// The time in seconds in which these were counted.
    pub seconds: f64,
    /// When that time began, in seconds since the procedure began; `None` before the first progress.
    counted_s: Option<f64>,
    /// The response times so far.
    pub latency: Latency,
}

impl Step {
    /// Returns the responses per second.
    pub fn per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.requests as f64 / self.seconds } else { 0.0 }
    }
}

/// The figures of the last interval of a procedure, and the counts of the step that it is of.
#[derive(Debug, Clone)]
pub struct Last {
    /// Responses per second.
    pub per_s: f64,
    /// The response times.
    pub latency: Latency,
    /// The responses of the step so far.
    pub requests: u64,
    /// The errors of the step so far.
    pub errors: u64,
}

/// A procedure that goes on.
#[derive(Debug)]
pub struct Procedure {
    /// What it is.
    pub about: About,
    /// Whether an operator has ended it.
    pub is_ending: bool,
    /// A line about the procedure, such as where its page is.
    pub note: Option<String>,
    /// Seconds since it began.
    pub elapsed_s: f64,
    steps: Vec<Step>,
    /// The number of older steps that were dropped.
    dropped: usize,
    series: Series,
    /// The end of the last interval in the series, in seconds.
    until_s: f64,
    last: Option<Last>,
}

impl Procedure {
    /// Returns a procedure that begins now.
    pub fn new(about: About) -> Self {
        let (steps, series) = (Vec::new(), Series::default());
        Self {
            about,
            is_ending: false,
            note: None,
            elapsed_s: 0.0,
            steps,
            dropped: 0,
            series,
            until_s: 0.0,
            last: None,
        }
    }

    /// Notes that a step begins.
    pub fn begins(&mut self, at_s: f64, name: &str, why: &str) {
        if self.steps.len() == MOST {
            self.steps.remove(0);
            self.dropped += 1;
        }
        self.last = None;
        let (name, why) = (name.to_owned(), why.to_owned());
        let latency = Latency::default();
        self.steps.push(Step {
            begun_s: at_s,
            name,
            why,
            requests: 0,
            errors: 0,
            seconds: 0.0,
            counted_s: None,
            latency,
        });
    }

    /// Takes over the progress of the step that runs.
    pub fn progress(&mut self, at_s: f64, progress: &Progress) {
        let Some(step) = self.steps.last_mut() else { return };
        let requests = progress.requests.saturating_sub(step.requests);
        let errors = progress.errors.saturating_sub(step.errors);
        let seconds = progress.elapsed_s - step.seconds;
        if seconds <= 0.0 {
            return;
        }
        // Progress may be handed over late, several intervals at once: its own times are exact.
        let counted_s = *step.counted_s.get_or_insert((at_s - progress.elapsed_s).max(self.until_s));
        let (from_s, at_s) = (counted_s + step.seconds, counted_s + progress.elapsed_s);
        (step.requests, step.errors, step.seconds) = (progress.requests, progress.errors, progress.elapsed_s);
        step.latency.add(&progress.latency);
        if from_s - self.until_s > GAP_S {
            self.series.push(from_s, IntervalCounts::default(), &Latency::default());
        }
        self.series.push(at_s, IntervalCounts { requests, errors, ..IntervalCounts::default() }, &progress.latency);
        self.until_s = at_s;
        let (per_s, latency) = (requests as f64 / seconds, progress.latency.clone());
        self.last = Some(Last { per_s, latency, requests: progress.requests, errors: progress.errors });
    }

    /// Returns the steps, the oldest first.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the steps with their numbers from 1, the oldest first.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (usize, &Step)> + ExactSizeIterator {
        self.steps.iter().enumerate().map(|(at, step)| (self.dropped + at + 1, step))
    }

    /// Returns the figures of the last interval; `None` between two steps.
    pub fn last(&self) -> Option<&Last> {
        self.last.as_ref()
    }

    /// Returns throughput and response times since the beginning. Between two steps there is a point without requests.
    pub fn series(&self) -> Vec<Point> {
        self.series.points()
    }

    /// Returns where the procedure stands.
    pub fn state(&self) -> String {
        match self.dropped + self.steps.len() {
            _ if self.is_ending => "ENDING".into(),
            0 => "STARTING".into(),
            number => format!("{} {number}", self.about.step.to_uppercase()),
        }
    }

    /// Returns the time since the beginning, and the longest that there is.
    pub fn time(&self) -> String {
        format!("{} of at most {}", words::clock(self.elapsed_s), words::clock(self.about.budget_s))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns what a diagnosis is in words.
    pub fn about() -> About {
        let (target, words) = ("http://127.0.0.1:8080/".into(), "a diagnosis by experiments, at most 60 s".into());
        About { name: "the diagnosis", step: "experiment", target, words, budget_s: 60.0 }
    }

    /// Returns the progress of a step so far, whose last interval has response times of a millisecond.
    pub fn progress(elapsed_s: f64, requests: u64, errors: u64) -> Progress {
        let mut latency = Latency::default();
        (0..1000).for_each(|_| latency.record(1_000_000));
        let sessions = torr_gauge::sessions::SessionsEnded::default();
        let (events, events_per_s, rps, p99_us, connections, busy_share, cpu) = (0, 0.0, 0.0, None, 1, None, None);
        Progress {
            elapsed_s,
            requests,
            ended: requests,
            errors,
            sessions,
            events,
            events_per_s,
            rps,
            p99_us,
            connections,
            busy_share,
            cpu,
            latency,
        }
    }

    #[test]
    fn figures_are_those_of_the_step_and_pauses_have_no_throughput() {
        let mut procedure = Procedure::new(about());
        procedure.progress(0.5, &progress(0.5, 10, 0));
        assert!(procedure.series().is_empty(), "no step has begun");
        procedure.begins(1.0, "one request at a time", "how fast?");
        procedure.progress(2.5, &progress(1.0, 100, 2));
        procedure.progress(3.5, &progress(2.0, 150, 2));
        procedure.begins(5.0, "10 connections", "");
        assert!(procedure.last().is_none(), "the figures of another step are not those of this one");
        procedure.progress(6.5, &progress(0.5, 10, 0));
        let points: Vec<_> = procedure.series().iter().map(|point| (point.t, point.requests)).collect();
        assert_eq!(points, [(1.5, 0), (2.5, 100), (3.5, 50), (6.0, 0), (6.5, 10)]);
        let steps: Vec<_> = procedure.numbered().map(|(number, step)| (number, step.per_s(), step.errors)).collect();
        assert_eq!(steps, [(1, 75.0, 2), (2, 20.0, 0)]);
        assert_eq!(procedure.state(), "EXPERIMENT 2");
    }

    #[test]
    fn steps_are_bounded_and_keep_their_numbers() {
        let mut procedure = Procedure::new(about());
        (0..2 * MOST).for_each(|at| procedure.begins(at as f64, "step", ""));
        assert_eq!((procedure.steps().len(), procedure.numbered().next_back().map(|last| last.0)), (MOST, Some(1000)));
    }
}
