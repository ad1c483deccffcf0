//! Lua scripts by the agents of a fleet.

use crate::fleet::{Target, result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use torr_test_support::nats::NatsServer;
use torr_test_support::program::{Running, torr};
use torr_test_support::result::{adds_up, count};
use torr_test_support::servers::Serve;

/// Writes a script, and returns its path.
fn script(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("a file can be written");
    path.display().to_string()
}

#[test]
fn a_script_of_wrk_and_its_modules_travel_and_done_hears_of_all_agents() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let _agents = [nats.agent("one", &["--scripts"]), nats.agent("two", &["--scripts"])];
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    script(folder.path(), "paths.lua", "return { '/json', '/bytes/10' }");
    let text = "local paths, n = require('paths'), 0
                function init(args) path = args[1] end
                function request() n = n + 1; return wrk.format('GET', paths[n % 2 + 1] .. '?from=' .. path) end
                function done(summary) print('all in all ' .. summary.requests) end";
    let path = script(folder.path(), "post.lua", text);
    let url = target.url();
    let load = ["--agents", "2", "--", &url, "--script", &path, "-c", "4", "-n", "200", "-d", "20s", "--json", "-"];
    let run = nats.run_of_fleet(&[&load[..], &["--", "argument"]].concat());
    // Agents have only what was sent, once the coordinator has read it.
    let ended = Running::start(run).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result = result(&ended);
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), target.responses()), (200, 200), "{result:#}");
    assert!(ended.stderr.contains("all in all 200"), "{ended:?}");
    let half = count(&result, "/bytes/body");
    assert!(half > 200 * 10, "{result:#}");
}

#[test]
fn sessions_of_a_script_merge_by_name_and_have_users_of_their_own() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let log = folder.path().join("access.log").display().to_string();
    let (nats, mut serve) = (NatsServer::start(), Serve::start(&["--access-log", &log]));
    let _agents = [nats.agent("one", &["--scripts"]), nats.agent("two", &["--scripts"])];
    let text = format!(
        "target = '{}'
         function session(user)
             -- Each agent meets these in an order of its own.
             local order = user.number % 2 == 1 and {{ 'json', 'bytes/10' }} or {{ 'bytes/10', 'json' }}
             for _, path in ipairs(order) do
                 local seen = http.get('/' .. path .. '?user=' .. user.number .. user.vars.tail, {{ name = path }})
                 if path == 'json' then user.check('never true', seen.status == 1) end
                 user.check('it is there', seen.status == 200)
             end
         end",
        serve.url("/")
    );
    let path = script(folder.path(), "shop.lua", &text);
    let load = ["--agents", "2", "--", &path, "-c", "4", "-t", "1", "-n", "40", "-d", "20s", "--json", "-"];
    let ended = Running::start(nats.run_of_fleet(&[&load[..], &["--secret", "tail=x"]].concat())).wait();
    // A check fails on purpose.
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let result = result(&ended);
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), count(&result, "/sessions/finished")), (80, 40), "{result:#}");
    let entries = result["entries"].as_array().expect("it is a list");
    let of = |name: &str| entries.iter().find(|entry| entry["name"] == name).unwrap_or_else(|| panic!("{result:#}"));
    let failed = |entry: &Value, check: &str| {
        let asserts = entry["asserts"].as_array().into_iter().flatten();
        let of_check = asserts.filter(|assert| assert["assert"] == check);
        of_check.filter_map(|assert| assert["failed"].as_u64()).sum::<u64>()
    };
    assert_eq!((entries.len(), count(of("json"), "/requests"), count(of("bytes/10"), "/requests")), (2, 40, 40));
    assert_eq!((failed(of("json"), "never true"), failed(of("json"), "it is there")), (40, 0), "{result:#}");
    // The log is whole once the server has ended.
    serve.terminate();
    assert_eq!(serve.wait(), Some(0));
    let text = fs::read_to_string(&log).expect("the server writes it");
    let users = text.split("?user=").skip(1).filter_map(|rest| rest.split('x').next());
    assert_eq!(users.collect::<BTreeSet<_>>(), BTreeSet::from(["1", "2", "3", "4"]), "{text}");
}

#[test]
fn an_agent_carries_out_scripts_only_where_its_user_allows_it() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let _agent = nats.agent("one", &[]);
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let path = script(folder.path(), "a.lua", "wrk.method = 'GET'");
    let url = target.url();
    let ended = Running::start(nats.run_of_fleet(&["--agents", "1", "--", &url, "--script", &path, "-d", "1s"])).wait();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("agent one rejected the run: scripts are not permitted: add --scripts"), "{ended:?}");
    assert_eq!(target.responses(), 0);
}

#[test]
fn the_error_of_a_script_names_its_agent_and_its_line() {
    let (nats, target) = (NatsServer::start(), Target::start());
    let agent = nats.agent("one", &["--scripts"]);
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let text = "local n = 0\nfunction response() n = n + 1 if n > 50 then error('enough') end end";
    let path = script(folder.path(), "a.lua", text);
    let url = target.url();
    let load = ["--agents", "1", "--", &url, "--script", &path, "-c", "2", "-t", "1", "-d", "20s", "--max-rate", "200"];
    let ended = Running::start(nats.run_of_fleet(&load)).wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(said.contains("agent one failed: ") && said.contains("a.lua:2") && said.contains("enough"), "{ended:?}");
    agent.says(": ended");
    // A mistake that is there at once is found before anything is sent.
    let path = script(folder.path(), "b.lua", "wrk.method = nothing.at.all");
    let refused = Running::start(nats.run_of_fleet(&["--", &url, "--script", &path, "-d", "1s"])).wait();
    assert!(refused.code == Some(2) && refused.stderr.contains("b.lua:1"), "{refused:?}");
}

#[test]
fn the_limit_of_a_script_is_found_by_agents() {
    let (nats, target) = (NatsServer::start(), Target::start());
    let _agents = [nats.agent("one", &["--scripts"]), nats.agent("two", &["--scripts"])];
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let text = format!("target = '{}'\nwrk.path = '/json'", target.url());
    let path = script(folder.path(), "a.lua", &text);
    let server = nats.url();
    let search = ["limit", &path, "--fleet", "--nats", &server, "--budget", "9s", "--max-rate", "100", "-q"];
    let ended = torr(&[&search[..], &["--max-connections", "8", "--slo", "p99<2s", "--json", "-"]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let found: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert!(found["sustained"]["rate"].as_f64().is_some_and(|rate| (1.0..=100.0).contains(&rate)), "{found:#}");
}
