//! The turns of a group: its servers stay up beside its database, and the same load presses them one after the other.

use std::collections::BTreeMap;
use std::path::Path;

use super::candidates::{CANDIDATES, Candidate, candidate};
use super::check::check;
use super::compare::{Measured, Turn};
use super::database::Database;
use super::options::DataOptions;
use super::scenario::{Group, Scenario};
use crate::built::workspace;
use crate::candidates::TORR;
use crate::candidates::load_settings::LoadSettings;
use crate::candidates::loads;
use crate::child::{Server, free_port};
use crate::press::WARM_UP;
use crate::roster::Roster;
use crate::rounds::{self, Skipped};
use crate::scenario::Style;
use crate::turn::{self, Generator};
use torr_test_support::error::Error;

/// A candidate of whose requests more than one in so many fail is not measured: an error costs less than a response.
pub const FAILED_ONE_IN: u64 = 100;

/// Measures these operations on one database.
pub fn measure(
    roster: &Roster,
    options: &DataOptions,
    group: Group,
    scenarios: &[Scenario],
    done: &mut Vec<Measured>,
) -> Result<(), Error> {
    let folder = tempfile::tempdir()?;
    let database = Database::start(group, folder.path())?;
    let mut bench = Bench { roster, options, folder: folder.path(), database, servers: BTreeMap::new() };
    let first = CANDIDATES.iter().find(|c| c.takes_part(scenarios[0])).expect("each scenario has candidates");
    bench.up(first)?; // wanted or not, it makes the tables
    for &scenario in scenarios {
        let mut skipped = Vec::new();
        let candidates = CANDIDATES.iter().filter(|c| roster.has(c.tool) && c.takes_part(scenario)).collect();
        // All are looked at before any is pressed: what a candidate's load has left in flight would change rows meanwhile.
        let sound = sift(candidates, scenario, &mut skipped, |candidate| bench.prepare(candidate, scenario))?;
        let warm = |candidate| bench.press(candidate, scenario, WARM_UP).map(drop);
        let names = sift(sound, scenario, &mut skipped, warm)?.into_iter().map(|c| c.name).collect();
        let taken = rounds::take(scenario, options.size.rounds(), names, skipped, |name| {
            bench.press(candidate(name), scenario, options.size.seconds().into())
        })?;
        done.push(Measured::new(scenario, taken));
    }
    Ok(())
}

/// The candidates that can be measured; the others are noted, with the reason.
fn sift(
    candidates: Vec<&'static Candidate>,
    scenario: Scenario,
    skipped: &mut Vec<Skipped>,
    mut attempt: impl FnMut(&'static Candidate) -> Result<(), Error>,
) -> Result<Vec<&'static Candidate>, Error> {
    let mut good = Vec::new();
    for candidate in candidates {
        match attempt(candidate) {
            Ok(()) => good.push(candidate),
            Err(Error::Failed(reason)) => {
                eprintln!("{scenario}: {} skipped: {reason}", candidate.name);
                skipped.push(Skipped::new(candidate.name, &reason));
            }
            Err(e) => return Err(e),
        }
    }
    Ok(good)
}

/// What all turns of one group share.
struct Bench<'a> {
    roster: &'a Roster,
    options: &'a DataOptions,
    folder: &'a Path,
    database: Database,
    /// Those that were started, by name; or why one does not start.
    servers: BTreeMap<&'static str, Result<Server, String>>,
}

impl Bench<'_> {
    /// Has the candidate's server started, unless that was tried before.
    fn up(&mut self, candidate: &Candidate) -> Result<(), Error> {
        if !self.servers.contains_key(candidate.server) {
            let started = match self.start(candidate) {
                Ok(server) => Ok(server),
                Err(Error::Failed(reason)) => Err(reason),
                Err(e) => return Err(e),
            };
            self.servers.insert(candidate.server, started);
        }
        Ok(())
    }

    /// Starts the candidate and checks its responses.
    fn prepare(&mut self, candidate: &'static Candidate, scenario: Scenario) -> Result<(), Error> {
        self.up(candidate)?;
        let port = self.server(candidate)?.port();
        check(candidate, port, scenario.operation, &self.database)
    }

    fn start(&self, candidate: &Candidate) -> Result<Server, Error> {
        let (port, program) = (free_port()?, self.roster.program(candidate.tool));
        let peers = workspace().join("crates/torr-lab/shipped/subjects").canonicalize()?;
        let arguments = candidate.arguments(port, self.database.url(), &peers.to_string_lossy());
        Server::start(candidate.server, port, program, &arguments, self.folder)
    }

    /// One turn of load.
    fn press(&mut self, candidate: &'static Candidate, scenario: Scenario, seconds: f64) -> Result<Turn, Error> {
        let (load, path) = (loads::load(TORR), candidate.path(scenario.operation));
        let (folder, connections) = (self.folder, self.options.connections);
        let service = self.server(candidate)?;
        let (port, style) = (service.port(), Style::KeepAlive);
        let arguments =
            (load.arguments)(&LoadSettings { port, path: &path, connections, seconds, style, rate: 0, folder })?;
        let service_before = service.cpu_at_rest()?;
        let database_before = self.database.cpu_used();

        let generator = Generator { name: TORR, program: self.roster.program(load.tool), arguments, tally: load.tally };
        let turn = turn::take(&generator, seconds, None, folder)?;

        let service_cpu_seconds = self.server(candidate)?.cpu_at_rest()? - service_before;
        let database = self.database.cpu_used().zip(database_before);
        if turn.failed > turn.requests / FAILED_ONE_IN {
            return Err(Error::failed(format!("{} of its {} requests failed", turn.failed, turn.requests)));
        }
        Ok(Turn {
            requests: turn.requests,
            failed: turn.failed,
            wall_seconds: turn.wall_seconds,
            service_cpu_seconds,
            // A task of the database that has ended meanwhile is not seen any more.
            database_cpu_seconds: database.map(|(after, before)| (after - before).max(0.0)),
            load_cpu_seconds: turn.cpu_seconds,
        })
    }

    fn server(&mut self, candidate: &Candidate) -> Result<&mut Server, Error> {
        let server = self.servers.get_mut(candidate.server).expect("a candidate is prepared first");
        server.as_mut().map_err(|reason| Error::failed(reason.clone()))
    }
}
