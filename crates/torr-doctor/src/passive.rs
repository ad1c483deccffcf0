//! The verdict of a plain run: what its signals alone point to. Nothing was varied, so it is never more than likely.
//!
//! The order matters: a run that kept the rate it was asked for has no limit to be found; a run that fails, or runs out of ports,
//! says nothing of the server's speed; and a generator that could not keep up says nothing of anything else.

mod behind;
mod kept;
#[cfg(test)]
mod tests;
mod wire;

use crate::figures::server_fills;
use crate::thresholds::{
    FULL_THREAD, JITTER_US, LITTLE_CPU, MACHINE_FULL, MANY_CONNECTIONS_PER_S, MANY_FAILED, OFTEN_CLOSED,
    OTHERS_DISTURB, PASSIVE_AT_WORK, UNQUEUED, WORTH_TELLING,
};
use crate::words::{counted, percent, rate, time};
use torr_gauge::host::Host;
use torr_gauge::result::RunResult;
use torr_gauge::{Confidence, Factor, Signals, Verdict};

/// Names the factor that limited a run, or says that none did or that it does not know.
pub fn passive(run: &RunResult) -> Verdict {
    let rules = [
        kept::rule,
        kept::failures,
        client_ports,
        wire::delayed_ack,
        wire::backlog,
        wire::refusals,
        errors,
        wire::handshakes,
        keep_alive,
        behind::quota,
        wire::delay,
        connections,
        behind::database,
        disturbed,
        behind::rows,
        behind::proxy,
        full_machine,
        one_side,
        wire::link,
        behind::waiting,
    ];
    let verdict = rules.iter().find_map(|rule| rule(run)).unwrap_or_else(|| unknown(run));
    verdict.because_if(kept::shortfall(run))
}

fn likely(factor: Factor, summary: impl Into<String>) -> Verdict {
    Verdict::new(factor, Confidence::Likely, summary)
}

/// The other programs that used the server's machine, by name, as evidence.
fn others(run: &RunResult) -> Option<String> {
    let told = run.signals.as_ref()?.busiest_others(WORTH_TELLING)?;
    Some(format!("the busiest other programs here: {told}"))
}

fn undecided(summary: &str) -> Verdict {
    Verdict::new(Factor::Unknown, Confidence::Unknown, summary)
}

/// Whether a thread of the server was full, or its machine was.
fn server_is_full(run: &RunResult) -> bool {
    a_thread_is_full(run) || run.host.as_ref().is_some_and(|host| host.cpu_share >= MACHINE_FULL)
}

/// Whether a thread of the server was full.
fn a_thread_is_full(run: &RunResult) -> bool {
    run.host.iter().flat_map(|host| &host.server_threads).any(|&share| share >= FULL_THREAD)
}

/// How many requests were worked on at a time, if each took as long as the shortest (Little's law).
fn at_a_time(run: &RunResult) -> Option<f64> {
    Some(run.rps * run.latency_us?.min as f64 / 1e6)
}

fn client_ports(run: &RunResult) -> Option<Verdict> {
    (run.errors.ports > 0).then(|| {
        likely(Factor::ClientPorts, "This machine ran out of local ports, so the run says little of the service.")
            .because(format!("{} requests found no free local port", run.errors.ports))
            .because(format!("{} connections were opened for {} answers", run.connections.opened, run.requests))
            .advice(
                "keep connections alive, give more source addresses with --bind, or widen net.ipv4.ip_local_port_range",
            )
    })
}

fn errors(run: &RunResult) -> Option<Verdict> {
    let failed = run.errors.total();
    if run.requests == 0 && failed == 0 && run.unfinished > 0 {
        return Some(
            likely(Factor::Errors, "Not one request was answered before the run ended.")
                .because(format!("{} requests were sent and waited for their answers", run.unfinished))
                .advice("see whether the service answers at all: press it with -c 1 -n 1"),
        );
    }
    let share = failed as f64 / run.asked.max(1) as f64;
    (share > MANY_FAILED).then(|| {
        let mut verdict = likely(Factor::Errors, "Too many requests failed for the throughput to mean much.")
            .because(format!("{failed} of {} requests failed ({})", run.asked, percent(share)));
        for cause in run.causes.iter().take(3) {
            verdict = verdict.because(format!("{} x {}: {}", cause.count, cause.kind, cause.what));
        }
        let refused = run.status.iter().filter(|(status, _)| **status >= 400);
        for (status, count) in refused {
            verdict = verdict.because(format!("{count} answers with status {status}"));
        }
        match run.errors.status == failed {
            true => {
                verdict.advice("look at one such answer: the service, or something before it, refuses these requests")
            }
            false => verdict.advice("mend the failures first, or lower the load with -c until they stop"),
        }
    })
}

