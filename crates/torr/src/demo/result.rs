//! The result of the demo.

use super::reference::Reference;
use serde::Serialize;
use torr_gauge::{Machine, RunResult, Verdict};

/// The connections of loads on the database.
pub const QUERY_CONNECTIONS: usize = 100;

/// The result of the demo.
#[derive(Serialize)]
pub struct Demo {
    pub schema: &'static str,
    pub torr: &'static str,
    pub machine: Machine,
    pub workers: usize,
    /// The kind of the database, without its address and user.
    pub database: String,
    pub rows: Vec<Row>,
    /// The doctor's verdict of the page; the passive verdict of the first row if there was no time for that.
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

/// A setting and its measurement.
#[derive(Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub setting: Setting,
    pub run: RunResult,
}
