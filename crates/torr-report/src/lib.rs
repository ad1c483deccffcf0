//! A result as text, as JSON and as a live line. Knows nothing of how it was made.
#![forbid(unsafe_code)]

pub mod fronts;
pub mod human;
pub mod live;
pub mod style;
pub mod table;
pub mod text;

use torr_gauge::RunResult;

/// The result as JSON, in the form of its schema.
///
/// # Errors
/// Never for a result that a run made; `serde_json` cannot promise that.
pub fn json(run: &RunResult) -> serde_json::Result<String> {
    serde_json::to_string_pretty(run)
}