fn keep_alive(run: &RunResult) -> Option<Verdict> {
    let per_connection = run.connections.requests_per_connection;
    let closed = run.connections.closed_by_server as f64 / run.requests.max(1) as f64;
    // What is slow for other reasons hardly gains by it.
    let is_fast = run.rps >= MANY_CONNECTIONS_PER_S;
    (run.plan.keep_alive && run.requests > 0 && closed > OFTEN_CLOSED && is_fast).then(|| {
        likely(
            Factor::KeepAlive,
            "The server closes connections that could be used again, so new ones are opened again and again.",
        )
        .because(format!(
            "{} of {} connections were ended by the server",
            run.connections.closed_by_server, run.connections.opened
        ))
        .because(format!("{per_connection:.1} requests per connection, although keep-alive was offered"))
        .advice("turn keep-alive on in the server, or find what turns it off (HTTP/1.0, a limit of requests, a proxy)")
    })
}

/// Others use so much of the machine that neither side could show what it can do.
fn disturbed(run: &RunResult) -> Option<Verdict> {
    let host = run.host.as_ref().filter(|host| host.cpu_share >= MACHINE_FULL)?;
    let ours = ours(run, host);
    let behind = run.signals.as_ref().map_or(0.0, Signals::peer_cores);
    let others = host.cpu_share - ours - behind / host.cores as f64;
    (others >= OTHERS_DISTURB).then(|| {
        let summary =
            "Other programs use this machine's CPU, so neither server nor generator could show what it can do.";
        let named = run.signals.as_ref().and_then(|signals| signals.busiest_others(WORTH_TELLING));
        let named = named.map_or(String::new(), |named| format!(": {named}"));
        undecided(summary)
            .because(format!("the machine's CPU was used to {}", percent(host.cpu_share)))
            .because(format!(
                "server and generator together used {} of it, others {}{named}",
                percent(ours),
                percent(others)
            ))
            .advice("press again when nothing else runs here")
    })
}

/// The share of the machine's CPU that server and generator used together.
fn ours(run: &RunResult, host: &Host) -> f64 {
    (host.server_cores + generator_cores(run)) / host.cores as f64
}

fn generator_cores(run: &RunResult) -> f64 {
    run.generator.cpu_share * run.plan.threads as f64
}

/// The server runs here, and all CPU of the machine is used: whoever uses most of it is the limit.
fn full_machine(run: &RunResult) -> Option<Verdict> {
    let host = run.host.as_ref().filter(|host| host.cpu_share >= MACHINE_FULL)?;
    let generator = generator_cores(run);
    let cores = host.cores as f64;
    let part = |cores_used: f64| percent(cores_used / cores);
    // What works behind the server works for it.
    let behind = run.signals.as_ref().map_or(0.0, Signals::peer_cores);
    let (factor, advice) = match server_fills(host.server_cores + behind, generator) {
        true => (Factor::ServerCpu, "make requests cheaper or give the server more CPU"),
        false => (Factor::Generator, "the service can take more than this: the generator needs CPU of its own"),
    };
    let behind = if behind < WORTH_TELLING { String::new() } else { format!("{} by what it talks to, ", part(behind)) };
    let shares = format!("{} by the server, {behind}{} by the generator", part(host.server_cores), part(generator));
    let verdict = likely(factor, format!("The machine's CPU is used up: {shares}."))
        .because(format!("the machine's {} CPUs were used to {}", host.cores, percent(host.cpu_share)))
        .because(format!("a request cost the generator {:.2} us of CPU", run.generator.cpu_us_per_request))
        .advice(advice);
    let verdict = if run.plan.keep_alive {
        verdict
    } else {
        verdict.because("each request opens a connection of its own, which costs both sides a multiple of the request")
    };
    Some(verdict.advice("run the generator on another machine, where it takes no CPU from the server"))
}

