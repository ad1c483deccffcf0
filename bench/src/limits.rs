//! The figures that Torr is to reach, from the design's tables.

use serde::Serialize;

use crate::candidates::{FLOOR, NGINX, TORR};
use crate::scenario::{Scenario, Side, Style};

/// The most that one candidate may cost, as a ratio to another's cost in the same round.
#[derive(Clone, Copy, Serialize)]
pub struct Limit {
    /// The candidate compared with.
    pub against: &'static str,
    /// CPU time per request, this candidate's over that one's.
    pub at_most: f64,
}

impl Limit {
    /// As the design puts it: of the floor unless it says more, and ten times the requests is a tenth of the CPU time.
    pub fn text(&self, scenario: Scenario) -> String {
        match scenario.style {
            _ if self.against == FLOOR => format!("at most {:.2}", self.at_most),
            Style::Pipelined => format!("at least {:.0} x {}", 1.0 / self.at_most, self.against),
            _ => format!("at most {:.2} x {}", self.at_most, self.against),
        }
    }
}

/// The figure to reach, where the design has one.
pub fn limit(scenario: Scenario, candidate: &str) -> Option<Limit> {
    if candidate != TORR {
        return None;
    }
    let (against, at_most) = match (scenario.side, scenario.style, scenario.connections) {
        (Side::Press, Style::KeepAlive, 100 | 1000) => (FLOOR, 1.05),
        (Side::Press, Style::KeepAlive, 8000) => (FLOOR, 1.10),
        (Side::Press, Style::Close, _) => (FLOOR, 1.02),
        (Side::Serve, Style::KeepAlive, 100) => (FLOOR, 1.03),
        (Side::Serve, Style::KeepAlive, 1000 | 8000) => (FLOOR, 1.05),
        (Side::Serve, Style::Close, _) => (NGINX, 0.92),
        (Side::Serve, Style::Pipelined, _) => (NGINX, 0.10),
        _ => return None,
    };
    Some(Limit { against, at_most })
}
