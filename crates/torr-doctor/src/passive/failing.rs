//! Requests that fail in a single run: no local port, a limiter that refuses, a full backlog, errors.

use super::seen::{at_a_time, likely, server_is_full, undecided};
use super::wire::{is_queueing, loses_packets};
use crate::thresholds::{LEAST_HELD, MANY_FAILED, OVERFLOWS, SYN_TIMEOUT_US};
use crate::witnesses::{self, Refusals};
use crate::words::{percent, rate, time};
use torr_gauge::{Factor, RunResult, Verdict};
use torr_signals::Signals;

pub fn client_ports(run: &RunResult) -> Option<Verdict> {
    (run.errors.ports > 0).then(|| {
        likely(Factor::ClientPorts, "This machine ran out of local ports, so the run says little of the service.")
            .because(format!("{} requests found no free local port", run.errors.ports))
            .because(format!("{} connections were opened for {} responses", run.connections.opened, run.requests))
            .advice(
                "keep connections alive, give more source addresses with --bind, or widen net.ipv4.ip_local_port_range",
            )
    })
}

/// Recognises a limiter, which responds 429 or 503.
pub fn refusals(run: &RunResult) -> Option<Verdict> {
    let Refusals { share, status } = witnesses::refusals(run).filter(|refusals| refusals.share < 1.0)?;
    let refused = format!("{} of the responses had status 429 or 503", percent(share));
    let accepted = format!("{} were accepted", rate(run.good_rps()));
    if status == 429 || !server_is_full(run) {
        let verdict = likely(Factor::RateLimit, "A limiter refuses what comes above its rate.");
        let advice = "press below the limit with -r, or exempt the load generator from it";
        return Some(verdict.because(refused).because(accepted).advice(advice));
    }
    // What fails otherwise is not what a limiter does, nor a service that sheds load.
    (2 * run.status.get(&503).copied().unwrap_or(0) > run.errors.total()).then(|| {
        // A server that fails fast is as busy as one that has too much to do: the status alone does not tell them apart.
        let summary = "Requests were answered 503: the service limits them, has too much to do, or lacks something that it \
                       needs, such as its database.";
        undecided(summary)
            .because(refused)
            .because(accepted)
            .advice("see what the service logs with its 503s")
            .advice("let 'torr doctor' tell: it asks for little more than what is accepted, and looks again")
    })
}

/// Connections that were dropped before they were accepted.
pub fn backlog(run: &RunResult) -> Option<Verdict> {
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
        let late = (connect.max >= SYN_TIMEOUT_US).then(|| {
            format!("connecting took up to {}: a SYN is sent again after a second", time(connect.max as f64 / 1e6))
        });
        likely(Factor::AcceptBacklog, "Connections are dropped before the service accepts them.")
            .because_if(late)
            .because_counted(overflows.unwrap_or(0), |count| {
                format!("the kernel counted {count} overflows of the accept queue")
            })
            .because_if(run.signals.as_ref().and_then(Signals::full_accept_queue))
            .advice("raise the backlog that the service gives to listen(), and net.core.somaxconn")
    })
}

pub fn errors(run: &RunResult) -> Option<Verdict> {
    let failed = run.errors.total();
    if run.requests == 0 && failed == 0 && run.unfinished > 0 {
        return Some(
            likely(Factor::Errors, "Not one request was answered before the run ended.")
                .because(format!("{} requests were sent and waited for their responses", run.unfinished))
                .advice("see whether the service responds at all: press it with -c 1 -n 1"),
        );
    }
    let share = failed as f64 / run.started.max(1) as f64;
    (share > MANY_FAILED).then(|| {
        let verdict = likely(Factor::Errors, "Too many requests failed for the throughput to mean much.")
            .because(format!("{failed} of {} requests failed ({})", run.started, percent(share)));
        let verdict = witnesses::failures(run).fold(verdict, Verdict::because);
        verdict.advice(match failed {
            _ if run.errors.status == failed => {
                "look at one such response: the service, or something before it, refuses these requests"
            }
            _ if run.errors.redirect == failed => "load the URL that the redirects lead to, or leave out --follow",
            _ if run.connections.idle_closes.is_some_and(|closes| 2 * closes.requests > failed) => {
                "raise the server's keep-alive time-out above the pauses between requests of a connection, or use fewer \
                 connections with -c, so that none is idle for long"
            }
            _ => "mend the failures first, or lower the load with -c until they stop",
        })
    })
}
