//! What requests wait for, as far as threads, connections and sockets tell.

use super::in_service::more_than;
use crate::figures::Figures;
use crate::thresholds::{AS_MANY_CONNECTIONS, HELD_IDLE, MOST_WAIT, NAMED_WAITS, ONE, POOL_IN_USE, REQUESTS_PER_WAIT};
use std::collections::BTreeMap;
use torr_gauge::verdict::{Fact, WaitKind};
use torr_signals::PeerUse;

/// Parts of the names of the kernel's functions in which a thread waits, by what it waits for there. That of an idle thread, which waits
/// for a connection or an event, is not among them.
const FUNCTIONS: [(WaitKind, &[&str]); 6] = [
    (WaitKind::Sleep, &["nanosleep"]),
    (
        WaitKind::Socket,
        &["sk_wait_data", "wait_woken", "tcp_recvmsg", "unix_stream", "inet_stream_connect", "inet_wait_for_connect"],
    ),
    (WaitKind::Pipe, &["pipe_read", "pipe_wait", "pipe_write"]),
    (
        WaitKind::Disk,
        &[
            "jbd2",
            "io_schedule",
            "folio_wait",
            "wait_on_page",
            "blkdev",
            "blk_",
            "submit_bio_wait",
            "ext4_",
            "xfs_",
            "btrfs_",
            "wait_on_buffer",
            "bit_wait_io",
            "rq_qos",
            "wbt_wait",
            "fsync",
        ],
    ),
    (WaitKind::FileLock, &["locks_lock", "flock"]),
    (WaitKind::Child, &["do_wait", "kernel_wait4"]),
];

/// Returns the facts about what requests wait for. `held` requests are in service.
pub fn facts(figures: &Figures, held: f64) -> Vec<Fact> {
    let most = NAMED_WAITS * held;
    let threads = threads(figures).into_iter().filter(|(_, threads)| *threads >= most);
    let in_kernel = threads.map(|(what, threads)| Fact::WaitsIn { what, threads });
    // What waits in a pooler shows in the connections of the pooler itself.
    let in_flight = figures.peers().filter(|peer| peer.peers.is_empty()).filter_map(|peer| {
        let mean = peer.waiting.filter(|waiting| *waiting >= most.max(MOST_WAIT))?;
        Some(Fact::PeerInFlight { peer: peer.label(), mean, connections: peer.connections })
    });
    let lookups = figures.signals.as_ref().and_then(|signals| signals.lookups);
    let lookups = lookups.filter(|lookups| *lookups >= most).map(|lookups| Fact::NamesResolved { lookups });
    in_kernel.chain(in_flight).chain(lookups).chain(blocked_loop(figures, held)).collect()
}

/// Returns whether most of the requests in service wait for the lookup of a host name.
pub fn resolves_names(figures: &Figures, held: f64) -> bool {
    figures.signals.as_ref().and_then(|signals| signals.lookups).is_some_and(|lookups| lookups >= MOST_WAIT * held)
}

/// Returns the mean number of threads that wait for each kind of thing, of those that work on requests.
fn threads(figures: &Figures) -> BTreeMap<WaitKind, f64> {
    let rps = figures.rps();
    let threads = figures.processes().flat_map(|process| &process.threads);
    let working = threads.filter(|thread| thread.waits_per_s.is_some_and(|waits| waits > rps / REQUESTS_PER_WAIT));
    let mut found = BTreeMap::new();
    for (function, share) in working.flat_map(|thread| &thread.waiting) {
        if let Some(kind) = kind(function) {
            *found.entry(kind).or_default() += share;
        }
    }
    found
}

fn kind(function: &str) -> Option<WaitKind> {
    // Threads wait there for each other, which is no kind of its own.
    if function.contains("futex") {
        return None;
    }
    let is_of = |(_, parts): &&(WaitKind, &[&str])| parts.iter().any(|part| function.contains(part));
    FUNCTIONS.iter().find(is_of).map(|(kind, _)| *kind)
}

/// Returns that an event loop blocks: it has read many requests, and its thread waits with one of them.
fn blocked_loop(figures: &Figures, held: f64) -> Option<Fact> {
    let requests = figures.in_service()?;
    let is_blocked = held < ONE && figures.holding() == 1 && requests > more_than(held);
    is_blocked.then_some(Fact::LoopBlocked { requests: requests.round() })
}

