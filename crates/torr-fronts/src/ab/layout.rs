//! The layout of ApacheBench.

pub mod files;
mod page;
mod rows;
mod table;
mod times;

pub use page::report;
pub use table::table;

use super::args::Args;
use crate::figures::failed;
use rows::document_length;
use torr_gauge::collector::Measurement;

/// Returns notes on figures that differ from those of ApacheBench.
pub fn notes(measured: &Measurement, args: &Args) -> Vec<String> {
    let mut notes = vec!["times are to the microsecond, and include requests that timed out".to_owned()];
    let result = &measured.result;
    if result.bytes.body != document_length(measured) * result.requests && !args.variable_length {
        notes.push("responses differ in length, which is not a failure".into());
    }
    if failed(measured) > 0 {
        notes.push("complete requests are those with a response; timeouts count as exceptions".into());
    }
    notes
}
