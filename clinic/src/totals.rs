//! The confusion matrix of a run, its counts, and whether these are good enough.

use crate::outcome::{Outcome, Record};
use std::collections::{BTreeMap, BTreeSet};

/// The share of the faults that the doctor must name: 28 of 30.
const ENOUGH: f64 = 28.0 / 30.0;
/// The share of the promises that must be kept.
const ENOUGH_KEPT: f64 = 0.8;
/// The share of the faults that a plain run must name. Of the others it must say that it does not know.
const ENOUGH_PASSIVE: f64 = 20.0 / 30.0;

/// Prints matrix and counts, and returns whether they are good enough.
pub fn tell(record: &Record, passive: bool) -> bool {
    let (faults, healthy): (Vec<&Outcome>, Vec<&Outcome>) =
        record.outcomes.iter().partition(|outcome| outcome.label.fault);
    if !record.outcomes.is_empty() {
        println!("\n{}", matrix(&record.outcomes));
    }
    let count = |outcomes: &[&Outcome], of: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| of(outcome)).count();
    let right = count(&faults, |outcome| outcome.right);
    let surely_wrong = count(&faults, Outcome::is_surely_wrong) + count(&healthy, Outcome::is_surely_wrong);
    let misjudged = count(&healthy, |outcome| !outcome.right);
    let late = count(&faults, |outcome| outcome.late) + count(&healthy, |outcome| outcome.late);
    println!("faults named rightly        {right} of {}", faults.len());
    println!("faults not known            {}", count(&faults, |outcome| !outcome.right && !outcome.is_wrong()));
    let wrong = count(&faults, Outcome::is_wrong);
    println!("faults named wrongly        {wrong}");
    println!("wrong and 'certain'         {surely_wrong}");
    println!("healthy, called ill         {misjudged} of {}", healthy.len());
    let (kept, judged, width) = promises(&record.outcomes);
    println!("promises kept               {kept} of {judged}{width}");
    println!("beyond the budget           {late}");
    println!("not run                     {}", record.not_run.len());
    let (enough, tolerable) = if passive { (ENOUGH_PASSIVE, wrong == 0) } else { (ENOUGH, surely_wrong == 0) };
    let keeps = kept as f64 >= ENOUGH_KEPT * judged as f64;
    right as f64 >= enough * faults.len() as f64 && tolerable && misjudged + late == 0 && keeps
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
mod tests {
    use super::*;
    use crate::judge::Finding;
    use crate::subject::Label;
    use serde_json::Value;
    use torr_gauge::{Confidence, Factor, Gain};

    /// Returns the outcome of a lock of which `factor` was said, with a promise of 2 to 4 times the throughput.
    fn outcome(factor: Factor, real: Option<f64>) -> Outcome {
        let label = Label { fault: true, factors: vec![Factor::Lock] };
        let gain = Some(Gain { low: Some(2.0), high: Some(4.0), reason: None, summary: String::new() });
        let (confidence, summary, trail) = (Confidence::Likely, String::new(), Value::Null);
        let finding = Finding { factor, confidence, seconds: 1.0, summary, gain, trail };
        let mut outcome = Outcome::new("lock", &label, finding, 60.0);
        outcome.promise.real = real;
        outcome
    }

    fn record(reals: &[f64]) -> Record {
        let outcomes = reals.iter().map(|&real| outcome(Factor::Lock, Some(real))).collect();
        Record { outcomes, ..Record::new() }
    }

    #[test]
    fn eight_of_ten_promises_must_be_kept() {
        assert!(tell(&record(&[3.0, 3.0, 3.0, 3.0, 9.0]), false));
        assert!(!tell(&record(&[3.0, 3.0, 3.0, 9.0]), false));
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
