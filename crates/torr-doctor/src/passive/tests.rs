//! What single runs point to, each beside its look-alikes.

mod hidden;
mod schedule;
mod streams;

use super::passive;
use serde_json::{Value, json};
use torr_gauge::fleet::EarlyEnd;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline, KeptRate, Unit};
use torr_gauge::{Confidence, Factor};
use torr_signals::ProgramUse;

/// A healthy run that nothing in it explains, changed as the test wants.
fn verdict(changes: Value) -> Finding {
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
    assert!(!verdict.because.is_empty() && !verdict.advice.is_empty(), "{verdict:?}");
    let is_zero = |fact: &&Fact| {
        // Of requests that were due, none may be left. That no thread is saturated, and no session was resumed, is evidence.
        let counts_nothing = !matches!(fact, Fact::Done { .. } | Fact::SaturatedThreads { .. } | Fact::Resumed { .. });
        counts_nothing && json!(fact).as_object().is_some_and(|fields| fields.values().any(|value| *value == json!(0)))
    };
    assert_eq!(verdict.because.iter().find(is_zero), None, "zero is no evidence");
    assert_ne!(verdict.confidence, Confidence::Certain, "nothing was varied: {verdict:?}");
    assert_eq!(verdict.confidence == Confidence::Unknown, verdict.factor == Factor::Unknown, "{verdict:?}");
    verdict
}

/// A run of 10,000 sessions that were due 1,000 a second and took `ms` milliseconds each.
fn sessions(ms: u64, counts: Value) -> Value {
    let us = ms * 1000;
    let mut sessions = json!({
        "users": 100, "started": 10_000, "finished": 0, "failed": 0, "unfinished": 100, "per_second": 1000.0,
        "duration_us": {"min": us, "mean": us as f64, "stddev": 1.0, "p50": us, "p90": us, "max": us}
    });
    merge(&mut sessions, counts);
    let entry = json!({
        "name": "login", "file": "shop.hurl", "line": 1, "requests": 1, "rps": 1.0, "status": {}, "failed": 1,
        "request_failures": 1, "unfinished": 1, "retries": 1, "sessions_failed": 1, "latency_us": null,
        "asserts_failed": 1, "asserts": []
    });
    json!({"plan": {"rate": 1000.0, "arrivals": "constant"}, "sessions": sessions, "entries": [entry]})
}

/// Sessions of 100 ms each, in a closed loop that begins at most so many a second.
fn capped(max_rate: f64) -> Value {
    let mut run = sessions(100, json!({"finished": 9_900}));
    run["plan"] = json!({"max_rate": max_rate, "connections": 200});
    run
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
        ("sessions that fail", sessions(100, json!({"finished": 9_000, "failed": 900})), Factor::Errors),
        ("a few sessions that fail", sessions(100, json!({"finished": 9_895, "failed": 5})), Factor::None),
        (
            "sessions that wait for users",
            sessions(100, json!({"finished": 5_000, "unfinished": 5_000})),
            Factor::Unknown,
        ),
        ("sessions at their cap", capped(1000.0), Factor::None),
        ("sessions below their cap", capped(2000.0), Factor::Unknown),
        ("a few failures", json!({"errors": {"read": 10}}), Factor::Unknown),
        ("statuses", json!({"errors": {"status": 100_000}, "status": {"200": 0, "503": 100_000}}), Factor::Errors),
        ("no response at all", json!({"requests": 0, "asked": 100, "unfinished": 100, "status": {}}), Factor::Errors),
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
            "a generator that is never idle, but hardly works",
            json!({"generator": {"cpu_share": 0.2, "busy_share": 0.99, "saturated": true}, "host": {"cpu_share": 0.7}}),
            Factor::Unknown,
        ),
        (
            "a generator that a full link keeps awake",
            json!({"generator": saturated, "sockets": {"looked_at": 9, "min_rtt_us": 100, "rtt_us": 90_000.0},
                "bytes": {"received": 600_000_000}}),
            Factor::Bandwidth,
        ),
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
        ("one full thread", json!({"host": {"server_cores": 1.0, "server_threads": [0.99, 0.01]}}), Factor::SingleCore),
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
        ("kept by a server that is not visible", json!({"host": null, "signals": null}), Factor::None),
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
        let missed = verdict.because.iter().any(Fact::is_missed_rate);
        // What was answered, be it by refusals, was not missed.
        let was_answered = [Factor::None, Factor::Errors].contains(&factor) || what.contains("answered");
        assert_eq!(missed, !was_answered, "{what}: {verdict:?}");
    }
}

