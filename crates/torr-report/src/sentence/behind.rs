//! The sentences of facts about what requests wait for, and about what is behind a relay, a front or a pooler.

use crate::human::{mean, plural, seconds};
use torr_gauge::verdict::WaitKind;

pub(super) const OTHER_NAMESPACE: &str =
    "the service runs in another network namespace of this machine, as in a container, and Torr may not look into it";

pub(super) fn relay_alone(through_s: f64, direct_s: f64) -> String {
    format!(
        "a single request takes {} through the relay and {} directly: the relay itself costs little",
        seconds(through_s),
        seconds(direct_s)
    )
}

pub(super) fn worker_processes(name: &str, processes: usize) -> String {
    format!("{} of {name} processed requests", plural(processes as u64, "process"))
}

pub(super) fn peer_queue(peer: &str, accepted: f64, unread: f64, queued: f64) -> String {
    format!(
        "{peer} had accepted {} connections, {} of them with unread bytes; {} more waited in its accept queue",
        mean(accepted),
        mean(unread),
        mean(queued)
    )
}

pub(super) fn pooler_connections(
    [pooler, database]: [&str; 2],
    open: f64,
    most: usize,
    in_flight: Option<f64>,
) -> String {
    let busy = in_flight.map(|busy| format!("; {} of them had a query in flight", mean(busy)));
    let busy = busy.unwrap_or_default();
    format!("{pooler} had {} connections to {database}, at most {most}{busy}", mean(open))
}

pub(super) fn waits_in(what: WaitKind, threads: f64) -> String {
    format!("on average {} of the server's threads waited {}", mean(threads), wait(what))
}

pub(super) fn held_during_call([database, peer]: [&str; 2], connections: f64, querying: f64, in_flight: f64) -> String {
    format!(
        "{} of {} connections to {database} had a query in flight, while {} requests waited for {peer}: the server \
         holds database connections during other calls",
        mean(querying),
        mean(connections),
        mean(in_flight)
    )
}

pub(super) fn names_resolved(lookups: f64) -> String {
    format!("on average {} lookups of host names (UDP port 53) were in flight", mean(lookups))
}

pub(super) fn loop_blocked(requests: f64) -> String {
    format!("an event loop had read {requests:.0} requests, and its only thread was blocked in one of them")
}

fn wait(what: WaitKind) -> &'static str {
    match what {
        WaitKind::Sleep => "for a time to pass, as in a sleep",
        WaitKind::Socket => "for data from a socket",
        WaitKind::Pipe => "for data from a pipe",
        WaitKind::Disk => "for a disk, as in a read or in fsync",
        WaitKind::FileLock => "for a lock of a file",
        WaitKind::Child => "for a child process to end",
    }
}
