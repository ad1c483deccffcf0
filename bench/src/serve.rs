//! The server side: all servers stay up on one CPU, and the same load presses them in turn.

use std::collections::BTreeMap;
use std::path::Path;

use crate::candidates::loads::{self, Ask};
use crate::candidates::servers::{SERVICES, Service, Stand};
use crate::candidates::{FLOOR, WRK};
use crate::child::{Server, free_port};
use crate::cli::Options;
use crate::error::Error;
use crate::measure::{self, Measured, Skipped, Turn};
use crate::press::WARM_UP;
use crate::probe;
use crate::roster::Roster;
use crate::scenario::{Scenario, Style};
use crate::turn::{self, Generator};

/// A server that is up and gives the right page.
struct Standing {
    server: Server,
    path: &'static str,
    /// Length of its answer in bytes.
    answer: u64,
}

/// Takes part in this scenario, if it is here.
pub fn takes_part(service: &Service, scenario: Scenario) -> bool {
    service.pipelined || scenario.style != Style::Pipelined
}

/// The load generator that servers are measured with.
pub fn load(scenario: Scenario) -> &'static str {
    if scenario.style == Style::Pipelined { WRK } else { FLOOR }
}

/// Measures all servers that take part in this scenario.
pub fn measure(roster: &Roster, scenario: Scenario, options: &Options) -> Result<Measured, Error> {
    let folder = tempfile::tempdir()?;
    let bench = Bench { roster, scenario, folder: folder.path() };
    let taking_part = |service: &&Service| roster.has(service.name) && takes_part(service, scenario);
    let (mut standing, mut skipped) = (BTreeMap::new(), Vec::new());
    let mut names = Vec::new();
    for service in SERVICES.iter().filter(taking_part) {
        let up = bench.start(service).and_then(|mut up| {
            bench.press(&mut up, WARM_UP)?;
            Ok(up)
        });
        match up {
            Ok(up) => {
                standing.insert(service.name, up);
                names.push(service.name);
            }
            Err(Error::Failed(reason)) if service.name != FLOOR => {
                eprintln!("{scenario}: {} skipped: {reason}", service.name);
                skipped.push(Skipped::new(service.name, &reason));
            }
            Err(e) => return Err(e),
        }
    }
    measure::rounds(scenario, options, names, skipped, |name| {
        let up = standing.get_mut(name).expect("only servers that stand take turns");
        bench.press(up, options.seconds().into())
    })
}

/// What all servers of one scenario share.
struct Bench<'a> {
    roster: &'a Roster,
    scenario: Scenario,
    folder: &'a Path,
}

impl Bench<'_> {
    fn start(&self, service: &Service) -> Result<Standing, Error> {
        let port = free_port()?;
        let stand = Stand { port, scenario: self.scenario, folder: self.folder };
        let server = Server::start(
            service.name,
            port,
            self.roster.program(service.name),
            &(service.arguments)(&stand)?,
            self.folder,
        )?;
        let answer = probe::answer_length(port, service.path, self.scenario.style.close())?;
        Ok(Standing { server, path: service.path, answer })
    }

    /// One turn of load; what it has cost is the server's CPU time, with the opening and closing of the connections.
    fn press(&self, up: &mut Standing, seconds: f64) -> Result<Turn, Error> {
        let generator = self.generator(up, seconds)?;
        let before = up.server.cpu_at_rest()?;
        let turn = turn::take(&generator, seconds, Some(up.answer), self.folder);
        let cpu_seconds = up.server.cpu_at_rest()? - before;
        Ok(Turn { cpu_seconds, whole_cpu_seconds: cpu_seconds, ..turn? })
    }

    fn generator(&self, up: &Standing, seconds: f64) -> Result<Generator<'_>, Error> {
        let Scenario { style, connections, .. } = self.scenario;
        let name = load(self.scenario);
        // wrk knows whole seconds only.
        let seconds = if style == Style::Pipelined { seconds.ceil() } else { seconds };
        let load = loads::load(name);
        let ask =
            Ask { port: up.server.port(), path: up.path, connections, seconds, style, rate: 0, folder: self.folder };
        let (program, arguments) = (self.roster.program(load.tool), (load.arguments)(&ask)?);
        Ok(Generator { name, program, arguments, tally: load.tally })
    }
}
