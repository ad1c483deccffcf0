//! A result as text, as a live line, and in the formats that other programs read. Knows nothing of how it was made.
#![forbid(unsafe_code)]

pub mod buckets;
pub mod csv;
pub mod expectations;
pub mod failures;
pub mod fit;
pub mod fronts;
pub mod hlog;
pub mod human;
pub mod junit;
pub mod live;
pub mod otlp;
pub mod prometheus;
pub mod style;
pub mod summary;
pub mod table;
pub mod terminal;
pub mod text;

use torr_gauge::RunResult;

/// The result as JSON, in the form of its schema.
///
/// # Errors
/// Never for a result that a run made; `serde_json` cannot promise that.
pub fn json(run: &RunResult) -> serde_json::Result<String> {
    serde_json::to_string_pretty(run)
}
