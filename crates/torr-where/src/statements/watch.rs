//! The watch of one database while a load runs, and what it found.

use super::capture::{Capture, Recorded, Subject};
use super::database::Database;
use super::place::StatementPlace;
use super::wire::Fault;
use super::wire_places;
use crate::unseen::{Remedy, Runtime, Unseen, Why};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// The least share that a statement must have for sure to be named.
pub const DOMINATES: f64 = 0.2;

/// The number of statements that are listed, whether one dominates or not.
const WIDEST: usize = 5;

/// A database, and how its statements may be seen.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The database.
    pub database: Database,
    /// The database's address, as the service's processes see it.
    pub server: SocketAddr,
    /// The service's processes. Other clients of the database are not counted. Without any, all clients are.
    pub processes: Vec<i32>,
}

/// What was found of a database's statements.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Statements {
    /// The statements that dominate: for sure they have [`DOMINATES`] of the database's time.
    pub places: Vec<StatementPlace>,
    /// The statements with the most time, whether they dominate or not.
    pub widest: Vec<StatementPlace>,
    /// The statements that each response repeats, that with the most calls first.
    pub repeated: Vec<StatementPlace>,
    /// What could not be seen.
    pub unseen: Vec<Unseen>,
    /// The connections with statements.
    pub connections: u64,
    /// The statements that were counted.
    pub calls: u64,
    /// The time of all statements, in seconds.
    pub busy_s: f64,
    /// How long statements were watched, in seconds.
    pub elapsed_s: f64,
    /// The packets that were lost, since too many came.
    pub dropped: u64,
    /// The CPU time that the capture took, in seconds.
    pub cpu_s: f64,
}

/// A watch that runs.
#[derive(Debug)]
pub struct Watch {
    setup: Setup,
    capture: io::Result<Capture>,
}

impl Watch {
    /// Begins to watch. What is not permitted is reported at the end.
    pub fn start(setup: Setup) -> Self {
        let subject = Subject { database: setup.database, server: setup.server, processes: setup.processes.clone() };
        Self { capture: Capture::start(subject), setup }
    }

    /// Ends the watch, in whose time the service gave this number of responses.
    pub fn finish(self, responses: u64) -> Statements {
        let server = self.setup.server.to_string();
        let unseen =
            |why, remedies| Unseen { process: 0, name: server.clone(), runtime: Runtime::Database, why, remedies };
        let recorded = match self.capture.and_then(Capture::finish) {
            Ok(recorded) => recorded,
            Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied) => {
                let remedies = vec![Remedy::Capability { name: "CAP_NET_RAW".into() }, Remedy::Login];
                return Statements { unseen: vec![unseen(Why::Packets, remedies)], ..Statements::default() };
            }
            Err(error) => {
                let why = Why::Failed { message: format!("cannot capture packets: {error}") };
                return Statements { unseen: vec![unseen(why, vec![Remedy::Login])], ..Statements::default() };
            }
        };
        let mut found = found(&recorded, self.setup.database, &server, responses);
        found.unseen =
            why_unseen(&recorded, found.calls).into_iter().map(|why| unseen(why, vec![Remedy::Login])).collect();
        found
    }
}

/// Returns the places in what was recorded.
fn found(recorded: &Recorded, database: Database, server: &str, responses: u64) -> Statements {
    let all = wire_places::places(recorded, database, server, responses);
    let mut repeated: Vec<_> = all.iter().filter(|place| place.is_repeated).cloned().collect();
    repeated.sort_by_key(|place| std::cmp::Reverse(place.calls));
    let dominates = |place: &&StatementPlace| place.is_seen() && place.share.low >= DOMINATES;
    Statements {
        places: all.iter().filter(dominates).cloned().collect(),
        repeated,
        unseen: Vec::new(),
        connections: recorded.connections,
        calls: all.iter().filter_map(|place| place.calls).sum(),
        busy_s: recorded.totals.iter().map(|(_, tally)| tally.time).sum::<f64>() / 1e9,
        elapsed_s: recorded.elapsed.as_secs_f64(),
        dropped: recorded.dropped,
        cpu_s: Duration::as_secs_f64(&recorded.cpu),
        widest: all.into_iter().take(WIDEST).collect(),
    }
}

/// Returns what a capture could not see, and why.
fn why_unseen(recorded: &Recorded, calls: u64) -> Vec<Why> {
    let mut reasons = Vec::new();
    for fault in recorded.tracker.faults.keys() {
        reasons.push(match fault {
            Fault::Encrypted => Why::Encrypted,
            Fault::Compressed => Why::Compressed,
            Fault::Foreign => Why::Multiplexed,
            Fault::Lost => Why::Packets,
        });
    }
    let unseen = recorded.totals.iter().find(|&(id, _)| recorded.tracker.catalogue.text(id).is_unseen());
    if unseen.is_some_and(|(_, tally)| tally.calls * 10 > calls) {
        reasons.push(Why::PreparedBefore);
    }
    if let Some(error) = &recorded.error {
        reasons.push(Why::Failed { message: format!("cannot capture packets: {error}") });
    }
    // Nothing came by: the connections go another way, or through a Unix socket.
    if reasons.is_empty() && calls == 0 {
        reasons.push(Why::Packets);
    }
    reasons.sort();
    reasons.dedup();
    reasons
}
