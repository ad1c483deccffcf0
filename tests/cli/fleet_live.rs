//! `--live` and `--dashboard` of a run over a fleet: it is watched, marked and ended, but not changed.

use crate::fleet::Target;
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use torr_test_support::full_screen::FullScreen;
use torr_test_support::nats::NatsServer;
use torr_test_support::program::run;
use torr_test_support::result::{adds_up, count};
use torr_test_support::supervised::Supervised;
use torr_test_support::wait_until;

/// Longer than any test takes: each ends its run itself.
const LOAD: &str = "-r 50 -c 4 -t 1 -d 120s";

fn done(result: &Value) -> Vec<&str> {
    result["steering"].as_array().into_iter().flatten().filter_map(|event| event["what"].as_str()).collect()
}

/// Asserts that its operator ended the run, whose agents are all there.
fn is_ended(result: &Value) {
    adds_up(result);
    assert_eq!((done(result), &result["interrupted"]), (vec!["mark", "end"], &false.into()), "{result:#}");
    assert_eq!(result["fleet"]["agents"].as_array().map(Vec::len), Some(2), "{result:#}");
    assert!(count(result, "/requests") > 0 && result["fleet"]["cut"].is_null(), "{result:#}");
}

#[test]
fn a_run_over_a_fleet_has_its_screen() {
    let (nats, target) = (NatsServer::start(), Target::start());
    let agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let json = folder.path().join("run.json");
    let (nats_url, url, path) = (nats.url(), target.url(), json.display());
    let line = format!("fleet run --nats {nats_url} --agents 2 -- {url} {LOAD} --live --json {path}");
    let mut screen = FullScreen::torr((100, 40), "", &line);
    let shown = screen.wait_for("RUNNING");
    assert!(shown.contains("open loop, 50.0 requests/s") && shown.contains("over a fleet"), "{shown}");
    assert!(shown.contains("of fleet default: one, two"), "it is in the log: {shown}");
    assert!(!shown.contains("pause"), "what no key can do is not offered: {shown}");
    screen.press("p+m");
    screen.wait_for("mark 1");
    screen.press("q");
    let ended = screen.end();
    assert_eq!((ended.code, ended.is_restored), (Some(0), true), "{}", ended.text);
    let text = fs::read_to_string(&json).expect("the result was written");
    is_ended(&serde_json::from_str(&text).expect("the result is JSON"));
    agents.iter().for_each(|agent| drop(agent.says(": ended")));
}

#[test]
fn a_run_over_a_fleet_has_its_dashboard() {
    let (nats, target) = (NatsServer::start(), Target::start());
    let mut one = nats.agent("one", &[]);
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let json = folder.path().join("run.json");
    let (url, path) = (target.url(), json.display().to_string());
    let load: Vec<_> = LOAD.split(' ').collect();
    let words = [&["--agents", "2", "--", &url], &load[..], &["--dashboard", "--json", &path]].concat();
    let mut command = nats.run_of_fleet(&words);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut watched = Supervised::spawn(command);
    let page = watched.says("dashboard: ").split_once("dashboard: ").expect("it was waited for").1.to_owned();
    let curl = |words: &[&str]| run("curl", &[&["-sN", "--max-time", "1"], words].concat()).stdout;
    let events = format!("{page}events");
    assert!(curl(&[&events]).contains("STARTING"), "it waits for the second agent");
    let two = nats.agent("two", &[]);
    wait_until("the report", || curl(&[&events]).contains("event: report\n").then_some(()));
    let in_log = "<li class=\"warn\">";
    let report = curl(&[&events]);
    let (_, agents) = report.split_once("<h2>Agents</h2>").unwrap_or_else(|| panic!("no agents in {report}"));
    let (agents, _) = agents.split_once("</table>").expect("they have a table");
    for agent in ["one", "two"] {
        assert!(agents.contains(&format!("<td class=\"words\">{agent}</td>")), "{agents}");
    }
    assert!(!report.contains("was lost") && !report.contains(in_log), "{report}");
    let shown = curl(&[&page]);
    assert!(shown.contains("data-wish=\"mark\"") && !shown.contains("data-wish=\"pause\""), "{shown}");
    for wish in ["pause", "raise", "mark"] {
        curl(&["-X", "POST", "-H", "torr-steering: 1", &format!("{page}steer/{wish}")]);
    }
    one.signal("KILL");
    one.wait();
    let has_loss = |shown: &str| shown.split(in_log).skip(1).any(|entry| entry.contains("agent one was lost"));
    wait_until("the loss in the log", || has_loss(&curl(&[&events])).then_some(()));
    curl(&["-X", "POST", "-H", "torr-steering: 1", &format!("{page}steer/end")]);
    assert_eq!(watched.wait().code(), Some(1), "the result is cut");
    let text = fs::read_to_string(&json).expect("the result was written");
    let result: Value = serde_json::from_str(&text).expect("the result is JSON");
    assert_eq!(done(&result), ["mark", "end"], "{result:#}");
    assert!(result["fleet"]["cut"].is_object(), "{result:#}");
    two.says(": ended");
}
