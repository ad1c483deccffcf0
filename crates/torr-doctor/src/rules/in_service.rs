//! The number of requests in service: counted where threads or connections show it, otherwise by Little's law from throughput and the
//! response time of a single request.

use crate::figures::Figures;
use crate::thresholds::{COUNTS_AGREE, LAW_OFF, MORE_IN_HAND, ONE, POOL_IN_USE};

/// Returns the number of requests in service at the highest throughput. A count wins over the ratio, which one slow response among a few
/// makes too large; a count that is far from the ratio counts something else.
pub fn held(figures: &Figures) -> f64 {
    let by_law = figures.parallelism();
    let is_near = |count: &f64| (by_law / LAW_OFF..=by_law * LAW_OFF).contains(count);
    counted(figures).filter(is_near).unwrap_or(by_law)
}

/// Returns the bounds of the number of requests in service, by the middle half of the response times without load. `None` if it was
/// counted, or if the response times are not known so closely.
pub fn range(figures: &Figures, held: f64) -> Option<(f64, f64)> {
    let is_counted = counted(figures) == Some(held);
    figures.parallelism_range().filter(|_| !is_counted)
}

/// Returns the number above which requests, threads or connections are clearly more than `held` requests in service.
pub fn more_than(held: f64) -> f64 {
    MORE_IN_HAND.0 * held + MORE_IN_HAND.1
}

/// Returns the number of threads that block with a request, if the server has read as many requests; or the number of connections to a
/// database, if all of them have a request in flight.
fn counted(figures: &Figures) -> Option<f64> {
    let threads = figures.holding() as f64;
    let agree = |read: f64| (read - threads).abs() <= COUNTS_AGREE.0 * threads + COUNTS_AGREE.1;
    if threads >= ONE && figures.in_service().is_some_and(agree) {
        return Some(threads);
    }
    let in_use = figures.databases().filter(|peer| {
        peer.connections >= ONE && peer.waiting.is_some_and(|waiting| waiting > POOL_IN_USE * peer.connections)
    });
    in_use.map(|peer| peer.connections).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{Ladder, Rung};
    use torr_signals::{ClientsUse, PeerUse, ProcessUse, Role, Signals, ThreadUse};

    /// A service with threads that sleep with a request, of a hundred connections, of which some requests were read, beside a pool.
    /// Throughput is that of 40 requests in service; a single request seemed to take 40% longer.
    fn figures(threads: usize, read: f64, pool: Option<(f64, f64)>) -> Figures {
        let thread = ThreadUse {
            waiting: [("hrtimer_nanosleep".to_owned(), 0.9)].into(),
            waits_per_s: Some(100.0),
            ..ThreadUse::default()
        };
        let peer = pool.map(|(connections, waiting)| PeerUse {
            role: Role::Database,
            connections,
            waiting: Some(waiting),
            ..PeerUse::default()
        });
        let signals = Signals {
            processes: vec![ProcessUse { threads: vec![thread; threads], ..ProcessUse::default() }],
            clients: Some(ClientsUse { established: 100.0, unread: 100.0 - read, ..ClientsUse::default() }),
            peers: peer.into_iter().collect(),
            ..Signals::default()
        };
        Figures {
            connections: 100,
            alone_mean_s: 0.028,
            alone_middle_s: Some((0.027, 0.03)),
            ladder: Ladder(vec![Rung { connections: 100, rps: 2000.0, median_s: 0.05 }]),
            signals: Some(signals),
            ..Figures::default()
        }
    }

    #[test]
    fn a_count_wins_over_the_ratio_unless_it_counts_something_else() {
        for (what, figures, expected) in [
            ("forty threads, and as many requests read", figures(40, 41.0, None), 40.0),
            ("forty threads, and all requests read", figures(40, 100.0, None), 56.0),
            ("three threads, and three requests read", figures(3, 3.0, None), 56.0),
            ("a pool of forty, all of it in use", figures(0, 100.0, Some((40.0, 39.0))), 40.0),
            ("a pool of forty, hardly in use", figures(0, 100.0, Some((40.0, 5.0))), 56.0),
        ] {
            assert!((held(&figures) - expected).abs() < 1e-9, "{what}: {}", held(&figures));
            let range = range(&figures, held(&figures));
            assert_eq!(range.is_none(), expected == 40.0, "{what}: {range:?}");
        }
    }
}
