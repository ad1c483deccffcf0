//! A front: a server that hands requests on to processes which cannot be loaded directly, since they speak another protocol (FastCGI, uwsgi,
//! AJP) or listen on an address that only the server reaches.

use super::in_service::more_than;
use crate::figures::Figures;
use crate::thresholds::{COMPUTES, LEAST_HELD, ONE, QUEUED_BEHIND, WORKS_BEHIND, WORKS_MORE};
use torr_signals::{PeerUse, Role};

/// Returns the peer that the server is a front of, if there is one: it does the work, or its requests wait there.
pub fn behind(figures: &Figures) -> Option<PeerUse> {
    works_behind(figures).or_else(|| waits_behind(figures)).cloned()
}

/// Returns the peer that does the work.
fn works_behind(figures: &Figures) -> Option<&PeerUse> {
    with_most(figures, PeerUse::cores, WORKS_BEHIND.max(WORKS_MORE * figures.server_cores()?))
}

/// Returns the peer for which requests wait: the server has read many more requests than are in service, is nearly idle, and has as many in
/// flight at the peer. With a pool of connections to the peer no more would be in flight there than are in service.
fn waits_behind(figures: &Figures) -> Option<&PeerUse> {
    let held = figures.parallelism();
    let more = more_than(held);
    let is_idle = figures.server_cores()? < COMPUTES * held && figures.full_threads() == 0;
    if held < LEAST_HELD || !is_idle {
        return None;
    }
    // An accept queue shows where requests wait, also where few do.
    let queued = |peer: &PeerUse| peer.queued().unwrap_or(0.0);
    let reads_more = figures.in_service().is_none_or(|read| read > more);
    with_most(figures, queued, ONE.max(QUEUED_BEHIND * held))
        .or_else(|| with_most(figures, demand, more).filter(|_| reads_more))
}

/// Returns the peer with the most of something, if it has more than this.
fn with_most(figures: &Figures, of: impl Fn(&PeerUse) -> f64, least: f64) -> Option<&PeerUse> {
    let most = others(figures).max_by(|a, b| of(a).total_cmp(&of(b)));
    most.filter(|peer| of(peer) > least)
}

/// Returns the peers on this machine that are neither databases nor caches.
fn others(figures: &Figures) -> impl Iterator<Item = &PeerUse> {
    figures.peers().filter(|peer| peer.role == Role::Other && !peer.processes.is_empty())
}

/// Returns the mean number of requests that wait at a peer or are in service there.
fn demand(peer: &PeerUse) -> f64 {
    let waits = peer.queued().unwrap_or(0.0) + peer.unread.unwrap_or(0.0);
    // A connection over a Unix socket does not tell whether it has a request in flight, one that was not accepted or read does.
    peer.waiting.map_or(waits, |waiting| waiting.max(waits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{Ladder, Rung};
    use torr_signals::{ClientsUse, ListenerUse, ProcessUse, Signals};

    fn process(cores: f64) -> ProcessUse {
        ProcessUse { cores, ..ProcessUse::default() }
    }

    /// A server that uses so much, beside others.
    fn figures(server: f64, others: &[(Role, f64)]) -> Figures {
        let peers = others.iter().map(|&(role, cores)| PeerUse {
            address: format!("{cores}"),
            role,
            processes: vec![process(cores)],
            ..PeerUse::default()
        });
        let signals = Signals { processes: vec![process(server)], peers: peers.collect(), ..Signals::default() };
        Figures { signals: Some(signals), ..Figures::default() }
    }

    #[test]
    fn who_works_for_a_server_that_only_hands_requests_on_is_looked_at() {
        let found = |server, others: &[_]| behind(&figures(server, others)).map(|peer| peer.address);
        assert_eq!(found(0.05, &[(Role::Other, 0.1), (Role::Other, 1.9)]).as_deref(), Some("1.9"));
        assert_eq!(found(0.05, &[(Role::Database, 1.9)]), None, "that has rules of its own");
        assert_eq!(found(1.0, &[(Role::Other, 0.9)]), None, "the server works as well");
        assert_eq!(found(0.0, &[(Role::Other, 0.2)]), None, "no peer works");
        assert!(behind(&Figures::default()).is_none(), "no peer is visible");
    }

    /// A front that has read so many of 100 requests, of which two are in service, with a peer.
    fn front(read: f64, peer: PeerUse) -> Figures {
        let mut figures = figures(0.02, &[]);
        let signals = figures.signals.as_mut().expect("it was just made");
        signals.clients = Some(ClientsUse { established: 100.0, unread: 100.0 - read, ..ClientsUse::default() });
        signals.peers = vec![PeerUse { processes: vec![process(0.02)], ..peer }];
        let ladder = Ladder(vec![Rung { connections: 100, rps: 200.0, median_s: 0.5 }]);
        Figures { connections: 100, in_flight: 100, alone_mean_s: 0.01, ladder, ..figures }
    }

    #[test]
    fn the_peer_at_which_requests_queue_is_looked_at() {
        let over_tcp = |waiting: f64| PeerUse { waiting: Some(waiting), ..PeerUse::default() };
        let over_unix = |queued: f64| PeerUse {
            listener: Some(ListenerUse { queued_mean: Some(queued), ..ListenerUse::default() }),
            accepted: Some(2.0),
            ..PeerUse::default()
        };
        for (what, figures, expected) in [
            ("a listener that queues", front(100.0, over_unix(98.0)), true),
            ("over TCP", front(100.0, over_tcp(99.0)), true),
            ("a pool of two connections", front(100.0, over_tcp(2.0)), false),
            ("idle connections", front(100.0, PeerUse { accepted: Some(64.0), ..over_tcp(0.1) }), false),
            ("the front has not read the requests", front(2.0, over_tcp(99.0)), false),
        ] {
            assert_eq!(behind(&figures).is_some(), expected, "{what}");
        }
    }
}
