//! The candidates by which the others of a scenario are measured.

use super::{FLOOR, H2LOAD, NGINX, TORR, WRK};
use crate::scenario::{Scenario, Side, Style};

/// The server that load generators are measured on.
pub fn host(scenario: Scenario) -> &'static str {
    match scenario.style {
        Style::Tls | Style::TlsHandshakes | Style::TlsResumed | Style::Http2 | Style::H2c => NGINX,
        Style::Pipelined => TORR, // the floor would send its responses one by one
        _ => FLOOR,
    }
}

/// Returns the load generator that servers are measured with: the floor, or where that cannot do the style, the generator
/// that can at the least cost, so that servers are saturated.
pub fn load_generator(scenario: Scenario) -> &'static str {
    match scenario.style {
        Style::Pipelined => WRK,
        Style::Tls | Style::TlsHandshakes | Style::TlsResumed => TORR,
        Style::Http2 | Style::H2c => H2LOAD,
        _ => FLOOR,
    }
}

/// The tools that the scenario needs beside those that are measured.
pub fn needed(scenario: Scenario) -> Vec<&'static str> {
    match scenario.side {
        Side::Serve if scenario.is_probed_by_torr() => vec![load_generator(scenario), TORR],
        Side::Serve => vec![load_generator(scenario)],
        Side::Press | Side::Transport => vec![host(scenario)],
    }
}
