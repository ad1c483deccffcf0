//! `torr fleet` when a part of it is lost: a true report or a clear error, and nothing that goes on loading the target.

use crate::fleet::{Target, result};
use serde_json::Value;
use std::time::Duration;
use torr_test_support::nats::{NatsServer, deliver_twice};
use torr_test_support::program::Running;
use torr_test_support::result::{adds_up, count};
use torr_test_support::wait_until;

/// Waits until the target gets no more requests.
fn falls_silent(target: &mut Target) {
    wait_until("the target to get no more requests", || {
        let before = target.responses();
        // A schedule of 200 requests a second has some in any such time.
        std::thread::sleep(Duration::from_millis(400));
        (target.responses() == before).then_some(())
    });
}

#[test]
fn a_killed_agent_cuts_the_result_where_all_agents_were_there() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let [stays, killed] = [nats.agent("stays", &[]), nats.agent("killed", &[])];
    let url = target.url();
    let args = ["--agents", "2", "--", &url, "-r", "200", "-d", "6s", "--json", "-"];
    let run = Running::start(nats.run_of_fleet(&args));
    // Two whole seconds of 200 requests.
    wait_until("two seconds of load", || (target.responses() > 440).then_some(()));
    killed.signal("KILL");
    let ended = run.wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let result = result(&ended);
    adds_up(&result);
    let fleet = &result["fleet"];
    let at_s = fleet["cut"]["at_s"].as_f64().unwrap_or_else(|| panic!("{result:#}"));
    assert!((1.0..6.0).contains(&at_s) && result["duration_s"].as_f64() == Some(at_s), "{result:#}");
    assert_eq!(result["series"].as_array().map(Vec::len), Some(at_s as usize), "{result:#}");
    // What the cut left in flight is missing, and on a busy machine what the agents had not sent yet.
    let due = (200.0 * at_s) as u64;
    let lag_us = result["generator"]["send_lag_p99_us"].as_u64().unwrap_or_else(|| panic!("{result:#}"));
    let late = 200 * lag_us / 1_000_000;
    let least = (due - due / 10).saturating_sub(late);
    assert!((least..=due).contains(&count(&result, "/requests")), "{result:#}");
    assert!(count(fleet, "/cut/requests_after") > 0, "{result:#}");
    let states: Vec<_> = fleet["agents"].as_array().expect("a list").iter().map(|row| row["state"].as_str()).collect();
    assert_eq!(states, [Some("lost"), Some("ended")], "{result:#}");
    assert!(ended.stderr.contains("agent killed was lost"), "{ended:?}");
    assert_eq!(result["verdict"]["factor"], "unknown", "{result:#}");
    assert!(result["verdict"]["because"].to_string().contains("\"agent killed with 50% of the load"), "{result:#}");
    stays.says(": ended");
}

#[test]
fn of_agents_that_are_all_lost_nothing_is_known() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let url = target.url();
    let args = ["--agents", "2", "--", &url, "-r", "200", "-d", "20s", "--json", "-"];
    let run = Running::start(nats.run_of_fleet(&args));
    wait_until("two seconds of load", || (target.responses() > 440).then_some(()));
    agents.iter().for_each(|agent| agent.signal("KILL"));
    let ended = run.wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let result = result(&ended);
    adds_up(&result);
    // A share of 0 would say that the generator was idle.
    let generator = result["generator"].as_object().unwrap_or_else(|| panic!("{result:#}"));
    for unknown in ["cpu_us_per_request", "cpu_share", "busy_share", "queued_share"] {
        assert!(!generator.contains_key(unknown), "{unknown}: {generator:?}");
    }
    for unknown in ["/connections/peak", "/connections/sources", "/plan/threads"] {
        assert_eq!(result.pointer(unknown), Some(&Value::Null), "{unknown}: {result:#}");
    }
    let reasons: Vec<_> = (0..2).map(|at| &result["fleet"]["agents"][at]["fact"]["name"]).collect();
    assert_eq!(reasons, ["no-heartbeat"; 2], "{result:#}");
    let findings = result["validity"]["findings"].as_array().expect("it is a list");
    assert!(findings.iter().all(|finding| finding["what"] != "generator"), "{findings:?}");
    assert_eq!(result["verdict"]["factor"], "unknown", "{result:#}");
}

