//! What came of a comparison.

use super::measuring::Turns;
use super::row::Row;
use crate::laboratory::Laboratory;
use crate::observation::Observation;
use serde::Serialize;

/// The version of [`Comparison`].
pub const SCHEMA: &str = "torr.compare/1";

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A server with several numbers of workers.
    Workers,
    /// A service asked directly, and through a proxy.
    Via,
    /// A service without TLS, with full handshakes and with resumed ones; connections kept and not.
    Tls,
    /// Several paths of one server.
    Paths,
}

/// What came of it.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The version of the program.
    pub torr: &'static str,
    /// What was compared.
    pub kind: Kind,
    /// The URL, or the first of them; where workers are compared, the command.
    pub target: String,
    /// Connections at a time.
    pub connections: usize,
    /// How long it took.
    pub seconds: f64,
    /// How long it might have taken.
    pub budget_s: f64,
    /// Whether somebody ended it early.
    pub interrupted: bool,
    /// Rounds; each way had its turn in each.
    pub rounds: usize,
    /// The ways in their order.
    pub rows: Vec<Row>,
    /// How many workers are recommended, if those were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<usize>,
    /// What follows from it.
    pub conclusion: Conclusion,
    /// All experiments in their order.
    pub trail: Vec<Observation>,
}

/// What follows from a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Conclusion {
    /// In one sentence.
    pub summary: String,
    /// The evidence, in words with numbers.
    pub because: Vec<String>,
    /// What to do.
    pub advice: Vec<String>,
    /// A command that would show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
}

impl Conclusion {
    /// With something more to do, if there is.
    fn with_advice(mut self, advice: Option<String>) -> Self {
        self.advice.extend(advice);
        self
    }
}

/// Puts together what came of it.
pub(super) fn finish(
    kind: Kind,
    lab: Laboratory<'_>,
    turns: &Turns,
    rows: Vec<Row>,
    conclusion: Conclusion,
) -> Comparison {
    let plan = &lab.assignment.plan;
    let conclusion = conclusion.with_advice(lab.assignment.again.before_running());
    let (seconds, assignment) = (lab.elapsed().as_secs_f64(), lab.assignment);
    let mut trail = lab.trail;
    // Each run's course is of no use to anybody any more, and would be most of what is told.
    trail.iter_mut().for_each(|observation| observation.run.series.clear());
    Comparison {
        schema: SCHEMA,
        torr: env!("CARGO_PKG_VERSION"),
        kind,
        target: plan.target.url.clone(),
        connections: plan.connections.min(assignment.max_connections),
        seconds,
        budget_s: assignment.budget.as_secs_f64(),
        interrupted: turns.interrupted,
        rounds: turns.rounds(),
        rows,
        workers: None,
        conclusion,
        trail,
    }
}
