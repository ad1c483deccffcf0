//! The figures that Torr is to reach, from the design's tables.

use serde::Serialize;

use crate::candidates::{
    ACTIX, ASYNC, ASYNC_PENDING, AXUM, CLOSED_LOOP, FLOOR, H2LOAD, JSON, NGINX, OHA, ROUTER, ROUTER_JSON,
    ROUTER_PENDING, TORR, WRK,
};
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

/// The figures to reach, where the design or the issue of the application server has any.
pub fn limits(scenario: Scenario, candidate: &str) -> Vec<Limit> {
    let figures = match scenario.side {
        Side::Serve => of_servers(scenario, candidate),
        Side::Press | Side::Transport if candidate == TORR => of_load(scenario),
        Side::Press | Side::Transport => Vec::new(),
    };
    figures.into_iter().map(|(against, at_most)| Limit { against, at_most }).collect()
}

/// Returns the candidates that all others of a scenario are compared with, beside floor and nginx: those with a figure to reach,
/// and those whose difference is of interest.
pub fn rivals(scenario: Scenario, candidates: &[&'static str]) -> Vec<&'static str> {
    let judged = candidates.iter().flat_map(|candidate| limits(scenario, candidate)).map(|limit| limit.against);
    let criteria: &[&str] = match (scenario.side, scenario.style) {
        (Side::Serve, Style::Api) => &[AXUM, ACTIX],
        (Side::Serve, Style::Pending) => &[ASYNC, ROUTER],
        (Side::Serve, Style::Observed) => &[TORR],
        _ => &[],
    };
    judged.chain(criteria.iter().copied()).collect()
}

fn of_load(scenario: Scenario) -> Vec<(&'static str, f64)> {
    match (scenario.side, scenario.style, scenario.connections) {
        (Side::Press, Style::KeepAlive, 100 | 1000) => vec![(FLOOR, 1.05)],
        (Side::Press, Style::KeepAlive, 8000) => vec![(FLOOR, 1.10)],
        (Side::Press, Style::Close, _) => vec![(FLOOR, 1.02)],
        (Side::Transport, Style::Tls, _) => vec![(WRK, 0.85), (OHA, 1.0)],
        (Side::Transport, Style::TlsHandshakes, _) => vec![(WRK, 1.0)],
        (Side::Transport, Style::Http2 | Style::H2c, _) => vec![(H2LOAD, 1.0)],
        (Side::Transport, Style::Pipelined, _) => vec![(WRK, 1.0 / 1.3)],
        (Side::Transport, Style::OpenLoop, _) => vec![(CLOSED_LOOP, 1.25)],
        // 12 us and 7 us where the closed loop takes 5.3 us.
        (Side::Transport, Style::OpenLoop20k, _) => vec![(CLOSED_LOOP, 2.26)],
        (Side::Transport, Style::OpenLoop60k, _) => vec![(CLOSED_LOOP, 1.32)],
        _ => Vec::new(),
    }
}

fn of_servers(scenario: Scenario, candidate: &str) -> Vec<(&'static str, f64)> {
    let Scenario { style, connections, .. } = scenario;
    match (candidate, style, connections) {
        (TORR, Style::KeepAlive, 100) => vec![(FLOOR, 1.03)],
        (TORR, Style::KeepAlive, 1000 | 8000) => vec![(FLOOR, 1.05)],
        (ROUTER, Style::KeepAlive, _) => {
            let of_floor = match connections {
                100 => Some((FLOOR, 1.12)),
                1000 | 8000 => Some((FLOOR, 1.15)),
                _ => None,
            };
            of_floor.into_iter().chain([(NGINX, 1.0), (AXUM, 1.0), (ACTIX, 1.0)]).collect()
        }
        (TORR, Style::Close, _) => vec![(NGINX, 0.92)],
        (ROUTER, Style::Close, _) => vec![(NGINX, 0.95)],
        (TORR, Style::Pipelined, _) => vec![(NGINX, 0.10)],
        (ROUTER, Style::Pipelined, _) => vec![(NGINX, 0.20)],
        (TORR | ROUTER, Style::Tls, _) => vec![(NGINX, 0.95)],
        (TORR | ROUTER, Style::TlsHandshakes | Style::TlsResumed, _) => vec![(NGINX, 1.0)],
        (ASYNC_PENDING | ROUTER_PENDING, Style::Pending, _) => vec![(FLOOR, 1.35)],
        (JSON, Style::Json, _) => vec![(TORR, 1.05)],
        (ROUTER_JSON, Style::Json, _) => vec![(ROUTER, 1.05)],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::is_ours;
    use crate::candidates::servers::SERVICES;
    use crate::scenario;

    #[test]
    fn limits_read_as_the_design_puts_them() {
        let text_of = |candidate, side, style| {
            let scenario = Scenario { side, style, connections: 100 };
            limits(scenario, candidate).iter().map(|limit| limit.text(scenario)).collect::<Vec<_>>()
        };
        let text = |side, style| text_of(TORR, side, style);
        assert_eq!(text(Side::Press, Style::KeepAlive), ["at most 1.05"]);
        assert_eq!(text(Side::Serve, Style::Pipelined), ["at least 10 x nginx"]);
        assert_eq!(text(Side::Transport, Style::Tls), ["at most 0.85 x wrk", "at most 1.00 x oha"]);
        assert_eq!(text(Side::Transport, Style::Pipelined), ["at least 1.3 x wrk"]);
        assert_eq!(text_of(ROUTER, Side::Serve, Style::Pipelined), ["at least 5 x nginx"]);
        assert_eq!(text_of(ROUTER_JSON, Side::Serve, Style::Json), ["at most 1.05 x torr router"]);
        assert_eq!(text_of(ASYNC_PENDING, Side::Serve, Style::Pending), ["at most 1.35"]);
        assert_eq!(text_of(WRK, Side::Press, Style::KeepAlive), [""; 0]);
    }

    #[test]
    fn each_candidate_with_a_figure_to_reach_takes_part() {
        for scenario in scenario::all(&[Side::Serve], &[100, 1000, 8000], &[]) {
            let services = SERVICES.iter().filter(|service| service.styles.contains(&scenario.style));
            let names: Vec<&str> = services.map(|service| service.name).collect();
            let ours = names.iter().filter(|name| is_ours(name));
            assert!(ours.clone().count() > 0, "{scenario}");
            for rival in rivals(scenario, &names) {
                assert!(names.contains(&rival), "{scenario}: {rival}");
            }
        }
    }
}
