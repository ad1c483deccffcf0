//! What is measured: which side, how many connections, and how they are used.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

/// Connections of the scenarios that do not vary them.
const FEW: u32 = 100;
/// Requests in flight on one connection in the pipelined scenarios.
pub const PIPELINE_DEPTH: u32 = 16;
/// Streams in flight on one connection of HTTP/2.
pub const STREAMS: u32 = 10;

/// The side whose cost is measured.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Load generators, on the floor's server.
    Press,
    /// Servers, under the floor's load where it can do that.
    Serve,
    /// Load generators again, but with what the floor cannot do.
    Transport,
}

/// How connections are used, and what for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Many requests per connection, one at a time.
    KeepAlive,
    /// One connection per request.
    Close,
    /// Many requests per connection, [`PIPELINE_DEPTH`] at a time.
    Pipelined,
    /// As [`Style::KeepAlive`], over TLS.
    Tls,
    /// As [`Style::Close`], over TLS, no session being resumed.
    TlsHandshakes,
    /// As [`Style::Close`], over TLS, the session of an earlier connection being resumed.
    TlsResumed,
    /// HTTP/2 over TLS, [`STREAMS`] at a time.
    Http2,
    /// HTTP/2 with prior knowledge over plain TCP, [`STREAMS`] at a time.
    H2c,
    /// As [`Style::KeepAlive`], requests being due at half the rate that a closed loop reaches.
    OpenLoop,
    /// As [`Style::KeepAlive`], 20,000 requests being due each second.
    #[value(name = "open-loop-20k")]
    #[serde(rename = "open_loop_20k")]
    OpenLoop20k,
    /// As [`Style::KeepAlive`], 60,000 requests being due each second.
    #[value(name = "open-loop-60k")]
    #[serde(rename = "open_loop_60k")]
    OpenLoop60k,
    /// As [`Style::KeepAlive`], for a page that takes a path parameter, JSON and a middleware.
    Api,
    /// As [`Style::KeepAlive`], for a page whose handler is pending once.
    Pending,
    /// As [`Style::KeepAlive`], for JSON that is serialised for each request.
    Json,
    /// As [`Style::KeepAlive`], with an access log, and with a client that requests the server's metrics.
    Observed,
}

impl Style {
    /// One connection per request?
    pub fn close(self) -> bool {
        matches!(self, Style::Close | Style::TlsHandshakes | Style::TlsResumed)
    }

    /// Over TLS?
    pub fn tls(self) -> bool {
        matches!(self, Style::Tls | Style::TlsHandshakes | Style::TlsResumed | Style::Http2)
    }

    /// Are requests due on a schedule?
    pub fn open_loop(self) -> bool {
        matches!(self, Style::OpenLoop | Style::OpenLoop20k | Style::OpenLoop60k)
    }

    /// Returns the requests per second of an open loop whose rate depends on no measurement.
    pub fn rate(self) -> Option<u64> {
        match self {
            Style::OpenLoop20k => Some(20_000),
            Style::OpenLoop60k => Some(60_000),
            _ => None,
        }
    }

    /// HTTP/2?
    pub fn http2(self) -> bool {
        matches!(self, Style::Http2 | Style::H2c)
    }
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
    /// Returns whether `torr` checks a server's page: the bench's own probe supports plain HTTP/1.1 only.
    pub fn is_probed_by_torr(&self) -> bool {
        self.style.tls() || self.style.http2()
    }

    /// Returns the scenario's name among those of its side.
    pub fn short(&self) -> String {
        let connections = self.connections;
        match self.style {
            Style::KeepAlive => format!("{connections} connections"),
            Style::Close => format!("one connection per request ({connections})"),
            Style::Pipelined => format!("pipelined {PIPELINE_DEPTH} deep ({connections})"),
            Style::Tls => format!("TLS kept alive ({connections})"),
            Style::TlsHandshakes => format!("TLS, a full handshake per request ({connections})"),
            Style::TlsResumed => format!("TLS, a resumed session per request ({connections})"),
            Style::Http2 => format!("HTTP/2 over TLS, {STREAMS} streams each ({connections})"),
            Style::H2c => format!("HTTP/2 without TLS, {STREAMS} streams each ({connections})"),
            Style::OpenLoop => format!("open loop at half load ({connections})"),
            Style::OpenLoop20k => format!("open loop, 20,000/s ({connections})"),
            Style::OpenLoop60k => format!("open loop, 60,000/s ({connections})"),
            Style::Api => format!("path parameter, JSON and middleware ({connections})"),
            Style::Pending => format!("a handler pending once ({connections})"),
            Style::Json => format!("JSON ({connections})"),
            Style::Observed => format!("access log, metrics ({connections})"),
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Press => "press",
            Side::Serve => "serve",
            Side::Transport => "transport",
        };
        write!(f, "{side}, {}", self.short())
    }
}

/// All scenarios of these sides, in the order they are run, or only those of some styles.
pub fn all(sides: &[Side], connections: &[u32], only: &[Style]) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for &side in sides {
        let varied: &[u32] = if side == Side::Transport { &[] } else { connections };
        scenarios.extend(varied.iter().map(|&connections| Scenario { side, style: Style::KeepAlive, connections }));
        let others: &[Style] = match side {
            Side::Press => &[Style::Close],
            Side::Serve => &[
                Style::Close,
                Style::Pipelined,
                Style::Api,
                Style::Pending,
                Style::Tls,
                Style::TlsHandshakes,
                Style::TlsResumed,
                Style::Http2,
                Style::H2c,
                Style::Json,
                Style::Observed,
            ],
            Side::Transport => &[
                Style::Tls,
                Style::TlsHandshakes,
                Style::Http2,
                Style::H2c,
                Style::Pipelined,
                Style::OpenLoop,
                Style::OpenLoop20k,
                Style::OpenLoop60k,
            ],
        };
        scenarios.extend(others.iter().map(|&style| Scenario { side, style, connections: FEW }));
    }
    scenarios.retain(|scenario| only.is_empty() || only.contains(&scenario.style));
    scenarios
}
