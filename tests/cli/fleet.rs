//! `torr fleet` with a real NATS server, and agents as processes: runs that come to their end.

use serde_json::Value;
use std::fs;
use std::io::Write;
use torr_test_support::metrics::Metrics;
use torr_test_support::nats::NatsServer;
use torr_test_support::program::{Ended, Running, torr, torr_command, torr_path};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::Serve;
use torr_test_support::supervised::Supervised;
use torr_test_support::{certificates, wait_until};

/// A server that counts what it responds to.
pub struct Target {
    serve: Serve,
    reads: f64,
}

impl Target {
    pub fn start() -> Self {
        Self { serve: Serve::start(&[]), reads: 0.0 }
    }

    pub fn url(&self) -> String {
        self.serve.url("/")
    }

    /// The number of responses so far, those to this question excluded.
    pub fn responses(&mut self) -> u64 {
        let metrics = Metrics::parse(self.serve.client().get("/metrics").text());
        let all = metrics.sum("torr_http_requests_total") - self.reads;
        self.reads += 1.0;
        all as u64
    }

    /// Waits until it gets requests.
    pub fn is_loaded(&mut self) {
        wait_until("the target to be loaded", || (self.responses() > 0).then_some(()));
    }
}

/// The result that a run wrote to standard output.
pub fn result(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Ends an agent that has ended a run, and looks for a secret in all that it said.
pub fn ends_without_a_word_of(mut agent: Supervised, secret: &str) {
    agent.says_times("ended", 1);
    agent.signal("TERM");
    assert_eq!(agent.wait().code(), Some(0), "{:?}", agent.said());
    assert!(agent.said().iter().all(|line| !line.contains(secret)), "{:?}", agent.said());
}

#[test]
fn two_agents_keep_a_rate_and_the_target_counts_as_many_requests() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let agents = [nats.agent("one", &[]), nats.agent_with_ceiling("two", "3000", &[])];
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let csv = folder.path().join("series.csv").display().to_string();
    let secret = "Authorization: Bearer quite-secret";
    let url = target.url();
    let args = ["--agents", "2", "--", &url, "-r", "400", "-d", "3s", "-c", "9", "-H", secret];
    let outputs = ["--csv", &csv, "--json", "-", "--fail-if", "errors>0.1%"];
    let ended = Running::start(nats.run_of_fleet(&[&args[..], &outputs].concat())).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result = result(&ended);
    adds_up(&result);
    // Each request of the schedule is sent by one agent; those due at the very end may find a busy machine.
    assert!((1100..=1200).contains(&count(&result, "/asked")), "{result:#}");
    let unfinished = count(&result, "/unfinished");
    let responses = count(&result, "/requests");
    assert!((responses..=responses + unfinished).contains(&target.responses()), "{result:#}");
    let rows: Vec<_> = result["fleet"]["agents"].as_array().expect("it is a list").iter().collect();
    let names = rows.iter().map(|row| (row["name"].as_str(), row["share"].as_f64(), count(row, "/connections")));
    let names: Vec<_> = names.collect();
    assert_eq!(names, [(Some("one"), Some(0.25), 3), (Some("two"), Some(0.75), 6)], "{result:#}");
    let of_agents: u64 = rows.iter().map(|row| count(row, "/requests")).sum();
    assert_eq!(of_agents, responses, "{result:#}");
    assert!(rows.iter().all(|row| row["state"] == "ended" && row["began_us"].is_i64()), "{result:#}");
    assert_eq!(fs::read_to_string(&csv).expect("it was written").lines().count(), 4, "a head and three seconds");
    for agent in agents {
        ends_without_a_word_of(agent, "quite-secret");
    }
}

#[test]
fn a_number_of_requests_is_shared_and_thresholds_decide_the_exit_code() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let _agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let url = target.url();
    let args = ["--", &url, "-n", "1001", "-d", "20s", "-c", "2", "--max-rate", "2000", "--fail-if", "rps>1"];
    let ended = Running::start(nats.run_of_fleet(&args)).wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("1,001 responses") && ended.stdout.contains("p99 send lag"), "{ended:?}");
    assert_eq!(target.responses(), 1001);
    // Both are free for another run at once.
    let again = Running::start(nats.run_of_fleet(&["--agents", "2", "--", &url, "-n", "10", "-d", "5s", "-q"])).wait();
    assert_eq!((again.code, target.responses()), (Some(0), 1011), "{again:?}");
}

#[test]
fn an_agent_measures_its_own_ceiling() {
    let nats = NatsServer::start();
    let url = nats.url();
    let command = torr_command(&["fleet", "agent", "--nats", &url, "--name", "own"]);
    let agent = Supervised::spawn(command);
    agent.says("agent own of fleet default is ready; it may load loopback");
    let listed = torr(&["fleet", "list", "--nats", &url, "--wait", "3s"]);
    let line = listed.stdout.lines().nth(1).unwrap_or_else(|| panic!("{listed:?}"));
    let words: Vec<_> = line.split_whitespace().collect();
    assert_eq!((words[0], words[4], words[5]), ("own", "loopback", "-"), "{listed:?}");
    let ceiling: f64 = words[3].replace(',', "").parse().expect("it is a number");
    assert!(ceiling > 100.0, "{listed:?}");
    let other = torr(&["fleet", "list", "--nats", &url, "--fleet", "another", "--wait", "300ms"]);
    assert!(other.stdout.is_empty() && other.stderr.contains("no agent of fleet another"), "{other:?}");
}

