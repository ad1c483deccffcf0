//! Witnesses that point to a factor in a single run, read in one way by the rules of a diagnosis and by those of a plain run.

use crate::figures::Figures;
use crate::observation::Observation;
use crate::thresholds::{
    MANY_FAILED, OVERFLOWS, OWN_PAUSE, REFUSED_LATE, STALLED_RESPONSES, STALLS, STOPPED, SYN_TIMEOUT_US, TAIL,
    THROTTLED, WORTH_TELLING,
};
use std::cmp::Reverse;
use torr_gauge::result::Tls;
use torr_gauge::sessions::EntryResult;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Confidence, Factor, RunResult};
use torr_signals::{PeerUse, QuotaUse, Signals, ThreadUse};

/// The parts of the names of the kernel functions in which stopped threads are: by a signal, a debugger, a cgroup's freezer.
const STOPS: [&str; 4] = ["signal_stop", "ptrace_stop", "freezer_trap", "refrigerator"];
/// The number of entries of sessions that a verdict names.
const ENTRIES_NAMED: usize = 3;

/// Responses that say "not now" (RFC 6585, section 4; RFC 9110, section 15.6.4).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refusals {
    /// The share of all responses, 0 to 1.
    pub share: f64,
    /// The more frequent of the statuses 429 and 503.
    pub status: u16,
}

/// Returns the refusals of a run that had enough of them to matter.
pub fn refusals(run: &RunResult) -> Option<Refusals> {
    let count = |status: u16| run.status.get(&status).copied().unwrap_or(0);
    let (too_many, unavailable) = (count(429), count(503));
    let share = (too_many + unavailable) as f64 / run.requests.max(1) as f64;
    (share >= MANY_FAILED).then_some(Refusals { share, status: if too_many >= unavailable { 429 } else { 503 } })
}

/// Returns whether no response comes as soon as that of a single request, so that those refused have waited: for something that they did not
/// get in time, where a limiter refuses at once.
pub fn refuses_late(seen: &Observation, alone: &Observation) -> bool {
    let times = seen.times.answered.zip(alone.times.answered);
    times.is_some_and(|(answered, alone)| answered.min_us as f64 > REFUSED_LATE * alone.median_us)
}

/// Returns the share of the sessions that ended early, 0 to 1. `None` in a run without sessions. Those that never began tell of a
/// rate that was not kept.
pub fn failed_sessions(run: &RunResult) -> Option<f64> {
    let sessions = run.sessions.as_ref()?;
    Some(sessions.failed.saturating_sub(run.errors.abandoned) as f64 / sessions.started.max(1) as f64)
}

/// Returns the finding that too many sessions ended early, if so, with the entries at which most of them did.
pub fn sessions_that_failed(run: &RunResult, confidence: Confidence) -> Option<Finding> {
    let sessions = run.sessions.as_ref().filter(|_| failed_sessions(run).is_some_and(|share| share > MANY_FAILED))?;
    let mut entries: Vec<&EntryResult> = run.entries.iter().filter(|entry| entry.sessions_failed > 0).collect();
    entries.sort_by_key(|entry| Reverse(entry.sessions_failed));
    let ended = |entry: &&EntryResult| Fact::SessionsEnded {
        sessions: entry.sessions_failed,
        entry: entry.name.clone(),
        file: entry.file.clone(),
        line: entry.line,
    };
    let file = entries.first().map_or("FILE", |entry| entry.file.as_str()).to_owned();
    Some(
        Finding::new(Factor::Errors, confidence, Headline::SessionsFailed)
            .because(Fact::SessionsFailed { failed: sessions.failed, started: sessions.started })
            .because(entries.iter().take(ENTRIES_NAMED).map(ended))
            .advice(Advice::LookAtSession { file }),
    )
}

/// Returns the number of requests that were sent and failed. Those that were not sent in time tell of a rate that was not kept.
pub fn failed(run: &RunResult) -> u64 {
    run.errors.total().saturating_sub(run.errors.abandoned)
}

/// Returns the failures of a run: the most frequent causes, and all statuses of failed responses.
pub fn failures(run: &RunResult) -> Vec<Fact> {
    let causes = run.causes.iter().take(3).map(|cause| Fact::Cause {
        count: cause.count,
        kind: cause.kind.to_string(),
        what: cause.what.clone(),
    });
    let statuses = run.status.iter().filter(|(status, count)| **status >= 400 && **count > 0);
    let statuses = statuses.map(|(&status, &count)| Fact::StatusCount { status, count });
    let idle = run.connections.idle_closes.map(|closes| Fact::IdleCloses {
        requests: closes.requests,
        idle_s: closes.timeout_ms().map(|ms| ms as f64 / 1e3),
    });
    causes.chain(statuses).chain(idle).collect()
}

