//! The load side: each generator in turn presses one server.

use crate::candidates::load_settings::LoadSettings;
use crate::candidates::loads::{self, LOADS, Load};
use crate::candidates::server_settings::ServerSettings;
use crate::candidates::servers;
use crate::candidates::{CLOSED_LOOP, FLOOR, instruments};
use crate::child::{Server, free_port};
use crate::measure::{self, Measured};
use crate::options::Options;
use crate::probe;
use crate::roster::Roster;
use crate::scenario::{Scenario, Style};
use crate::turn::{self, Generator};
use torr_test_support::error::Error;

/// A turn that is not counted, in seconds: the first after a start finds cold caches.
pub const WARM_UP: f64 = 0.5;

/// Measures all load generators that can do this scenario.
pub fn measure(roster: &Roster, scenario: Scenario, options: &Options) -> Result<Measured, Error> {
    let folder = tempfile::tempdir()?;
    let taking_part = |load: &&Load| roster.has(load.tool) && load.takes_part(scenario);
    let generators: Vec<&Load> = LOADS.iter().filter(taking_part).collect();
    let names: Vec<&'static str> = generators.iter().map(|load| load.name).collect();
    let Some(&first) = names.first() else { return Ok(Measured::without_candidates(scenario)) };

    let host = servers::service(instruments::host(scenario));
    let start = |mode: Option<&str>| {
        let port = free_port()?;
        let mut arguments = (host.arguments)(&ServerSettings { port, scenario, folder: folder.path() })?;
        arguments.extend(mode.map(str::to_owned));
        // Its name in messages is not that of a candidate.
        let name = if host.name == FLOOR { "floor-server" } else { host.name };
        Server::start(name, port, roster.program(host.name), &arguments, folder.path())
    };
    let mut plain = start(None)?;
    let announces = !scenario.style.close() && generators.iter().any(|load| load.http10);
    let mut announcing = if announces { Some(start(Some("http10"))?) } else { None };
    // The probe speaks plain HTTP/1.1 only.
    let plain_http1 = !scenario.style.tls() && !scenario.style.http2();
    let probe = || probe::response_length(plain.port(), host.path, host.page, scenario.style.close());
    let response = if plain_http1 { Some(probe()?) } else { None };

    let mut press = |name: &'static str, seconds: f64, rate: u64| {
        let load = loads::load(name);
        let server = announcing.as_mut().filter(|_| load.http10).unwrap_or(&mut plain);
        let Scenario { style, connections, .. } = scenario;
        let load_settings = LoadSettings {
            port: server.port(),
            path: host.path,
            connections,
            seconds,
            style,
            rate,
            folder: folder.path(),
        };
        let (program, arguments) = (roster.program(load.tool), (load.arguments)(&load_settings)?);
        let turn =
            turn::take(&Generator { name, program, arguments, tally: load.tally }, seconds, response, folder.path());
        server.cpu_at_rest()?; // the next turn begins when the server has closed this one's connections
        turn
    };
    let seconds = f64::from(options.size.seconds());
    let rate = match (scenario.style, first) {
        (Style::OpenLoop20k | Style::OpenLoop60k, _) => {
            press(CLOSED_LOOP, WARM_UP, 0)?;
            scenario.style.rate().expect("these styles have a rate of their own")
        }
        (Style::OpenLoop, _) => {
            let closed = press(CLOSED_LOOP, seconds, 0)?;
            let half = closed.requests as f64 / closed.wall_seconds / 2.0;
            eprintln!("{scenario}: {half:.0} requests/s are half of what the closed loop reached");
            half as u64
        }
        (_, FLOOR) => {
            press(FLOOR, WARM_UP, 0)?;
            0
        }
        (_, first) => {
            // wrk knows whole seconds only. One that fails will say so in its own turn.
            let _ = press(first, WARM_UP.ceil(), 0);
            0
        }
    };
    measure::rounds(scenario, options, names, Vec::new(), |name| press(name, seconds, rate))
}
