//! `--dashboard`: a page that follows a run, its buttons, its report at the end, and who may see it.

use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use tempfile::TempDir;
use torr_test_support::program::{Ended, Running, run, torr, torr_command};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::supervised::Supervised;
use torr_test_support::wait_until;

/// A run with a dashboard, which is killed if the test loses interest.
struct Watched {
    run: Supervised,
    folder: TempDir,
}

impl Watched {
    /// Starts a run that lasts longer than any test.
    fn start(target: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = torr_command(&[target, "-d", "120s", "--json"]);
        command.arg(folder.path().join("run.json")).args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        Self { run: Supervised::spawn(command), folder }
    }

    /// Returns what follows these words in a line of standard error.
    fn says(&self, words: &str) -> String {
        let line = self.run.says(words);
        line.split_once(words).expect("it was waited for").1.to_owned()
    }

    /// Waits for the end, and returns the exit code with the result.
    fn end(mut self) -> (Option<i32>, Value) {
        let code = self.run.wait().code();
        let text = fs::read_to_string(self.folder.path().join("run.json")).expect("the result was written");
        (code, serde_json::from_str(&text).expect("the result is JSON"))
    }
}

fn curl(arguments: &[&str]) -> Ended {
    run("curl", &[&["-sN", "--max-time", "60"], arguments].concat())
}

/// Returns the status of a response.
fn status(arguments: &[&str]) -> String {
    curl(&[&["-o", "/dev/null", "-w", "%{http_code}"], arguments].concat()).stdout
}

fn steer(url: &str, wish: &str) -> String {
    status(&["-X", "POST", "-H", "torr-steering: 1", &format!("{url}steer/{wish}")])
}

fn followed(url: &str) -> Running {
    let mut command = Command::new("curl");
    command.args(["-sN", "--max-time", "60", &format!("{url}events")]);
    Running::start(command)
}

/// Returns the data of the last event of this name.
fn last_event(events: &str, name: &str) -> String {
    let mark = format!("event: {name}\n");
    let found = events.split("\n\n").filter_map(|event| event.trim_start().strip_prefix(&mark)).last();
    let lines = found.unwrap_or_else(|| panic!("no {name} in {events}")).lines();
    lines.map(|line| line.strip_prefix("data: ").expect("an event has data")).collect::<Vec<_>>().join("\n")
}

/// Returns the current panel; `None` if the page sends none within half a second.
fn panel(url: &str) -> Option<String> {
    let events = curl(&["--max-time", "0.5", &format!("{url}events")]).stdout;
    events.contains("event: panel\n").then(|| last_event(&events, "panel"))
}

#[test]
fn a_page_follows_a_run_and_ends_as_its_report() {
    let server = Script::start(answering(OK));
    let watched = Watched::start(&server.url(), &["-r", "50", "-c", "4", "--dashboard"]);
    let url = watched.says("dashboard: ");
    assert!(url.starts_with("http://127.0.0.1:") && url.ends_with('/'), "{url}");
    let page = curl(&["-i", &url]).stdout;
    for part in [&server.url(), "open loop, 50.0 requests/s", "data-wish=\"raise\"", "connect-src 'self'"] {
        assert!(page.contains(part), "{part} is missing:\n{page}");
    }
    let early = followed(&url);
    // Nothing can be marked before the run has begun.
    wait_until("a mark", || {
        steer(&url, "mark");
        panel(&url)?.contains("mark 1").then_some(())
    });
    wait_until("the past for one who comes late", || {
        let late = curl(&["--max-time", "0.5", &format!("{url}events")]).stdout;
        (late.contains("event: report\n") && last_event(&late, "report").contains("Over time")).then_some(())
    });
    assert_eq!(steer(&url, "raise"), "204");
    assert_eq!(steer(&url, "pause"), "204");
    wait_until("the pause", || panel(&url)?.contains("data-paused=\"true\"").then_some(()));
    assert_eq!(steer(&url, "end"), "204");
    let (code, result) = watched.end();
    assert_eq!(code, Some(0));
    let events = early.wait().stdout;
    let panel = last_event(&events, "end");
    assert!(panel.contains("The run has ended.") && panel.contains("ended by the operator"), "{panel}");
    let report = last_event(&events, "report");
    let path = tempfile::tempdir().expect("a folder");
    let (file, output) = (path.path().join("run.json"), path.path().join("page.html"));
    fs::write(&file, result.to_string()).expect("there is room");
    let paths = [&file, &output].map(|path| path.to_str().expect("it is text"));
    assert_eq!(torr(&["report", paths[0], "-o", paths[1]]).code, Some(0));
    let page = fs::read_to_string(&output).expect("the page was written");
    let sections = |text: &str| -> Vec<String> {
        text.split("<h2>").skip(1).filter_map(|rest| Some(rest.split_once("</h2>")?.0.to_owned())).collect()
    };
    assert_eq!(sections(&report), sections(&page), "the page is the report of the result");
    let figures = |text: &str| {
        text.split_once("<dl class=\"figures\">").map(|(_, rest)| rest.split_once("</dl>").map(|(dl, _)| dl.to_owned()))
    };
    assert_eq!(figures(&report), figures(&page));
    let done: Vec<_> = result["steering"].as_array().into_iter().flatten().map(|event| &event["what"]).collect();
    assert_eq!(done[done.len() - 3..], ["rate", "pause", "end"], "{result}");
}

