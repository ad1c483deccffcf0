//! `torr fleet` against agents and coordinators that send what no program of ours would.

use crate::fleet::{Target, result};
use serde_json::{Value, json};
use std::fs;
use std::time::Instant;
use torr_test_support::nats::NatsServer;
use torr_test_support::nats_client::NatsClient;
use torr_test_support::program::{Ended, Running, torr, torr_command};
use torr_test_support::supervised::Supervised;

/// What clears a screen and sets the title of a terminal.
const HOSTILE: &str = "\u{1b}[2J\u{1b}[31mPWNED\u{1b}]0;title\u{7}";

/// How an agent that is none responds to a call.
fn hello(name: &str) -> Value {
    json!({"agent": name, "torr": env!("CARGO_PKG_VERSION"), "machine": "m", "cores": 2, "ceiling": 1000.0,
        "allow": ["loopback"], "run": null})
}

/// Two intervals, in the second of which the load ends.
fn intervals() -> Vec<Value> {
    let interval = |number: u64, last: bool| {
        let sample = json!({"answered": "200:100", "status": [[200, 100]], "lag": "5:100", "sent": 7000, "received": 9000,
            "opened": 5, "open": 5, "idle": 900_000_000});
        json!({"interval": {"number": number, "last": last, "sample": sample}})
    };
    vec![json!({"began": {"at_ns": 1}}), interval(0, false), interval(1, true)]
}

/// The end of a load of 1.5 s.
fn end() -> Value {
    let time = |nanos: u32| json!({"secs": 1, "nanos": nanos});
    let facts = json!({"duration_ns": 1_500_000_000_u64, "started": 200, "given_up": false, "carried": 0, "peak": 5, "sources": 1,
        "timestamps": "user", "threads": [{"wall": time(500_000_000), "cpu": time(0), "queued": null, "idle": time(400)}],
        "tls": null, "failed_response": null, "warmup": null, "sessions": null, "entries": 0});
    let own = json!({"busy_share": 0.1, "send_lag_p99_us": 5, "saturated": false, "verdict": null, "findings": [], "error": null});
    json!({"end": {"intervals": 2, "stopped": false, "failed": null, "unreachable": false, "facts": facts, "own": own}})
}

/// Responds as an agent of this name until NATS ends, and sends these messages when its load would begin.
fn false_agent(nats: &NatsServer, name: &str, hello: Value, messages: Vec<Value>) {
    let mut client = NatsClient::connect(&nats.address());
    client.subscribe("torr.default.call");
    client.subscribe(&format!("torr.default.agent.{name}"));
    let (name, began) = (name.to_owned(), Instant::now());
    std::thread::spawn(move || {
        while let Some(message) = client.receive() {
            let Some(reply) = message.reply else { continue };
            let run = |kind: &str| message.message[kind]["run"].as_str().unwrap_or_default().to_owned();
            let kind = message.message.as_object().and_then(|fields| fields.keys().next().cloned());
            match kind.as_deref().or(message.message.as_str()) {
                Some("call") => client.publish(&reply, &json!({ "hello": hello })),
                Some("clock") => client.publish(&reply, &json!({"time": {"ns": began.elapsed().as_nanos() as u64}})),
                Some("plan") => client.publish(&reply, &json!({"ready": {"run": run("plan")}})),
                Some("go") => {
                    client.publish(&reply, &json!({"ready": {"run": run("go")}}));
                    let subject = format!("torr.default.run.{}.from.{name}", run("go"));
                    messages.iter().for_each(|message| client.publish(&subject, message));
                }
                _ => {}
            }
        }
    });
}

/// A run of 2 s over one agent with these words behind it.
fn run_over_one(nats: &NatsServer, words: &[&str]) -> Ended {
    let load = ["--agents", "1", "--", "http://127.0.0.1:9/", "-r", "100", "-c", "5", "-d", "2s"];
    Running::start(nats.run_of_fleet(&[&load, words].concat())).wait()
}

#[test]
fn a_load_of_an_agent_that_is_none_has_a_result() {
    let nats = NatsServer::start();
    false_agent(&nats, "false", hello("false"), [intervals(), vec![end()]].concat());
    let ended = run_over_one(&nats, &["--json", "-"]);
    assert_eq!(ended.code, Some(0), "the tests below change one thing of it: {ended:?}");
    assert_eq!(result(&ended)["requests"], 200);
}

