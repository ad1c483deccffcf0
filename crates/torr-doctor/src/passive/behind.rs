//! What the server's machine points to in a single run: quotas, databases, proxies, what requests wait for.

use super::seen::{at_a_time, figures, likely, server_is_full, undecided};
use crate::thresholds::{
    DATABASE_WORKS, FEW_IN_HAND, FULL_THREAD, HARDLY_ONE, HELD_BACK, IDLE_SERVER, MACHINE_FULL, MANY_OPENED_PER_S,
    MOST_IN_FLIGHT, MOST_WAIT, ONE, PASSIVE_POOL_IN_USE, PASSIVE_THREADS, SMALL_POOL, SPARE_CPU, UPSTREAM_KEPT,
    UPSTREAM_OPENS, WAITED,
};
use crate::witnesses::{rows_for_little, rows_one_by_one, throttled, throttled_fact};
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Factor, RunResult};
use torr_signals::{PeerUse, Role};

/// A quota of CPU time.
pub fn quota(run: &RunResult) -> Option<Finding> {
    let quota = throttled(run.signals.as_ref())?;
    let cores = run.signals.as_ref().and_then(|signals| signals.machine).map(|machine| machine.cores);
    Some(likely(Factor::CpuQuota, Headline::CpuQuota).because(throttled_fact(quota, cores)).advice(Advice::RaiseQuota))
}

/// Many messages to the database for each request, or a database that is busy.
pub fn database(run: &RunResult) -> Option<Finding> {
    let signals = run.signals.as_ref()?;
    if let Some((finding, _)) = rows_one_by_one(&figures(run)) {
        return Some(finding);
    }
    let databases = signals.peers.iter().filter(|peer| peer.role == Role::Database);
    let peer = databases.max_by(|a, b| a.cores().total_cmp(&b.cores()))?;
    let full = peer.processes.iter().flat_map(|process| &process.threads).any(|thread| thread.cores >= FULL_THREAD);
    let machine = signals.machine?;
    let generator = run.generator_cores()?;
    let most = peer.cores() > signals.server_cores()
        && peer.cores() > generator
        && peer.cores() > DATABASE_WORKS * machine.cores as f64;
    (most && (full || machine.cpu_share >= MACHINE_FULL)).then(|| {
        likely(Factor::Database, Headline::DatabaseBusy)
            .because(Fact::PeerCpu { peer: peer.label(), cores: peer.cores(), server_cores: signals.server_cores() })
            .advice(Advice::SlowQueries)
    })
}

/// The server is saturated, and receives far more from the database than it sends.
pub fn rows(run: &RunResult) -> Option<Finding> {
    let figures = figures(run);
    let answered = run.bytes.received as f64 / run.requests.max(1) as f64;
    let (_, fetched) = rows_for_little(&figures, answered)?;
    server_is_full(run).then(|| likely(Factor::Orm, Headline::RowsForLittle).because(fetched).advice(Advice::FewerRows))
}

/// A proxy that opens a connection for each request.
pub fn proxy(run: &RunResult) -> Option<Finding> {
    let signals = run.signals.as_ref()?;
    // Connections of the warm-up are included.
    let own = match signals.other_namespace {
        true => 0,
        false => run.connections.opened + run.connections.carried + run.warmup.map_or(0, |warmup| warmup.requests),
    };
    let opened = signals.network?.active_opens?.saturating_sub(own);
    let each = opened as f64 / run.requests.max(1) as f64;
    // All programs of the machine are counted together: a few connections may be those of others.
    if each <= UPSTREAM_OPENS || (opened as f64) < MANY_OPENED_PER_S * run.duration_s {
        return None;
    }
    let is_behind = |peer: &&PeerUse| peer.role == Role::Other && !peer.processes.is_empty();
    let churns = |peer: &&PeerUse| peer.kept.is_none_or(|kept| kept < UPSTREAM_KEPT);
    let Some(behind) = signals.peers.iter().filter(is_behind).find(churns) else {
        // So short are they that none was seen, if there is no peer at all.
        return signals.peers.is_empty().then(|| {
            undecided(Headline::SomethingConnects)
                .because(Fact::UpstreamOpens { peer: None, per_request: each })
                .advice(Advice::Diagnose)
                .advice(Advice::KeepUpstreamConnections)
        });
    };
    Some(
        likely(Factor::Proxy, Headline::ProxyConnects)
            .because(Fact::UpstreamOpens { peer: Some(behind.address.clone()), per_request: each })
            .advice(Advice::KeepUpstreamConnections),
    )
}

/// Nothing is busy and yet requests wait: for a limiter, a worker, a lock, a connection to a database.
pub fn waiting(run: &RunResult) -> Option<Finding> {
    let figures = figures(run);
    let signals = figures.signals.as_ref()?;
    let machine = signals.machine?;
    let idle = signals.server_cores() < IDLE_SERVER * machine.cores as f64 && machine.cpu_share < SPARE_CPU;
    if !idle || server_is_full(run) || run.generator.saturated {
        return None;
    }
    let held = at_a_time(run)?;
    let hands = signals.in_service()?;
    let many = run.plan.connections as f64;
    // Requests wait only where nearly all connections have one in flight: with pauses, or fewer connections at times, none may wait.
    let latency = run.latency_us?;
    let in_flight = run.rps * latency.mean / 1e6;
    if in_flight < MOST_IN_FLIGHT * many * f64::from(run.plan.depth) || latency.mean < WAITED * latency.min as f64 {
        return None;
    }
    // Connections in the accept queue have not been read either.
    let queued: f64 = signals.listeners.iter().filter_map(|listener| listener.queued_mean).sum();
    let there = signals.clients.map_or(many, |clients| clients.established + queued);
    let in_service = Fact::InService { requests: hands.round(), of: there };
    let facts = [
        Fact::ServerCpu { used_cores: signals.server_cores(), cores: Some(machine.cores), busiest_thread: None },
        Fact::Waiting { mean_s: latency.mean / 1e6, min_s: latency.min as f64 / 1e6, at_a_time: held },
    ];
    let pool = signals.peers.iter().find(|peer| {
        peer.role != Role::Other
            && peer
                .waiting
                .is_some_and(|waiting| waiting > PASSIVE_POOL_IN_USE * peer.connections && waiting > MOST_WAIT)
    });
    // What its threads wait for tells more than what has been read: a server may read all, and have one thread for it.
    let (holding, turns) = (figures.holding() as f64, figures.taking_turns());
    let finding = match pool {
        // A few connections whose responses vary look alike, but hardly so much.
        _ if held < HARDLY_ONE && latency.mean > HELD_BACK * latency.min as f64 => {
            likely(Factor::RateLimit, Headline::LimiterDelays)
        }
        _ if held < ONE && turns >= 2 => likely(Factor::Lock, Headline::Lock),
        _ if holding >= 1.0 && holding < PASSIVE_THREADS.0 * held + PASSIVE_THREADS.1
            || hands < FEW_IN_HAND * there =>
        {
            likely(Factor::Workers, Headline::WorkersBlocked(None))
        }
        Some(peer) if peer.connections < SMALL_POOL * many => {
            likely(Factor::Database, Headline::PoolInUse).because(Fact::PeerInFlight {
                peer: peer.address.clone(),
                mean: peer.waiting.unwrap_or(0.0),
                connections: peer.connections,
            })
        }
        // For a lock, a limiter, or whatever else: a single run does not tell.
        _ => return None,
    };
    let has_requests = hands.round() > 0.0;
    Some(finding.because(facts).because(has_requests.then_some(in_service)).advice(Advice::Diagnose))
}
