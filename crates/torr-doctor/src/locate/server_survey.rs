//! The survey of a server on this machine: its processes' stacks, and the statements that it sends to its databases.

use super::written;
use super::{Database, Locator, Sampling, Site, wait};
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};
use torr_gauge::Factor;
use torr_gauge::verdict::place::PlaceKind;
use torr_gauge::verdict::{Located, Place};
use torr_where::statements::{self, Endpoint, Login, Setup, Watch, logins_of};
use torr_where::{PreparedSurvey, Resource, Survey};

/// The time between the end of sampling and the end of the load.
const MARGIN: Duration = Duration::from_millis(300);

/// Samples a server on this machine.
#[derive(Debug, Clone, Default)]
pub struct ServerSurvey {
    /// Whether it may ask processes by their own diagnostic interfaces, as for a thread dump.
    pub asking: bool,
    /// The logins of the server's databases.
    pub logins: Vec<Login>,
    /// Whether logins are also taken from the environment of the server's processes.
    pub logins_from_environment: bool,
}

impl Locator for ServerSurvey {
    fn prepare(&self, site: &Site) -> Box<dyn Sampling + '_> {
        let processes: Vec<i32> = site.processes.iter().map(|process| process.pid).collect();
        let time = site.length.saturating_sub(MARGIN);
        let survey = Survey::of(processes.clone(), resource(site.factor), time);
        let survey = if self.asking { survey.asking() } else { survey };
        let survey = site.in_flight.into_iter().fold(survey, Survey::in_flight).prepare();
        Box::new(ServerSampling { by: self, site: site.clone(), processes, time, survey, watches: Vec::new() })
    }
}

/// The sampling of a server on this machine.
struct ServerSampling<'s> {
    by: &'s ServerSurvey,
    site: Site,
    processes: Vec<i32>,
    time: Duration,
    survey: PreparedSurvey,
    watches: Vec<Watch>,
}

impl Sampling for ServerSampling<'_> {
    fn sample(&mut self, warmup: Duration, stop: &AtomicBool) {
        wait(warmup, stop);
        let Self { by, site, processes, time, survey, watches } = self;
        *watches = thread::scope(|scope| {
            // A database that accepts a login late does not delay the survey, which still names what it sampled when the load has ended.
            let watches = scope.spawn(|| {
                let (began, logins) = (Instant::now(), by.logins(processes));
                let databases = site.databases.iter();
                let watches: Vec<_> = databases.filter_map(|database| watch(database, processes, &logins)).collect();
                wait(time.saturating_sub(began.elapsed()), stop);
                watches.iter().for_each(Watch::stop);
                watches
            });
            survey.sample(stop);
            watches.join().unwrap_or_else(|panic| resume_unwind(panic))
        });
    }

    fn located(self: Box<Self>) -> Located {
        let Self { site, survey, watches, .. } = *self;
        let statements = finished(watches, site.rps);
        joined(site.factor, written::located(survey.localise()), statements)
    }
}

impl ServerSurvey {
    /// Returns the logins of databases: the user's before those of the server's environment, if these may be read.
    fn logins(&self, processes: &[i32]) -> Vec<Login> {
        let mut logins = self.logins.clone();
        if self.logins_from_environment {
            // The environment of another user's process is not readable.
            logins.extend(processes.iter().filter_map(|&process| logins_of(process).ok()).flatten());
        }
        logins
    }
}

/// Starts to watch the statements for a database. `None` if its protocol is not known.
fn watch(database: &Database, processes: &[i32], logins: &[Login]) -> Option<Watch> {
    let tcp: Option<SocketAddr> = database.address.parse().ok();
    let kind = statements::Database::guess(tcp.map_or(0, |server| server.port()), database.name.as_deref())?;
    let server = tcp.map_or_else(
        || Endpoint::Unix { path: database.address.clone(), processes: database.processes.clone() },
        Endpoint::from,
    );
    // A pooler between both may have another port.
    let of_kind = || logins.iter().filter(|login| login.database() == kind);
    let is_at = |login: &&Login| tcp.is_some_and(|server| server.port() == login.port());
    let login = of_kind().find(is_at).or_else(|| of_kind().next()).cloned();
    Some(Watch::start(Setup { database: kind, server, processes: processes.to_vec(), login }))
}

/// Returns what watches found that were stopped under a load with so many responses per second.
fn finished(watches: Vec<Watch>, rps: f64) -> Vec<Located> {
    let responses = |time: Duration| (rps * time.as_secs_f64()) as u64;
    watches.into_iter().map(|watch| written::of_statements(watch.finish(responses))).collect()
}

/// Returns what was found in processes and in statements together. A factor of the database has its place in statements first.
fn joined(factor: Factor, mut sampled: Located, statements: Vec<Located>) -> Located {
    let is_database = matches!(factor, Factor::Database | Factor::Orm);
    for found in statements {
        if !is_database {
            // The wait of threads for a database has a statement that they wait for; no other factor comes from statements.
            let waits_for_one = |place: &Place| place.peer == found.places.first().and_then(|of| of.peer.clone());
            if sampled.places.iter().any(waits_for_one) {
                sampled.places.extend(found.places);
            }
            continue;
        }
        let has_places = !found.places.is_empty();
        sampled.places.splice(0..0, found.places);
        sampled.unseen.extend(found.unseen);
        if !has_places {
            sampled.widest.splice(0..0, found.widest);
        }
    }
    let is_wait = |place: &Place| matches!(place.kind, PlaceKind::Wait | PlaceKind::Peer);
    if is_database && sampled.places.iter().all(is_wait) {
        // Where its statements are not visible, the function that waits for a database is known, but not why it waits for long.
        sampled.places.clear();
    }
    sampled
}

/// Returns in which resource the place of a factor is looked for.
fn resource(factor: Factor) -> Resource {
    match factor {
        Factor::SingleCore => Resource::Thread,
        Factor::TlsHandshake => Resource::Tls,
        Factor::Lock => Resource::Lock,
        Factor::Pool => Resource::Pool,
        Factor::Workers => Resource::Workers,
        Factor::Database => Resource::Peer,
        _ => Resource::Cpu,
    }
}

#[cfg(test)]
mod tests;
