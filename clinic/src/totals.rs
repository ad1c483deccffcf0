//! The confusion matrix of a run, its counts, and whether these are good enough.

use crate::cli::Options;
use crate::outcome::{Outcome, Record};
use std::collections::{BTreeMap, BTreeSet};

/// The share of the faults that the doctor must name on a quiet machine.
const ENOUGH: f64 = 0.95;
/// The share of the promises that must be kept.
const ENOUGH_KEPT: f64 = 0.9;
/// The share of the faults that a plain run must name. Of the others it must say that it does not know.
const ENOUGH_PASSIVE: f64 = 20.0 / 30.0;
/// The share of the verdicts that name a factor beside neighbours which must be right.
const ENOUGH_BESIDE: f64 = 0.8;

/// What a round must reach.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Demands {
    /// Of verdicts with experiments on a quiet machine.
    Quiet,
    /// Of verdicts of plain runs.
    Passive,
    /// Of verdicts beside programs that come and go: what is not known is no failure, and gains are not promised for such weather.
    Beside,
}

/// The counts of some diagnoses.
pub struct Totals {
    /// All of them.
    pub count: usize,
    /// Verdicts that are right.
    pub right: usize,
    /// Right verdicts that are certain.
    pub certain: usize,
    /// Verdicts that name no factor though there is one.
    pub unknown: usize,
    /// Verdicts that name a wrong factor.
    pub wrong: usize,
    /// Wrong verdicts that are certain.
    pub surely_wrong: usize,
}

impl Demands {
    /// Returns the demands on a round.
    pub fn of(options: &Options) -> Self {
        match options {
            Options { passive: true, .. } => Self::Passive,
            Options { neighbours: 1.., .. } => Self::Beside,
            _ => Self::Quiet,
        }
    }
}

impl Totals {
    /// Counts diagnoses.
    pub fn of(outcomes: &[&Outcome]) -> Self {
        let count = |of: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| of(outcome)).count();
        Self {
            count: outcomes.len(),
            right: count(|outcome| outcome.right),
            certain: count(Outcome::is_surely_right),
            unknown: count(|outcome| !outcome.right && !outcome.is_wrong()),
            wrong: count(Outcome::is_wrong),
            surely_wrong: count(Outcome::is_surely_wrong),
        }
    }
}

/// Prints matrix and counts, and returns whether they are good enough.
pub fn tell(record: &Record, demands: Demands) -> bool {
    let (faults, healthy): (Vec<&Outcome>, Vec<&Outcome>) =
        record.outcomes.iter().partition(|outcome| outcome.label.fault);
    if !record.outcomes.is_empty() {
        println!("\n{}", matrix(&record.outcomes));
    }
    let (ill, well) = (Totals::of(&faults), Totals::of(&healthy));
    let misjudged = well.count - well.right;
    let late = record.outcomes.iter().filter(|outcome| outcome.late).count();
    let surely_wrong = ill.surely_wrong + well.surely_wrong;
    println!("faults named rightly        {} of {}", ill.right, ill.count);
    println!("faults not known            {}", ill.unknown);
    println!("faults named wrongly        {}", ill.wrong);
    println!("wrong and 'certain'         {surely_wrong}");
    println!("healthy, called ill         {misjudged} of {}", well.count);
    let (kept, judged, width) = promises(&record.outcomes);
    println!("promises kept               {kept} of {judged}{width}");
    println!("beyond the budget           {late}");
    println!("not run                     {}", record.not_run.len());
    let names = |share: f64, of: usize| ill.right as f64 >= share * of as f64;
    let keeps = kept as f64 >= ENOUGH_KEPT * judged as f64;
    let (enough, tolerable) = match demands {
        Demands::Quiet => (names(ENOUGH, ill.count) && keeps && misjudged == 0, surely_wrong == 0),
        Demands::Passive => (names(ENOUGH_PASSIVE, ill.count) && misjudged == 0, ill.wrong == 0),
        Demands::Beside => (names(ENOUGH_BESIDE, ill.right + ill.wrong), surely_wrong == 0),
    };
    enough && tolerable && late == 0
}

