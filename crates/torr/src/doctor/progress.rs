//! Which experiment is made, and why: a line for each, and on a terminal how much of the budget is spent.

use std::io::IsTerminal;
use std::time::Duration;
use torr_doctor::ExperimentStart;
use torr_report::live::LiveProgress;
use torr_report::sentence;
use torr_report::style::{FAINT, paint};

/// What is shown while a service is examined.
pub struct Shown {
    live: Option<LiveProgress>,
    wanted: bool,
    budget: Duration,
}

impl Shown {
    /// On a terminal a line that changes, otherwise a line for each experiment.
    pub fn new(budget: Duration, wanted: bool) -> Self {
        let live = (wanted && std::io::stderr().is_terminal()).then(|| LiveProgress::new(Some(budget), true));
        Self { live, wanted, budget }
    }

    /// An experiment begins.
    pub fn step(&self, step: ExperimentStart<'_>) {
        let spent = step.spent * self.budget.as_secs_f64();
        let (name, question) = (sentence::experiment(step.label), sentence::question(step.label));
        let what = format!("{name}  {}", paint(FAINT, question));
        match &self.live {
            Some(live) => live.begin(spent, &what),
            None if self.wanted => anstream::eprintln!("{spent:5.1} s  {what}"),
            None => {}
        }
    }

    /// Takes the line away.
    pub fn clear(&self) {
        self.live.iter().for_each(LiveProgress::clear);
    }
}
