//! The loads of a soak: all at once, each at its share of what it reached in a closed loop beside the others.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::candidates::arguments::words;
use crate::child::Beside;
use torr_test_support::error::Error;

/// HTTP/1.1 over connections that are cut now and then.
pub const THROUGH_LINK: &str = "HTTP/1.1";
/// Rows of the database.
pub const ROWS: &str = "rows";
/// Requests of a session of `sessions::write_files`.
const OF_SESSION: f64 = 5.0;
/// How long a load may take to end after its time: what is in flight may still be answered.
const PATIENCE: Duration = Duration::from_secs(60);

/// A load, and how much of it.
pub struct Load {
    pub name: &'static str,
    /// What `torr` takes, without length and rate.
    pub arguments: String,
    /// Requests per second in the closed loop.
    pub limit: f64,
    /// Requests, or sessions, per second.
    pub rate: u64,
}

/// Where the servers are.
pub struct Ports {
    pub plain: u16,
    pub tls: u16,
    pub link: u16,
}

/// Returns all loads, still without rates.
pub fn all(ports: &Ports) -> Vec<Load> {
    let Ports { plain, tls, link } = ports;
    let one = |name, arguments| Load { name, arguments, limit: 0.0, rate: 0 };
    vec![
        one(THROUGH_LINK, format!("http://127.0.0.1:{link}/json")),
        one("TLS", format!("--insecure https://127.0.0.1:{tls}/json")),
        one("HTTP/2", format!("--insecure --http2 --streams 5 https://127.0.0.1:{tls}/bytes/1000")),
        one("sessions", format!("session.hurl --variable base=http://127.0.0.1:{plain} --feeder users.csv")),
        one(ROWS, format!("http://127.0.0.1:{plain}/db/raw")),
    ]
}

impl Load {
    /// Starts it, for a time, as a closed loop or at its rate.
    pub fn start(&self, torr: &str, folder: &Path, seconds: u64) -> Result<Beside, Error> {
        let rate = if self.rate > 0 { format!("--rate {}", self.rate) } else { String::new() };
        let expected = if self.arguments.contains(".hurl") { "" } else { "--expect-status 200" };
        let line = format!("{} -t 1 -c 20 -d {seconds}s {rate} {expected} -q --json -", self.arguments);
        Beside::start(self.name, torr, &words(&line), folder)
    }
}

/// Runs all loads at once as closed loops, and sets the rate of each to this percentage of what it reached.
pub fn find_rates(loads: &mut [Load], torr: &str, folder: &Path, seconds: u64, percent: u32) -> Result<(), Error> {
    let running = loads.iter().map(|load| load.start(torr, folder, seconds)).collect::<Result<Vec<_>, _>>()?;
    for (load, program) in loads.iter_mut().zip(running) {
        load.limit = result(load.name, program, seconds)?["rps"].as_f64().unwrap_or(0.0);
        let of_one = if load.arguments.contains(".hurl") { OF_SESSION } else { 1.0 };
        load.rate = ((load.limit * f64::from(percent) / 100.0 / of_one) as u64).max(1);
        eprintln!(
            "soak, {}: {:.0} requests/s in a closed loop, from now on --rate {}",
            load.name, load.limit, load.rate
        );
    }
    Ok(())
}

/// Waits for a load's end and returns its result. Failed checks (exit code 1) are in it; any other failure is an error.
pub fn result(name: &str, program: Beside, seconds: u64) -> Result<Value, Error> {
    let (code, stdout, last_words) = program.finish(Duration::from_secs(seconds) + PATIENCE)?;
    match code {
        Some(0 | 1) => serde_json::from_str(&stdout).map_err(Error::at(format!("{name}: no result ({last_words})"))),
        _ => Err(Error::failed(format!("{name} ended with {code:?}: {last_words}"))),
    }
}