#[test]
fn a_rate_is_not_kept_if_an_agent_ends_before_the_run() {
    let agent = |name: &str, state: &str, note: Value| {
        json!({"name": name, "state": state, "note": note, "share": 0.5, "connections": 2, "rps": 1.0, "requests": 1,
            "errors": 0, "clock_error_us": 1})
    };
    let fleet = |second: Value| {
        let agents = [agent("a", "stopped", Value::Null), second];
        open_loop(json!({"fleet": {"name": "f", "run": "r", "start_spread_us": 1, "agents": agents}}))
    };
    let whole = verdict(fleet(agent("b", "stopped", Value::Null)));
    assert_eq!(whole.factor, Factor::None, "all ended with the run: {whole:?}");
    let early = verdict(fleet(agent("b", "stopped", json!("stopped on its machine after 3.0 s"))));
    assert_eq!(early.factor, Factor::Unknown, "{early:?}");
    let ended = [Fact::AgentEnded { agent: "b".into(), share: 0.5 }, Fact::RateLostWithAgent { agent: "b".into() }];
    assert_eq!(early.because, ended);
}

#[test]
fn a_run_without_one_of_its_agents_has_no_verdict() {
    let agent =
        |name: &str, state: &str| json!({"name": name, "state": state, "fact": {"name": "no-heartbeat"}, "share": 0.5});
    for (state, cut) in [("lost", json!({"at_s": 2.0})), ("lost", Value::Null), ("failed", json!({"at_s": 2.0}))] {
        let agents = [agent("a", "ended"), agent("b", state)];
        let fleet = json!({"name": "f", "run": "r", "agents": agents, "cut": cut});
        let verdict = verdict(open_loop(json!({"fleet": fleet})));
        assert_eq!((verdict.factor, verdict.confidence), (Factor::Unknown, Confidence::Unknown), "{verdict:?}");
        let lost = Fact::AgentLost { agent: "b".into(), share: 0.5, why: Some(EarlyEnd::NoHeartbeat) };
        assert_eq!(verdict.because[0], lost);
        assert_eq!(verdict.because.len(), if cut.is_null() { 1 } else { 2 }, "{verdict:?}");
    }
}