#[test]
fn an_interrupted_run_has_a_report_and_leaves_the_agents_free() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let url = target.url();
    for by_command in [false, true] {
        let args = ["--agents", "2", "--", &url, "-r", "100", "-d", "60s", "--json", "-"];
        let before = target.responses();
        let run = Running::start(nats.run_of_fleet(&args));
        wait_until("the target to be loaded", || (target.responses() > before).then_some(()));
        match by_command {
            true => assert_eq!(torr(&["fleet", "stop", "--nats", &nats.url()]).code, Some(0)),
            false => run.signal("INT"),
        }
        let ended = run.wait();
        assert_eq!(ended.code, Some(130), "{ended:?}");
        let result = result(&ended);
        adds_up(&result);
        assert_eq!(result["interrupted"], true);
        agents.iter().for_each(|agent| drop(agent.says_times(": ended", 1 + usize::from(by_command))));
    }
}

#[test]
fn credentials_and_tls_lead_to_nats() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (certificate, key) = certificates::self_signed(folder.path());
    let nats = NatsServer::start_with(&format!(
        "authorization {{ user: me, password: \"se/cret\" }}\ntls {{ cert_file: {:?}, key_file: {:?} }}\n",
        certificate, key
    ));
    let ca = certificate.to_str().expect("the path is text");
    let list = |url: &str, ca: &[&str]| torr(&[&["fleet", "list", "--wait", "300ms", "--nats", url], ca].concat());
    let address = nats.address();
    let known = list(&format!("tls://me:se%2Fcret@{address}"), &["--nats-ca", ca]);
    assert_eq!(known.code, Some(0), "{known:?}");
    for (url, ca) in [
        (format!("tls://me:wrong@{address}"), &["--nats-ca", ca][..]),
        (format!("tls://{address}"), &["--nats-ca", ca]),
        (format!("tls://me:se%2Fcret@{address}"), &[]),
    ] {
        let refused = list(&url, ca);
        assert_eq!(refused.code, Some(1), "{url}: {refused:?}");
        assert!(refused.stderr.contains(&format!("NATS at {address}")), "{refused:?}");
        assert!(!refused.stderr.contains("cret") && refused.stderr.lines().count() <= 2, "{refused:?}");
    }
}

#[test]
fn an_nkey_leads_to_nats() {
    // Made for this test.
    let seed = "SUAAVJIHB62FSHYM3YT2RQ7MHAKJP2G67JUSKYCA2CT4BLGCMAO7AG7VOY";
    let public = "UCIGUN2M7COE4GOPMQ5RQGB4EOQZMUPNXRYAMHO4XWP6Q6ZBSA6CXEYD";
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = folder.path().join("seed");
    fs::write(&file, format!("{seed}\n")).expect("a file can be written");
    let nats = NatsServer::start_with(&format!("authorization {{ users: [ {{ nkey: {public} }} ] }}"));
    let url = nats.url();
    let list = ["fleet", "list", "--wait", "300ms", "--nats", &url];
    assert_eq!(torr(&list).code, Some(1));
    let known = torr(&[&list[..], &["--nkey", file.to_str().expect("the path is text")]].concat());
    assert_eq!(known.code, Some(0), "{known:?}");
    let wrong = torr(&[&list[..], &["--nkey", "/no/such/file"]].concat());
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("cannot read credentials from '/no/such/file'"), "{wrong:?}");
}

#[test]
fn the_text_of_a_file_travels_as_a_body() {
    let script = Script::start(answering(OK));
    let nats = NatsServer::start();
    let _agent = nats.agent("one", &[]);
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = folder.path().join("body.json");
    fs::write(&file, "{\"from\": \"a file\"}").expect("a file can be written");
    let (url, body) = (format!("http://{}/", script.address), format!("@{}", file.display()));
    let args = ["--agents", "1", "--", &url, "-n", "3", "-d", "20s", "-c", "1", "--json-body", &body, "-q"];
    let ended = Running::start(nats.run_of_fleet(&args)).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let first = script.seen.first.lock().expect("no thread panics here").clone();
    let first = String::from_utf8_lossy(&first).into_owned();
    assert!(first.starts_with("POST / ") && first.ends_with("{\"from\": \"a file\"}"), "{first}");
}

