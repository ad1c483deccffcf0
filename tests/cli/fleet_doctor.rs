//! `torr doctor` by the agents of a fleet.

use crate::fleet::Target;
use serde_json::{Value, json};
use torr_test_support::nats::NatsServer;
use torr_test_support::program::{Running, torr, torr_command};
use torr_test_support::result::count;
use torr_test_support::wait_until;

#[test]
fn a_service_is_examined_by_the_agents_of_a_fleet() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let (url, server) = (target.url(), nats.url());
    let load = ["doctor", &url, "--fleet", "--nats", &server, "-c", "4", "--max-rate", "100", "--budget", "12s", "-q"];
    let ended = torr(&[&load[..], &["--json", "-", "-H", "X-From: a fleet"]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("load from 2 agents of fleet default: one, two"), "{ended:?}");
    let found: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert_eq!(found["verdict"]["factor"], "none", "{found:#}");
    assert!(found["verdict"]["summary"].as_str().is_some_and(|text| text.contains("--max-rate")), "{found:#}");
    assert_eq!((count(&found, "/setting/agents"), count(&found, "/setting/connections")), (2, 4), "{found:#}");
    // Each experiment is a run over the fleet; of two at the same time each has an agent.
    let trail = found["trail"].as_array().expect("it is a list");
    let agents_of = |run: &Value| run["run"]["fleet"]["agents"].as_array().map_or(0, Vec::len);
    for run in trail {
        let is_beside = run["id"].get("beside").is_some();
        let most = if is_beside { 1 } else { count(run, "/run/plan/connections").min(2) };
        assert_eq!(agents_of(run) as u64, most, "{run:#}");
    }
    let ids: Vec<_> = trail.iter().map(|run| &run["id"]).collect();
    assert!(ids.contains(&&json!("full")) && ids.contains(&&json!({"cheap": "absent-path"})), "{ids:?}");
    assert!(!ids.contains(&&json!({"cheap": "without-host"})), "no command line names it: {ids:?}");
    let counted: u64 = trail.iter().map(|run| count(run, "/run/requests")).sum();
    assert!((1..=target.responses()).contains(&counted), "{counted}: {found:#}");
    agents.iter().for_each(|agent| drop(agent.says_times(": ended", 2)));
    let verify = found["verdict"]["verify"].as_str().unwrap_or_else(|| panic!("{found:#}"));
    assert!(verify.starts_with("torr doctor ") && verify.contains("--fleet --agents 2"), "{verify}");
}

#[test]
fn a_lost_agent_ends_the_diagnosis_in_one_line() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let [_stays, lost] = [nats.agent("stays", &[]), nats.agent("lost", &[])];
    let (url, server) = (target.url(), nats.url());
    let load = ["doctor", &url, "--fleet", "--nats", &server, "-c", "4", "--max-rate", "100", "--budget", "60s", "-q"];
    let examined = Running::start(torr_command(&load));
    lost.says_times("of a load on", 1);
    lost.signal("KILL");
    let ended = examined.wait();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    let last = ended.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("torr: ") && last.contains("lost"), "{ended:?}");
    let before = target.responses();
    wait_until("the agent that stays to be free", || {
        let listed = torr(&["fleet", "list", "--nats", &server, "--wait", "200ms"]);
        listed.stdout.lines().any(|line| line.starts_with("stays") && line.ends_with('-')).then_some(())
    });
    assert!(target.responses() - before < 1000, "it goes on");
}

#[test]
fn what_no_fleet_can_examine_is_refused() {
    let nats = NatsServer::start();
    let _agent = nats.agent("one", &[]);
    let server = nats.url();
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let script = folder.path().join("a.lua").display().to_string();
    std::fs::write(&script, "target = 'http://127.0.0.1:1/'").expect("a file can be written");
    let url = "http://127.0.0.1:1/";
    for (words, code, hint) in [
        (&[url, "--paths", "/a,/b"][..], 2, "--fleet is not supported in a comparison"),
        (&[url, "--bind", "127.0.0.2"], 2, "--bind is not supported in a fleet"),
        (&[url, "--agents", "2"], 1, "1 of 2 agents of fleet default responded"),
        (&[&script], 2, "scripts are not permitted"),
        (&[url], 3, "agent one rejected the run: it cannot connect to 127.0.0.1:1"),
    ] {
        let refused = torr(&[&["doctor", "--fleet", "--nats", &server, "-q"], words].concat());
        assert_eq!(refused.code, Some(code), "{words:?}: {refused:?}");
        assert!(refused.stderr.lines().last().is_some_and(|line| line.contains(hint)), "{words:?}: {refused:?}");
    }
    let without = torr(&["doctor", url, "--nats", &server]);
    assert_eq!(without.code, Some(2), "{without:?}");
    assert!(without.stderr.contains("needs --fleet"), "{without:?}");
}
