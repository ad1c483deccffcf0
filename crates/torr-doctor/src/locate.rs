//! Which functions, locks or statements a factor comes from: what is sampled, and the interface of what samples it.

mod server_survey;
mod written;

pub use server_survey::ServerSurvey;

use crate::observation::Observation;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::Factor;
use torr_gauge::verdict::Located;
use torr_signals::{PeerUse, Role};

/// The length of the load during which a server is sampled.
pub(crate) const SAMPLED: Duration = Duration::from_secs(4);

/// What samples a server's processes, and reads its statements, while a load runs.
pub trait Locator: Sync {
    /// Returns what it found at a site, where the load of [`Site::length`] begins after a warm-up. `stop` ends the sampling early.
    fn locate(&self, site: &Site, warmup: Duration, stop: &AtomicBool) -> Located;
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
    /// Responses per second of the load.
    pub rps: f64,
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
}

impl Site {
    /// Returns the site of a factor that was seen in an observation. `None` if the factor is not one of a place in the server, or if
    /// the server's processes are not visible.
    pub(crate) fn of(factor: Factor, seen: &Observation) -> Option<Self> {
        if !is_in_the_server(factor) {
            return None;
        }
        let signals = seen.signals.as_ref()?;
        let process = |process: &torr_signals::ProcessUse| Process { pid: process.pid, name: process.name.clone() };
        let processes: Vec<_> = signals.processes.iter().map(process).collect();
        let database = |peer: &PeerUse| Database {
            address: peer.address.clone(),
            name: peer.processes.first().map(|process| process.name.clone()),
        };
        let databases = signals.peers.iter().filter(|peer| peer.role != Role::Other).map(database).collect();
        (!processes.is_empty()).then_some(Self { factor, processes, databases, rps: seen.run.rps, length: SAMPLED })
    }
}

/// Returns whether a factor comes from a function, a lock or a statement of the server.
fn is_in_the_server(factor: Factor) -> bool {
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
