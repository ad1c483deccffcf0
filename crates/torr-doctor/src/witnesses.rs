//! Witnesses that point to a factor in a single run, read in one way by the rules of a diagnosis and by those of a plain run.

use crate::figures::Figures;
use crate::thresholds::{MANY_FAILED, THROTTLED, WORTH_TELLING};
use torr_gauge::result::Tls;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Confidence, Factor, RunResult};
use torr_signals::{PeerUse, QuotaUse, Signals};

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
    let failed = run.errors.total();
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
