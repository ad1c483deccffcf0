//! What is measured: which side, how many connections, and how they are used.

use std::fmt;

use serde::Serialize;

/// Connections of the scenarios that do not vary them.
const FEW: u32 = 100;
/// Requests under way on one connection in the pipelined scenario.
pub const PIPELINE_DEPTH: u32 = 16;

/// The side whose cost is measured; the other side is a floor program.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Load generators.
    Press,
    /// Servers.
    Serve,
}

/// How connections are used.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Many requests per connection, one at a time.
    KeepAlive,
    /// One connection per request.
    Close,
    /// Many requests per connection, [`PIPELINE_DEPTH`] at a time.
    Pipelined,
}

/// One table of the benchmark.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Scenario {
    /// The side that is measured.
    pub side: Side,
    /// How connections are used.
    pub style: Style,
    /// Number of connections open at a time.
    pub connections: u32,
}

impl Scenario {
    /// One connection per request?
    pub fn close(&self) -> bool {
        self.style == Style::Close
    }

    /// What distinguishes it among those of its side.
    pub fn short(&self) -> String {
        match self.style {
            Style::KeepAlive => format!("{} connections", self.connections),
            Style::Close => format!("one connection per request ({})", self.connections),
            Style::Pipelined => format!("pipelined {PIPELINE_DEPTH} deep ({})", self.connections),
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Press => "press",
            Side::Serve => "serve",
        };
        write!(f, "{side}, {}", self.short())
    }
}

/// All scenarios of these sides, in the order they are run.
pub fn all(sides: &[Side], connections: &[u32]) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for &side in sides {
        scenarios.extend(connections.iter().map(|&connections| Scenario {
            side,
            style: Style::KeepAlive,
            connections,
        }));
        scenarios.push(Scenario { side, style: Style::Close, connections: FEW });
        if side == Side::Serve {
            scenarios.push(Scenario { side, style: Style::Pipelined, connections: FEW });
        }
    }
    scenarios
}
