//! The confusion matrix of a run, its counts, and whether they reach the figures that are asked for.

use crate::outcome::{Outcome, Record};
use std::collections::{BTreeMap, BTreeSet};

/// The share of the faults that the doctor must name: 28 of 30.
const ENOUGH: f64 = 28.0 / 30.0;
/// The share that a plain run must name; the others it must not know.
const ENOUGH_PASSIVE: f64 = 20.0 / 30.0;

/// Prints both, and says whether it is good enough.
pub fn tell(record: &Record, passive: bool) -> bool {
    let (faults, healthy): (Vec<&Outcome>, Vec<&Outcome>) = record.cases.iter().partition(|case| case.label.fault);
    if !record.cases.is_empty() {
        println!("\n{}", matrix(&record.cases));
    }
    let count = |cases: &[&Outcome], of: fn(&Outcome) -> bool| cases.iter().filter(|case| of(case)).count();
    let right = count(&faults, |case| case.right);
    let surely_wrong = count(&faults, Outcome::surely_wrong) + count(&healthy, Outcome::surely_wrong);
    let slandered = count(&healthy, |case| !case.right);
    let late = count(&faults, |case| case.late) + count(&healthy, |case| case.late);
    println!("faults named rightly        {right} of {}", faults.len());
    println!("faults not known            {}", count(&faults, |case| !case.right && !case.wrong()));
    let wrong = count(&faults, Outcome::wrong);
    println!("faults named wrongly        {wrong}");
    println!("wrong and 'certain'         {surely_wrong}");
    println!("healthy, called ill         {slandered} of {}", healthy.len());
    println!("beyond the budget           {late}");
    println!("not run                     {}", record.not_run.len());
    let (enough, tolerable) = if passive { (ENOUGH_PASSIVE, wrong == 0) } else { (ENOUGH, surely_wrong == 0) };
    right as f64 >= enough * faults.len() as f64 && tolerable && slandered + late == 0
}

/// Labels down, verdicts across.
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