#[test]
fn the_unit_of_an_agent_is_sound_and_its_command_runs() {
    let unit = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/systemd/torr-fleet-agent.service");
    let unit = fs::read_to_string(unit).expect("it is in the repository");
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = folder.path().join("torr-fleet-agent.service");
    fs::write(&file, unit.replace("/usr/bin/torr", torr_path())).expect("a file can be written");
    let path = file.to_str().expect("the path is text");
    match std::process::Command::new("systemd-analyze").args(["verify", "--man=no", path]).output() {
        Ok(verified) => {
            // It may have remarks on other units.
            let is_named = String::from_utf8_lossy(&verified.stderr).contains("torr-fleet-agent");
            assert!(verified.status.success() && !is_named, "{verified:?}");
        }
        Err(_) => writeln!(std::io::stderr(), "NOT VERIFIED: there is no systemd-analyze").expect("it is open"),
    }
    let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/torr ")).expect("it has one");
    let nats = NatsServer::start();
    let words: Vec<_> = command.split(' ').filter(|word| *word != "$AGENT_FLAGS").collect();
    let mut command = torr_command(&[&words[..], &["--ceiling=100"]].concat());
    command.env("TORR_NATS", nats.url());
    let mut agent = Supervised::spawn(command);
    agent.says("of fleet default is ready");
    agent.signal("TERM");
    assert_eq!(agent.wait().code(), Some(0), "{:?}", agent.said());
}

#[test]
fn the_limit_is_found_by_the_agents_of_a_fleet() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let (url, server) = (target.url(), nats.url());
    let search = ["limit", &url, "--fleet", "--agents", "2", "--nats", &server, "--budget", "12s", "--json", "-"];
    let load = ["--max-rate", "200", "--max-connections", "8", "--slo", "p99<2s", "-H", "X-From: a fleet"];
    let ended = torr(&[&search[..], &load].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let found: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert!(found["sustained"]["rate"].as_f64().is_some_and(|rate| (1.0..=200.0).contains(&rate)), "{found:#}");
    assert!(ended.stderr.contains("load from 2 agents of fleet default"), "{ended:?}");
    let steps = found["steps"].as_array().expect("there are steps").len();
    let answered = target.responses();
    assert!(steps > 2 && answered > 50, "{answered} responses in {steps} steps: {found:#}");
    agents.iter().for_each(|agent| drop(agent.says_times(": ended", steps.min(3))));
    // A busy machine keeps such an objective.
    let easy = ["--budget", "8s", "--max-rate", "50", "--slo", "p90<3s,errors<50%", "-q"];
    let text = torr(&[&["limit", &url, "--fleet", "--nats", &server][..], &easy].concat());
    let again = "torr fleet run --agents 2 -- ";
    assert!(text.stdout.contains(again) && text.stdout.contains("$TORR_NATS"), "{text:?}");
    for (words, hint) in [
        (&["limit", "http://127.0.0.1:1/", "--nats", "nats://127.0.0.1:1"][..], "needs --fleet"),
        (&["limit", "http://127.0.0.1:1/", "--fleet", "--bind", "127.0.0.2"], "--bind is not supported in a fleet"),
    ] {
        let refused = torr(words);
        assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{words:?}: {refused:?}");
        assert!(refused.stderr.contains(hint), "{words:?}: {refused:?}");
    }
}

#[test]
fn an_authority_travels_and_is_read_on_no_agent() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (certificate, key) = certificates::self_signed(folder.path());
    let [certificate, key] = [certificate, key].map(|path| path.display().to_string());
    let (nats, serve) = (NatsServer::start(), Serve::start(&["--tls-cert", &certificate, "--tls-key", &key]));
    let _agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let url = format!("https://{}/", serve.address);
    fs::write(folder.path().join("shop.hurl"), format!("GET {url}\n[Options]\ncacert: server.pem\n"))
        .expect("a file can be written");
    // The path is relative to where the run is started: no agent could find the file.
    for load in [&[&url, "--cacert", "server.pem"][..], &["shop.hurl"]] {
        let end = ["-c", "2", "-n", "20", "-d", "20s", "--json", "-"];
        let mut command = nats.run_of_fleet(&[&["--agents", "2", "--"], load, &end].concat());
        command.current_dir(folder.path());
        let ended = Running::start(command).wait();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let result = result(&ended);
        adds_up(&result);
        assert_eq!(count(&result, "/status/200"), 20, "{result:#}");
    }
    let search = ["limit", &url, "--cacert", &certificate, "--fleet", "--nats", &nats.url(), "--budget", "6s"];
    let end = ["--max-rate", "100", "--max-connections", "4", "--slo", "p99<2s", "-q", "--json", "-"];
    let ended = torr(&[&search[..], &end].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    // What is wrong with it is said where the run is started.
    for (file, words) in [("no.pem", "no such file"), ("shop.hurl", "no certificate")] {
        let mut command = nats.run_of_fleet(&["--", &url, "-d", "1s", "--cacert", file]);
        command.current_dir(folder.path());
        let ended = Running::start(command).wait();
        assert!(ended.code == Some(2) && ended.stderr.contains(words), "{ended:?}");
    }
}
