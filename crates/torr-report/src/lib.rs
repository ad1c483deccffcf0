//! Results as text, as a live progress line, and in the formats of other programs.
#![forbid(unsafe_code)]

pub mod buckets;
pub mod csv;
pub mod entries;
pub mod expectations;
mod exponential;
pub mod failures;
mod families;
pub mod fit;
mod fleet;
pub mod hlog;
pub mod human;
pub mod junit;
pub mod live;
pub mod otlp;
pub mod prometheus;
pub mod push;
mod replay;
pub mod sentence;
pub mod sessions;
pub mod steering;
mod streams;
pub mod style;
pub mod summary;
pub mod table;
pub mod terminal;
pub mod text;
pub mod transport;
mod verdict_line;
mod websocket;

pub use verdict_line::verdict_line;

use torr_gauge::RunResult;

/// Returns the result as JSON in its schema, `torr.run/1`.
///
/// # Errors
/// Never for the result of a run.
pub fn json(run: &RunResult) -> serde_json::Result<String> {
    serde_json::to_string_pretty(run)
}
