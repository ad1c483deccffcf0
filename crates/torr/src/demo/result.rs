//! What the demo found.

use super::reference::Reference;
use serde::Serialize;
use torr_gauge::{Machine, RunResult, Verdict};

/// The connections over which rows of the database are asked for.
pub const QUERY_CONNECTIONS: usize = 100;

/// All that the demo found.
#[derive(Serialize)]
pub struct Demo {
    pub schema: &'static str,
    pub torr: &'static str,
    pub machine: Machine,
    pub workers: usize,
    /// The kind of database that the rows come from; where it is and who asks it is not told.
    pub database: String,
    pub rows: Vec<Row>,
    /// Of the page, by the doctor; of the first row alone if there was no time for that.
    pub verdict: Option<Verdict>,
}

/// What is pressed, and what the documents have for it.
#[derive(Serialize)]
pub struct Setting {
    pub name: String,
    pub path: String,
    pub connections: usize,
    pub keep_alive: bool,
    pub references: Vec<Reference>,
}

/// One setting and what it came to.
#[derive(Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub setting: Setting,
    pub run: RunResult,
}
