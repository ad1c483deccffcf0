//! The sentences of facts about what requests wait for, and about what is behind a relay, a front or a pooler.

use crate::human::{mean, plural, seconds};
use torr_gauge::verdict::{Fact, WaitKind};

/// Returns a fact of this group as a clause, without a full stop; an empty text for a fact of another group.
pub fn fact(fact: &Fact) -> String {
    use Fact as F;
    match fact {
        F::RelayAlone { through_s, direct_s } => format!(
            "a single request takes {} through the relay and {} directly: the relay itself costs little",
            seconds(*through_s),
            seconds(*direct_s)
        ),
        F::WorkerProcesses { name, processes } => {
            format!("{} of {name} processed requests", plural(*processes as u64, "process"))
        }
        F::PeerQueue { peer, accepted, unread, queued } => format!(
            "{peer} had accepted {} connections, {} of them with unread bytes; {} more waited in its accept queue",
            mean(*accepted),
            mean(*unread),
            mean(*queued)
        ),
        F::PoolerConnections { pooler, database, mean: open, most, in_flight } => {
            let busy = in_flight.map(|busy| format!("; {} of them had a query in flight", mean(busy)));
            let busy = busy.unwrap_or_default();
            format!("{pooler} had {} connections to {database}, at most {most}{busy}", mean(*open))
        }
        F::WaitsIn { what, threads } => {
            format!("on average {} of the server's threads waited {}", mean(*threads), wait(*what))
        }
        F::HeldDuringCall { database, connections, querying, peer, in_flight } => format!(
            "{} of {} connections to {database} had a query in flight, while {} requests waited for {peer}: the server \
             holds database connections during other calls",
            mean(*querying),
            mean(*connections),
            mean(*in_flight)
        ),
        F::NamesResolved { lookups } => {
            format!("on average {} lookups of host names (UDP port 53) were in flight", mean(*lookups))
        }
        F::LoopBlocked { requests } => {
            format!("an event loop had read {requests:.0} requests, and its only thread was blocked in one of them")
        }
        F::OtherNamespace => {
            "the service runs in another network namespace of this machine, as in a container, and Torr may not look into it".into()
        }
        _ => String::new(),
    }
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
