//! The result of a comparison.

use super::conclusion::{ComparisonAdvice, Conclusion};
use super::measuring::Turns;
use super::row::Row;
use crate::load_runner::LoadRunner;
use crate::observation::Observation;
use serde::Serialize;

/// The version of [`Comparison`].
pub const SCHEMA: &str = "torr.compare/1";

/// The subject of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A server with several numbers of workers.
    Workers,
    /// A service directly, and through a proxy.
    Via,
    /// A service without TLS, with full handshakes and with resumed ones, each with keep-alive and without.
    Tls,
    /// Several paths of one server.
    Paths,
}

/// The result of a comparison.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The version of the program.
    pub torr: &'static str,
    /// The subject.
    pub kind: Kind,
    /// The first URL, or the command if workers are compared.
    pub target: String,
    /// Connections at a time.
    pub connections: usize,
    /// The time that the comparison took, in seconds.
    pub seconds: f64,
    /// The time that it was allowed to take, in seconds.
    pub budget_s: f64,
    /// Whether the comparison was interrupted.
    pub interrupted: bool,
    /// The number of rounds, each with one experiment for each variant.
    pub rounds: usize,
    /// The variants in their order.
    pub rows: Vec<Row>,
    /// The recommended number of workers, if workers were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<usize>,
    /// The conclusion. JSON has it with sentences, which the program adds.
    #[serde(skip)]
    pub conclusion: Conclusion,
    /// All experiments in their order. JSON has them with names and questions, which the program adds.
    #[serde(skip)]
    pub trail: Vec<Observation>,
}

/// Assembles the result.
pub(super) fn finish(
    kind: Kind,
    runner: LoadRunner<'_>,
    turns: &Turns,
    rows: Vec<Row>,
    mut conclusion: Conclusion,
) -> Comparison {
    let plan = &runner.assignment.plan;
    conclusion.advice.extend(runner.assignment.again.before_running().into_iter().map(ComparisonAdvice::Diagnosis));
    let (seconds, assignment) = (runner.elapsed().as_secs_f64(), runner.assignment);
    let mut trail = runner.trail;
    // The time series of the runs are not needed, and would be most of the JSON.
    trail.iter_mut().for_each(|observation| observation.run.series.clear());
    Comparison {
        schema: SCHEMA,
        torr: env!("CARGO_PKG_VERSION"),
        kind,
        target: plan.target.shown().into_owned(),
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
