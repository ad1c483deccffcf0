//! What the server's machine points to in a single run: quotas, databases, proxies, what requests wait for.

use super::seen::{at_a_time, figures, generator_cores, likely, server_is_full, undecided};
use crate::thresholds::{
    DATABASE_WORKS, FEW_IN_HAND, FULL_THREAD, HARDLY_ONE, HELD_BACK, IDLE_SERVER, MACHINE_FULL, MANY_OPENED_PER_S,
    MOST_IN_FLIGHT, MOST_WAIT, ONE, PASSIVE_POOL_IN_USE, PASSIVE_THREADS, SMALL_POOL, SPARE_CPU, UPSTREAM_KEPT,
    UPSTREAM_OPENS, WAITED,
};
use crate::witnesses::{rows_for_little, rows_one_by_one, throttled};
use crate::words::{mean, percent, time};
use torr_gauge::{Factor, RunResult, Verdict};
use torr_signals::{PeerUse, Role};

/// A quota of CPU time.
pub fn quota(run: &RunResult) -> Option<Verdict> {
    let quota = throttled(run.signals.as_ref())?;
    Some(
        likely(Factor::CpuQuota, "A quota of CPU time stops the server again and again.")
            .because(format!(
                "its cgroup may use {:.2} CPUs and was throttled in {} of the periods",
                quota.cores,
                percent(quota.throttled_share())
            ))
            .advice("raise the quota (cpu.max, CPUQuota=, a container's CPU limit)"),
    )
}

/// Many messages to the database for each request, or a database that is busy.
pub fn database(run: &RunResult) -> Option<Verdict> {
    let signals = run.signals.as_ref()?;
    if let Some((verdict, _)) = rows_one_by_one(&figures(run)) {
        return Some(verdict);
    }
    let databases = signals.peers.iter().filter(|peer| peer.role == Role::Database);
    let peer = databases.max_by(|a, b| a.cores().total_cmp(&b.cores()))?;
    let full = peer.processes.iter().flat_map(|process| &process.threads).any(|thread| thread.cores >= FULL_THREAD);
    let machine = signals.machine?;
    let generator = generator_cores(run);
    let most = peer.cores() > signals.server_cores()
        && peer.cores() > generator
        && peer.cores() > DATABASE_WORKS * machine.cores as f64;
    (most && (full || machine.cpu_share >= MACHINE_FULL)).then(|| {
        likely(Factor::Database, "The database behind the service is busy with its queries.")
            .because(format!("it used {:.2} CPUs, the server {:.2}", peer.cores(), signals.server_cores()))
            .advice("look at its slowest queries, and at missing indexes")
    })
}

/// The server is saturated, and receives far more from the database than it sends.
pub fn rows(run: &RunResult) -> Option<Verdict> {
    let figures = figures(run);
    let answered = run.bytes.received as f64 / run.requests.max(1) as f64;
    let (_, fetched) = rows_for_little(&figures, answered)?;
    server_is_full(run).then(|| {
        likely(Factor::Orm, "The server is busy, and receives far more from the database than it sends to clients.")
            .because(fetched)
            .advice("fetch only the columns and rows that the response needs")
    })
}

/// A proxy that opens a connection for each request.
pub fn proxy(run: &RunResult) -> Option<Verdict> {
    let signals = run.signals.as_ref()?;
    // Connections of the warm-up are included.
    let own = run.connections.opened + run.connections.carried + run.warmup.map_or(0, |warmup| warmup.requests);
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
        let summary =
            "Somebody opens a connection for each request: a proxy to the service, or the service to what it asks.";
        return signals.peers.is_empty().then(|| {
            undecided(summary)
                .because(format!(
                    "{each:.2} connections were opened on this machine for each request, beside the generator's"
                ))
                .advice("let 'torr doctor' tell, and keep connections to upstreams and databases alive")
        });
    };
    Some(
        likely(Factor::Proxy, "The proxy before the service opens a connection to it for each request.")
            .because(format!("{each:.2} connections were opened to {} for each request", behind.address))
            .advice("keep connections to the upstream alive, and compare by 'torr doctor'"),
    )
}

/// Nothing is busy and yet requests wait: for a limiter, a worker, a lock, a connection to a database.
pub fn waiting(run: &RunResult) -> Option<Verdict> {
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
    let with_evidence = |verdict: Verdict| {
        verdict
            .because(format!("the server used {:.2} of {} CPUs", signals.server_cores(), machine.cores))
            .because(format!(
                "requests took {} on average, {} at least: at the shortest time {} would be worked on at a time",
                time(latency.mean / 1e6),
                time(latency.min as f64 / 1e6),
                mean(held)
            ))
            .because_counted(hands.round() as u64, |hands| {
                format!("{hands} of {there:.0} connections had a request in the server's hands")
            })
            .advice("let 'torr doctor' tell: it varies the load")
    };
    let pool = signals.peers.iter().find(|peer| {
        peer.role != Role::Other
            && peer
                .waiting
                .is_some_and(|waiting| waiting > PASSIVE_POOL_IN_USE * peer.connections && waiting > MOST_WAIT)
    });
    // What its threads wait for tells more than what has been read: a server may read all, and have one thread for it.
    let (holding, turns) = (figures.holding() as f64, figures.taking_turns());
    let verdict = match pool {
        // A few connections whose responses vary look alike, but hardly so much.
        _ if held < HARDLY_ONE && latency.mean > HELD_BACK * latency.min as f64 => {
            likely(Factor::RateLimit, "A limiter holds requests back: they wait though nothing is busy.")
        }
        _ if held < ONE && turns >= 2 => {
            likely(Factor::Lock, "Requests wait for a lock: one at a time goes on, and threads take turns at it.")
        }
        _ if holding >= 1.0 && holding < PASSIVE_THREADS.0 * held + PASSIVE_THREADS.1
            || hands < FEW_IN_HAND * there =>
        {
            likely(Factor::Workers, "All workers are taken, and wait: CPU is free.")
        }
        Some(peer) if peer.connections < SMALL_POOL * many => {
            likely(Factor::Database, "Requests wait for a connection to the database: its pool is in use.").because(
                format!(
                    "{} of {} connections to {} had a request in flight",
                    mean(peer.waiting.unwrap_or(0.0)),
                    mean(peer.connections),
                    peer.address
                ),
            )
        }
        // For a lock, a limiter, or whatever else: a single run does not tell.
        _ => return None,
    };
    Some(with_evidence(verdict))
}