/// Returns the remedy for the failures of a run, if most of them have one cause.
pub fn remedy(run: &RunResult) -> Option<Advice> {
    let failed = self::failed(run);
    match run.connections.idle_closes {
        _ if run.errors.status == failed => Some(Advice::LookAtResponse),
        _ if run.errors.redirect == failed => Some(Advice::FollowRedirects),
        Some(closes) if 2 * closes.requests > failed => Some(Advice::RaiseKeepAliveTimeout),
        _ => None,
    }
}

/// Returns the finding that this machine has no local port left, without evidence.
pub fn out_of_ports() -> Finding {
    Finding::new(Factor::ClientPorts, Confidence::Likely, Headline::OutOfPorts)
        .advice(Advice::KeepConnectionsOrSources)
        .advice(Advice::WidenPortRange)
}

/// Returns the programs besides server and generator that used most of the server's machine's CPU.
pub fn other_programs(signals: &Signals) -> Option<Fact> {
    Fact::other_programs(signals, WORTH_TELLING)
}

/// Returns an accept queue that was full in a sample.
pub fn full_accept_queue(signals: &Signals) -> Option<Fact> {
    signals.listeners.iter().find_map(|listener| {
        let (backlog, queued) = (listener.backlog?, listener.queued_max?);
        (queued > 0 && queued >= backlog)
            .then_some(Fact::AcceptQueue { backlog: backlog.into(), queued: queued.into() })
    })
}

/// Returns what shows that connections of a run came late, and that they found the accept queue full, whatever limited the run.
pub fn accept_queue(run: &RunResult, signals: Option<&Signals>) -> Vec<Fact> {
    let queue = signals.and_then(full_accept_queue);
    let count = signals.and_then(Signals::listen_overflows).filter(|count| *count >= OVERFLOWS);
    let tail = connect_tail(run);
    let slowest = run.phases_us.connect.map(|connect| connect.max).filter(|max| *max >= SYN_TIMEOUT_US);
    // All listeners of the machine are counted together: without a sign in this run, they are another program's.
    if count.is_none() || queue.is_none() && tail.is_none() && slowest.is_none() {
        return tail.into_iter().collect();
    }
    let slowest = slowest.filter(|_| tail.is_none()).map(|us| Fact::SlowestConnect { seconds: us as f64 / 1e6 });
    [overflows(count, None), queue, tail, slowest].into_iter().flatten().collect()
}

/// Returns the slowest connections of a run, if a hundredth of them came only when the kernel sent the SYN again.
pub fn connect_tail(run: &RunResult) -> Option<Fact> {
    let connect = run.phases_us.connect?;
    let p99 = connect.p99.filter(|p99| *p99 >= SYN_TIMEOUT_US)?;
    let p50_s = connect.p50.map(|p50| p50 as f64 / 1e6);
    Some(Fact::ConnectTail { p50_s, p99_s: p99 as f64 / 1e6 })
}

/// Returns the accept queue of a service behind the server that was full in a sample.
pub fn full_peer_queue(signals: &Signals) -> Option<Fact> {
    signals.peers.iter().find_map(|peer| {
        let listener = peer.listener.as_ref()?;
        let (backlog, queued) = (listener.backlog?, listener.queued_max?);
        let is_full = queued > 0 && queued >= backlog;
        is_full.then(|| Fact::PeerQueueFull { peer: peer.label(), backlog: backlog.into(), queued: queued.into() })
    })
}

/// Returns the overflows of the accept queue that the kernel counted, if any. `few` has those with fewer connections.
pub fn overflows(count: Option<u64>, few: Option<(usize, u64)>) -> Option<Fact> {
    count.filter(|count| *count > 0).map(|count| Fact::ListenOverflows { count, few })
}

/// Returns how many handshakes resumed a session, if there were any.
pub fn resumed(tls: &Tls) -> Option<Fact> {
    let handshakes = tls.full + tls.resumed;
    (handshakes > 0).then_some(Fact::Resumed { resumed: tls.resumed, handshakes })
}

