//! What differs between two runs beside the code: the machine, the program that made them, and the plan.

use crate::archive::Archived;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use torr_gauge::RunResult;

/// The most characters that are kept of a value.
const LONGEST: usize = 200;

/// A difference between a run and the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Beside {
    /// The file of the run.
    pub run: String,
    /// The file of the run before.
    pub after: String,
    /// What differs: the path of a field of the result, such as `machine.kernel`.
    pub what: String,
    /// The value before; `none` without one.
    pub before: String,
    /// The value of the run.
    pub since: String,
}

/// Returns the differences between runs and those before them, in the order of time.
pub(super) fn beside(runs: &[&Archived]) -> Vec<Beside> {
    let mut found = Vec::new();
    for pair in runs.windows(2) {
        let (before, since) = (facts(&pair[0].run), facts(&pair[1].run));
        let names: BTreeSet<&String> = before.keys().chain(since.keys()).collect();
        for what in names {
            let of = |facts: &BTreeMap<String, String>| facts.get(what).map_or("none", String::as_str).to_owned();
            // A machine that an older version of the program did not write down is not another one.
            let is_known = before.contains_key(what) && since.contains_key(what);
            if of(&before) != of(&since) && (is_known || !what.starts_with("machine.")) {
                found.push(Beside {
                    run: pair[1].path.display().to_string(),
                    after: pair[0].path.display().to_string(),
                    what: what.clone(),
                    before: of(&before),
                    since: of(&since),
                });
            }
        }
    }
    found
}

/// Returns the fields of a result that are settings and circumstances, with their values as text.
fn facts(run: &RunResult) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: Result<Value, serde_json::Error>| {
        // A result that was read can be written.
        leaves(name, &value.unwrap_or_default(), &mut facts);
    };
    add("torr", serde_json::to_value(&run.torr));
    add("target", serde_json::to_value(&run.target));
    add("plan", serde_json::to_value(&run.plan));
    add("machine", serde_json::to_value(&run.machine));
    if let Some(tls) = &run.tls {
        add("tls.version", serde_json::to_value(&tls.version));
        add("tls.cipher", serde_json::to_value(&tls.cipher));
    }
    facts
}

/// Adds the values within a value, each by its path.
fn leaves(path: &str, value: &Value, facts: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| leaves(&format!("{path}.{name}"), value, facts));
        }
        Value::String(text) => drop(facts.insert(path.to_owned(), cut(text))),
        other => drop(facts.insert(path.to_owned(), cut(&other.to_string()))),
    }
}

/// Returns the beginning of a value: a list of stages may have thousands.
fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}
