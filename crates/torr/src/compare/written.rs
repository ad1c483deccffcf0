//! A comparison of two versions as it is written: with the sentences of its thresholds and notes.

use super::sentences;
use serde::Serialize;
use torr_lab::gate::Kept;
use torr_lab::report::{Judged, Report};

/// A comparison with its sentences.
#[derive(Serialize)]
pub struct WrittenReport<'r> {
    #[serde(flatten)]
    report: &'r Report,
    rules: Vec<WrittenRule>,
    notes: Vec<String>,
}

/// A threshold and what became of it, with the reason.
#[derive(Serialize)]
struct WrittenRule {
    rule: String,
    outcome: Kept,
    because: String,
}

impl<'r> WrittenReport<'r> {
    /// Writes the sentences of a comparison.
    pub fn of(report: &'r Report) -> Self {
        let rule = |judged: &Judged| WrittenRule {
            rule: judged.rule.to_string(),
            outcome: judged.outcome,
            because: sentences::because(report, judged),
        };
        Self {
            report,
            rules: report.rules.iter().map(rule).collect(),
            notes: report.notes.iter().map(|note| sentences::note(*note)).collect(),
        }
    }
}