#[test]
fn an_end_that_cannot_be_true_cuts_the_result_where_the_agent_was_there() {
    let with = |path: &str, value: Value| {
        let mut end = end();
        *end.pointer_mut(path).expect("it has that") = value;
        end
    };
    for (number, (wrong, why)) in [
        (with("/end/intervals", json!(u64::MAX)), "'intervals' must be 0 to "),
        (with("/end/intervals", json!(2_000_000_000)), "'intervals' must be 0 to "),
        (with("/end/intervals", json!(2_000)), "it has 2000 intervals, more than the plan"),
        (with("/end/intervals", json!(9)), "it has 9 intervals in 1 s"),
        (with("/end/facts/started", json!(u64::MAX)), "'started' must be 0 to "),
        (with("/end/facts/duration_ns", json!(u64::MAX)), "'duration_ns' must be 0 to "),
        (with("/end/facts/threads/0/wall/secs", json!(u64::MAX)), "invalid message"),
        (with("/end/own/busy_share", json!(1e308)), "'busy_share' must be 0.0 to 1.0, found 1e308"),
        (with("/end/facts", json!(HOSTILE)), "invalid message"),
        (json!({"end": null}), "invalid message"),
    ]
    .into_iter()
    .enumerate()
    {
        let nats = NatsServer::start();
        false_agent(&nats, "false", hello("false"), [intervals(), vec![wrong]].concat());
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let [json, page] = ["result.json", "page.html"].map(|name| folder.path().join(name).display().to_string());
        let ended = run_over_one(&nats, &["--json", &json]);
        assert_eq!(ended.code, Some(1), "{number}: {ended:?}");
        assert!(ended.stderr.contains("agent false was lost") && ended.stderr.contains(why), "{number}: {ended:?}");
        assert!(!ended.stdout.contains('\u{1b}') && !ended.stderr.contains('\u{1b}'), "{number}: {ended:?}");
        let text = fs::read_to_string(&json).expect("it was written");
        let result: Value = serde_json::from_str(&text).expect("it is JSON");
        // The second interval was the last one, and how long it was is not known.
        assert_eq!((&result["requests"], &result["rps"]), (&json!(100), &json!(100.0)), "{number}: {result:#}");
        assert_eq!(result["fleet"]["cut"]["at_s"], 1.0, "{number}: {result:#}");
        assert_eq!(result["verdict"]["factor"], "unknown", "{number}: {result:#}");
        assert!(!ended.stdout.contains("kept"), "{number}: {ended:?}");
        let report = torr(&["report", &json, "-o", &page]);
        assert_eq!(report.code, Some(0), "{number}: {report:?}");
        let page = fs::read_to_string(page).expect("it was written");
        assert!(page.contains("agent false was lost") && !page.contains("rate was kept"), "{number}: {page}");
    }
}

#[test]
fn intervals_that_cannot_be_true_are_not_waited_for() {
    for (number, field, value) in [
        (1, "number", json!(u64::MAX)),
        (1, "number", json!(1_000_000)),
        (1, "sample", json!({"answered": format!("100:{}", u64::MAX)})),
        (1, "sample", json!({"last_apart": "100:5"})),
        (1, "sample", json!({"received": u64::MAX})),
    ] {
        let nats = NatsServer::start();
        let mut messages = intervals();
        messages[number + 1]["interval"][field] = value.clone();
        false_agent(&nats, "false", hello("false"), messages);
        let ended = run_over_one(&nats, &["--json", "-"]);
        assert_eq!(ended.code, Some(1), "{field} {value}: {ended:?}");
        assert!(ended.stderr.contains("agent false was lost"), "{field} {value}: {ended:?}");
        assert_eq!(result(&ended)["requests"], 100, "{field} {value}: {ended:?}");
    }
}

#[test]
fn a_ceiling_and_a_name_that_cannot_be_are_refused_in_a_line() {
    for (field, value, why) in [
        ("ceiling", json!(1e308), "'ceiling' must be 0.001 to 1000000000"),
        ("ceiling", json!(-5), "'ceiling' must be"),
        ("cores", json!(u64::MAX), "'cores' must be 1 to 4096"),
        ("agent", json!(HOSTILE), "use letters"),
        ("agent", json!("a.b"), "use letters"),
        ("run", json!(">"), "use letters"),
    ] {
        let nats = NatsServer::start();
        let mut hello = hello("false");
        hello[field] = value;
        false_agent(&nats, "false", hello, Vec::new());
        let listed = torr(&["fleet", "list", "--nats", &nats.url(), "--wait", "2s"]);
        for ended in [listed, run_over_one(&nats, &[])] {
            assert_eq!((ended.code, ended.stderr.lines().count()), (Some(1), 1), "{field}: {ended:?}");
            assert!(ended.stderr.contains(why) && !ended.stderr.contains('\u{1b}'), "{field}: {ended:?}");
        }
    }
}

