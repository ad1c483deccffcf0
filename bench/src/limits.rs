//! The figures that Torr is to reach, from the design's tables.

use serde::Serialize;

use crate::candidates::{CLOSED_LOOP, FLOOR, H2LOAD, NGINX, OHA, TORR, WRK};
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
            Style::Pipelined => {
                let at_least = (100.0 / self.at_most).round() / 100.0; // what the division has blurred
                format!("at least {at_least} x {}", self.against)
            }
            _ => format!("at most {:.2} x {}", self.at_most, self.against),
        }
    }
}

/// The figures to reach, where the design has any.
pub fn limits(scenario: Scenario, candidate: &str) -> Vec<Limit> {
    if candidate != TORR {
        return Vec::new();
    }
    let figures: &[(&'static str, f64)] = match (scenario.side, scenario.style, scenario.connections) {
        (Side::Press, Style::KeepAlive, 100 | 1000) => &[(FLOOR, 1.05)],
        (Side::Press, Style::KeepAlive, 8000) => &[(FLOOR, 1.10)],
        (Side::Press, Style::Close, _) => &[(FLOOR, 1.02)],
        (Side::Serve, Style::KeepAlive, 100) => &[(FLOOR, 1.03)],
        (Side::Serve, Style::KeepAlive, 1000 | 8000) => &[(FLOOR, 1.05)],
        (Side::Serve, Style::Close, _) => &[(NGINX, 0.92)],
        (Side::Serve, Style::Pipelined, _) => &[(NGINX, 0.10)],
        (Side::Transport, Style::Tls, _) => &[(WRK, 0.85), (OHA, 1.0)],
        (Side::Transport, Style::TlsHandshakes, _) => &[(WRK, 1.0)],
        (Side::Transport, Style::Http2 | Style::H2c, _) => &[(H2LOAD, 1.0)],
        (Side::Transport, Style::Pipelined, _) => &[(WRK, 1.0 / 1.3)],
        (Side::Transport, Style::OpenLoop, _) => &[(CLOSED_LOOP, 1.25)],
        _ => &[],
    };
    figures.iter().map(|&(against, at_most)| Limit { against, at_most }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_read_as_the_design_puts_them() {
        let text = |side, style| {
            let scenario = Scenario { side, style, connections: 100 };
            limits(scenario, TORR).iter().map(|limit| limit.text(scenario)).collect::<Vec<_>>()
        };
        assert_eq!(text(Side::Press, Style::KeepAlive), ["at most 1.05"]);
        assert_eq!(text(Side::Serve, Style::Pipelined), ["at least 10 x nginx"]);
        assert_eq!(text(Side::Transport, Style::Tls), ["at most 0.85 x wrk", "at most 1.00 x oha"]);
        assert_eq!(text(Side::Transport, Style::Pipelined), ["at least 1.3 x wrk"]);
    }
}
