//! The outcome of each subject, and the record of a whole run as JSON.

use crate::case;
use crate::finding::Finding;
use crate::located::Located;
use crate::promise::Promise;
use crate::subject::Label;
use serde::Serialize;
use std::fs;
use std::path::Path;
use torr_gauge::{Confidence, Factor};
use torr_test_support::error::Error;

/// The diagnosis of one subject, judged.
#[derive(Serialize)]
pub struct Outcome {
    /// The name of the subject.
    pub name: &'static str,
    /// The id by which others know the subject.
    pub case: String,
    /// The truth about the subject.
    pub label: Label,
    /// The diagnosis.
    pub finding: Finding,
    /// The gain that was promised and the real one.
    pub promise: Promise,
    /// Whether the verdict is right.
    pub right: bool,
    /// The location that the diagnosis names. `None` if none is known, or the diagnosis did not look for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub located: Option<Located>,
    /// Whether the diagnosis took longer than its budget.
    pub late: bool,
}

/// All of a run.
#[derive(Serialize)]
pub struct Record {
    /// The version of this layout.
    pub schema: &'static str,
    /// The judged one.
    pub by: String,
    /// The programs that came and went beside each diagnosis.
    pub neighbours: usize,
    /// The seed of their coming and going. `None` if there were none, or if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weather: Option<u64>,
    /// The outcomes in the order of the run.
    pub outcomes: Vec<Outcome>,
    /// Names of subjects, and why they were not judged.
    pub not_run: Vec<(&'static str, String)>,
}

impl Outcome {
    /// Judges a diagnosis. `budget` is in seconds.
    pub fn new(name: &'static str, label: &Label, finding: Finding, budget: f64) -> Self {
        let right = label.allows(finding.factor) && label.is_shown(&finding.trail);
        let promise = Promise { gain: finding.gain.clone(), real: None };
        let late = finding.seconds > budget;
        let located = label.location.as_ref().and_then(|location| Located::judge(location, &finding.trail));
        Self { name, case: case::id(name), label: label.clone(), right, located, late, finding, promise }
    }

    /// Whether the verdict is right and certain.
    pub fn is_surely_right(&self) -> bool {
        self.right && self.finding.confidence == Confidence::Certain
    }

    /// Whether a wrong factor was named with certainty.
    pub fn is_surely_wrong(&self) -> bool {
        self.is_wrong() && self.finding.confidence == Confidence::Certain
    }

    /// Whether a wrong factor was named. A right factor without the fact that the label wants is not known.
    pub fn is_wrong(&self) -> bool {
        self.finding.factor != Factor::Unknown && !self.label.allows(self.finding.factor)
    }

    /// Whether the promise was kept. `None` if there is nothing to judge: the cured form follows the advice for the first factor of the
    /// label, and the verdict on another factor advises another change. Where the cured form halves the cost of a location, the verdict
    /// must promise a gain for half the cost.
    pub fn is_promise_kept(&self) -> Option<bool> {
        let is_cured_as_advised = self.label.location.as_ref().is_none_or(|location| location.is_cured_as_advised);
        let is_advised = || is_cured_as_advised || self.promise.is_for_half_the_cost();
        self.promise.is_kept().filter(|_| self.finding.factor == self.label.main() && is_advised())
    }

    /// Returns the promise of the location: the cured form halves its cost. `None` if no location was judged.
    pub fn location_promise(&self) -> Option<Promise> {
        Some(Promise { gain: self.located.as_ref()?.gain(), real: self.promise.real })
    }

    /// Whether the promise of the location was kept. `None` if there is nothing to judge.
    pub fn is_location_kept(&self) -> Option<bool> {
        self.location_promise()?.is_kept()
    }

    /// Returns the factor that a diagnosis of the same observations should name.
    pub fn expected(&self) -> Factor {
        if self.right { self.finding.factor } else { self.label.main() }
    }

    /// Returns the judgement in a word or two.
    pub fn word(&self) -> &'static str {
        match () {
            () if self.right => "right",
            () if self.is_surely_wrong() => "SURELY WRONG",
            () if self.is_wrong() => "wrong",
            () => "not known",
        }
    }

    /// Returns the outcome as a row of the table.
    pub fn line(&self) -> String {
        let word = self.word();
        let Finding { factor, confidence, seconds, summary, .. } = &self.finding;
        let late = if self.late { " LATE" } else { "" };
        let located = self.located.as_ref().map(|located| format!("{}: {}; ", located.word(), located.name()));
        let located = located.unwrap_or_default();
        let place = self
            .location_promise()
            .map(|promise| format!("{}{}", promise.promised(), Promise::word(self.is_location_kept())));
        let place = place.unwrap_or_default();
        format!(
            "{:<28} {:<34} {:<14} {:<8} {word:<12} {seconds:>5.1} s{late}  {:<14} {:<12}  {place:<18} {located}{summary}",
            self.name,
            self.label.to_string(),
            factor.to_string(),
            confidence.to_string(),
            self.promise.promised(),
            self.promise.real(self.is_promise_kept()),
        )
    }
}

/// Returns the heads of the columns of [`Outcome::line`].
pub fn columns() -> String {
    format!(
        "{:<28} {:<34} {:<14} {:<8} {:<12} {:>7}  {:<14} {:<12}  {:<18} summary",
        "subject", "label", "verdict", "", "", "time", "promised", "real", "of its place"
    )
}

impl Record {
    /// Creates an empty record.
    pub fn new(by: &str, neighbours: usize) -> Self {
        let by = by.to_owned();
        Self { schema: "torr.clinic/4", by, neighbours, weather: None, outcomes: Vec::new(), not_run: Vec::new() }
    }

    /// Writes the record as JSON.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(self).map_err(Error::at("the record"))?;
        fs::write(path, text).map_err(Error::at(path.display()))
    }
}
