//! Subjects for others: the list of cases, and one of them that stays up.

use crate::case::{self, Case};
use crate::cli::{CasesOptions, UpOptions};
use crate::environment::Environment;
use crate::{round, subjects};
use serde::Serialize;
use std::thread;
use std::time::Duration;
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// The time between two looks for Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// A case of the list. Neither its name nor its label is there: it is to be judged blindly.
#[derive(Serialize)]
struct Listed {
    case: String,
    load: case::Load,
    /// Why the case cannot be started here.
    #[serde(skip_serializing_if = "Option::is_none")]
    lacks: Option<String>,
}

/// Prints the cases as lines of JSON, in the order of their ids.
///
/// # Errors
/// If a case cannot be printed.
pub fn list(options: &CasesOptions) -> Result<(), Error> {
    let mut cases: Vec<_> = subjects::all()
        .iter()
        .map(|subject| Listed {
            case: case::id(subject.name),
            load: case::Load::of(subject.form.arguments),
            lacks: round::lacks(subject),
        })
        .filter(|case| options.all || case.lacks.is_none())
        .collect();
    cases.sort_by(|one, other| one.case.cmp(&other.case));
    for case in cases {
        println!("{}", serde_json::to_string(&case).map_err(Error::at("the case"))?);
    }
    Ok(())
}

/// Starts a case, describes it in a line of JSON, and keeps it until Ctrl-C.
///
/// # Errors
/// If there is no such case, or it cannot be started.
pub fn up(options: &UpOptions) -> Result<(), Error> {
    let all = subjects::all();
    let subject = case::find(&all, &options.case)
        .ok_or_else(|| Error::Usage(format!("there is no case {:?}; 'torr-clinic cases' lists them", options.case)))?;
    if let Some(why) = round::lacks(subject) {
        return Err(Error::failed(why));
    }
    let form = match options.cured {
        false => &subject.form,
        true => subject.cured.as_ref().ok_or_else(|| Error::Usage("this case has no cured form".into()))?,
    };
    let torr = options.torr.torr()?;
    interrupt::install()?;
    let mut environment = Environment::new(&torr)?;
    let url = (form.start)(&mut environment)?;
    let case = Case::new(subject, form.arguments, url, &environment);
    let _neighbours = round::neighbours(&case, options.neighbours, 0);
    println!("{}", serde_json::to_string(&case).map_err(Error::at("the case"))?);
    while interrupt::check().is_ok() {
        thread::sleep(TICK);
    }
    Ok(())
}
