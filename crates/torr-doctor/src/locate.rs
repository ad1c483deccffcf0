//! Which functions, locks or statements a factor comes from: what is sampled, and the interface of what samples it.

mod remote;
mod server_survey;
mod written;

pub use server_survey::ServerSurvey;
pub use torr_where::statements::Login;

use crate::observation::Observation;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_gauge::Factor;
use torr_gauge::verdict::Located;
use torr_signals::{Reading, Role};

/// How often an interruption is looked for while a load warms up.
const POLL: Duration = Duration::from_millis(20);
/// The length of the load during which a server is sampled.
pub(crate) const SAMPLED: Duration = Duration::from_secs(4);

/// What samples a server's processes, and reads its statements, while a load runs.
pub trait Locator: Sync {
    /// Opens what is sampled at a site. That takes CPU time, so that it is done before the load begins.
    fn prepare(&self, site: &Site) -> Box<dyn Sampling + '_>;
}

/// The sampling of one site, which is open.
pub trait Sampling: Send {
    /// Samples while the load of [`Site::length`] runs, which begins after a warm-up. `stop` ends the sampling early.
    fn sample(&mut self, warmup: Duration, stop: &AtomicBool);

    /// Returns what was found. Names take CPU time, so that this is called after the load has ended.
    fn located(self: Box<Self>) -> Located;
}

/// Waits until a load has warmed up.
pub(crate) fn wait(warmup: Duration, stop: &AtomicBool) {
    let began = Instant::now();
    while began.elapsed() < warmup && !stop.load(Ordering::Relaxed) {
        thread::sleep(POLL.min(warmup.saturating_sub(began.elapsed())));
    }
}

/// Notes the throughput while a server was sampled, divided by the expected one, which the responses of statements were computed of.
pub(crate) fn with_kept(mut located: Located, kept: f64) -> Located {
    if kept > 0.0 {
        for place in located.places.iter_mut().chain(&mut located.widest) {
            place.per_response = place.per_response.map(|calls| calls / kept);
        }
    }
    located.kept = Some(kept);
    located
}

/// The processes and peers in which the place of a factor is looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// The factor.
    pub factor: Factor,
    /// The server's processes.
    pub processes: Vec<Process>,
    /// The databases and caches that the server is connected to.
    pub databases: Vec<Database>,
    /// Responses per second of the load; of streams, events per second.
    pub rps: f64,
    /// The requests that the load has in flight all the time. `None` of a load that keeps a rate.
    pub in_flight: Option<usize>,
    /// How long the load runs.
    pub length: Duration,
}

/// A process of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The number.
    pub pid: i32,
    /// The name.
    pub name: String,
}

/// A database that the server is connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    /// Address and port, or the path of a Unix socket.
    pub address: String,
    /// The name of its program, where it is visible.
    pub name: Option<String>,
    /// Its processes, where they are visible.
    pub processes: Vec<i32>,
}

impl Site {
    /// Returns the site of a factor that was seen in an observation. `None` if the factor is not one of a place in the server, or if
    /// the server's processes are not visible.
    pub(crate) fn of(factor: Factor, seen: &Observation) -> Option<Self> {
        let signals = seen.signals.as_ref()?;
        let processes = signals.processes.iter().map(|process| (process.pid, &process.name));
        let databases = signals.peers.iter().filter(|peer| peer.role != Role::Other).map(|peer| {
            Database::of(&peer.address, peer.processes.iter().map(|process| (process.pid, process.name.as_str())))
        });
        let plan = &seen.run.plan;
        let in_flight = plan.rate.is_none().then(|| plan.connections.saturating_mul(plan.depth.into()));
        let done = seen.run.streams.as_ref().map_or(seen.run.rps, |streams| streams.events_per_s);
        Self::new(factor, processes, databases.collect(), (done, in_flight), SAMPLED)
    }

    /// Returns the site of a factor in the server that a reading is of, under a load with so many responses per second and requests in
    /// flight, which goes on for this time. `None` as for an observation.
    pub fn of_reading(factor: Factor, reading: &Reading, load: (f64, Option<usize>), length: Duration) -> Option<Self> {
        let processes = reading.processes.iter().map(|process| (process.pid, &process.name));
        let databases = reading.peers.iter().filter(|peer| peer.role != Role::Other).map(|peer| {
            Database::of(&peer.address, peer.processes.iter().map(|process| (process.pid, process.name.as_str())))
        });
        Self::new(factor, processes, databases.collect(), load, length)
    }

    /// Returns the site of a factor in processes, each with its number and its name, and in the databases among their peers.
    fn new<'s>(
        factor: Factor,
        processes: impl Iterator<Item = (i32, &'s String)>,
        databases: Vec<Database>,
        (rps, in_flight): (f64, Option<usize>),
        length: Duration,
    ) -> Option<Self> {
        let processes: Vec<_> = processes.map(|(pid, name)| Process { pid, name: name.clone() }).collect();
        (is_in_the_server(factor) && !processes.is_empty()).then_some(Self {
            factor,
            processes,
            databases,
            rps,
            in_flight,
            length,
        })
    }
}

impl Database {
    /// Returns a database with its address, and with the numbers and names of its processes.
    fn of<'p>(address: &str, processes: impl Iterator<Item = (i32, &'p str)>) -> Self {
        let processes: Vec<_> = processes.collect();
        let name = processes.first().map(|(_, name)| (*name).to_owned());
        Self { address: address.to_owned(), name, processes: processes.into_iter().map(|(pid, _)| pid).collect() }
    }
}

/// Returns whether a factor comes from a function, a lock or a statement of the server.
pub(crate) fn is_in_the_server(factor: Factor) -> bool {
    match factor {
        Factor::TlsHandshake
        | Factor::ServerCpu
        | Factor::SingleCore
        | Factor::CpuQuota
        | Factor::Workers
        | Factor::Database
        | Factor::Orm
        | Factor::Lock
        | Factor::Pool => true,
        Factor::Generator
        | Factor::Connections
        | Factor::NetworkDelay
        | Factor::Bandwidth
        | Factor::KeepAlive
        | Factor::ClientPorts
        | Factor::AcceptBacklog
        | Factor::Proxy
        | Factor::RateLimit
        | Factor::DelayedAck
        | Factor::Errors
        | Factor::None
        | Factor::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::with_kept;
    use serde_json::json;
    use torr_gauge::verdict::Located;

    #[test]
    fn statements_per_response_are_those_of_the_responses_that_came() {
        let statement = json!({
            "kind": "statement", "runtime": "redis", "statement": "GET ?", "per_response": 8.0, "samples": 80,
            "share": {"low": 0.9, "value": 1.0, "high": 1.0},
        });
        let located: Located =
            serde_json::from_value(json!({ "places": [statement], "widest": [statement] })).expect("it has all");
        let kept = |kept| with_kept(located.clone(), kept);
        let of = |located: &Located| [&located.places, &located.widest].map(|places| places[0].per_response);
        assert_eq!((of(&kept(0.8)), kept(0.8).kept), ([Some(10.0); 2], Some(0.8)));
        assert_eq!(of(&kept(0.0)), [Some(8.0); 2]);
    }
}
