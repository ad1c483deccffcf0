//! The load generators: which take part in what.

use std::io;

use super::arguments;
use super::load_settings::LoadSettings;
use super::tally::{self, Tally};
use super::{CLOSED_LOOP, FLOOR, GCANNON, H2LOAD, OHA, TORR, USER_CLOCK, WRK};
use crate::scenario::{Scenario, Side, Style};

/// A load generator.
pub struct Load {
    /// Name among the candidates.
    pub name: &'static str,
    /// Name of its tool.
    pub tool: &'static str,
    /// What it can do.
    pub styles: &'static [Style],
    /// It believes in keep-alive only where the response announces it.
    pub http10: bool,
    /// Its arguments; files that it needs are written.
    pub arguments: fn(&LoadSettings<'_>) -> io::Result<Vec<String>>,
    /// Reads its stdout.
    pub tally: fn(&str) -> Option<Tally>,
}

impl Load {
    /// Returns whether the load generator takes part in a scenario. On the transport side no floor takes part.
    pub fn takes_part(&self, scenario: Scenario) -> bool {
        self.styles.contains(&scenario.style) && (scenario.side == Side::Press || self.name != FLOOR)
    }
}

/// Styles that every load generator supports.
const PLAIN: &[Style] = &[Style::KeepAlive, Style::Close];

/// Requests on a schedule.
const OPEN_LOOPS: &[Style] = &[Style::OpenLoop, Style::OpenLoop20k, Style::OpenLoop60k];

/// The load generators, in the order of the first round.
pub static LOADS: [Load; 10] = [
    Load {
        name: FLOOR,
        tool: FLOOR,
        styles: PLAIN,
        http10: false,
        arguments: arguments::floor_client,
        tally: tally::floor,
    },
    Load {
        name: TORR,
        tool: TORR,
        styles: &[
            Style::KeepAlive,
            Style::Close,
            Style::Pipelined,
            Style::Tls,
            Style::TlsHandshakes,
            Style::Http2,
            Style::H2c,
            Style::OpenLoop,
            Style::OpenLoop20k,
            Style::OpenLoop60k,
        ],
        http10: false,
        arguments: arguments::torr,
        tally: tally::torr,
    },
    Load {
        name: CLOSED_LOOP,
        tool: TORR,
        styles: OPEN_LOOPS,
        http10: false,
        arguments: arguments::torr_closed_loop,
        tally: tally::torr,
    },
    Load {
        name: USER_CLOCK,
        tool: TORR,
        styles: OPEN_LOOPS,
        http10: false,
        arguments: arguments::torr_user_clock,
        tally: tally::torr,
    },
    Load {
        name: WRK,
        tool: WRK,
        styles: &[Style::KeepAlive, Style::Close, Style::Pipelined, Style::Tls, Style::TlsHandshakes],
        http10: false,
        arguments: arguments::wrk,
        tally: tally::wrk,
    },
    Load { name: "ab", tool: "ab", styles: PLAIN, http10: true, arguments: arguments::ab, tally: tally::ab },
    Load {
        name: OHA,
        tool: OHA,
        styles: &[
            Style::KeepAlive,
            Style::Close,
            Style::Tls,
            Style::TlsHandshakes,
            Style::Http2,
            Style::H2c,
            Style::OpenLoop,
            Style::OpenLoop20k,
            Style::OpenLoop60k,
        ],
        http10: false,
        arguments: arguments::oha,
        tally: tally::oha,
    },
    Load {
        name: H2LOAD,
        tool: H2LOAD,
        styles: &[Style::KeepAlive, Style::Pipelined, Style::Tls, Style::Http2, Style::H2c],
        http10: false,
        arguments: arguments::h2load,
        tally: tally::h2load,
    },
    Load { name: "hey", tool: "hey", styles: PLAIN, http10: false, arguments: arguments::hey, tally: tally::hey },
    Load {
        name: GCANNON,
        tool: GCANNON,
        styles: &[Style::KeepAlive, Style::Close, Style::Pipelined],
        http10: false,
        arguments: arguments::gcannon,
        tally: tally::gcannon,
    },
];

/// The load generator of this name.
pub fn load(name: &str) -> &'static Load {
    LOADS.iter().find(|load| load.name == name).expect("a name from the table")
}