/// Adds the advice for a server whose work is mostly TLS handshakes, except what it does already.
pub fn advise_handshakes(finding: Finding, tls: &Tls) -> Finding {
    let remedies = [
        (tls.resumed == 0, Advice::ResumeSessions),
        (true, Advice::KeepConnections),
        (tls.key.as_deref() == Some("RSA"), Advice::EcdsaCertificate),
    ];
    remedies.into_iter().filter(|(applies, _)| *applies).fold(finding, |finding, (_, advice)| finding.advice(advice))
}

/// Returns the CPU quota that held the server back.
pub fn throttled(signals: Option<&Signals>) -> Option<&QuotaUse> {
    signals?.quota().filter(|quota| quota.throttled_share() >= THROTTLED)
}

/// Returns the slow hundredth of the responses of a rate that was kept, if it is far from the others.
pub fn tail(run: &RunResult) -> Option<Fact> {
    let waits = run.waits_us()?;
    let (p50, p99) = (waits.p50?.max(1) as f64, waits.p99? as f64);
    (p99 >= TAIL.0 * p50 && p99 - p50 >= TAIL.1).then_some(Fact::Tail { p50_s: p50 / 1e6, p99_s: p99 / 1e6 })
}

/// Returns the times in which no response came on any connection, if there were several, each long enough for many responses, and if it was
/// not the generator that paused. Streams may have their events at the same moments by design.
pub fn stalls(run: &RunResult) -> Option<Fact> {
    let stalls = run.stalls.filter(|stalls| stalls.count >= STALLS && run.streams.is_none())?;
    let mean_s = stalls.total_s / stalls.count as f64;
    let is_own = run.generator.send_lag_p99_us.is_some_and(|lag| lag as f64 / 1e6 >= OWN_PAUSE * mean_s);
    let expected = run.rps * mean_s;
    (expected >= STALLED_RESPONSES && !is_own && !run.generator.saturated).then(|| Fact::Stalls {
        stalls: stalls.count,
        longest_s: stalls.longest_s,
        share: stalls.total_s / run.duration_s.max(1e-3),
    })
}

/// Returns a quota that throttled the server now and then, however rarely.
pub fn ever_throttled(signals: &Signals) -> Option<Fact> {
    let quota = signals.quota().filter(|quota| quota.throttled_periods > 0)?;
    Some(throttled_fact(quota, signals.machine.map(|machine| machine.cores)))
}

/// Returns the share of the time in which the server's threads were stopped, as by a signal, a debugger or a freezer, if they were.
pub fn stopped(signals: &Signals) -> Option<Fact> {
    let is_stop = |name: &str| STOPS.iter().any(|stop| name.contains(stop));
    let of_thread = |thread: &ThreadUse| {
        thread.waiting.iter().filter(|(name, _)| is_stop(name)).map(|(_, share)| share).sum::<f64>()
    };
    let share = signals.threads().map(of_thread).fold(0.0, f64::max);
    (share >= STOPPED).then_some(Fact::ThreadsStopped { share })
}

/// Returns a quota and how often it throttled the server. `cores` are the CPUs of the machine.
pub fn throttled_fact(quota: &QuotaUse, cores: Option<usize>) -> Fact {
    Fact::Throttled {
        quota_cores: quota.cores,
        share: quota.throttled_share(),
        cgroup: Some(quota.cgroup.clone()),
        cores,
    }
}

/// Returns the acknowledgements that were held back for each response, if the kernel counts them.
pub fn acks_held_back(signals: Option<&Signals>, requests: u64) -> Option<f64> {
    Some(signals?.network?.delayed_acks? as f64 / requests.max(1) as f64)
}

/// Returns the beginning of the finding on rows that are loaded one by one, with the number of messages for each request.
pub fn rows_one_by_one(figures: &Figures) -> Option<(Finding, f64)> {
    let (peer, trips) = figures.many_trips()?;
    let finding = Finding::new(Factor::Orm, Confidence::Likely, Headline::ManyQueries)
        .because(Fact::Messages { peer: peer.address.clone(), per_request: trips })
        .advice(Advice::OneQuery);
    Some((finding, trips))
}

/// Returns the database from which far more comes than goes to the client, and both as a fact.
pub fn rows_for_little(figures: &Figures, response_bytes: f64) -> Option<(&PeerUse, Fact)> {
    let (peer, bytes) = figures.much_fetched(response_bytes)?;
    Some((peer, Fact::BytesFetched { peer: peer.address.clone(), bytes, response_bytes }))
}

/// Returns the server's connections to a peer.
pub fn peer_connections(peer: &PeerUse) -> Fact {
    Fact::PeerConnections { peer: peer.label(), mean: peer.connections, most: peer.connections_max }
}