/// Returns how many promises were kept, how many could be judged, and in words the median width of the intervals that were promised.
fn promises(outcomes: &[Outcome]) -> (usize, usize, String) {
    let judged: Vec<_> = outcomes.iter().filter(|outcome| outcome.is_promise_kept().is_some()).collect();
    let kept = judged.iter().filter(|outcome| outcome.is_promise_kept() == Some(true)).count();
    let mut widths: Vec<_> = judged.iter().filter_map(|outcome| outcome.promise.width()).collect();
    widths.sort_by(f64::total_cmp);
    let width = widths.get(widths.len() / 2).map(|median| {
        format!("; the median interval is {median:.1} wide, {} have no upper end", judged.len() - widths.len())
    });
    (kept, judged.len(), width.unwrap_or_default())
}

/// Returns the confusion matrix: labels down, verdicts across.
fn matrix(outcomes: &[Outcome]) -> String {
    let row_of =
        |outcome: &Outcome| format!("{}{}", if outcome.label.fault { "" } else { "healthy " }, outcome.label.main());
    let mut rows = BTreeMap::<String, BTreeMap<String, usize>>::new();
    let mut columns = BTreeSet::new();
    for outcome in outcomes {
        let verdict = outcome.finding.factor.to_string();
        columns.insert(verdict.clone());
        *rows.entry(row_of(outcome)).or_default().entry(verdict).or_default() += 1;
    }
    let mut text = format!("{:<24}", "label \\ verdict");
    for column in &columns {
        text += &format!("{column:>15}");
    }
    for (row, verdicts) in rows {
        text += &format!("\n{row:<24}");
        for column in &columns {
            let count = verdicts.get(column).map_or("·".into(), usize::to_string);
            text += &format!("{count:>15}");
        }
    }
    text + "\n"
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::finding::Finding;
    use crate::subject::Label;
    use serde_json::Value;
    use torr_gauge::{Confidence, Factor, Gain};

    /// Returns the outcome of a lock of which `factor` was said, with a promise of 2 to 4 times the throughput.
    pub fn outcome(factor: Factor, real: Option<f64>) -> Outcome {
        let label = Label { fault: true, factors: vec![Factor::Lock], shows: &[] };
        let gain = Some(Gain { low: Some(2.0), high: Some(4.0), reason: None, summary: String::new() });
        let (confidence, summary, trail) = (Confidence::Likely, String::new(), Value::Null);
        let finding = Finding { factor, confidence, seconds: 1.0, summary, gain, trail };
        let mut outcome = Outcome::new("lock", &label, finding, 60.0);
        outcome.promise.real = real;
        outcome
    }

    /// Returns a record of right verdicts with these real gains.
    pub fn record(reals: &[f64]) -> Record {
        let outcomes = reals.iter().map(|&real| outcome(Factor::Lock, Some(real))).collect();
        Record { outcomes, ..Record::new("torr doctor", 0) }
    }

    #[test]
    fn nine_of_ten_promises_must_be_kept() {
        let of = |kept: usize| [vec![3.0; kept], vec![9.0]].concat();
        assert!(tell(&record(&of(9)), Demands::Quiet));
        assert!(!tell(&record(&of(8)), Demands::Quiet));
        assert!(tell(&record(&of(1)), Demands::Beside), "no promise is judged beside neighbours");
    }

    #[test]
    fn beside_neighbours_what_is_not_known_is_no_failure() {
        let mut round = record(&[3.0; 4]);
        round.outcomes.extend([Factor::Unknown; 9].map(|factor| outcome(factor, None)));
        assert!(tell(&round, Demands::Beside) && !tell(&round, Demands::Quiet));
        round.outcomes.push(outcome(Factor::Workers, None));
        assert!(tell(&round, Demands::Beside), "four of five that are named");
        round.outcomes.push(outcome(Factor::Workers, None));
        assert!(!tell(&round, Demands::Beside), "four of six");
        let mut sure = record(&[3.0; 40]);
        let mut wrong = outcome(Factor::Workers, None);
        wrong.finding.confidence = Confidence::Certain;
        sure.outcomes.push(wrong);
        assert!(!tell(&sure, Demands::Beside), "wrong and certain");
    }

    #[test]
    fn only_right_verdicts_whose_gain_was_measured_promise_something() {
        let outcomes = [
            outcome(Factor::Lock, Some(3.0)),
            outcome(Factor::Lock, Some(9.0)),
            outcome(Factor::Lock, None),
            outcome(Factor::Workers, Some(9.0)),
        ];
        let (kept, judged, width) = promises(&outcomes);
        assert_eq!((kept, judged), (1, 2));
        assert_eq!(width, "; the median interval is 2.0 wide, 0 have no upper end");
    }
}
