//! A file of verdicts, judged by the labels of its cases.

use crate::cli::JudgeOptions;
use crate::environment::Environment;
use crate::given::{GivenVerdicts, OfCase};
use crate::outcome::{Outcome, Record, columns};
use crate::subject::Subject;
use crate::totals::{self, Demands};
use crate::{case, markdown, round, subjects};
use std::fs;
use std::path::Path;
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// Judges the verdicts of a file, and returns whether they are good enough.
///
/// # Errors
/// If the file cannot be read, names an unknown case, or names a case twice.
pub fn run(options: &JudgeOptions) -> Result<bool, Error> {
    let verdicts = GivenVerdicts::read(&options.verdicts)?;
    let subjects = subjects::all();
    let mut record = Record::new(&verdicts.by, options.neighbours);
    let judged = judge(&verdicts.verdicts, &subjects)?;
    let torr = options.gains.then(|| options.torr.torr()).transpose()?;
    if torr.is_some() {
        interrupt::install()?;
    }
    println!("{}", columns());
    let mut done = Ok(());
    for (subject, mut outcome) in judged {
        if let Some(torr) = torr.as_deref().filter(|_| done.is_ok()) {
            match round::attempt(|| real_gain(subject, torr)) {
                Ok(Ok(real)) => outcome.promise.real = real,
                Ok(Err(why)) => record.not_run.push((subject.name, format!("its gain: {why}"))),
                // The verdicts are judged all the same.
                Err(error) => done = Err(error),
            }
        }
        println!("{}", outcome.line());
        record.outcomes.push(outcome);
    }
    for subject in &subjects {
        if !record.outcomes.iter().any(|outcome| outcome.name == subject.name) {
            record.not_run.push((subject.name, "it has no verdict".into()));
        }
    }
    let demands = if options.neighbours > 0 { Demands::Beside } else { Demands::Quiet };
    let good = totals::tell(&record, demands);
    if let Some(file) = &options.markdown {
        fs::write(file, markdown::table(&record)).map_err(Error::at(file.display()))?;
    }
    if let Some(file) = &options.json {
        record.write(file)?;
    }
    done.map(|()| good)
}

/// Returns the outcome of each verdict. None is late: how long a person may take is not the clinic's to say.
fn judge<'s>(verdicts: &[OfCase], subjects: &'s [Subject]) -> Result<Vec<(&'s Subject, Outcome)>, Error> {
    let mut judged: Vec<(&Subject, Outcome)> = Vec::new();
    for OfCase { case, verdict } in verdicts {
        let subject = case::find(subjects, case).ok_or_else(|| Error::Usage(format!("there is no case {case:?}")))?;
        if judged.iter().any(|(earlier, _)| earlier.name == subject.name) {
            return Err(Error::Usage(format!("the case {case:?} has two verdicts")));
        }
        let outcome = Outcome::new(subject.name, &subject.label, verdict.clone().finding(0.0), f64::INFINITY);
        judged.push((subject, outcome));
    }
    Ok(judged)
}

/// Measures the gain of a subject's cure. `None` if it has none.
fn real_gain(subject: &Subject, torr: &Path) -> Result<Option<f64>, Error> {
    let Some(cured) = &subject.cured else { return Ok(None) };
    if let Some(why) = round::lacks(subject) {
        return Err(Error::failed(why));
    }
    let mut environment = Environment::new(torr)?;
    let url = (subject.form.start)(&mut environment)?;
    round::real_gain(environment, subject, &url, cured, torr).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::given::GivenVerdict;

    fn verdict(case: &str, factor: &str) -> OfCase {
        let verdict = format!("{{\"factor\": \"{factor}\", \"confidence\": \"certain\"}}");
        OfCase { case: case.into(), verdict: GivenVerdict::parse(&verdict).expect("it is one") }
    }

    #[test]
    fn verdicts_are_judged_by_the_labels() {
        let subjects = subjects::all();
        let id = |name: &str| case::id(name);
        let verdicts = [verdict(&id("lock-async"), "lock"), verdict(&id("workers-php"), "lock")];
        let judged = judge(&verdicts, &subjects).expect("both cases exist");
        assert!(judged[0].1.right && judged[1].1.is_surely_wrong());
        assert!(judge(&[verdict("zzzzzz", "lock")], &subjects).is_err());
        assert!(judge(&[verdicts[0].clone(), verdict("lock-async", "lock")], &subjects).is_err(), "twice");
    }
}