#[test]
fn text_of_agents_does_nothing_to_the_terminal() {
    let nats = NatsServer::start();
    let mut hello = hello("false");
    hello["allow"] = json!([HOSTILE]);
    let mut end = end();
    let finding = json!({"what": "steal", "ok": false, "value": 1.0, "limit": 0.5, "note": HOSTILE, "advice": HOSTILE});
    end["end"]["own"]["findings"] = json!([finding]);
    end["end"]["own"]["verdict"] = HOSTILE.into();
    end["end"]["own"]["error"] = HOSTILE.into();
    end["end"]["facts"]["tls"] =
        json!({"version": HOSTILE, "cipher": HOSTILE, "group": HOSTILE, "key": HOSTILE, "full": 1, "resumed": 0});
    let mut messages = intervals();
    messages[1]["interval"]["sample"]["failures"] =
        json!({"kinds": {"read": 1}, "causes": [[{"kind": "read", "side": "server", "what": HOSTILE}, 1]]});
    false_agent(&nats, "false", hello, [messages, vec![end]].concat());
    let listed = torr(&["fleet", "list", "--nats", &nats.url(), "--wait", "2s"]);
    assert!(listed.stdout.contains("PWNED") && !listed.stdout.contains('\u{1b}'), "{listed:?}");
    let ended = run_over_one(&nats, &[]);
    // The error, version and cipher, and the cause. A finding has no words of the agent.
    assert!(ended.stdout.matches("\\u{1b}[2J").count() >= 4, "{ended:?}");
    for text in [&ended.stdout, &ended.stderr] {
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{ended:?}");
    }
}

#[test]
fn a_refusal_does_nothing_to_the_terminal() {
    let nats = NatsServer::start();
    let mut client = NatsClient::connect(&nats.address());
    client.subscribe("torr.default.>");
    std::thread::spawn(move || {
        while let Some(message) = client.receive() {
            let Some(reply) = message.reply else { continue };
            let response = match message.message.as_str() {
                Some("call") => json!({"hello": hello("false")}),
                _ => json!({"refused": {"refusal": "plan", "why": HOSTILE}}),
            };
            client.publish(&reply, &response);
        }
    });
    let ended = run_over_one(&nats, &[]);
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{ended:?}");
    assert!(ended.stderr.contains("PWNED") && !ended.stderr.contains(['\u{1b}', '\u{7}']), "{ended:?}");
}

#[test]
fn a_run_whose_agent_is_slow_to_respond_can_be_interrupted() {
    let nats = NatsServer::start();
    let mut client = NatsClient::connect(&nats.address());
    client.subscribe("torr.default.>");
    let (sender, requested) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        while let Some(message) = client.receive() {
            match (message.reply, message.message.as_str()) {
                (Some(reply), Some("call")) => client.publish(&reply, &json!({"hello": hello("false")})),
                // A coordinator waits for the time for 5 s.
                (Some(_), _) => drop(sender.send(Instant::now())),
                _ => {}
            }
        }
    });
    let load = ["--agents", "1", "--", "http://127.0.0.1:9/", "-d", "2s"];
    let run = Running::start(nats.run_of_fleet(&load));
    let at = requested.recv_timeout(torr_test_support::PATIENCE).expect("the run compares clocks");
    run.signal("INT");
    let ended = run.wait();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(at.elapsed().as_secs() < 5, "it did not wait for the response");
}

/// A plan of a load on a target, for the agent alone.
fn plan(run: &str, target: &str) -> Value {
    let settings = json!([["target", target], ["connections", "5"], ["duration", "1s"], ["rate", "100"]]);
    let load = json!({"schema": "torr.load/1", "settings": settings});
    json!({"plan": {"run": run, "load": {"load": load, "files": {}, "variables": {}, "secrets": []}, "part": 1.0,
        "connections": 5, "requests": null, "phase": 0.0, "users_before": 0, "if_lost": "finish"}})
}

/// Demands that an agent carries out a run.
fn is_there(nats: &NatsServer, target: &mut Target) {
    let (before, url) = (target.responses(), target.url());
    let ended = Running::start(nats.run_of_fleet(&["--agents", "1", "--", &url, "-n", "10", "-d", "20s"])).wait();
    assert_eq!((ended.code, target.responses() - before), (Some(0), 10), "{ended:?}");
}

