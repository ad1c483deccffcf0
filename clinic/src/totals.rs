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
    let (faults, healthy): (Vec<&Outcome>, Vec<&Outcome>) = record.outcomes.iter().partition(|case| case.label.fault);
    if !record.outcomes.is_empty() {
        println!("\n{}", matrix(&record.outcomes));
    }
    let count = |cases: &[&Outcome], of: fn(&Outcome) -> bool| cases.iter().filter(|case| of(case)).count();
    let right = count(&faults, |case| case.right);
    let surely_wrong = count(&faults, Outcome::is_surely_wrong) + count(&healthy, Outcome::is_surely_wrong);
    let slandered = count(&healthy, |case| !case.right);
    let late = count(&faults, |case| case.late) + count(&healthy, |case| case.late);
    println!("faults named rightly        {right} of {}", faults.len());
    println!("faults not known            {}", count(&faults, |case| !case.right && !case.is_wrong()));
    let wrong = count(&faults, Outcome::is_wrong);
    println!("faults named wrongly        {wrong}");
    println!("wrong and 'certain'         {surely_wrong}");
    println!("healthy, called ill         {slandered} of {}", healthy.len());
    let (kept, judged, width) = promises(&record.outcomes);
    println!("promises kept               {kept} of {judged}{width}");
    println!("beyond the budget           {late}");
    println!("not run                     {}", record.not_run.len());
    let (enough, tolerable) = if passive { (ENOUGH_PASSIVE, wrong == 0) } else { (ENOUGH, surely_wrong == 0) };
    let keeps = kept as f64 >= ENOUGH_KEPT * judged as f64;
    right as f64 >= enough * faults.len() as f64 && tolerable && slandered + late == 0 && keeps
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
fn matrix(cases: &[Outcome]) -> String {
    let row_of = |case: &Outcome| format!("{}{}", if case.label.fault { "" } else { "healthy " }, case.label.main());
    let mut rows = BTreeMap::<String, BTreeMap<String, usize>>::new();
    let mut columns = BTreeSet::new();
    for case in cases {
        let verdict = case.finding.factor.to_string();
        columns.insert(verdict.clone());
        *rows.entry(row_of(case)).or_default().entry(verdict).or_default() += 1;
    }
    let mut text = format!("{:<24}", "label \\ verdict");
    for column in &columns {
        text += &format!("{column:>15}");
    }
    for (row, verdicts) in rows {
        text += &format!("\n{row:<24}");
        for column in &columns {
            let many = verdicts.get(column).map_or("·".into(), usize::to_string);
            text += &format!("{many:>15}");
        }
    }
    text + "\n"
}
