//! The turns on one database: each way is pressed to be warm, and then sampled in rounds, so that what changes meanwhile is the same
//! for all.

use std::collections::BTreeMap;
use std::path::Path;

use super::naming;
use super::options::WhereOptions;
use super::report::{Named, Profile, Sampling};
use super::sampling::{self, FREQUENCY, Sampled};
use crate::candidates::load_settings::LoadSettings;
use crate::candidates::loads;
use crate::candidates::{PERF, TORR};
use crate::child::{Server, free_port};
use crate::data::candidates::{BUILDER, CANDIDATES, Candidate, HELLO, MODEL, RAW};
use crate::data::check::check;
use crate::data::database::Database;
use crate::data::scenario::{Group, Operation, Scenario};
use crate::data::turns::FAILED_ONE_IN;
use crate::measure::Turn;
use crate::roster::Roster;
use crate::scenario::Style;
use crate::turn::{self, Generator};
use torr_test_support::error::Error;

/// Those that are sampled.
const SAMPLED: [&str; 4] = [HELLO, RAW, BUILDER, MODEL];
/// Length of the turn that is not sampled, in seconds.
const WARM_UP: f64 = 1.0;
/// Length of a turn that is sampled; there is one in each round.
const TURN: f64 = 1.0;
/// At least as much of the service's CPU time must have been seen.
const SEEN: f64 = 0.8;

/// Samples all ways to one row of one database, and the page without a database where it takes part.
pub fn measure(roster: &Roster, options: &WhereOptions, group: Group) -> Result<Vec<Profile>, Error> {
    let folder = tempfile::tempdir()?;
    let database = Database::start(group, folder.path())?;
    let scenario = Scenario { group, operation: Operation::Item };
    let taking_part = |c: &&'static Candidate| SAMPLED.contains(&c.name) && c.takes_part(scenario);
    let ways: Vec<&'static Candidate> = CANDIDATES.iter().filter(taking_part).collect();

    let port = free_port()?;
    let arguments = ways[0].arguments(port, database.url(), ""); // of `torr`, which serves all of them
    let service = Server::start(TORR, port, roster.program(TORR), &arguments, folder.path())?;
    let mut bench = Bench { roster, connections: options.connections, folder: folder.path(), service };
    for way in &ways {
        check(way, port, scenario.operation, &database)?;
        bench.press(&way.path(scenario.operation), WARM_UP, None)?;
    }
    let mut tallies: Vec<Tally> = ways.iter().map(|_| Tally::default()).collect();
    for round in 0..options.seconds {
        for n in 0..ways.len() {
            let n = if round % 2 == 0 { n } else { ways.len() - 1 - n };
            bench.sample(&ways[n].path(scenario.operation), &mut tallies[n])?;
        }
    }
    ways.iter().zip(tallies).map(|(way, tally)| tally.profile(group, way.name)).collect()
}

/// What all turns on one database share.
struct Bench<'a> {
    roster: &'a Roster,
    connections: u32,
    folder: &'a Path,
    service: Server,
}

impl Bench<'_> {
    /// One turn that is sampled, added to those before it.
    fn sample(&mut self, path: &str, tally: &mut Tally) -> Result<(), Error> {
        let file = self.folder.join("perf.data");
        let (turn, cpu_seconds) = self.press(path, TURN, Some(&file))?;
        let Sampled { event, functions } = sampling::read(self.roster.program(PERF), &file)?;
        tally.event = event;
        tally.requests += turn.requests;
        tally.cpu_seconds += cpu_seconds;
        tally.us_per_request.push(cpu_seconds / turn.requests as f64 * 1e6);
        for f in functions {
            tally.samples += f.samples;
            *tally.functions.entry((f.file, f.in_kernel, f.symbol)).or_default() += f.weight;
        }
        Ok(())
    }

    /// One turn of load, sampled into a file if there is one; and the CPU seconds that the service took.
    fn press(&mut self, path: &str, seconds: f64, samples: Option<&Path>) -> Result<(Turn, f64), Error> {
        let (load, port, folder) = (loads::load(TORR), self.service.port(), self.folder);
        let (connections, style) = (self.connections, Style::KeepAlive);
        let arguments = (load.arguments)(&LoadSettings { port, path, connections, seconds, style, rate: 0, folder })?;
        let torr = self.roster.program(TORR);
        let (program, arguments) = match samples {
            Some(file) => (self.roster.program(PERF), sampling::around(self.service.pid(), file, torr, arguments)),
            None => (torr, arguments),
        };
        let before = self.service.cpu_at_rest()?;
        let turn = turn::take(&Generator { name: TORR, program, arguments, tally: load.tally }, seconds, None, folder)?;
        let cpu_seconds = self.service.cpu_at_rest()? - before;
        if turn.failed > turn.requests / FAILED_ONE_IN {
            return Err(Error::failed(format!("{} of {} requests of {path} failed", turn.failed, turn.requests)));
        }
        Ok((turn, cpu_seconds))
    }
}

/// The sums over a way's turns.
#[derive(Default)]
struct Tally {
    event: String,
    requests: u64,
    cpu_seconds: f64,
    /// Of each turn.
    us_per_request: Vec<f64>,
    samples: u64,
    /// The weight of each function, by its file, whether it is in the kernel, and its name.
    functions: BTreeMap<(String, bool, String), u64>,
}

impl Tally {
    /// The CPU time of the turns, divided as the samples are; an error if they are too few to be relied on.
    fn profile(self, group: Group, way: &'static str) -> Result<Profile, Error> {
        let Tally { event, requests, cpu_seconds, us_per_request: of_turns, samples, functions } = self;
        let seen = samples as f64 / (f64::from(FREQUENCY) * cpu_seconds);
        let us_per_request = cpu_seconds / requests as f64 * 1e6;
        eprintln!("{}, {way}: {us_per_request:.2} CPU us/request, {samples} samples", group.title());
        if seen < SEEN {
            let (percent, title) = (seen * 100.0, group.title());
            return Err(Error::failed(format!("perf saw only {percent:.0}% of the CPU time of {way}, {title}")));
        }
        let weight: u64 = functions.values().sum();
        let named = functions.into_iter().map(|((file, in_kernel, symbol), of_function)| Named {
            part: naming::part(&file, in_kernel, &symbol),
            name: naming::readable(&symbol),
            us_per_request: us_per_request * of_function as f64 / weight as f64,
            file,
        });
        let us_range =
            [of_turns.iter().copied().fold(f64::MAX, f64::min), of_turns.iter().copied().fold(0.0, f64::max)];
        let sampling = Sampling { event, requests, us_per_request, us_range, samples, seen };
        Ok(Profile::new(group, way, sampling, named.collect()))
    }
}