#[test]
fn a_rate_that_was_kept_says_what_was_used_and_where_its_headroom_is_to_be_found() {
    let verdict = verdict(open_loop(json!({
        "signals": {"others": [{"name": "rustc", "cores": 1.25}, {"name": "cat", "cores": 0.02}]}
    })));
    assert_eq!(verdict.headline, Headline::RateKept(KeptRate::Planned(1000.0)));
    let replayed = super::tests::verdict(open_loop(json!({"plan": {"rate": null, "arrivals": "replayed"}})));
    assert_eq!(replayed.headline, Headline::RateKept(KeptRate::Logged));
    assert_eq!(
        verdict.because,
        [
            Fact::Done { unit: Unit::Request, done: 10_000, due: 10_000, unfinished: 0 },
            Fact::ResponseTimes { p50_s: 180e-6, p99_s: Some(500e-6), max_s: 2e-3 },
            Fact::ServerCpu { used_cores: 0.05, cores: Some(4), busiest_thread: Some(0.05) },
            Fact::GeneratorBusy { share: 0.3, cores: None },
            Fact::OtherPrograms { programs: vec![ProgramUse { name: "rustc".into(), cores: 1.25 }] },
        ]
    );
    assert_eq!(verdict.advice, [Advice::FindLimit]);
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

/// A service whose database was killed responds 503 as fast as it can, and is busy with that.
#[test]
fn responses_of_503_are_not_taken_for_too_much_load() {
    let refusing = json!({"status": {"200": 5_000, "503": 95_000}, "errors": {"status": 95_000}, "host": {"server_threads": [0.99]}});
    let verdict = verdict(refusing);
    assert_eq!(verdict.headline, Headline::Unavailable);
    assert!(verdict.advice.contains(&Advice::LogOf503), "{verdict:?}");
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
            "the same to a server that is not visible",
            json!({"phases_us": {"connect": late(1_010_000)}, "sockets": full_link, "bytes": {"received": 24_000_000}}),
            Factor::Bandwidth,
        ),
        ("a lossy way", json!({"phases_us": {"connect": late(1_010_000)}, "sockets": lossy}), Factor::Unknown),
        ("counted", json!({"phases_us": {"connect": late(1_010_000)}, "signals": counted(585)}), Factor::AcceptBacklog),
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
    let mut run = idle(400.0, 900, 0.0, json!({"phases_us": {"connect": late(1_010_000)}, "signals": counted(585)}));
    merge(&mut run, json!({"signals": queue}));
    let because = verdict(run).because;
    let queue = [Fact::ListenOverflows { count: 585, few: None }, Fact::AcceptQueue { backlog: 2, queued: 3 }];
    assert_eq!(because[1..], queue);
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
    for (what, changes, factor, because) in [
        ("a connection for each request", run(10_000, 10_000, peer(0.1)), Factor::Proxy, "1.00 connections"),
        ("other programs', beside a proxy that keeps its own", run(10_000, 10_000, peer(1.0)), Factor::Unknown, ""),
        ("other programs', at a low rate", run(1_000, 1_500, json!([])), Factor::Unknown, ""),
        ("other programs', at a low rate beside a proxy", run(1_000, 1_500, peer(0.1)), Factor::Unknown, ""),
    ] {
        let verdict = verdict(changes);
        assert_eq!(verdict.factor, factor, "{what}: {verdict:?}");
        let is_named = verdict.because.iter().any(|fact| matches!(fact, Fact::UpstreamOpens { .. }));
        assert_eq!(is_named, !because.is_empty(), "{what}: {verdict:?}");
    }
}

#[test]
fn a_saturated_machine_is_reported_with_the_services_behind_the_server_and_other_programs() {
    let peer = json!({"address": "127.0.0.1:9000", "connections": 4.0, "kept": 1.0, "processes": [{"name": "app", "cores": 2.6}]});
    let behind = verdict(json!({
        "generator": {"cpu_share": 0.2}, "host": {"cpu_share": 1.0, "server_cores": 0.3},
        "signals": {"machine": {"cores": 4, "cpu_share": 1.0}, "peers": [peer]}
    }));
    assert_eq!(behind.factor, Factor::ServerCpu, "{behind:?}");
    assert!(matches!(behind.headline, Headline::MachineFull { peers_share: 0.65, .. }), "{behind:?}");
    let disturbed = verdict(json!({
        "host": {"cpu_share": 1.0},
        "signals": {"machine": {"cores": 4, "cpu_share": 1.0}, "others": [{"name": "rustc", "cores": 2.5}, {"name": "cc", "cores": 0.25}]}
    }));
    assert_eq!(disturbed.factor, Factor::Unknown, "{disturbed:?}");
    let programs = [("rustc", 2.5), ("cc", 0.25)].map(|(name, cores)| ProgramUse { name: name.into(), cores });
    assert_eq!(disturbed.because[2], Fact::OtherPrograms { programs: programs.into() });
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
            idle(200.0, 5000, 0.0, json!({"signals": {"processes": [{"name": "app", "cores": 0.3, "quota": quota}]}})),
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
        handshakes.advice
    };
    let all = [Advice::ResumeSessions, Advice::KeepConnections, Advice::EcdsaCertificate];
    assert_eq!((advice("RSA", 0), advice("ECDSA", 7)), (all.to_vec(), vec![Advice::KeepConnections]));
}