#[test]
fn a_page_follows_a_k6_script_and_lets_it_tear_down() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("shop.js");
    let text = "import http from 'k6/http';\nimport { sleep } from 'k6';\n\
        export default function () { http.get(__ENV.BASE); console.log('from the script'); sleep(0.05); }\n\
        export function teardown() { http.get(__ENV.BASE + 'teardown'); }\n";
    fs::write(&script, text).expect("there is room");
    let (script, base) = (script.display().to_string(), format!("BASE={}", server.url()));
    let watched = Watched::start(&script, &["-c", "2", "--dashboard", "--variable", &base]);
    let url = watched.says("dashboard: ");
    let page = curl(&["-i", &url]).stdout;
    for part in [&script, "1 scenario, 2 max VUs", "data-wish=\"end\""] {
        assert!(page.contains(part), "{part} is missing:\n{page}");
    }
    for part in ["data-wish=\"pause\"", "data-wish=\"raise\""] {
        assert!(!page.contains(part), "a script decides that itself: {part}");
    }
    let events = followed(&url);
    wait_until("a mark", || {
        steer(&url, "mark");
        panel(&url)?.contains("mark 1").then_some(())
    });
    assert_eq!(steer(&url, "end"), "204");
    let (code, result) = watched.end();
    assert_eq!((code, &result["target"]), (Some(0), &Value::from(script.as_str())), "{result}");
    let done: Vec<_> = result["steering"].as_array().into_iter().flatten().map(|event| &event["what"]).collect();
    assert_eq!(done.last().map(|what| what.as_str()), Some(Some("end")), "{result}");
    let report = last_event(&events.wait().stdout, "report");
    assert!(report.contains(&script), "{report}");
    let last = server.texts().pop().expect("there are requests");
    assert!(last.starts_with("GET /teardown "), "{last}");
}

