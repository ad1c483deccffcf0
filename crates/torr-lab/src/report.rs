//! The result of a comparison: one versioned type that every output is made from.

use crate::block::{Block, InvalidReason};
use crate::gate::{Kept, Rule};
use crate::judgement::{Finding, Outcome};
use crate::mean::Means;
use crate::metric::Metric;
use serde::Serialize;
use std::collections::BTreeMap;
use torr_gauge::Machine;

/// The version of [`Report`]. `torr.compare/1` is taken: `torr doctor` writes it with `--sweep` and its like.
pub const SCHEMA: &str = "torr.versions/1";

/// A comparison of two versions.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The version of the program that compared.
    pub torr: &'static str,
    /// A: a URL, a command or the names of results.
    pub a: String,
    /// B.
    pub b: String,
    /// When the comparison began (RFC 3339, UTC); empty for results.
    pub started_at: String,
    /// The machine that compared; `None` for results.
    pub machine: Option<Machine>,
    /// The seed of all that was drawn at random.
    pub seed: u64,
    /// How long it took in seconds.
    pub seconds: f64,
    /// Connections; 0 for results.
    pub connections: usize,
    /// The fixed rate in requests per second.
    pub rate: Option<f64>,
    /// The smallest relative difference of each metric that the blocks could show, by the spread within A against A and A against B. No
    /// finding claims less.
    pub smallest: BTreeMap<Metric, f64>,
    /// The findings.
    pub findings: Vec<Finding>,
    /// The mean response times, which stand beside the CPU time; `None` for results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub means: Option<Means>,
    /// What became of the thresholds.
    #[serde(skip)]
    pub rules: Vec<Judged>,
    /// The number of blocks or results that were left out, for showing something else than their version.
    pub left_out: usize,
    /// Why, with the number of turns or results.
    pub reasons: BTreeMap<InvalidReason, usize>,
    /// What the reader should know. JSON has sentences, which the program adds.
    #[serde(skip)]
    pub notes: Vec<Note>,
    /// Whether the comparison was interrupted.
    pub interrupted: bool,
    /// Blocks of A against A.
    pub noise_blocks: Vec<Block>,
    /// Blocks of A against B.
    pub blocks: Vec<Block>,
}

/// A threshold and what became of it. JSON has a sentence as well, which the program adds.
#[derive(Debug, Clone, Copy)]
pub struct Judged {
    /// The threshold.
    pub rule: Rule,
    /// What became of it.
    pub outcome: Kept,
}

/// What the reader of a comparison should know.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the sentence of each note describes it")]
pub enum Note {
    /// The number of results of each version that a test needs.
    FewResults {
        enough: usize,
    },
    DifferentLoads,
    ClosedLoop,
    AllOfAFirst,
    StartedOnce,
    LittleCpu,
    ServerNotVisible,
    /// The ratios of B to A of the CPU time and of the mean response time, which go in opposite directions.
    Queueing {
        cpu: f64,
        mean: f64,
    },
}

/// What a comparison comes to, as its exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// All thresholds passed; without any the main metric was shown.
    Shown,
    /// A threshold failed.
    Failed,
    /// It cannot be shown.
    CannotTell,
}

impl Report {
    /// Returns what it comes to.
    pub fn conclusion(&self) -> Conclusion {
        let any = |kept| self.rules.iter().any(|judged| judged.outcome == kept);
        let is_shown = main(&self.findings).is_some_and(|finding| finding.outcome != Outcome::CannotTell);
        match () {
            () if any(Kept::Failed) => Conclusion::Failed,
            () if any(Kept::CannotTell) || (self.rules.is_empty() && !is_shown) => Conclusion::CannotTell,
            () => Conclusion::Shown,
        }
    }
}

/// Returns the finding about the steadiest metric that was measured.
pub fn main(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|finding| finding.pairs > 0)
}

/// Judges thresholds by findings.
pub fn judged(rules: &[Rule], findings: &[Finding]) -> Vec<Judged> {
    let finding = |rule: &Rule| findings.iter().find(|finding| finding.metric == rule.metric);
    rules.iter().map(|&rule| Judged { rule, outcome: rule.judge(finding(&rule)) }).collect()
}

/// Returns each metric with the relative difference that counts: that of its threshold, or the usual one.
pub fn margins(rules: &[Rule], usual: f64) -> Vec<(Metric, f64)> {
    let margin = |metric: Metric| {
        let rules = rules.iter().filter(|rule| rule.metric == metric);
        rules.map(|rule| rule.beyond).reduce(f64::min).unwrap_or(usual)
    };
    Metric::ALL.map(|metric| (metric, margin(metric))).to_vec()
}
