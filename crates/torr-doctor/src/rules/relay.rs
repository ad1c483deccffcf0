//! A relay with few workers: it forwards requests to another service, and each of its workers blocks until the response is there.
//!
//! Such a relay is no costly proxy. A single request takes about as long through it as directly, and only under load the two differ,
//! since the relay has few requests in flight at a time. More workers raise throughput, a cheaper relay does not.

use super::waiting::{by_hands, by_threads};
use crate::contrast::Contrast;
use crate::evidence::Evidence;
use crate::gain;
use crate::thresholds::{AS_MANY_CONNECTIONS, AS_MANY_THREADS, COMPUTES, LEAST_HELD, RELAY_ADDS};
use crate::witnesses::peer_connections;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline, Promise, WorkerCount};
use torr_gauge::{Confidence, Factor};
use torr_signals::PeerUse;

/// What tells that the number of workers binds, not their cost. Each is `true` where it was observed.
struct Witnesses {
    /// As many threads block with a request as requests are in service.
    threads: bool,
    /// The relay has read no more requests than are in service; the others wait in its sockets or in its accept queue.
    hands: bool,
    /// As many connections to the service behind it are in use.
    upstream: bool,
    /// As many processes work on requests.
    processes: bool,
}

/// Returns whether requests wait before the relay, since all of its workers have one. `behind` is the service that it forwards to.
pub fn waits_before(evidence: &Evidence, behind: &PeerUse) -> bool {
    let witnesses = witnesses(evidence, behind);
    witnesses.threads || witnesses.hands
}

/// Returns the finding on a relay whose number of workers binds. `direct_s` is the median response time of single requests to the service
/// `behind` it, and `contrast` the throughput of that service as a ratio to that of the relay.
pub fn few_workers(evidence: &Evidence, behind: &PeerUse, direct_s: f64, contrast: &Contrast) -> Option<Finding> {
    let figures = &evidence.figures;
    let (held, through_s) = (figures.parallelism(), figures.alone_median_s);
    let is_as_quick = through_s <= RELAY_ADDS * direct_s;
    let is_busy = figures.wants_cpu()
        || figures.full_threads() > 0
        || figures.server_cores().is_some_and(|used| used > COMPUTES * held);
    if !is_as_quick || held < LEAST_HELD || is_busy || !waits_before(evidence, behind) {
        return None;
    }
    let Witnesses { threads, hands, upstream, processes } = witnesses(evidence, behind);
    let agree = [threads, hands, upstream, processes].into_iter().filter(|seen| *seen).count() >= 2;
    let confidence = if agree { Confidence::Certain } else { Confidence::Likely };
    let count = match (figures.holding(), figures.working_processes(held)) {
        (blocked, _) if threads => WorkerCount::Exactly(blocked),
        (_, working) if processes => WorkerCount::Exactly(working),
        _ => WorkerCount::About(held),
    };
    let seen = processes.then(|| figures.processes().max_by(|a, b| a.cores.total_cmp(&b.cores))).flatten();
    let seen = seen.map(|process| Fact::WorkerProcesses {
        name: process.name.clone(),
        processes: figures.working_processes(held),
    });
    let in_service = figures.in_service().filter(|hands| hands.round() > 0.0);
    let in_service =
        in_service.map(|requests| Fact::InService { requests: requests.round(), of: figures.connections as f64 });
    let workers = match count {
        WorkerCount::Exactly(workers) => workers as f64,
        WorkerCount::About(workers) => workers.round(),
    };
    let bounds = evidence.bounds().with_more_threads();
    Some(
        Finding::new(Factor::Workers, confidence, Headline::RelayWorkers(count))
            .because(Fact::RelayAlone { through_s, direct_s })
            .because(Fact::WithoutProxy {
                service: behind.processes.first().map(|process| process.name.clone()),
                addresses: vec![behind.address.clone()],
                speedup: contrast.speedup(),
            })
            .because(seen)
            .because(peer_connections(behind))
            .because(in_service)
            .because(figures.server_cpu())
            .advice(Advice::MoreBlockingWorkers { cores: figures.cores() })
            .gain(at_most(gain::by_waiting_workers(&bounds, workers, figures.cores()), contrast.of.high)),
    )
}

/// Returns a promise that promises no more than the service behind the relay reached directly.
fn at_most(promise: Promise, most: f64) -> Promise {
    let cut = |end: Option<f64>| end.map(|end| end.min(most.max(1.0)));
    Promise { low: cut(promise.low), high: cut(promise.high), ..promise }
}

fn witnesses(evidence: &Evidence, behind: &PeerUse) -> Witnesses {
    let figures = &evidence.figures;
    let held = figures.parallelism();
    let (least, most, beside) = AS_MANY_THREADS;
    let working = figures.working_processes(held) as f64;
    let is_as_many = |used: f64| (used - held).abs() <= AS_MANY_CONNECTIONS.0 * held + AS_MANY_CONNECTIONS.1;
    Witnesses {
        threads: by_threads(evidence, held) == Some(false),
        hands: by_hands(evidence, held) == Some(false),
        upstream: is_as_many(behind.connections_max as f64) || behind.waiting.is_some_and(is_as_many),
        processes: working >= 1.0 && (least * held - beside..=most * held + beside).contains(&working),
    }
}
