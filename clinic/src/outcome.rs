//! What became of each subject, and the whole of it as JSON.

use crate::error::Error;
use crate::judge::Finding;
use crate::subject::Label;
use serde::Serialize;
use std::fs;
use std::path::Path;
use torr_gauge::{Confidence, Factor};

/// One time that one subject was judged.
#[derive(Serialize)]
pub struct Outcome {
    pub name: &'static str,
    pub label: Label,
    pub finding: Finding,
    pub right: bool,
    pub late: bool,
}

/// All of a run.
#[derive(Serialize)]
pub struct Record {
    /// The version of this layout.
    pub schema: &'static str,
    pub cases: Vec<Outcome>,
    /// Names, and why they were not judged.
    pub not_run: Vec<(&'static str, String)>,
}

impl Outcome {
    /// Judges the judge; `budget` is in seconds.
    pub fn new(name: &'static str, label: &Label, finding: Finding, budget: f64) -> Self {
        let right = label.allows(finding.factor);
        Self { name, label: label.clone(), right, late: finding.seconds > budget, finding }
    }

    /// Whether a false factor was named for sure.
    pub fn surely_wrong(&self) -> bool {
        !self.right && self.finding.confidence == Confidence::Certain
    }

    /// Whether a false factor was named at all.
    pub fn wrong(&self) -> bool {
        !self.right && self.finding.factor != Factor::Unknown
    }

    /// In a line.
    pub fn line(&self) -> String {
        let word = match () {
            () if self.right => "right",
            () if self.surely_wrong() => "SURELY WRONG",
            () if self.wrong() => "wrong",
            () => "not known",
        };
        let Finding { factor, confidence, seconds, summary, .. } = &self.finding;
        let late = if self.late { " LATE" } else { "" };
        format!(
            "{:<26} {:<34} {:<14} {:<8} {word:<12} {seconds:>5.1} s{late}  {summary}",
            self.name,
            self.label.to_string(),
            factor.to_string(),
            confidence.to_string()
        )
    }
}

impl Record {
    /// An empty one.
    pub fn new() -> Self {
        Self { schema: "torr.clinic/1", cases: Vec::new(), not_run: Vec::new() }
    }

    /// Writes it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(self).map_err(Error::at("the record"))?;
        fs::write(path, text).map_err(Error::at(path.display()))
    }
}
