//! Results as one HTML page, which opens from disk, loads nothing and is whole without its script.
//!
//! The page is made from the JSON of results, so that archived files and fresh results go the same way. All text passes
//! through [`maud`], which escapes it; the policy of the page forbids every load, and every script but our own.

mod document;
mod fields;
mod plot;
mod run_before;
mod section;
mod shell;

pub use document::{Document, DocumentError};
pub use run_before::RunBefore;

use maud::Markup;

/// Returns the page of one or several results.
pub fn page(documents: &[Document]) -> String {
    shell::page(documents).into_string()
}

/// Returns the part of a page that is about one result.
pub fn article(document: &Document) -> Markup {
    shell::article(0, document)
}

/// Returns plots of the last minute before `until_s` seconds of a run that goes on. Of its JSON the fields `plan`, `series`, `sessions`,
/// `steering` and `streams` are read, and the series may be its last points only. `marks` are moments with short names.
pub fn recent(run: &serde_json::Value, until_s: f64, marks: &[(f64, &str)]) -> Markup {
    section::over_time::recent::recent(run, until_s, marks)
}

/// The time in seconds that [`recent`] shows.
pub const RECENT_S: f64 = section::over_time::recent::SHOWN_S;

/// Returns a page with the style of all pages and one of its own, whose script fills it from the server that it came from.
/// Style and script must be texts of the program.
pub fn live_page(title: &str, style: &str, script: &str, main: &Markup) -> String {
    shell::live_page(title, style, script, main).into_string()
}
