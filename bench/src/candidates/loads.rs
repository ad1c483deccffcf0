//! The load generators: how each is told what to do.

use super::tally::{self, Tally};
use super::{FLOOR, TORR, WRK};

/// What a load generator is asked to do.
pub struct Ask<'a> {
    /// Port of the server on the loopback.
    pub port: u16,
    /// Path to ask for.
    pub path: &'a str,
    /// Connections open at a time.
    pub connections: u32,
    /// Length of the turn.
    pub seconds: f64,
    /// One connection per request.
    pub close: bool,
}

impl Ask<'_> {
    fn url(&self) -> String {
        format!("http://127.0.0.1:{}{}", self.port, self.path)
    }
}

/// A load generator.
pub struct Load {
    /// Name of its tool.
    pub name: &'static str,
    /// It can make one connection per request.
    pub close: bool,
    /// It believes in keep-alive only where the answer announces it.
    pub http10: bool,
    /// Its arguments.
    pub arguments: fn(&Ask<'_>) -> Vec<String>,
    /// Reads its stdout.
    pub tally: fn(&str) -> Option<Tally>,
}

/// The load generators, in the order of the first round.
pub static LOADS: [Load; 7] = [
    Load { name: FLOOR, close: true, http10: false, arguments: floor_client, tally: tally::floor },
    Load { name: TORR, close: true, http10: false, arguments: torr, tally: tally::torr },
    Load { name: WRK, close: true, http10: false, arguments: wrk, tally: tally::wrk },
    Load { name: "ab", close: true, http10: true, arguments: ab, tally: tally::ab },
    Load { name: "oha", close: true, http10: false, arguments: oha, tally: tally::oha },
    Load { name: "h2load", close: false, http10: false, arguments: h2load, tally: tally::h2load },
    Load { name: "hey", close: true, http10: false, arguments: hey, tally: tally::hey },
];

/// The load generator of this name.
pub fn load(name: &str) -> &'static Load {
    LOADS.iter().find(|load| load.name == name).expect("a name from the table")
}

/// The words of a command line's tail; none of them may hold a space.
pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn floor_client(ask: &Ask<'_>) -> Vec<String> {
    let close = if ask.close { "close" } else { "" };
    words(&format!("floor-client {} {} {} {close} --path {}", ask.port, ask.connections, ask.seconds, ask.path))
}

fn torr(ask: &Ask<'_>) -> Vec<String> {
    let close = if ask.close { "--no-keepalive" } else { "" };
    words(&format!("-t 1 -c {} -d {}s {close} --json - {}", ask.connections, ask.seconds, ask.url()))
}

fn wrk(ask: &Ask<'_>) -> Vec<String> {
    let mut arguments = words(&format!("-t1 -c{} -d{}s {}", ask.connections, ask.seconds, ask.url()));
    if ask.close {
        arguments.extend(["-H".into(), "Connection: close".into()]);
    }
    arguments
}

fn ab(ask: &Ask<'_>) -> Vec<String> {
    // -t alone would also stop at 50,000 requests, so -n comes after it; ab sets memory aside for as many.
    let (keep, most) = (if ask.close { "" } else { "-k" }, 500_000.0 * ask.seconds);
    words(&format!("-q -r {keep} -c {} -t {} -n {most} {}", ask.connections, ask.seconds, ask.url()))
}

fn oha(ask: &Ask<'_>) -> Vec<String> {
    let close = if ask.close { "--disable-keepalive" } else { "" };
    words(&format!("--no-tui --output-format json {close} -c {} -z {}s {}", ask.connections, ask.seconds, ask.url()))
}

fn h2load(ask: &Ask<'_>) -> Vec<String> {
    words(&format!("--h1 -t1 -c {} -D {} {}", ask.connections, ask.seconds, ask.url()))
}

fn hey(ask: &Ask<'_>) -> Vec<String> {
    let close = if ask.close { "-disable-keepalive" } else { "" };
    words(&format!("-cpus 1 {close} -c {} -z {}s {}", ask.connections, ask.seconds, ask.url()))
}
