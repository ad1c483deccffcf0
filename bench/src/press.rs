//! The load side: each generator in turn presses the floor's server.

use crate::candidates::FLOOR;
use crate::candidates::loads::{self, Ask, LOADS, Load};
use crate::candidates::servers::{self, Stand};
use crate::child::{Server, free_port};
use crate::cli::Options;
use crate::error::Error;
use crate::measure::{self, Measured};
use crate::probe;
use crate::roster::Roster;
use crate::scenario::Scenario;
use crate::turn::{self, Generator};

/// A turn that is not counted, in seconds: the first after a start finds cold caches.
pub const WARM_UP: f64 = 0.5;

/// Measures all load generators that can do this scenario.
pub fn measure(roster: &Roster, scenario: Scenario, options: &Options) -> Result<Measured, Error> {
    let folder = tempfile::tempdir()?;
    let taking_part = |load: &&Load| roster.has(load.name) && (load.close || !scenario.close());
    let generators: Vec<&Load> = LOADS.iter().filter(taking_part).collect();

    let start = |mode: Option<&str>| {
        let port = free_port()?;
        let stand = Stand { port, scenario, folder: folder.path() };
        let mut arguments = (servers::service(FLOOR).arguments)(&stand)?;
        arguments.extend(mode.map(str::to_owned));
        Server::start("floor-server", port, roster.program(FLOOR), &arguments, folder.path())
    };
    let mut plain = start(None)?;
    let announces = !scenario.close() && generators.iter().any(|load| load.http10);
    let mut announcing = if announces { Some(start(Some("http10"))?) } else { None };
    let answer = probe::answer_length(plain.port(), "/", scenario.close())?;

    let mut press = |name: &'static str, seconds: f64| {
        let load = loads::load(name);
        let server = announcing.as_mut().filter(|_| load.http10).unwrap_or(&mut plain);
        let ask =
            Ask { port: server.port(), path: "/", connections: scenario.connections, seconds, close: scenario.close() };
        let generator =
            Generator { name, program: roster.program(name), arguments: (load.arguments)(&ask), tally: load.tally };
        let turn = turn::take(&generator, seconds, answer, folder.path());
        server.cpu_at_rest()?; // the next turn begins when the server has closed this one's connections
        turn
    };
    press(FLOOR, WARM_UP)?;
    let names = generators.iter().map(|load| load.name).collect();
    measure::rounds(scenario, options, names, Vec::new(), |name| press(name, options.seconds().into()))
}
