//! The truth about a planted difference: what a unit of it costs, as a share of the CPU time of a request.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::planted::Kind;
use crate::candidates::arguments::words;
use crate::child::{self, Server, free_port};
use crate::rounds::median;
use torr_test_support::error::Error;

/// The connections of all loads, of comparisons as well.
pub const CONNECTIONS: u32 = 16;
/// Pairs of turns, without and with the units.
const PAIRS: usize = 10;
/// The length of a turn in seconds.
const TURN: u32 = 2;
/// The relative difference that a calibration plants: the larger it is, the more exactly it is measured; but a server that does much
/// more is busier, and a busy server has fewer wake-ups for each request.
const PLANTED: f64 = 0.2;
/// The fixed rate as a share of what the service that does more can take, as in a comparison.
const RATE: f64 = 0.6;
/// The least relative difference that the first, rough turns must show.
const LEAST: f64 = 0.01;
/// The time that a load may take beyond its length.
const OVERTIME: Duration = Duration::from_secs(30);

/// What was measured about a kind of difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The kind.
    pub kind: Kind,
    /// The CPU time of a request without a difference in microseconds, the median.
    pub base_us: f64,
    /// The units that were planted.
    pub units: u32,
    /// The CPU time of a request with these units as a multiple of that without, of each pair of turns.
    pub ratios: Vec<f64>,
}

impl Calibration {
    /// Measures a kind of difference.
    pub fn measure(kind: Kind, torr: &str) -> Result<Self, Error> {
        let folder = tempfile::tempdir()?;
        let own = std::env::current_exe()?;
        let site = Site { torr, own: &own.to_string_lossy(), folder: folder.path() };
        let mut base = site.start(kind, 0)?;
        let first = match kind {
            Kind::Work | Kind::Allocation => 500,
            Kind::Query => 30,
        };
        let units = {
            let mut more = site.start(kind, first)?;
            let rate = site.limit(&more)? * RATE;
            let rough = site.cpu_us(&mut more, rate)? / site.cpu_us(&mut base, rate)? - 1.0;
            if rough < LEAST {
                return Err(Error::failed(format!("{first} units of {kind} cost {:.2}% only", rough * 100.0)));
            }
            (PLANTED / rough * f64::from(first)).ceil() as u32
        };
        let mut more = site.start(kind, units)?;
        let rate = site.limit(&more)? * RATE;
        let (mut without, mut ratios) = (Vec::new(), Vec::new());
        for pair in 0..PAIRS {
            let (plain, heavy);
            if pair % 2 == 0 {
                plain = site.cpu_us(&mut base, rate)?;
                heavy = site.cpu_us(&mut more, rate)?;
            } else {
                heavy = site.cpu_us(&mut more, rate)?;
                plain = site.cpu_us(&mut base, rate)?;
            }
            without.push(plain);
            ratios.push(heavy / plain);
        }
        Ok(Self { kind, base_us: median(without), units, ratios })
    }

    /// Returns the cost of a unit as a share of a request without.
    pub fn unit(&self) -> f64 {
        (median(self.ratios.clone()) - 1.0) / f64::from(self.units)
    }

    /// Returns the units that come closest to a difference in percent; at least one, unless there is to be none.
    pub fn units_of(&self, percent: u32) -> u32 {
        match percent {
            0 => 0,
            _ => (f64::from(percent) / 100.0 / self.unit()).round().max(1.0) as u32,
        }
    }

    /// Returns the CPU time of a request with some units as a multiple of that without.
    pub fn ratio(&self, units: u32) -> f64 {
        1.0 + self.unit() * f64::from(units)
    }

    /// Returns by how much the ratio of some units may be wrong: half the range of the middle half of the pairs, in proportion.
    pub fn doubt(&self, units: u32) -> f64 {
        let mut ratios = self.ratios.clone();
        ratios.sort_by(f64::total_cmp);
        let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share).round() as usize];
        let half = (at(0.75) - at(0.25)) / 2.0;
        half / f64::from(self.units) * f64::from(units)
    }
}

/// The programs, and a folder for what they write.
struct Site<'s> {
    torr: &'s str,
    own: &'s str,
    folder: &'s Path,
}

impl Site<'_> {
    fn start(&self, kind: Kind, units: u32) -> Result<Server, Error> {
        let port = free_port()?;
        Server::on_all_cpus("planted", port, self.own, &words(&arguments(&port.to_string(), kind, units)), self.folder)
    }

    /// Returns the responses per second of a closed loop.
    fn limit(&self, server: &Server) -> Result<f64, Error> {
        let result = self.load(server, "")?;
        result["rps"].as_f64().ok_or_else(|| Error::failed("torr's result has no rate"))
    }

    /// Returns the CPU time of the server in microseconds for each response at a fixed rate.
    fn cpu_us(&self, server: &mut Server, rate: f64) -> Result<f64, Error> {
        let before = server.cpu_at_rest()?;
        let result = self.load(server, &format!("--rate {rate:.0}"))?;
        let used = server.cpu_at_rest()? - before;
        let responses = result["requests"].as_f64().filter(|&responses| responses > 0.0);
        responses.map(|responses| used * 1e6 / responses).ok_or_else(|| Error::failed("no request got a response"))
    }

    fn load(&self, server: &Server, more: &str) -> Result<Value, Error> {
        let url = format!("http://127.0.0.1:{}/", server.port());
        let line = format!("{url} -c {CONNECTIONS} -t 1 -d {TURN}s -q --json - {more}");
        let limit = Duration::from_secs(TURN.into()) + OVERTIME;
        let ended = child::run("torr", self.torr, &words(&line), self.folder, limit)?;
        serde_json::from_str(&ended.stdout).map_err(Error::at("torr's result"))
    }
}

/// Returns the arguments of the service, of which none holds a space.
pub fn arguments(listen: &str, kind: Kind, units: u32) -> String {
    format!("planted {listen} --kind {} --units {units}", kind.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_close_to_a_difference_and_say_what_they_are() {
        let ratios = vec![1.25, 1.20, 1.19, 1.21, 1.20];
        let calibration = Calibration { kind: Kind::Query, base_us: 200.0, units: 20, ratios };
        assert!((calibration.unit() - 0.01).abs() < 1e-12);
        assert_eq!([0, 1, 2, 10].map(|percent| calibration.units_of(percent)), [0, 1, 2, 10]);
        assert!((calibration.ratio(3) - 1.03).abs() < 1e-12);
        assert!((calibration.doubt(2) - 0.0005).abs() < 1e-9, "{}", calibration.doubt(2));
        let coarse = Calibration { units: 8, ..calibration };
        assert_eq!(coarse.units_of(1), 1, "a difference is never nothing");
        assert!((coarse.ratio(1) - 1.025).abs() < 1e-12);
    }
}
