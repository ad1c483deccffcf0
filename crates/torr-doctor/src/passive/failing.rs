//! Requests that fail in a single run: no local port, a limiter that refuses, a full backlog, errors.

use super::seen::{at_a_time, likely, server_is_full, undecided};
use super::wire::{is_queueing, loses_packets};
use crate::thresholds::{LEAST_HELD, MANY_FAILED, OVERFLOWS, SYN_TIMEOUT_US};
use crate::witnesses::{self, Refusals};
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Factor, RunResult};
use torr_signals::Signals;

pub fn client_ports(run: &RunResult) -> Option<Finding> {
    (run.errors.ports > 0).then(|| {
        witnesses::out_of_ports()
            .because(Fact::NoPort { requests: run.errors.ports })
            .because(Fact::Opened { connections: run.connections.opened, responses: run.requests })
    })
}

/// Recognises a limiter, which responds 429 or 503.
pub fn refusals(run: &RunResult) -> Option<Finding> {
    let Refusals { share, status } = witnesses::refusals(run).filter(|refusals| refusals.share < 1.0)?;
    let facts = [Fact::Refused { share, status, alone_share: None }, Fact::Accepted { rps: run.good_rps() }];
    if status == 429 || !server_is_full(run) {
        let finding = likely(Factor::RateLimit, Headline::LimiterRefuses);
        return Some(finding.because(facts).advice(Advice::TestBelowLimit));
    }
    // What fails otherwise is not what a limiter does, nor a service that sheds load.
    (2 * run.status.get(&503).copied().unwrap_or(0) > run.errors.total()).then(|| {
        // A server that fails fast is as busy as one that has too much to do: the status alone does not tell them apart.
        undecided(Headline::Unavailable).because(facts).advice(Advice::LogOf503).advice(Advice::Diagnose)
    })
}

/// Connections that were dropped before they were accepted.
pub fn backlog(run: &RunResult) -> Option<Finding> {
    let connect = run.phases_us.connect?;
    let overflows = run.signals.as_ref().and_then(Signals::listen_overflows);
    let longest = connect.max.max(run.latency_us.map_or(0, |latency| latency.max));
    let is_dropped = match overflows {
        // All listeners of the machine are counted together: a connection of this run's must have been late as well.
        Some(overflows) => overflows > OVERFLOWS && longest >= SYN_TIMEOUT_US,
        // On a full link, or one that loses packets, connections are late as well.
        None => connect.p99.unwrap_or(connect.max) >= SYN_TIMEOUT_US && !is_queueing(run) && !loses_packets(run),
    };
    (is_dropped && !server_is_full(run) && at_a_time(run)? < LEAST_HELD).then(|| {
        let is_late = connect.max >= SYN_TIMEOUT_US;
        likely(Factor::AcceptBacklog, Headline::ConnectionsDropped)
            .because(is_late.then_some(Fact::SlowestConnect { seconds: connect.max as f64 / 1e6 }))
            .because(witnesses::overflows(overflows, None))
            .because(run.signals.as_ref().and_then(witnesses::full_accept_queue))
            .advice(Advice::RaiseBacklog)
    })
}

/// Connections that were dropped before they were accepted, in a run whose rate was kept all the same: the tail is the fault.
pub fn slow_connections(run: &RunResult) -> Option<Finding> {
    let p99 = run.latency_us?.p99?;
    let facts = witnesses::accept_queue(run, run.signals.as_ref());
    let overflowed = facts.iter().any(|fact| matches!(fact, Fact::ListenOverflows { .. }));
    (p99 >= SYN_TIMEOUT_US && overflowed && witnesses::connect_tail(run).is_some()).then(|| {
        likely(Factor::AcceptBacklog, Headline::ConnectionsDropped)
            .because(facts)
            .advice(Advice::RaiseBacklog)
            .advice(Advice::AcceptFaster)
    })
}

pub fn errors(run: &RunResult) -> Option<Finding> {
    let failed = witnesses::failed(run);
    if !run.has_responses() && failed == 0 && run.unfinished > 0 {
        return Some(
            likely(Factor::Errors, Headline::NoResponses)
                .because(Fact::Unanswered { requests: run.unfinished, seconds: None })
                .advice(Advice::TryOne { command: None }),
        );
    }
    let share = failed as f64 / run.started.max(1) as f64;
    (share > MANY_FAILED).then(|| {
        likely(Factor::Errors, Headline::TooManyFailed)
            .because(Fact::Failed { failed, started: run.started })
            .because(witnesses::failures(run))
            .advice(witnesses::remedy(run).unwrap_or(Advice::FixFailures))
    })
}