#[test]
fn an_agent_that_is_ended_on_its_machine_makes_the_run_fail() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let (_stays, ended) = (nats.agent("stays", &[]), nats.agent("ended", &[]));
    let url = target.url();
    let args = ["--agents", "2", "--", &url, "-r", "200", "-d", "6s", "--json", "-"];
    let run = Running::start(nats.run_of_fleet(&args));
    wait_until("two seconds of load", || (target.responses() > 440).then_some(()));
    ended.signal("TERM");
    let run = run.wait();
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("agent ended ended early: stopped on its machine"), "{run:?}");
    let result = result(&run);
    adds_up(&result);
    let states: Vec<_> =
        result["fleet"]["agents"].as_array().expect("a list").iter().map(|row| &row["state"]).collect();
    assert_eq!(states, ["stopped", "ended"], "{result:#}");
    assert_eq!(result["verdict"]["factor"], "unknown", "{result:#}");
    assert!(result["verdict"]["because"].to_string().contains("the rate was not kept"), "{result:#}");
}

#[test]
fn agents_stop_by_themselves_when_their_coordinator_is_killed() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let url = target.url();
    let run = Running::start(nats.run_of_fleet(&["--agents", "2", "--", &url, "-r", "200", "-d", "10m"]));
    target.is_loaded();
    run.signal("KILL");
    agents.iter().for_each(|agent| drop(agent.says("sends no more heartbeats")));
    falls_silent(&mut target);
    // And they are there for the next one.
    let again = ["--agents", "2", "--", &url, "-r", "200", "-n", "100", "-d", "20s"];
    let next = Running::start(nats.run_of_fleet(&again)).wait();
    assert_eq!(next.code, Some(0), "{next:?}");
}

#[test]
fn without_nats_all_comes_to_an_end_and_agents_return() {
    let (mut nats, mut target) = (NatsServer::start(), Target::start());
    let agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let url = target.url();
    let run =
        Running::start(nats.run_of_fleet(&["--agents", "2", "--", &url, "-r", "200", "-d", "10m", "--json", "-"]));
    wait_until("two seconds of load", || (target.responses() > 440).then_some(()));
    nats.kill();
    let ended = run.wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let result = result(&ended);
    adds_up(&result);
    assert!(result["fleet"]["cut"]["at_s"].as_f64().is_some_and(|at_s| at_s >= 1.0), "{result:#}");
    agents.iter().for_each(|agent| drop(agent.says("sends no more heartbeats")));
    falls_silent(&mut target);
    nats.start_again();
    let again = ["--agents", "2", "--", &url, "-r", "200", "-n", "100", "-d", "20s"];
    let next = Running::start(nats.run_of_fleet(&again)).wait();
    assert_eq!(next.code, Some(0), "{next:?}");
}

#[test]
fn a_restart_of_nats_within_the_heartbeats_costs_nothing() {
    let (mut nats, mut target) = (NatsServer::start(), Target::start());
    let _agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let url = target.url();
    let run = Running::start(nats.run_of_fleet(&["--agents", "2", "--", &url, "-r", "200", "-d", "6s", "--json", "-"]));
    wait_until("a second of load", || (target.responses() > 220).then_some(()));
    nats.kill();
    nats.start_again();
    let ended = run.wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result = result(&ended);
    adds_up(&result);
    assert!((1100..=1200).contains(&count(&result, "/asked")), "{result:#}");
}

#[test]
fn agents_can_finish_a_plan_alone() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let agent = nats.agent("one", &[]);
    let url = target.url();
    let args = ["--agents", "1", "--if-lost", "finish", "--", &url, "-r", "100", "-d", "6s"];
    let run = Running::start(nats.run_of_fleet(&args));
    target.is_loaded();
    run.signal("KILL");
    agent.says(": ended");
    assert!((440..=600).contains(&target.responses()), "{}", target.responses());
    falls_silent(&mut target);
}

#[test]
fn messages_that_come_twice_change_nothing() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    deliver_twice(&nats.address());
    let url = target.url();
    let load = ["--agents", "2", "--", &url, "-r", "300", "-d", "4s", "--json", "-"];
    let ended = Running::start(nats.run_of_fleet(&load)).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result = result(&ended);
    adds_up(&result);
    assert!((1100..=1200).contains(&count(&result, "/asked")), "{result:#}");
    let (responses, unfinished) = (count(&result, "/requests"), count(&result, "/unfinished"));
    assert!((responses..=responses + unfinished).contains(&target.responses()), "{result:#}");
    for agent in &agents {
        let begun = agent.said().iter().filter(|line| line.contains("of a load on")).count();
        assert!(begun >= 1, "{:?}", agent.said());
        assert_eq!(agent.says_times(": ended", 1).len(), 1, "{:?}", agent.said());
    }
}
