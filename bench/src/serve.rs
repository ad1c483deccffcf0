//! The server side: all servers stay up on one CPU, and the same load presses them in turn.

use std::collections::BTreeMap;
use std::path::Path;

use crate::candidates::arguments::torr_probe;
use crate::candidates::loads::{self, Ask};
use crate::candidates::servers::{SERVICES, Service, Stand};
use crate::candidates::{FLOOR, H2LOAD, TORR, WRK};
use crate::child::{self, Server, free_port};
use crate::cli::Options;
use crate::error::Error;
use crate::measure::{self, Measured, Turn};
use crate::press::WARM_UP;
use crate::probe;
use crate::roster::Roster;
use crate::rounds::Skipped;
use crate::scenario::{Scenario, Style};
use crate::scrape::Scraper;
use crate::turn::{self, Generator, PATIENCE};

/// Takes part in this scenario, if it is here.
pub fn takes_part(service: &Service, scenario: Scenario) -> bool {
    service.styles.contains(&scenario.style)
}

/// The load generator that servers are measured with: the floor, or what does more than that at the least cost, so that
/// servers are busy.
pub fn load(scenario: Scenario) -> &'static str {
    match scenario.style {
        Style::Pipelined => WRK,
        Style::Tls | Style::TlsHandshakes => TORR,
        Style::Http2 | Style::H2c => H2LOAD,
        _ => FLOOR,
    }
}

/// Whether the page is looked at by `torr`: our own probe speaks plain HTTP/1.1 only.
pub fn probed_by_torr(scenario: Scenario) -> bool {
    scenario.style.tls() || scenario.style.http2()
}

/// Measures all servers that take part in this scenario.
pub fn measure(roster: &Roster, scenario: Scenario, options: &Options) -> Result<Measured, Error> {
    let folder = tempfile::tempdir()?;
    let mut bench = Bench { roster, scenario, folder: folder.path(), servers: BTreeMap::new() };
    let taking_part = |service: &&Service| roster.has(service.tool) && takes_part(service, scenario);
    let (mut standing, mut names, mut skipped) = (BTreeMap::new(), Vec::new(), Vec::new());
    for service in SERVICES.iter().filter(taking_part) {
        let up = bench.start(service).and_then(|up| {
            bench.press(&up, WARM_UP)?;
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
        bench.press(&standing[name], options.size.seconds().into())
    })
}

/// A page of a server that is up, and that gives it.
struct Standing {
    service: &'static Service,
    /// Length of its answer in bytes, where our own probe has asked for it.
    answer: Option<u64>,
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
    fn start(&mut self, service: &'static Service) -> Result<Standing, Error> {
        let port = match self.servers.get(service.server) {
            Some(server) => server.port(),
            None => {
                let port = free_port()?;
                let arguments = (service.arguments)(&Stand { port, scenario: self.scenario, folder: self.folder })?;
                let program = self.roster.program(service.tool);
                let server = Server::start(service.server, port, program, &arguments, self.folder)?;
                self.servers.insert(service.server, server);
                port
            }
        };
        let (path, page) = service.asked(self.scenario.style);
        let answer = if probed_by_torr(self.scenario) {
            let arguments = torr_probe(&self.ask(port, path, 0.0), page)?;
            child::run("probe", self.roster.program(TORR), &arguments, self.folder, PATIENCE)?;
            None
        } else {
            Some(probe::answer_length(port, path, page, self.scenario.style.close())?)
        };
        Ok(Standing { service, answer })
    }

    /// One turn of load; what it has cost is the server's CPU time, with the opening and closing of the connections.
    fn press(&mut self, up: &Standing, seconds: f64) -> Result<Turn, Error> {
        let port = self.servers[up.service.server].port();
        let name = load(self.scenario);
        // Only ours know parts of seconds.
        let seconds = if [FLOOR, TORR].contains(&name) { seconds } else { seconds.ceil() };
        let load = loads::load(name);
        let arguments = (load.arguments)(&self.ask(port, up.service.asked(self.scenario.style).0, seconds))?;
        let generator = Generator { name, program: self.roster.program(load.tool), arguments, tally: load.tally };

        let server = self.servers.get_mut(up.service.server).expect("services stand on servers that are up");
        let before = server.cpu_at_rest()?;
        let scraper = up.service.scraped.then(|| Scraper::start(port));
        let turn = turn::take(&generator, seconds, up.answer, self.folder);
        scraper.map_or(Ok(()), Scraper::stop)?;
        let cpu_seconds = server.cpu_at_rest()? - before;
        Ok(Turn { cpu_seconds, whole_cpu_seconds: cpu_seconds, ..turn? })
    }

    fn ask(&self, port: u16, path: &'static str, seconds: f64) -> Ask<'_> {
        let Scenario { style, connections, .. } = self.scenario;
        Ask { port, path, connections, seconds, style, rate: 0, folder: self.folder }
    }
}
