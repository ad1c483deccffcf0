//! The verdict of a plain run: what its signals alone point to. Nothing was varied, so it is never more than likely.
//!
//! The order matters: a run that kept the rate it was asked for has no limit to be found; a run that fails, or runs out of ports,
//! says nothing of the server's speed; and a generator that could not keep up says nothing of anything else.

mod behind;
mod kept;
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A healthy run that nothing in it explains, changed as the test wants.
    fn verdict(changes: Value) -> Verdict {
        let mut run = json!({
            "schema": "torr.run/1", "torr": "0", "target": "http://h/", "started_at": "",
            "plan": {"connections": 100, "threads": 2, "keep_alive": true, "protocol": "http/1.1", "method": "GET", "timeout_s": 10.0},
            "asked": 100_000, "requests": 100_000, "rps": 10_000.0, "duration_s": 10.0, "status": {"200": 100_000},
            "bytes": {"sent": 1, "received": 1, "body": 1}, "unfinished": 0,
            "errors": {"connect": 0, "tls": 0, "timeout": 0, "read": 0, "write": 0, "protocol": 0, "status": 0, "ports": 0},
            "latency_us": {"min": 100, "mean": 1000.0, "stddev": 1.0, "p50": 1000, "max": 2000},
            "phases_us": {"connect": null, "tls": null, "first_byte": null},
            "connections": {"opened": 100, "peak": 100, "closed_by_server": 0, "requests_per_connection": 1000.0},
            "series": [],
            "generator": {"cpu_us_per_request": 2.0, "cpu_share": 0.2, "busy_share": 0.3, "saturated": false},
            "host": {"cores": 4, "cpu_share": 0.4, "steal_share": 0.0, "server_cores": 0.8, "server": [], "server_threads": [0.4, 0.4]}
        });
        merge(&mut run, changes);
        let verdict = passive(&serde_json::from_value(run).expect("it has the schema's form"));
        assert!(
            !verdict.summary.is_empty() && !verdict.because.is_empty() && !verdict.advice.is_empty(),
            "{verdict:?}"
        );
        let counts_nothing = |told: &&String| told.split_whitespace().any(|word| word == "0");
        assert_eq!(verdict.because.iter().find(counts_nothing), None, "zero is no evidence");
        assert_ne!(verdict.confidence, Confidence::Certain, "nothing was varied: {verdict:?}");
        assert_eq!(verdict.confidence == Confidence::Unknown, verdict.factor == Factor::Unknown, "{verdict:?}");
        verdict
    }

    fn merge(into: &mut Value, changes: Value) {
        match changes {
            Value::Object(fields) => fields.into_iter().for_each(|(name, value)| merge(&mut into[name], value)),
            value => *into = value,
        }
    }

    #[test]
    fn each_factor_by_its_signals_and_not_by_its_look_alikes() {
        let saturated = json!({"cpu_share": 0.97, "busy_share": 0.99, "saturated": true});
        for (what, changes, factor) in [
            ("nothing stands out", json!({}), Factor::Unknown),
            ("no local port", json!({"errors": {"ports": 5}}), Factor::ClientPorts),
            ("failures", json!({"errors": {"read": 2_000}, "requests": 98_000}), Factor::Errors),
            ("a few failures", json!({"errors": {"read": 10}}), Factor::Unknown),
            ("statuses", json!({"errors": {"status": 100_000}, "status": {"200": 0, "503": 100_000}}), Factor::Errors),
            ("no answer at all", json!({"requests": 0, "asked": 100, "unfinished": 100, "status": {}}), Factor::Errors),
            (
                "the server closes",
                json!({"connections": {"opened": 100_000, "closed_by_server": 99_990}}),
                Factor::KeepAlive,
            ),
            (
                "they close after two",
                json!({"connections": {"opened": 50_000, "closed_by_server": 49_990}}),
                Factor::KeepAlive,
            ),
            ("we close", json!({"plan": {"keep_alive": false}, "connections": {"opened": 100_000}}), Factor::Unknown),
            ("generator, unseen server", json!({"generator": saturated, "host": null}), Factor::Generator),
            ("generator, idle server", json!({"generator": saturated, "host": {"cpu_share": 0.7}}), Factor::Generator),
            (
                "both full",
                json!({"generator": saturated, "host": {"cpu_share": 0.7, "server_threads": [0.99]}}),
                Factor::Unknown,
            ),
            (
                "full machine, server",
                json!({"generator": {"cpu_share": 0.5}, "host": {"cpu_share": 1.0, "server_cores": 2.9}}),
                Factor::ServerCpu,
            ),
            (
                "full machine, generator",
                json!({"generator": {"cpu_share": 0.99}, "host": {"cpu_share": 1.0, "server_cores": 1.5}}),
                Factor::Generator,
            ),
            (
                "a full server that refuses, for whatever reason",
                json!({"status": {"200": 5_000, "503": 95_000}, "errors": {"status": 95_000}, "host": {"server_threads": [0.99]}}),
                Factor::Unknown,
            ),
            ("full of others", json!({"host": {"cpu_share": 1.0}}), Factor::Unknown),
            (
                "all workers full",
                json!({"host": {"cpu_share": 0.93, "server_cores": 3.7, "server_threads": [0.93, 0.93, 0.92, 0.92]}}),
                Factor::ServerCpu,
            ),
            (
                "one full thread",
                json!({"host": {"server_cores": 1.0, "server_threads": [0.99, 0.01]}}),
                Factor::SingleCore,
            ),
            (
                "two full of four",
                json!({"host": {"cpu_share": 0.6, "server_cores": 1.9, "server_threads": [0.96, 0.95]}}),
                Factor::Workers,
            ),
            ("nothing queues", json!({"rps": 95_000.0, "latency_us": {"min": 900}}), Factor::Connections),
            (
                "a full thread takes all connections in turns",
                json!({"rps": 95_000.0, "latency_us": {"min": 900}, "host": {"server_cores": 1.0, "server_threads": [0.99]}}),
                Factor::SingleCore,
            ),
            ("a few are answered, again and again", json!({"latency_us": {"min": 900}}), Factor::Unknown),
            (
                "nothing queues, but time-outs",
                json!({"rps": 95_000.0, "latency_us": {"min": 900}, "errors": {"timeout": 3}}),
                Factor::Unknown,
            ),
            (
                "nothing queues, but no more was to be asked",
                json!({"rps": 10_000.0, "latency_us": {"min": 900, "p50": 950, "mean": 960.0}, "plan": {"max_rate": 10_000.0}}),
                Factor::None,
            ),
            (
                "nothing queues, full generator",
                json!({"rps": 95_000.0, "latency_us": {"min": 900}, "generator": saturated, "host": null}),
                Factor::Generator,
            ),
            (
                "nothing queues, others busy",
                json!({"rps": 95_000.0, "latency_us": {"min": 900}, "host": {"cpu_share": 1.0}}),
                Factor::Connections,
            ),
        ] {
            let verdict = verdict(changes);
            assert_eq!(verdict.factor, factor, "{what}: {verdict:?}");
        }
    }

    /// An open loop of 10 s at 1,000/s that a healthy service kept, changed as the test wants.
    fn open_loop(changes: Value) -> Value {
        let mut run = json!({
            "plan": {"rate": 1000.0, "arrivals": "constant", "duration_s": 10.0},
            "asked": 10_000, "requests": 10_000, "rps": 1000.0, "status": {"200": 10_000},
            "latency_us": {"min": 80, "mean": 200.0, "p50": 180, "p90": 300, "p99": 500},
            "host": {"cpu_share": 0.1, "server_cores": 0.05, "server_threads": [0.05]},
            "signals": {
                "machine": {"cores": 4, "cpu_share": 0.1},
                "clients": {"established": 5.0, "unread": 0.0},
                "processes": [{"name": "app", "cores": 0.05}]
            }
        });
        merge(&mut run, changes);
        run
    }

    #[test]
    fn a_rate_that_was_kept_has_no_limit_and_one_that_was_not_has_one() {
        let slow = json!({"min": 1_000_000, "mean": 1_000_000.0, "p50": 1_000_000, "p90": 1_000_000});
        let behind = |mean: f64| json!({"min": 100, "mean": mean, "p50": mean as u64, "p90": (1.8 * mean) as u64});
        let full = json!({"cpu_share": 0.4, "server_cores": 1.0, "server_threads": [0.99]});
        for (what, changes, factor) in [
            ("kept", json!({}), Factor::None),
            ("kept by a server that nobody sees", json!({"host": null, "signals": null}), Factor::None),
            ("some in flight at its end", json!({"requests": 9_998, "unfinished": 2}), Factor::None),
            ("each takes a second", json!({"requests": 9_000, "unfinished": 1_000, "latency_us": slow}), Factor::None),
            (
                "a pause at its very end",
                json!({"requests": 9_900, "unfinished": 100, "latency_us": {"mean": 600.0}}),
                Factor::None,
            ),
            (
                "a machine that pauses a short run again and again",
                json!({"duration_s": 1.0, "asked": 1_000, "requests": 900, "unfinished": 100,
                    "latency_us": {"mean": 20_000.0, "p90": 60_000}}),
                Factor::None,
            ),
            (
                "a short run that falls behind",
                json!({"duration_s": 1.0, "asked": 1_000, "requests": 600, "unfinished": 400, "rps": 600.0,
                    "latency_us": behind(200_000.0), "host": full}),
                Factor::SingleCore,
            ),
            (
                "random arrivals",
                json!({"plan": {"arrivals": "poisson"}, "asked": 10_213, "requests": 10_210, "unfinished": 3}),
                Factor::None,
            ),
            ("stages", json!({"plan": {"rate": null, "staged": true}}), Factor::None),
            (
                "so many requests, the last of them late",
                json!({"plan": {"requests": 1_000, "duration_s": null}, "asked": 1_000, "requests": 1_000, "duration_s": 1.2}),
                Factor::None,
            ),
            ("a few failures", json!({"errors": {"read": 20}, "requests": 9_980}), Factor::None),
            (
                "kept by a server that is nearly full",
                json!({"host": full, "requests": 9_990, "unfinished": 10, "latency_us": {"mean": 9_000.0, "p90": 20_000}}),
                Factor::None,
            ),
            (
                "kept while other programs use the machine",
                json!({"host": {"cpu_share": 1.0}, "signals": {"machine": {"cpu_share": 1.0}}, "generator": {"send_lag_p99_us": 9_000}}),
                Factor::None,
            ),
            (
                "answered by failures",
                json!({"status": {"200": 0, "500": 10_000}, "errors": {"status": 10_000}}),
                Factor::Errors,
            ),
            (
                "answered by refusals, which say too many requests",
                json!({"status": {"200": 5_000, "429": 5_000}, "errors": {"status": 5_000}}),
                Factor::RateLimit,
            ),
            (
                "a service that cannot, as after a database was killed",
                json!({"status": {"200": 9_000, "503": 1_000}, "errors": {"status": 1_000}}),
                Factor::Errors,
            ),
            (
                "a full server that does two thirds",
                json!({"requests": 6_700, "unfinished": 3_300, "rps": 670.0, "latency_us": behind(1_650_000.0), "host": full}),
                Factor::SingleCore,
            ),
            (
                "the same of so many requests",
                json!({
                    "plan": {"requests": 10_000, "duration_s": null}, "duration_s": 15.0, "rps": 667.0,
                    "latency_us": behind(2_500_000.0), "host": full
                }),
                Factor::SingleCore,
            ),
            (
                "a server that hangs in the end",
                json!({"requests": 8_500, "unfinished": 1_500, "host": full}),
                Factor::SingleCore,
            ),
            (
                "two connections where ten are needed",
                json!({
                    "plan": {"connections": 2}, "requests": 2_000, "unfinished": 8_000, "rps": 200.0,
                    "latency_us": {"min": 10_000, "mean": 4_000_000.0, "p50": 4_000_000, "p90": 7_000_000}
                }),
                Factor::Connections,
            ),
            (
                "a limiter that holds back",
                json!({"requests": 3_000, "unfinished": 7_000, "rps": 300.0, "latency_us": behind(3_500_000.0)}),
                Factor::RateLimit,
            ),
        ] {
            let verdict = verdict(open_loop(changes));
            assert_eq!(verdict.factor, factor, "{what}: {verdict:?}");
            let missed = verdict.because.iter().any(|reason| reason.contains("rate was not kept"));
            // What was answered, be it by refusals, was not missed.
            let was_answered = [Factor::None, Factor::Errors].contains(&factor) || what.contains("answered");
            assert_eq!(missed, !was_answered, "{what}: {verdict:?}");
        }
    }

    #[test]
    fn a_rate_that_was_kept_says_what_was_used_and_where_its_headroom_is_to_be_found() {
        let verdict = verdict(open_loop(json!({
            "signals": {"others": [{"name": "rustc", "cores": 1.25}, {"name": "cat", "cores": 0.02}]}
        })));
        assert_eq!(verdict.summary, "The service kept your rate of 1000/s: nothing limited this run.");
        assert_eq!(
            verdict.because,
            [
                "10000 of 10000 requests that were due were answered",
                "half of the responses took 180 us at most, 99% of them 500 us",
                "the server used 0.05 of 4 CPUs, its busiest thread 5% of a CPU",
                "the generator's busiest thread had work 30% of the time",
                "the busiest other programs here: rustc 1.25 CPUs",
            ]
        );
        assert!(verdict.advice[0].contains("torr limit"), "{verdict:?}");
    }

    #[test]
    fn a_closed_loop_that_is_held_back_by_the_user_is_held_back_by_nothing_else() {
        let paused = json!({"plan": {"connections": 10, "think_s": [0.02, 0.08]}, "rps": 199.0, "latency_us": {"min": 100, "mean": 250.0, "p50": 240}});
        for (what, changes, factor) in [
            ("at --max-rate", json!({"plan": {"max_rate": 1000.0}}), Factor::None),
            (
                "below --max-rate, since the connections are all in use",
                json!({
                    "plan": {"connections": 10, "max_rate": 15.0}, "duration_s": 2.0, "asked": 20, "requests": 20, "rps": 10.0,
                    "latency_us": {"min": 990_000, "mean": 1_000_000.0, "p50": 1_000_000, "p75": 1_000_000}
                }),
                Factor::Connections,
            ),
            ("with pauses", paused, Factor::Connections),
            (
                "with connections that become more",
                json!({"plan": {"staged": true}, "rps": 4_000.0, "latency_us": {"min": 5_000, "mean": 5_200.0, "p50": 5_100},
                    "signals": {"clients": {"established": 25.0, "unread": 0.0}}}),
                Factor::Unknown,
            ),
        ] {
            let closed = json!({"plan": {"rate": null, "arrivals": null}, "latency_us": {"p75": 250}});
            let mut run = open_loop(closed);
            merge(&mut run, changes);
            let verdict = verdict(run);
            assert_eq!(verdict.factor, factor, "{what}: {verdict:?}");
        }
    }

    /// A server that idles with 100 requests, of which so many have not been read, and what else is seen of it.
    fn idle(rps: f64, min: u64, unread: f64, more: Value) -> Value {
        let mut run = json!({
            "rps": rps, "latency_us": {"min": min, "mean": 1e8 / rps, "p50": 100 * 1_000_000 / rps as u64},
            "host": {"cpu_share": 0.1, "server_cores": 0.05, "server_threads": [0.05]},
            "signals": {
                "machine": {"cores": 4, "cpu_share": 0.1},
                "clients": {"established": 100.0, "unread": unread},
                "processes": [{"name": "app", "cores": 0.05}],
                "peers": []
            }
        });
        merge(&mut run, more);
        run
    }

    /// A service whose database was killed answers 503 as fast as it can, and is busy with that.
    #[test]
    fn responses_of_503_are_not_taken_for_too_much_load() {
        let refusing = json!({"status": {"200": 5_000, "503": 95_000}, "errors": {"status": 95_000}, "host": {"server_threads": [0.99]}});
        let verdict = verdict(refusing);
        assert!(verdict.summary.contains("database") && !verdict.summary.contains("is full"), "{verdict:?}");
        assert!(verdict.advice.iter().any(|advice| advice.contains("logs")), "{verdict:?}");
    }

    #[test]
    fn a_full_accept_queue_has_been_counted_and_a_full_link_or_a_lossy_one_is_none() {
        let late = |p99: u64| json!({"min": 50, "mean": 90_000.0, "stddev": 1.0, "p99": p99, "max": 2_030_000});
        let counted = |overflows| json!({"network": {"listen_overflows": overflows}});
        let full_link = json!({"looked_at": 9, "min_rtt_us": 100, "rtt_us": 90_000.0});
        let lossy = json!({"looked_at": 9, "min_rtt_us": 100, "rtt_us": 900.0, "retransmitted_share": 0.02});
        let queue = json!({"listeners": [{"address": "h:80", "sockets": 1, "backlog": 2, "queued_max": 3}]});
        for (what, changes, factor) in [
            (
                "a full link, where the kernel counted nothing",
                json!({"phases_us": {"connect": late(1_010_000)}, "signals": counted(0), "sockets": full_link,
                    "bytes": {"received": 24_000_000}}),
                Factor::Bandwidth,
            ),
            (
                "the same to a server that nobody sees",
                json!({"phases_us": {"connect": late(1_010_000)}, "sockets": full_link, "bytes": {"received": 24_000_000}}),
                Factor::Bandwidth,
            ),
            ("a lossy way", json!({"phases_us": {"connect": late(1_010_000)}, "sockets": lossy}), Factor::Unknown),
            (
                "counted",
                json!({"phases_us": {"connect": late(1_010_000)}, "signals": counted(585)}),
                Factor::AcceptBacklog,
            ),
            (
                "counted, of which the clients learn when they send",
                json!({"phases_us": {"connect": {"min": 50, "mean": 90.0, "stddev": 1.0, "max": 900}}, "signals": counted(585),
                    "latency_us": {"max": 1_020_000}}),
                Factor::AcceptBacklog,
            ),
            (
                "counted of another service on the machine",
                json!({"phases_us": {"connect": {"min": 50, "mean": 90.0, "stddev": 1.0, "max": 900}}, "signals": counted(585)}),
                Factor::Unknown,
            ),
            (
                "not to be counted, on a quiet way",
                json!({"phases_us": {"connect": late(1_010_000)}}),
                Factor::AcceptBacklog,
            ),
        ] {
            let mut run = idle(600.0, 900, 0.0, json!({"latency_us": {"p50": 100_000}}));
            if changes["signals"].is_null() {
                run["signals"] = Value::Null;
            }
            merge(&mut run, changes);
            let verdict = verdict(run);
            assert_eq!(verdict.factor, factor, "{what}: {verdict:?}");
        }
        let mut run =
            idle(400.0, 900, 0.0, json!({"phases_us": {"connect": late(1_010_000)}, "signals": counted(585)}));
        merge(&mut run, json!({"signals": queue}));
        let because = verdict(run).because;
        assert!(because[1].contains("585 overflows") && because[2].contains("room for 2, and 3"), "{because:?}");
    }

    #[test]
    fn connections_of_other_programs_are_not_put_down_to_a_proxy() {
        let peer = |kept: f64| json!([{"address": "127.0.0.1:9000", "connections": 4.0, "kept": kept, "processes": [{"name": "app"}]}]);
        let run = |requests: u64, opened: u64, peers: Value| {
            let rps = requests as f64 / 10.0;
            let counts = json!({"asked": requests, "requests": requests, "rps": rps, "latency_us": {"min": 90_000}});
            let mut run = json!({"signals": {"network": {"active_opens": opened + 100}, "peers": peers}});
            merge(&mut run, counts);
            run
        };
        for (what, changes, factor, told) in [
            ("a connection for each request", run(10_000, 10_000, peer(0.1)), Factor::Proxy, "1.00 connections"),
            ("other programs', beside a proxy that keeps its own", run(10_000, 10_000, peer(1.0)), Factor::Unknown, ""),
            ("other programs', at a low rate", run(1_000, 1_500, json!([])), Factor::Unknown, ""),
            ("other programs', at a low rate beside a proxy", run(1_000, 1_500, peer(0.1)), Factor::Unknown, ""),
        ] {
            let verdict = verdict(changes);
            assert_eq!(verdict.factor, factor, "{what}: {verdict:?}");
            let is_told = verdict.because.iter().any(|reason| reason.contains("were opened"));
            assert_eq!(is_told, !told.is_empty(), "{what}: {verdict:?}");
        }
    }

    #[test]
    fn what_fills_a_machine_is_told_with_what_works_behind_the_server_and_other_programs_are_named() {
        let peer = json!({"address": "127.0.0.1:9000", "connections": 4.0, "kept": 1.0, "processes": [{"name": "app", "cores": 2.6}]});
        let behind = verdict(json!({
            "generator": {"cpu_share": 0.2}, "host": {"cpu_share": 1.0, "server_cores": 0.3},
            "signals": {"machine": {"cores": 4, "cpu_share": 1.0}, "peers": [peer]}
        }));
        assert_eq!(behind.factor, Factor::ServerCpu, "{behind:?}");
        assert!(behind.summary.contains("65% by what it talks to"), "{behind:?}");
        let disturbed = verdict(json!({
            "host": {"cpu_share": 1.0},
            "signals": {"machine": {"cores": 4, "cpu_share": 1.0}, "others": [{"name": "rustc", "cores": 2.5}, {"name": "cc", "cores": 0.25}]}
        }));
        assert_eq!(disturbed.factor, Factor::Unknown, "{disturbed:?}");
        assert!(disturbed.because[1].ends_with(": rustc 2.50 CPUs, cc 0.25"), "{disturbed:?}");
    }

    #[test]
    fn what_the_servers_machine_tells() {
        let database = |more: Value| {
            let mut peer = json!({"address": "10.0.0.1:5432", "role": "database", "connections": 4.0});
            merge(&mut peer, more);
            json!({"signals": {"peers": [peer]}})
        };
        let waits = json!({"name": "worker", "cores": 0.01, "waiting": {"futex_do_wait": 0.9}, "waits_per_s": 50.0});
        let turns = json!({"signals": {"processes": [{"name": "app", "cores": 0.05, "threads": [waits, waits]}]}});
        let fetched = json!({"address": "10.0.0.1:5432", "role": "database", "connections": 4.0, "bytes_per_s": 1e8});
        let rows = json!({
            "bytes": {"received": 20_000_000},
            "host": {"server_threads": [0.99, 0.98]},
            "signals": {"machine": {"cores": 4, "cpu_share": 0.6}, "processes": [{"name": "app", "cores": 1.9}], "peers": [fetched]}
        });
        let quota = json!({"cgroup": "/app", "cores": 0.3, "periods": 100, "throttled_periods": 60});
        for (what, changes, factor) in [
            ("one at a time, all in hand", idle(200.0, 5000, 0.0, json!({})), Factor::Unknown),
            ("one at a time, by turns", idle(200.0, 5000, 0.0, turns), Factor::Lock),
            ("rows for little", rows, Factor::Orm),
            ("one at a time, none read", idle(200.0, 5000, 99.0, json!({})), Factor::Workers),
            ("four at a time, none read", idle(800.0, 5000, 96.0, json!({})), Factor::Workers),
            ("less than one at a time", idle(100.0, 300, 0.0, json!({})), Factor::RateLimit),
            ("four wait for a database", idle(800.0, 5000, 0.0, database(json!({"waiting": 3.9}))), Factor::Database),
            ("four at a time, for whatever", idle(800.0, 5000, 0.0, json!({})), Factor::Unknown),
            (
                "forty queries for each request",
                idle(200.0, 5000, 0.0, database(json!({"sends_per_s": 8000.0}))),
                Factor::Orm,
            ),
            (
                "a quota",
                idle(
                    200.0,
                    5000,
                    0.0,
                    json!({"signals": {"processes": [{"name": "app", "cores": 0.3, "quota": quota}]}}),
                ),
                Factor::CpuQuota,
            ),
            (
                "a limiter that says so",
                json!({"status": {"200": 5_000, "429": 95_000}, "errors": {"status": 95_000}}),
                Factor::RateLimit,
            ),
            (
                "a long way",
                json!({"latency_us": {"min": 40_000, "p50": 41_000}, "sockets": {"looked_at": 9, "min_rtt_us": 40_000}}),
                Factor::NetworkDelay,
            ),
            (
                "a full link",
                json!({
                    "sockets": {"looked_at": 9, "min_rtt_us": 100, "rtt_us": 90_000.0},
                    "bytes": {"received": 24_000_000}
                }),
                Factor::Bandwidth,
            ),
            (
                "round trips that are long though next to nothing is on the way",
                json!({"sockets": {"looked_at": 9, "min_rtt_us": 100, "rtt_us": 90_000.0}, "bytes": {"received": 40_000}}),
                Factor::Unknown,
            ),
            (
                "held back acknowledgements",
                json!({"latency_us": {"min": 300, "p50": 41_000, "p75": 42_000}}),
                Factor::DelayedAck,
            ),
            (
                "handshakes",
                json!({
                    "tls": {"version": "TLSv1.3", "cipher": "", "full": 100_000, "resumed": 0},
                    "phases_us": {"tls": {"min": 1, "mean": 600.0, "stddev": 1.0, "max": 9}},
                    "connections": {"opened": 100_000}
                }),
                Factor::TlsHandshake,
            ),
        ] {
            let verdict = verdict(changes);
            assert_eq!(verdict.factor, factor, "{what}: {verdict:?}");
        }
    }

    #[test]
    fn what_is_done_already_is_not_advised() {
        let advice = |key: &str, resumed: u64| {
            let handshakes = verdict(json!({
                "tls": {"version": "TLSv1.3", "cipher": "", "key": key, "full": 100_000, "resumed": resumed},
                "phases_us": {"tls": {"min": 1, "mean": 600.0, "stddev": 1.0, "max": 9}},
                "connections": {"opened": 100_000}
            }));
            assert_eq!(handshakes.factor, Factor::TlsHandshake);
            handshakes.advice.join("; ")
        };
        assert!(advice("RSA", 0).contains("ECDSA") && advice("RSA", 0).contains("resume"));
        assert!(!advice("ECDSA", 7).contains("ECDSA") && !advice("ECDSA", 7).contains("resume"));
    }
}