#[test]
fn a_page_of_others_sees_nothing_and_steers_nothing() {
    let server = Script::start(answering(OK));
    let watched = Watched::start(&server.url(), &["-r", "10", "-c", "2", "--dashboard"]);
    let url = watched.says("dashboard: ");
    let steer = format!("{url}steer/end");
    assert_eq!(status(&["-X", "POST", &steer]), "403", "a form of another page cannot set the field");
    assert_eq!(status(&["-X", "POST", "-H", "torr-steering: 1", "-H", "Host: evil.test", &steer]), "403");
    for path in ["", "events"] {
        assert_eq!(status(&["-H", "Host: evil.test", &format!("{url}{path}")]), "403", "{path}");
    }
    // A page of another origin, were it allowed to set the field, is refused; so is one in a frame.
    let own = url.trim_end_matches('/');
    for origin in ["null", "http://evil.test", "http://127.0.0.1:1", &format!("{own}.evil.test")] {
        let origin = format!("Origin: {origin}");
        assert_eq!(status(&["-X", "POST", "-H", "torr-steering: 1", "-H", &origin, &steer]), "403", "{origin}");
    }
    let both = ["-H", &format!("Origin: {own}"), "-H", "Origin: http://evil.test"];
    assert_eq!(status(&[&["-X", "POST", "-H", "torr-steering: 1", &steer][..], &both].concat()), "403");
    let marked =
        ["-X", "POST", "-H", "torr-steering: 1", "-H", &format!("Origin: {own}"), &format!("{url}steer/explode")];
    assert_eq!(status(&marked), "404", "the own page's origin is let through");
    let head = curl(&["-i", &url]).stdout.to_ascii_lowercase();
    assert!(head.contains("x-frame-options: deny"), "{head}");
    assert!(head.contains("content-security-policy: frame-ancestors 'none'"), "{head}");
    // Without this field no browser lets a page of another origin read the response.
    let foreign = wait_until("the head of the events", || {
        let begun = curl(&["-i", "--max-time", "1", "-H", "Origin: http://evil.test", &format!("{url}events")]).stdout;
        begun.contains("\r\n\r\n").then_some(begun)
    });
    assert!(foreign.starts_with("HTTP/") && !foreign.to_ascii_lowercase().contains("access-control-"), "{foreign}");
    let refused = curl(&["-i", "-H", "Host: evil.test", &url]).stdout.to_ascii_lowercase();
    assert!(refused.contains("x-frame-options: deny"), "{refused}");
    assert_eq!(status(&["-X", "OPTIONS", "-H", "Origin: http://evil.test", &steer]), "405");
    assert_eq!(status(&["-X", "POST", "-H", "torr-steering: 1", &format!("{url}steer/explode")]), "404");
    assert_eq!(status(&[&format!("{url}other")]), "404");
    assert_eq!(self::steer(&url, "end"), "204");
    assert_eq!(watched.end().0, Some(0));
}

#[test]
fn beyond_loopback_there_are_tls_and_a_token() {
    let server = Script::start(answering(OK));
    let watched = Watched::start(&server.url(), &["-r", "10", "-c", "2", "--dashboard=0.0.0.0:0"]);
    let url = watched.says("dashboard: ");
    let (base, token) = url.split_once("?token=").expect("it has a token");
    let port = base.trim_end_matches('/').rsplit(':').next().expect("it has a port");
    let here = format!("https://127.0.0.1:{port}/");
    assert!(base.starts_with("https://") && !base.contains("0.0.0.0") && token.len() == 32, "{url}");
    let fingerprint = watched.says("SHA-256 ");
    assert_eq!(fingerprint.split(':').count(), 32, "{fingerprint}");
    for path in ["", "events", "?token=", "?token=0123456789abcdef0123456789abcdef"] {
        assert_eq!(status(&["-k", &format!("{here}{path}")]), "401", "{path}");
    }
    assert_eq!(status(&["-k", "-X", "POST", "-H", "torr-steering: 1", &format!("{here}steer/end")]), "401");
    let first = curl(&["-ki", &format!("{here}?token={token}")]).stdout;
    let cookie = first.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("it has a cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Secure"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap_or_default());
    assert!(first.starts_with("HTTP/2 303"), "{first}");
    assert_eq!(status(&["-k", "-H", &cookie, &here]), "200");
    assert_eq!(status(&["-k", "-H", &cookie, "-X", "POST", &format!("{here}steer/end")]), "403");
    let steered = status(&["-k", "-H", &cookie, "-H", "torr-steering: 1", "-X", "POST", &format!("{here}steer/end")]);
    assert_eq!(steered, "204");
    assert_eq!(watched.end().0, Some(0));
}

#[test]
fn what_cannot_be_served_is_said_before_the_run() {
    let server = Script::start(answering(OK));
    let taken = server.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
    for (flags, text) in [
        (vec!["--dashboard=here".to_owned()], "such as 127.0.0.1:8089"),
        (vec![format!("--dashboard={taken}")], "--dashboard: "),
        (vec!["--dashboard".into(), "--dashboard-cert=/no/such".into()], "--dashboard-key"),
        (vec!["--dashboard-cert=/no/such".into(), "--dashboard-key=/no/such".into()], "--dashboard"),
        (vec!["--dashboard".into(), "--dashboard-cert=/no/such".into(), "--dashboard-key=/no/such".into()], "/no/such"),
    ] {
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        let ended = torr(&[&[&*server.url(), "-n", "1", "-c", "1"], &flags[..]].concat());
        assert_eq!(ended.code, Some(2), "{flags:?}: {ended:?}");
        assert!(ended.stderr.contains(text), "{flags:?}: {ended:?}");
    }
    assert_eq!(server.requests(), 0, "nothing was sent");
}
