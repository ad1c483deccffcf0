//! Scripts of k6: by k6's command line, and by Torr's own commands.

use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use torr_test_support::program::{Ended, Running, torr_command, torr_path};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::wait_until;

const SCRIPT: &str = "
import http from 'k6/http';
import { check } from 'k6';
export const options = { vus: 1, iterations: 3, thresholds: { checks: [__ENV.WANTED || 'rate==1'] } };
export default function () {
  check(http.get(__ENV.BASE), { found: (r) => r.status === 200 });
  console.log(`iteration ${__ITER}`);
}
";

/// Runs the program in a folder with these files.
fn run(folder: &Path, files: &[(&str, &str)], args: &[&str]) -> Ended {
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("a file can be written");
    }
    let mut command = torr_command(args);
    command.current_dir(folder).env_remove("HOME").env_remove("XDG_CONFIG_HOME");
    Running::start(command).wait()
}

#[test]
fn a_script_runs_by_the_command_line_of_k6() {
    let (server, folder) = (Script::start(answering(OK)), tempfile::tempdir().expect("there is room"));
    let base = format!("BASE={}", server.url());
    let all = ["k6", "run", "--no-color", "-e", &base, "--summary-export", "s.json", "-o", "json=o.json", "shop.js"];
    let ended = run(folder.path(), &[("shop.js", SCRIPT)], &all);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for part in
        ["execution: local", "3 iterations shared among 1 VUs", "\u{2713} 'rate==1' rate=100.00%", "\u{2713} found"]
    {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    assert_eq!(ended.stderr.matches("source=console").count(), 3, "{}", ended.stderr);
    assert_eq!(server.requests(), 3);
    let summary = std::fs::read_to_string(folder.path().join("s.json")).expect("the summary was written");
    let summary: Value = serde_json::from_str(&summary).expect("the summary is JSON");
    assert_eq!(summary["metrics"]["iterations"]["count"], 3);
    let samples = std::fs::read_to_string(folder.path().join("o.json")).expect("the samples were written");
    assert_eq!(samples.matches(r#""metric":"http_reqs","type":"Point""#).count(), 3, "{samples}");
    let quiet = run(folder.path(), &[], &["k6", "run", "-q", "-i", "1", "--no-summary", "-e", &base, "shop.js"]);
    assert_eq!((quiet.code, quiet.stdout.as_str()), (Some(0), ""), "{quiet:?}");
}

#[test]
fn exit_codes_are_those_of_k6() {
    let (server, folder) = (Script::start(answering(OK)), tempfile::tempdir().expect("there is room"));
    let base = format!("BASE={}", server.url());
    let files = [
        ("shop.js", SCRIPT),
        ("throws.js", "throw new Error('no luck');\nexport default function () {}\n"),
        (
            "none.js",
            "export const options = { scenarios: { a: { executor: 'constant-vus', duration: '1s', exec: 'b' } } };\n\
            export default function () {}\n",
        ),
    ];
    for (args, code, what) in [
        (&["run", "-q", "-e", &base, "-e", "WANTED=rate<1", "shop.js"][..], 99, "have been crossed"),
        (&["run", "-q", "none.js"], 104, "'b'"),
        (&["run", "-q", "throws.js"], 107, "no luck"),
        (&["run", "-q", "missing.js"], 255, "missing.js"),
        (&["run", "-q", "-c", "missing.json", "shop.js"], 104, "missing.json"),
        (&["run", "-q", "-e", "K6_VUS=ten", "shop.js"], 104, "K6_VUS"),
        (&["run", "-q", "-u", "ten", "shop.js"], 255, "-u must be"),
        (&["run", "--nonsense", "shop.js"], 255, "unknown option '--nonsense'"),
        (&["run", "-o", "influxdb=http://x", "shop.js"], 255, "'influxdb' is not supported"),
        (&["archive", "shop.js"], 255, "'k6 archive' is not supported"),
    ] {
        let ended = run(folder.path(), &files, &[&["k6"][..], args].concat());
        assert_eq!(ended.code, Some(code), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(what), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn a_script_comes_from_standard_input_through_a_link() {
    let (server, folder) = (Script::start(answering(OK)), tempfile::tempdir().expect("there is room"));
    let link = folder.path().join("k6");
    std::os::unix::fs::symlink(torr_path(), &link).expect("a link can be made");
    let mut command = Command::new(link);
    command.args(["run", "-q", "-"]).env("BASE", server.url()).env("K6_ITERATIONS", "2");
    command.current_dir(folder.path()).stdin(Stdio::piped());
    let mut running = Running::start_with_its_input(command);
    running.stdin().write_all(SCRIPT.as_bytes()).expect("the program reads");
    let ended = running.wait();
    assert_eq!((ended.code, server.requests()), (Some(0), 2), "{ended:?}");
}

#[test]
fn the_second_interruption_ends_a_script_at_once() {
    let (server, folder) = (Script::start(answering(OK)), tempfile::tempdir().expect("there is room"));
    let script = "
        import http from 'k6/http';
        import { sleep } from 'k6';
        const stay = (part) => { http.get(__ENV.BASE + part); sleep(1e6); };
        export default function () { stay('iteration'); }
        export function teardown() { stay('teardown'); }";
    std::fs::write(folder.path().join("stays.js"), script).expect("a file can be written");
    let base = format!("BASE={}", server.url());
    let mut command = torr_command(&["k6", "run", "-q", "-e", &base, "stays.js"]);
    command.current_dir(folder.path());
    let running = Running::start(command);
    for requests in [1, 2] {
        wait_until("the next part of the script", || (server.requests() == requests).then_some(()));
        running.signal("INT");
    }
    let ended = running.wait();
    assert_eq!(ended.code, Some(105), "{ended:?}");
    assert!(server.texts()[1].starts_with("GET /teardown "), "{:?}", server.texts());
}

#[test]
fn commands_of_torr_take_scripts() {
    let (server, folder) = (Script::start(answering(OK)), tempfile::tempdir().expect("there is room"));
    let base = format!("BASE={}", server.url());
    let typed = format!("const typed: number = 1;\n{SCRIPT}");
    let files = [("shop.ts", typed.as_str())];
    let checked = run(folder.path(), &files, &["check", "shop.ts"]);
    assert_eq!((checked.code, server.requests()), (Some(0), 0), "{checked:?}");
    let once = run(folder.path(), &[], &["once", "shop.ts", "--variable", &base]);
    assert_eq!((once.code, server.requests()), (Some(0), 1), "{once:?}");
    let loaded = run(folder.path(), &[], &["shop.ts", "-n", "5", "--variable", &base, "--json", "r.json"]);
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
    for part in ["\u{2713} found", "requests"] {
        assert!(loaded.stdout.contains(part), "{part}: {}", loaded.stdout);
    }
    let result = std::fs::read_to_string(folder.path().join("r.json")).expect("the result was written");
    let result: Value = serde_json::from_str(&result).expect("the result is JSON");
    assert_eq!(result["requests"], 5, "{result}");
    let inspected = run(folder.path(), &[], &["k6", "inspect", "shop.ts"]);
    let options: Value = serde_json::from_str(&inspected.stdout).expect("options are JSON");
    assert_eq!(options["scenarios"]["default"]["executor"], "shared-iterations", "{options}");
    for args in [&["shop.ts", "-H", "a: b"][..], &["limit", "shop.ts", "--http2"], &["doctor", "shop.ts", "--fleet=f"]]
    {
        let refused = run(folder.path(), &[], args);
        assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{args:?}: {refused:?}");
    }
}
