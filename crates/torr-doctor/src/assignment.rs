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
    /// What its requests were made of, so that others can be made.
    pub options: Options,
    /// What the user gave, for the commands that are printed.
    pub again: Invocation,
    /// How long all may take.
    pub budget: Duration,
    /// Requests per second that are never exceeded.
    pub max_rate: Option<f64>,
    /// Connections that are never exceeded.
    pub max_connections: usize,
}