#[test]
fn an_agent_refuses_plans_that_it_cannot_carry_out_and_is_there_for_the_next() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let agent = nats.agent("one", &[]);
    let mut client = NatsClient::connect(&nats.address());
    let url = target.url();
    let with = |path: &str, value: Value| {
        let mut plan = plan("r", &url);
        *plan.pointer_mut(path).expect("it has that") = value;
        plan
    };
    for hostile in [
        with("/plan/connections", json!(u64::MAX)),
        with("/plan/connections", json!(1_u64 << 40)),
        with("/plan/connections", json!(0)),
        with("/plan/requests", json!(u64::MAX)),
        with("/plan/users_before", json!(u64::MAX)),
        with("/plan/part", json!(1e-300)),
        with("/plan/part", json!(1e308)),
        with("/plan/phase", json!(-1e308)),
        with("/plan/run", json!(">")),
        with("/plan/run", json!(HOSTILE)),
        with("/plan/load/files", json!({"a": "0123"})),
        with("/plan/load/load/schema", json!("torr.load/0")),
        with("/plan/load/load/settings/0/1", json!(HOSTILE)),
        with("/plan/load/load/settings/1", json!(["connections", null])),
        with("/plan/load/load/settings/2", json!(["duration", "1e300"])),
        with("/plan/load/load/settings/3", json!(["rate", "1e308"])),
        with("/plan/load/load/settings/3", json!(["rate", 100])),
        with("/plan/load/load/settings/3", json!([HOSTILE, "100"])),
        with("/plan/load/load/settings/3", json!(["stages", HOSTILE])),
        with("/plan/load/load/settings/3", json!(["proxy", "127.0.0.1:1"])),
        with("/plan/load/load/settings/3", json!(["json", "/tmp/x"])),
        with("/plan/load/load", json!([["rate", "100"]])),
        json!({"file": {"digest": "0123", "part": 0, "last": true, "content": ""}}),
        json!({"file": {"digest": "ab".repeat(32), "part": u64::MAX, "last": true, "content": ""}}),
        json!({"go": {"run": "r", "at_ns": u64::MAX}}),
    ] {
        let response = client.request("torr.default.agent.one", &hostile);
        assert!(response.as_ref().is_some_and(|response| response["refused"].is_object()), "{hostile}: {response:?}");
    }
    assert!(agent.said().iter().all(|line| !line.contains('\u{1b}')), "{:?}", agent.said());
    is_there(&nats, &mut target);
}

#[test]
fn a_load_that_would_begin_never_is_refused_and_can_begin_in_time() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let agent = nats.agent("one", &[]);
    let mut client = NatsClient::connect(&nats.address());
    let subject = "torr.default.agent.one";
    let ready = client.request(subject, &plan("r", &target.url())).expect("it responds");
    assert_eq!(ready, json!({"ready": {"run": "r"}}));
    let now = client.request(subject, &json!("clock")).expect("it responds")["time"]["ns"].as_u64().expect("it is one");
    for at_ns in [u64::MAX, 1 << 62, now + 3600 * 1_000_000_000] {
        let response = client.request(subject, &json!({"go": {"run": "r", "at_ns": at_ns}})).expect("it responds");
        assert!(response["refused"].is_object(), "{at_ns}: {response}");
    }
    let response = client.request(subject, &json!({"go": {"run": "r", "at_ns": 0}})).expect("it responds");
    assert_eq!(response, json!({"ready": {"run": "r"}}));
    agent.says("run r: ended");
    assert!(target.responses() > 0);
    is_there(&nats, &mut target);
}

#[test]
fn credentials_are_not_enough_where_nats_lets_anyone_in() {
    let open = NatsServer::start();
    let anonymous = NatsServer::start_with(
        "authorization { users: [ { user: me, password: secret }, { user: other, password: x } ] }\nno_auth_user: other",
    );
    for nats in [&open, &anonymous] {
        let url = nats.url().replace("://", "://me:secret@");
        let agent = ["fleet", "agent", "--nats", &url, "--name", "one", "--ceiling", "1000"];
        for targets in [&[][..], &["--allow", "shop.test:443"]] {
            let refused = torr(&[&agent[..], targets].concat());
            assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{refused:?}");
            assert!(refused.stderr.contains("requires no credentials"), "{refused:?}");
            assert!(
                refused.stderr.contains("--i-trust-this-nats") && !refused.stderr.contains("secret"),
                "{refused:?}"
            );
        }
        let trusting = ["--allow", "shop.test:443", "--i-trust-this-nats"];
        let trusting = Supervised::spawn(torr_command(&[&agent[..], &trusting].concat()));
        trusting.says("is ready");
    }
}

#[test]
fn an_agent_takes_no_plan_from_a_server_that_has_come_to_let_anyone_in() {
    let mut nats = NatsServer::start_with("authorization { user: me, password: secret }");
    let url = nats.url().replace("://", "://me:secret@");
    let agent = ["fleet", "agent", "--nats", &url, "--name", "one", "--ceiling", "1000"];
    let agent = Supervised::spawn(torr_command(&agent));
    agent.says("is ready");
    nats.kill();
    nats.start_again_with("");
    let mut target = Target::start();
    let target_url = target.url();
    let run = ["--agents", "1", "--", &target_url, "-n", "10", "-d", "20s"];
    let refused = Running::start(nats.run_of_fleet(&run)).wait();
    assert_eq!((refused.code, target.responses()), (Some(2), 0), "{refused:?}");
    assert!(
        refused.stderr.contains("agent one rejected the run: NATS at")
            && refused.stderr.contains("requires no credentials"),
        "{refused:?}"
    );
}
