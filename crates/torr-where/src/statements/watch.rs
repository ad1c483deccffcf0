//! The watch of one database while a load runs, and what it found.

use super::backends::Backends;
use super::capture::{Capture, Recorded, Subject};
use super::database::Database;
use super::login::{Login, Watcher};
use super::place::{Source, StatementPlace};
use super::wire::Fault;
use super::{login_places, wire_places};
use crate::native::threads::is_refused;
use crate::unseen::{Remedy, Runtime, Unseen, UnseenReason};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use torr_gauge::verdict::place::DOMINANT;

/// The part of the statements' time whose texts must have been seen in packets, for a login only to add to them.
const SEEN: f64 = 0.8;

/// The number of statements that are listed, whether one dominates or not.
const WIDEST: usize = 5;

/// Where a database listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// At an address, as the service's processes see it.
    Tcp(SocketAddr),
    /// At a Unix socket, whose packets no interface shows.
    Unix {
        /// The socket's path.
        path: String,
        /// Processes of the database.
        processes: Vec<i32>,
    },
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix { path, .. } => f.write_str(path),
        }
    }
}

/// A database, and how its statements may be seen.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The database.
    pub database: Database,
    /// Where the database listens.
    pub server: Endpoint,
    /// The service's processes. Other clients of the database are not counted. Without any, all clients are.
    pub processes: Vec<i32>,
    /// A login of the database, which shows plans and locks.
    pub login: Option<Login>,
}

/// What was found of a database's statements.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Statements {
    /// The statements that dominate: for sure they have [`DOMINANT`] of the database's time.
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
    seen_by: SeenBy,
    watcher: Option<Result<Watcher, String>>,
}

/// How statements are seen without a login.
#[derive(Debug)]
enum SeenBy {
    Packets(io::Result<Capture>),
    Memory(io::Result<Backends>),
    /// The way to the database shows no statement.
    Nothing,
}

impl Watch {
    /// Begins to watch, once the database has accepted the login or refused it. What is not permitted is reported at the end.
    pub fn start(setup: Setup) -> Self {
        let watcher = setup.login.clone().map(Watcher::start);
        let has_login = matches!(watcher, Some(Ok(_)));
        let database = setup.database;
        let seen_by = match &setup.server {
            &Endpoint::Tcp(server) => {
                SeenBy::Packets(Capture::start(Subject { database, server, processes: setup.processes.clone() }))
            }
            Endpoint::Unix { processes, .. } if database == Database::Postgres && !has_login => {
                SeenBy::Memory(Backends::start(processes))
            }
            Endpoint::Unix { .. } => SeenBy::Nothing,
        };
        Self { setup, seen_by, watcher }
    }

    /// Ends the time in which statements are counted. What was found is for [`Watch::finish`] to say.
    pub fn stop(&self) {
        match &self.seen_by {
            SeenBy::Packets(capture) => capture.iter().for_each(Capture::stop),
            SeenBy::Memory(backends) => backends.iter().for_each(Backends::stop),
            SeenBy::Nothing => {}
        }
        self.watcher.iter().flatten().for_each(Watcher::stop);
    }