/// Returns a database whose connections are all held, though few of them have a query in flight, while as many requests wait for another
/// service; and that as a fact.
pub fn held_during_call(figures: &Figures, held: f64) -> Option<(&PeerUse, Fact)> {
    figures.databases().find_map(|database| {
        let querying = database.waiting?;
        let is_pool = database.connections > ONE
            && (database.connections - held).abs() <= AS_MANY_CONNECTIONS.0 * held + AS_MANY_CONNECTIONS.1;
        let idle = database.connections - querying;
        if !is_pool || idle < HELD_IDLE * database.connections {
            return None;
        }
        let others = figures.peers().filter(|peer| peer.address != database.address);
        let elsewhere = others.filter_map(|peer| Some((peer, peer.waiting?)));
        let (peer, in_flight) = elsewhere.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (in_flight >= POOL_IN_USE * idle).then(|| {
            let fact = Fact::HeldDuringCall {
                database: database.label(),
                connections: database.connections,
                querying,
                peer: peer.label(),
                in_flight,
            };
            (database, fact)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_signals::{ClientsUse, ProcessUse, Role, Signals, ThreadUse};

    fn thread(function: &str, share: f64) -> ThreadUse {
        ThreadUse { waits_per_s: Some(100.0), waiting: [(function.to_owned(), share)].into(), ..ThreadUse::default() }
    }

    fn peer(address: &str, role: Role, connections: f64, waiting: f64) -> PeerUse {
        PeerUse { address: address.into(), role, connections, waiting: Some(waiting), ..PeerUse::default() }
    }

    fn figures(threads: Vec<ThreadUse>, peers: Vec<PeerUse>) -> Figures {
        let processes = vec![ProcessUse { threads, ..ProcessUse::default() }];
        Figures { signals: Some(Signals { processes, peers, ..Signals::default() }), ..Figures::default() }
    }

    #[test]
    fn threads_are_counted_by_what_they_wait_for_and_idle_ones_are_not() {
        let waits = [
            "hrtimer_nanosleep",
            "wait_woken",
            "do_epoll_wait",
            "futex_do_wait",
            "inet_csk_accept",
            "jbd2_log_wait_commit",
        ];
        let figures = figures(waits.map(|function| thread(function, 0.9)).into(), vec![]);
        let expected = [(WaitKind::Sleep, 0.9), (WaitKind::Socket, 0.9), (WaitKind::Disk, 0.9)];
        assert_eq!(threads(&figures), BTreeMap::from(expected));
        let waits = facts(&figures, 2.0);
        assert!(waits.contains(&Fact::WaitsIn { what: WaitKind::Disk, threads: 0.9 }), "{waits:?}");
        assert_eq!(facts(&figures, 20.0), vec![], "one of twenty says little");
    }

    #[test]
    fn a_pool_whose_connections_idle_during_a_call_is_named_with_the_call() {
        let database = |connections, waiting| peer("10.0.0.1:5432", Role::Database, connections, waiting);
        let other = peer("10.0.0.2:80", Role::Other, 20.0, 7.0);
        let seen = figures(vec![], vec![database(10.0, 3.0), other.clone()]);
        let (found, fact) =
            held_during_call(&seen, 10.0).expect("seven of ten are idle, and seven requests are elsewhere");
        assert_eq!(found.address, "10.0.0.1:5432");
        assert!(matches!(fact, Fact::HeldDuringCall { querying: 3.0, in_flight: 7.0, .. }), "{fact:?}");
        for (connections, waiting) in [(10.0, 9.0), (40.0, 3.0), (1.0, 0.1)] {
            let seen = figures(vec![], vec![database(connections, waiting), other.clone()]);
            assert!(held_during_call(&seen, 10.0).is_none(), "{connections} {waiting}");
        }
        let idle = peer("10.0.0.2:80", Role::Other, 20.0, 0.5);
        assert!(held_during_call(&figures(vec![], vec![database(10.0, 3.0), idle]), 10.0).is_none());
    }

    #[test]
    fn a_loop_that_blocks_has_read_many_requests_and_a_worker_has_not() {
        let with = |established, unread| {
            let mut figures = figures(vec![thread("hrtimer_nanosleep", 1.0)], vec![]);
            let clients = ClientsUse { established, unread, ..ClientsUse::default() };
            figures.signals.as_mut().expect("it was just made").clients = Some(clients);
            figures
        };
        assert_eq!(blocked_loop(&with(96.0, 1.0), 1.0), Some(Fact::LoopBlocked { requests: 95.0 }));
        assert_eq!(blocked_loop(&with(96.0, 95.0), 1.0), None);
        assert_eq!(blocked_loop(&with(96.0, 1.0), 4.0), None);
    }

    #[test]
    fn lookups_of_names_are_named_where_most_requests_wait_for_them() {
        let with = |lookups| {
            let mut figures = figures(vec![], vec![]);
            figures.signals.as_mut().expect("it was just made").lookups = lookups;
            figures
        };
        assert!(facts(&with(Some(3.8)), 4.0).contains(&Fact::NamesResolved { lookups: 3.8 }));
        assert!(resolves_names(&with(Some(3.8)), 4.0) && !resolves_names(&with(Some(0.4)), 4.0));
        assert!(!resolves_names(&with(None), 4.0));
    }
}