/// There is CPU to spare, but one side has no more to give.
fn one_side(run: &RunResult) -> Option<Verdict> {
    let busy = format!("the generator's busiest thread had work {} of the time", percent(run.generator.busy_share));
    let Some(host) = &run.host else {
        return run.generator.saturated.then(|| {
            likely(Factor::Generator, "The load generator itself was the limit: the service may take more.")
                .because(busy)
                .because(format!("it used {} of the CPU that its threads can use", percent(run.generator.cpu_share)))
                .advice("give it more threads with -t, or a machine with more cores")
        });
    };
    let full = host.server_threads.iter().filter(|&&share| share >= FULL_THREAD).count();
    let spare = format!("the machine's CPU was used to {} only", percent(host.cpu_share));
    match (full, run.generator.saturated) {
        (0, true) => Some(
            likely(Factor::Generator, "The load generator itself was the limit: the service may take more.")
                .because(busy)
                .because(format!("no thread of the server was full, and {spare}"))
                .advice("give it more threads with -t, or a machine of its own"),
        ),
        (1.., false) => Some(server_threads(full, host.cores, host.server_cores, spare)),
        _ => None,
    }
}

fn server_threads(full: usize, cores: usize, used: f64, spare: String) -> Verdict {
    if full >= cores || used >= MACHINE_FULL * cores as f64 {
        return likely(Factor::ServerCpu, "The server uses all CPU that this machine has.")
            .because(format!("{full} of its threads were full and it used {used:.2} of {cores} CPUs"))
            .advice("make requests cheaper or give the server more CPU");
    }
    let verdict = if full == 1 {
        likely(Factor::SingleCore, "One thread of the server does all the work and is full, while CPU is free.")
            .because("1 thread of the server was full, and no other")
    } else {
        likely(Factor::Workers, "All busy threads of the server are full, while CPU is free.")
            .because(format!("{full} threads of the server were full, on {cores} CPUs"))
    };
    verdict.because(spare).advice(format!("run more workers: one per core would be {cores}"))
}

/// Nothing is busy and nothing queues at the server: too little is asked at a time.
fn connections(run: &RunResult) -> Option<Verdict> {
    let latency = run.latency_us?;
    let (min, median) = (latency.min as f64, latency.p50? as f64);
    let idle = run.host.as_ref().is_none_or(|host| host.cpu_share < MACHINE_FULL || ours(run, host) < LITTLE_CPU);
    // A thread that is full may take all connections in turns, so that each waits alike for the others.
    let nothing_is_full = idle && !run.generator.saturated && !a_thread_is_full(run);
    // On a schedule, response times have the time in them for which a request waited for a free connection on this side.
    let scheduled = run.plan.is_scheduled();
    let unqueued = scheduled || median <= UNQUEUED * min + JITTER_US;
    let took_us = if scheduled { min } else { median } + run.plan.mean_think_s() * 1e6;
    // Where a few are answered again and again, the others are not even begun with.
    let in_flight = run.plan.connections as f64 * f64::from(run.plan.depth);
    let at_work = run.rps * took_us / 1e6 / in_flight >= PASSIVE_AT_WORK;
    let without_warmup = run.plan.warmup_s.is_none();
    if !(without_warmup && at_work && unqueued && nothing_is_full && run.errors.timeout == 0) {
        return None;
    }
    let verdict = likely(
        Factor::Connections,
        "More connections would bring more throughput: nothing was full, and nothing queued at the server.",
    );
    let verdict = match scheduled {
        true => verdict.because(format!(
            "at the shortest response time, {min:.0} us, {} bring no more than {}",
            counted(run.plan.connections, "connection"),
            rate(in_flight / min * 1e6)
        )),
        false => verdict.because(format!(
            "the median response time, {median:.0} us, is near the least, {min:.0} us: requests do not wait for each other"
        )),
    };
    let pauses =
        || format!("each connection paused for {} between its requests (--think)", time(run.plan.mean_think_s()));
    let verdict = verdict.because_if(run.plan.think_s.map(|_| pauses())).because(format!(
        "the generator's busiest thread was idle {} of the time",
        percent(1.0 - run.generator.busy_share)
    ));
    let verdict = match &run.host {
        Some(host) => verdict.because(format!("the machine's CPU was used to {} only", percent(host.cpu_share))),
        None => verdict,
    };
    Some(verdict.advice(format!("press with -c {} and compare", run.plan.connections * 4)))
}

fn unknown(run: &RunResult) -> Verdict {
    let verdict = undecided("What was seen does not tell what limits the service.")
        .because(format!("the generator's busiest thread had work {} of the time", percent(run.generator.busy_share)));
    let verdict = match &run.host {
        Some(host) => verdict.because(format!(
            "the server used {:.2} of {} CPUs, and the machine {}",
            host.server_cores,
            host.cores,
            percent(host.cpu_share)
        )),
        None => verdict.because("the server's processes cannot be seen from here"),
    };
    verdict.because_if(others(run)).advice(format!(
        "press again with half and with twice the connections ({} and {}) and compare",
        (run.plan.connections / 2).max(1),
        run.plan.connections * 2
    ))
}
