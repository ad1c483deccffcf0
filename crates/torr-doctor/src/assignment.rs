//! The service to diagnose, the load that is meant for it and the limits of what may be done to it.

use crate::invocation::Invocation;
use std::time::Duration;
use torr_press::Plan;
use torr_press::request::Options;

/// A service to diagnose, and how.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// A closed loop as the user means to load the service. Its length does not matter.
    pub plan: Plan,
    /// The options of its requests, from which variations are made.
    pub options: Options,
    /// The user's command line, for the commands that are printed.
    pub again: Invocation,
    /// The budget.
    pub budget: Duration,
    /// Requests per second that are never exceeded.
    pub max_rate: Option<f64>,
    /// Connections that are never exceeded.
    pub max_connections: usize,
}
