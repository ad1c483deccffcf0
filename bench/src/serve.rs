//! The server side: all servers stay up on one CPU, and the same load presses them in turn.

use std::collections::BTreeMap;
use std::path::Path;

use crate::candidates::arguments::torr_probe;
use crate::candidates::load_settings::LoadSettings;
use crate::candidates::loads;
use crate::candidates::server_settings::ServerSettings;
use crate::candidates::servers::{SERVICES, Service};
use crate::candidates::{FLOOR, TORR, instruments, tally};
use crate::child::{self, Server, free_port};
use crate::measure::{self, Measured, Turn};
use crate::options::Options;
use crate::press::WARM_UP;
use crate::probe;
use crate::roster::Roster;
use crate::rounds::Skipped;
use crate::scenario::{Scenario, Style};
use crate::scrape::Scraper;
use crate::turn::{self, Generator, PATIENCE};
use torr_test_support::error::Error;

/// Measures all servers that take part in this scenario.
pub fn measure(roster: &Roster, scenario: Scenario, options: &Options) -> Result<Measured, Error> {
    let folder = tempfile::tempdir()?;
    let mut bench = Bench { roster, scenario, folder: folder.path(), servers: BTreeMap::new() };
    let taking_part = |service: &&Service| roster.has(service.tool) && service.takes_part(scenario);
    let (mut running, mut names, mut skipped) = (BTreeMap::new(), Vec::new(), Vec::new());
    for service in SERVICES.iter().filter(taking_part) {
        let up = bench.start(service).and_then(|up| {
            bench.press(&up, WARM_UP)?;
            Ok(up)
        });
        match up {
            Ok(up) => {
                running.insert(service.name, up);
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
        bench.press(&running[name], options.size.seconds().into())
    })
}

/// A page of a server that is up, and that gives it.
struct RunningService {
    service: &'static Service,
    /// Length of its response in bytes, if our own probe has measured it.
    response: Option<u64>,
}

/// What all servers of one scenario share, and those that are up, by name.
struct Bench<'a> {
    roster: &'a Roster,
    scenario: Scenario,
    folder: &'a Path,
    servers: BTreeMap<&'static str, Server>,
}

impl Bench<'_> {
    /// Starts a service's server, if no other has yet, and sees whether it gives the page.
    fn start(&mut self, service: &'static Service) -> Result<RunningService, Error> {
        let port = match self.servers.get(service.server) {
            Some(server) => server.port(),
            None => {
                let port = free_port()?;
                let arguments =
                    (service.arguments)(&ServerSettings { port, scenario: self.scenario, folder: self.folder })?;
                let program = self.roster.program(service.tool);
                let server = Server::start(service.server, port, program, &arguments, self.folder)?;
                self.servers.insert(service.server, server);
                port
            }
        };
        let (path, page) = service.page_request(self.scenario.style);
        let response = if self.scenario.is_probed_by_torr() {
            let arguments = torr_probe(&self.load_settings(port, path, 0.0), page)?;
            child::run("probe", self.roster.program(TORR), &arguments, self.folder, PATIENCE)?;
            None
        } else {
            Some(probe::response_length(port, path, page, self.scenario.style.close())?)
        };
        Ok(RunningService { service, response })
    }

    /// One turn of load; what it has cost is the server's CPU time, with the opening and closing of the connections.
    fn press(&mut self, up: &RunningService, seconds: f64) -> Result<Turn, Error> {
        let port = self.servers[up.service.server].port();
        let name = instruments::load_generator(self.scenario);
        // Only ours know parts of seconds.
        let seconds = if [FLOOR, TORR].contains(&name) { seconds } else { seconds.ceil() };
        let load = loads::load(name);
        let arguments =
            (load.arguments)(&self.load_settings(port, up.service.page_request(self.scenario.style).0, seconds))?;
        let tally = if self.scenario.style == Style::TlsResumed { tally::torr_resumed } else { load.tally };
        let generator = Generator { name, program: self.roster.program(load.tool), arguments, tally };

        let server = self.servers.get_mut(up.service.server).expect("services stand on servers that are up");
        let before = server.cpu_at_rest()?;
        let scraper = up.service.scraped.then(|| Scraper::start(port));
        let turn = turn::take(&generator, seconds, up.response, self.folder);
        scraper.map_or(Ok(()), Scraper::stop)?;
        let cpu_seconds = server.cpu_at_rest()? - before;
        Ok(Turn { cpu_seconds, whole_cpu_seconds: cpu_seconds, ..turn? })
    }

    fn load_settings(&self, port: u16, path: &'static str, seconds: f64) -> LoadSettings<'_> {
        let Scenario { style, connections, .. } = self.scenario;
        LoadSettings { port, path, connections, seconds, style, rate: 0, folder: self.folder }
    }
}
