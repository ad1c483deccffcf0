//! The command line that a result keeps: it makes the same again, as it stands.

use crate::compare::archive;
use serde_json::Value;
use std::fs;
use torr_test_support::nats::NatsServer;
use torr_test_support::program::{Ended, Running, torr, torr_shell};
use torr_test_support::script::{Client, OK, Script, answering};

/// Runs a command line in a shell, as a user who has set some variables would, and returns its result as well.
fn again(command: &str, variables: &[(&str, &str)]) -> (Ended, Value) {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let json = folder.path().join("again.json");
    // Outputs are no part of what is repeated, and stand before the load of a fleet.
    let line = match command.split_once(" -- ") {
        Some((fleet, load)) => format!("{fleet} -- {load} --json {} -q", json.display()),
        None => format!("{command} --json {} -q", json.display()),
    };
    let mut shell = torr_shell(&line);
    shell.envs(variables.iter().copied());
    let ended = Running::start(shell).wait();
    let text = fs::read_to_string(&json).unwrap_or_else(|error| panic!("{line}: {error}: {ended:?}"));
    let result = serde_json::from_str(&text).expect("it is JSON");
    (ended, result)
}

/// Runs Torr with its result on standard output, and returns the command line that the result keeps.
fn kept(args: &[&str], code: i32) -> (Value, String) {
    let ended = torr(&[args, &["-q", "--json", "-"]].concat());
    assert_eq!(ended.code, Some(code), "{args:?}: {ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let command = result["command"].as_str().unwrap_or_else(|| panic!("no command: {result:#}")).to_owned();
    (result, command)
}

/// A server that accepts only what the tests send.
fn wanting() -> Script {
    Script::start(|client: &mut Client| {
        while let Some(request) = client.request() {
            let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
            let is_wanted = text.starts_with("put /a?x=1 ") && text.contains("authorization: basic dtpwdw==");
            client.send(if is_wanted { OK } else { b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" });
        }
    })
}

#[test]
fn a_run_keeps_its_request_its_thresholds_and_no_secret() {
    let server = wanting();
    let url = format!("{}a?x=1", server.url());
    let args =
        [&url, "-n", "40", "-c", "2", "-t", "1", "-X", "PUT", "-u", "u:pw", "--data", "a b", "--fail-if", "rps>0"];
    let (result, command) = kept(&args, 1);
    assert_eq!(result["errors"]["status"], 0, "{result:#}");
    assert!(
        !command.contains("pw") && !command.contains("--json") && command.contains("--fail-if 'rps>0'"),
        "{command}"
    );
    let (ended, second) = again(&command, &[("TORR_USER", "u:pw")]);
    assert_eq!(ended.code, Some(1), "its threshold fails again: {ended:?}");
    assert_eq!((&second["requests"], &second["errors"]["status"]), (&40.into(), &0.into()), "{second:#}");
    assert_eq!(second["command"], command.as_str(), "the command keeps itself");
    assert_eq!(second["plan"], result["plan"]);
    // The page has it too.
    let page = torr(&[&args[..], &["-q", "--report", "-"]].concat()).stdout;
    assert!(page.contains("How to repeat it") && page.contains("$TORR_USER") && page.contains("rps&gt;0"), "{page}");
}

#[test]
fn a_session_keeps_its_files_and_variables() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("shop it.hurl"), "GET {{host}}\nHTTP 200\n").expect("a file can be written");
    let host = format!("host={}", server.url());
    let (first, command) = kept(&[&path("shop it.hurl"), "-n", "10", "-c", "2", "--variable", &host], 0);
    let (ended, second) = again(&command, &[]);
    assert_eq!((ended.code, &second["sessions"]["passed"]), (Some(0), &first["sessions"]["passed"]), "{ended:?}");
}

#[test]
fn a_comparison_of_groups_of_results_keeps_their_files_and_its_rules() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let files = archive(folder.path(), &[1.0, 1.0, 2.0, 2.0]);
    let sides = ["compare", "--a", &files[0], &files[1], "--b", &files[2], &files[3]];
    let (first, command) = kept(&[&sides[..], &["--fail-if", "throughput>+50%"]].concat(), 4);
    let (ended, second) = again(&command, &[]);
    assert_eq!(ended.code, Some(4), "{command}: {ended:?}");
    for part in ["a", "b", "findings", "rules", "command"] {
        assert_eq!(second[part], first[part], "{part}: {command}");
    }
}

#[test]
fn a_search_for_a_limit_keeps_its_budget_and_its_bounds() {
    let server = Script::start(answering(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"));
    let args =
        ["limit", &server.url(), "--budget", "7s", "--slo", "p99<3s,errors<1%", "--max-connections", "9", "-t", "1"];
    let (first, command) = kept(&args, 1);
    let (ended, second) = again(&command, &[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for setting in ["budget_s", "slo", "max_connections", "answer"] {
        assert_eq!(second[setting], first[setting], "{setting}: {command}");
    }
}

#[test]
fn a_diagnosis_keeps_its_budget_and_verifies_with_another_command() {
    let server = Script::start(answering(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"));
    let (first, command) = kept(&["doctor", &server.url(), "-c", "2", "-t", "1", "--budget", "5s"], 0);
    assert!(command.contains("--budget 5s") && command.contains("-c 2"), "{command}");
    let (ended, second) = again(&command, &[]);
    assert_eq!((ended.code, &second["budget_s"]), (Some(0), &first["budget_s"]), "{ended:?}");
    for diagnosis in [&first, &second] {
        let factor = diagnosis["verdict"]["factor"].as_str();
        // On a machine whose CPUs have other work the budget may be used up before the user's load was tried.
        let is_used_up = diagnosis["seconds"].as_f64() > Some(4.0);
        assert!(factor == Some("errors") || factor == Some("unknown") && is_used_up, "{command}: {diagnosis:#}");
    }
    let verify = first["verdict"]["verify"].as_str();
    assert!(verify.is_none_or(|verify| verify != command && verify.starts_with("torr ")), "{verify:?}");
    if let Some(verify) = verify.filter(|verify| !verify.contains(" -d ") && verify.contains("-n 1")) {
        let (ended, _) = again(verify, &[]);
        assert!(matches!(ended.code, Some(0 | 1)), "{verify}: {ended:?}");
    }
}

#[test]
fn a_run_over_a_fleet_keeps_the_fleet() {
    let (nats, server) = (NatsServer::start(), Script::start(answering(OK)));
    let _agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let url = nats.url();
    let nats_flags = ["fleet", "run", "--nats", &url, "--agents", "2", "--"];
    let target = server.url();
    let load = [&target, "-r", "100", "-n", "50", "-d", "20s", "-c", "4", "-H", "Authorization: Bearer quite-secret"];
    let (first, command) = kept(&[&nats_flags[..], &load[..]].concat(), 0);
    assert!(command.starts_with("torr fleet run --agents 2 -- "), "{command}");
    assert!(!command.contains("quite-secret") && !command.contains(&url), "{command}");
    let (ended, second) = again(&command, &[("TORR_NATS", &url), ("TORR_AUTHORIZATION", "Bearer quite-secret")]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(second["fleet"]["agents"].as_array().map(Vec::len), first["fleet"]["agents"].as_array().map(Vec::len));
    assert_eq!(second["command"], command.as_str(), "{second:#}");
}