    /// Ends the watch. `responses` returns the number of responses that the service gave in the time in which statements were counted.
    pub fn finish(self, responses: impl Fn(Duration) -> u64) -> Statements {
        self.stop();
        let server = self.setup.server.to_string();
        let unseen =
            |why, remedies| Unseen { process: 0, name: server.clone(), runtime: Runtime::Database, why, remedies };
        let observed = self.watcher.map(|watcher| watcher.and_then(Watcher::finish));
        let has_login = observed.is_some();
        let more = |remedies: &[Remedy]| {
            let login = (!has_login).then_some(Remedy::Login);
            remedies.iter().cloned().chain(login).collect::<Vec<_>>()
        };
        let database = self.setup.database;
        let mut all = Vec::new();
        let mut found = Statements::default();
        match self.seen_by {
            SeenBy::Packets(capture) => match capture.and_then(Capture::finish) {
                Ok(recorded) => {
                    all = wire_places::places(&recorded, database, &server, responses(recorded.elapsed));
                    found = counted(&recorded);
                    let reasons = why_unseen(&recorded, found.calls);
                    found.unseen.extend(reasons.into_iter().map(|why| unseen(why, more(&[]))));
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    found.unseen.push(unseen(UnseenReason::Packets, more(&[Remedy::Capability("CAP_NET_RAW".into())])));
                }
                Err(error) => {
                    let why = UnseenReason::Failed(format!("cannot capture packets: {error}"));
                    found.unseen.push(unseen(why, more(&[])));
                }
            },
            SeenBy::Memory(backends) => match backends.map(Backends::finish) {
                Ok(seen) => {
                    found.elapsed_s = seen.elapsed.as_secs_f64();
                    all = login_places::places(&seen, database, &server, responses(seen.elapsed));
                    all.iter_mut().for_each(|place| place.source = Source::Memory);
                    if all.is_empty() {
                        found.unseen.push(unseen(UnseenReason::UnixSocket, more(&[])));
                    }
                }
                Err(error) if is_refused(&error) => {
                    let right = Remedy::Capability("CAP_SYS_PTRACE".into());
                    found.unseen.push(unseen(UnseenReason::UnixSocket, more(&[right])));
                }
                Err(_) => found.unseen.push(unseen(UnseenReason::UnixSocket, more(&[]))),
            },
            SeenBy::Nothing if has_login => {}
            SeenBy::Nothing => found.unseen.push(unseen(UnseenReason::UnixSocket, more(&[]))),
        }
        match observed {
            Some(Ok(observed)) => {
                let errors = observed.errors.iter().map(|message| UnseenReason::Failed(message.clone()));
                found.unseen.extend(errors.map(|why| unseen(why, Vec::new())));
                // Shares of all that the service sends are better than those of samples of all clients, if their texts were seen.
                let seen: f64 = all.iter().filter(|place| place.is_seen()).map(|place| place.share.value).sum();
                if seen >= SEEN || observed.statements.is_empty() && seen > 0.0 {
                    login_places::add(&mut all, &observed);
                } else {
                    all = login_places::places(&observed, database, &server, responses(observed.elapsed));
                }
            }
            Some(Err(message)) => {
                let message = format!("cannot log in to the database: {message}");
                found.unseen.push(unseen(UnseenReason::Failed(message), Vec::new()));
            }
            None => {}
        }
        chosen(all, found)
    }
}

/// Adds the places to what else was found.
fn chosen(all: Vec<StatementPlace>, mut found: Statements) -> Statements {
    found.repeated = all.iter().filter(|place| place.is_repeated).cloned().collect();
    found.repeated.sort_by_key(|place| std::cmp::Reverse(place.calls));
    let dominates = |place: &&StatementPlace| place.is_seen() && place.share.low >= DOMINANT;
    found.places = all.iter().filter(dominates).cloned().collect();
    found.widest = all.into_iter().take(WIDEST).collect();
    found
}

/// Returns what was counted in packets.
fn counted(recorded: &Recorded) -> Statements {
    Statements {
        connections: recorded.connections,
        calls: recorded.totals.iter().map(|(_, tally)| tally.calls).sum(),
        busy_s: recorded.totals.iter().map(|(_, tally)| tally.time).sum::<f64>() / 1e9,
        elapsed_s: recorded.elapsed.as_secs_f64(),
        dropped: recorded.dropped,
        cpu_s: recorded.cpu.as_secs_f64(),
        ..Statements::default()
    }
}

/// Returns what a capture could not see, and why.
fn why_unseen(recorded: &Recorded, calls: u64) -> Vec<UnseenReason> {
    let mut reasons = Vec::new();
    for fault in recorded.tracker.faults.keys() {
        reasons.push(match fault {
            Fault::Encrypted => UnseenReason::Encrypted,
            Fault::Compressed => UnseenReason::Compressed,
            Fault::Foreign => UnseenReason::Multiplexed,
            Fault::Lost => UnseenReason::Packets,
        });
    }
    let unseen = recorded.totals.iter().find(|&(id, _)| recorded.tracker.catalogue.text(id).is_unseen());
    if unseen.is_some_and(|(_, tally)| tally.calls * 10 > calls) {
        reasons.push(UnseenReason::PreparedBefore);
    }
    if let Some(error) = &recorded.error {
        reasons.push(UnseenReason::Failed(format!("cannot capture packets: {error}")));
    }
    // Nothing came by: the connections go another way, or through a Unix socket.
    if reasons.is_empty() && calls == 0 {
        reasons.push(UnseenReason::Packets);
    }
    reasons.sort();
    reasons.dedup();
    reasons
}
