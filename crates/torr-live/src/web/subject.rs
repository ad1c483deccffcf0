//! What a dashboard is about: a run, or a procedure of several loads.

use crate::wish::Wish;
use maud::Markup;
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;
use torr_gauge::RunResult;

/// What a dashboard is about.
pub trait Subject: Debug + Send + 'static {
    /// Returns the page, which its script fills.
    fn page(&self) -> String;

    /// Returns the state as HTML, at a time in seconds since the beginning.
    fn panel(&mut self, elapsed_s: f64, has_ended: bool) -> Markup;

    /// Does what an operator wants.
    fn fulfil(&mut self, wish: Wish);

    /// Returns the result so far; `None` if there is none.
    fn found(&self, has_ended: bool) -> Option<Found>;
}

/// A result of which there is a report.
#[derive(Debug)]
pub enum Found {
    /// That of a run.
    Run(Arc<RunResult>),
    /// A result as JSON.
    Written(Arc<Value>),
}

impl Found {
    /// Returns the result as JSON.
    pub fn json(&self) -> Option<Value> {
        match self {
            Self::Run(result) => serde_json::to_value(result.as_ref()).ok(),
            Self::Written(value) => Some(Value::clone(value)),
        }
    }
}
