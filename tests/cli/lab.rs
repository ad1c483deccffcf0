//! `torr lab`: suites over servers that it starts itself.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;
use torr_test_support::program::{Ended, Running, torr, torr_command, torr_shell};
use torr_test_support::supervised::lives;
use torr_test_support::wait_until;

const SUITE: &str = r#"
about = "a suite of the tests"
subjects = ["mine.toml"]
rounds = 2
seconds = 0.5
warmup = 0.0

[checks]
hello = '''
GET {{url}}
HTTP 200
[Asserts]
body == "<p>Hello, world!</p>"
'''
wrong = '''
GET {{base}}
HTTP 200
[Asserts]
body == "something else"
'''

[[row]]
name = "hello"
path = "hello"
check = "hello"
connections = [2, 4]
reference = { Elsewhere = "1,000" }
"#;

/// The demo application, which leaves the numbers of its processes behind.
const SUBJECT: &str = r#"
about = "a subject of the tests"
command = "sh -c 'echo $$ >> FOLDER/pids; exec {torr} serve --listen 127.0.0.1:{port} --workers {workers}'"

[paths]
hello = "/"
"#;

/// A folder with a suite and a subject.
struct Lab(TempDir);

impl Lab {
    fn new() -> Self {
        let lab = Self(tempfile::tempdir().expect("there is room for temporary files"));
        lab.write("suite.toml", SUITE);
        lab.write("mine.toml", SUBJECT);
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let text = text.replace("FOLDER", &self.0.path().display().to_string());
        fs::write(self.path(name), text).expect("a file can be written");
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = torr_command(&[&["lab"], args].concat());
        command.current_dir(self.0.path()).env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    fn run(&self, args: &[&str]) -> Ended {
        Running::start(self.command(args)).wait()
    }

    /// The lines of the archive that are runs: their subjects, levels and rounds.
    fn runs(&self) -> Vec<(String, String, u64)> {
        let text = fs::read_to_string(self.path("suite.jsonl")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let word = |run: &Value, name: &str| run[name].as_str().unwrap_or_default().to_owned();
        let runs = lines.filter_map(|line| line.get("run").cloned());
        runs.map(|run| (word(&run, "subject"), word(&run, "level"), run["round"].as_u64().unwrap_or(9))).collect()
    }

    /// Waits until the processes of all subjects that were started have ended.
    fn has_ended(&self) {
        let pids = fs::read_to_string(self.path("pids")).expect("it was started");
        let pids: Vec<u32> = pids.lines().map(|pid| pid.parse().expect("a process has a number")).collect();
        assert!(!pids.is_empty(), "none was started");
        wait_until("the subjects to end", || (!pids.iter().any(|pid| lives(*pid))).then_some(()));
    }
}

fn all() -> Vec<(String, String, u64)> {
    let level = |name: &str, round| ("mine".to_owned(), name.to_owned(), round);
    vec![level("hello, c 2", 0), level("hello, c 4", 0), level("hello, c 2", 1), level("hello, c 4", 1)]
}

/// A lab with a subject that needs a program which is not here, and one without the path of the row.
fn of_three() -> Lab {
    let lab = Lab::new();
    let absent = "about = 'x'\ncommand = 'x'\nneeds = ['no-such-program']\nget = 'ask for it'\n[paths]\nhello = '/'";
    lab.write("absent.toml", absent);
    lab.write("other.toml", "about = 'x'\ncommand = '{torr} serve --listen 127.0.0.1:{port}'\n[paths]\nother = '/'");
    lab
}

#[test]
fn a_suite_has_a_table_and_an_archive() {
    let lab = of_three();
    let subjects = ["--subject", "mine.toml", "--subject", "absent.toml", "--subject", "other.toml"];
    let outputs = ["--markdown", "table.md", "--report", "table.html"];
    let ended = lab.run(&[&["run", "suite.toml"], &outputs[..], &subjects[..]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for words in ["hello, c 2", "Elsewhere", "1,000", "not available", "no-such-program not found; ask for it"] {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.stdout);
    }
    assert_eq!(lab.runs(), all());
    lab.has_ended();
    let markdown = fs::read_to_string(lab.path("table.md")).expect("it was asked for");
    assert!(markdown.contains("|  | mine | absent | other | Elsewhere |"), "{markdown}");
    let page = fs::read_to_string(lab.path("table.html")).expect("it was asked for");
    assert!(page.contains("suite: a suite of the tests") && page.contains("no-such-program not found"), "{page}");
    let command = format!("torr lab run suite.toml {} --seed ", subjects.join(" "));
    assert!(page.contains(&command), "no {command}: {page}");
    // The archive alone gives the same table, and the same page.
    let archived = torr(&["report", &lab.path("suite.jsonl").display().to_string(), "-o", "-"]).stdout;
    assert_eq!(archived.replace(&lab.path("suite.jsonl").display().to_string(), "this run"), page);
    let again = lab.run(&["table", "suite.jsonl"]);
    assert_eq!((again.code, &again.stdout), (Some(0), &ended.stdout));
    let json = lab.run(&["table", "suite.jsonl", "--json", "-"]);
    let table: Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    let cells = &table["table"]["lines"][0]["cells"];
    assert!(cells[0]["measured"]["rps"].as_f64().is_some_and(|rate| rate > 0.0), "{table:#}");
    assert_eq!((&cells[1], &cells[2]), (&"absent".into(), &"not_offered".into()));
    // The command that the archive keeps makes the same runs in another folder.
    let archive = fs::read_to_string(lab.path("suite.jsonl")).expect("it was written");
    let head: Value = serde_json::from_str(archive.lines().next().expect("it has a head")).expect("it is JSON");
    let kept = head["command"].as_str().unwrap_or_else(|| panic!("{head:#}"));
    let (other, mut shell) = (of_three(), torr_shell(kept));
    shell.current_dir(other.0.path());
    let ended = Running::start(shell).wait();
    assert_eq!((ended.code, other.runs()), (Some(0), all()), "{kept}: {ended:?}");
}

#[test]
fn a_suite_that_was_interrupted_goes_on_where_it_was() {
    let lab = Lab::new();
    let running = Running::start(lab.command(&["run", "suite.toml"]));
    wait_until("the first run", || (!lab.runs().is_empty()).then_some(()));
    running.signal("INT");
    let ended = running.wait();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.stderr.contains("continue with --resume"), "{ended:?}");
    lab.has_ended();
    let before = lab.runs();
    assert!((1..4).contains(&before.len()), "{before:?}");
    // It is not begun anew by mistake, nor mixed with something else.
    let anew = lab.run(&["run", "suite.toml"]);
    assert!(anew.code == Some(2) && anew.stderr.contains("suite.jsonl exists"), "{anew:?}");
    let other = lab.run(&["run", "suite.toml", "--resume", "--scale", "2"]);
    assert!(other.code == Some(2) && other.stderr.contains("another scale"), "{other:?}");
    let ended = lab.run(&["run", "suite.toml", "--resume"]);
    assert_eq!((ended.code, lab.runs()), (Some(0), all()), "{ended:?}");
}

#[test]
fn a_suite_that_was_killed_leaves_nothing_behind_and_goes_on() {
    let lab = Lab::new();
    let running = Running::start(lab.command(&["run", "suite.toml"]));
    wait_until("the first run", || (!lab.runs().is_empty()).then_some(()));
    running.signal("KILL");
    running.wait();
    lab.has_ended();
    // As if the last line had been cut.
    let archive = lab.path("suite.jsonl");
    let text = fs::read_to_string(&archive).expect("it was begun");
    fs::write(&archive, &text[..text.len() - 20]).expect("a file can be written");
    let ended = lab.run(&["run", "suite.toml", "--resume", "--json", "-"]);
    assert_eq!((ended.code, lab.runs()), (Some(0), all()), "{ended:?}");
}

#[test]
fn a_subject_that_fails_has_its_reason_and_the_others_go_on() {
    let lab = Lab::new();
    lab.write("suite.toml", &SUITE.replace("check = \"hello\"", "check = \"wrong\""));
    let wrong = lab.run(&["run", "suite.toml", "--archive", "wrong.jsonl"]);
    assert_eq!(wrong.code, Some(1), "{wrong:?}");
    assert!(wrong.stdout.contains("a check failed: body == \"something else\""), "{}", wrong.stdout);
    lab.write("suite.toml", SUITE);
    lab.write("ends.toml", "about = 'x'\ncommand = \"sh -c 'echo it is broken >&2'\"\n[paths]\nhello = '/'");
    let ended = lab.run(&["run", "suite.toml", "--rounds", "1", "--subject", "ends.toml", "--subject", "mine.toml"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("output: it is broken"), "{}", ended.stdout);
    assert_eq!(lab.runs(), all()[..2]);
}

#[test]
fn what_a_subject_needs_is_built_once_and_its_files_are_filled_in() {
    let lab = Lab::new();
    let subject = r#"
about = "x"
build = ["sh -c 'echo built >> FOLDER/builds; cp workers.txt {source}/copy'"]
prepare = ["sh -c 'cp {dir}/listen {dir}/prepared'"]
command = "sh -c 'exec {torr} serve --listen $(cat {dir}/prepared) --workers $(cat {source}/copy)'"

[sources]
"workers.txt" = "1"

[files]
listen = "127.0.0.1:{port}"

[paths]
hello = "/"
"#;
    lab.write("mine.toml", subject);
    let ended = lab.run(&["run", "suite.toml", "--row", "hello", "-q"]);
    assert_eq!((ended.code, lab.runs()), (Some(0), all()), "{ended:?}");
    let builds = fs::read_to_string(lab.path("builds")).expect("it was built");
    assert_eq!(builds, "built\n");
}

#[test]
fn a_proxy_has_its_upstream_and_tls_a_certificate() {
    let lab = Lab::new();
    let short = ["--scale", "0.1", "--rounds", "1", "-q"];
    let subjects = ["--subject", "torr-serve", "--subject", "nginx-proxy"];
    let proxied = lab.run(&[&["run", "proxy", "--row", "hello, kept"], &short[..], &subjects].concat());
    assert_eq!(proxied.code, Some(0), "{proxied:?}");
    let tls = lab.run(&[&["run", "https", "--row", "TLS, kept", "--json", "-"], &short[..]].concat());
    let table: Value = serde_json::from_str(&tls.stdout).unwrap_or_else(|_| panic!("{tls:?}"));
    let cells = table["table"]["lines"][0]["cells"].as_array().expect("a list");
    assert!(cells.len() == 2 && cells.iter().all(|cell| cell["measured"]["rps"].is_number()), "{table:#}");
}

#[test]
#[ignore = "long: ./test full"]
fn a_database_is_started_for_the_rows_that_need_it() {
    let lab = Lab::new();
    let raw = ["run", "orm", "--row", "raw", "--scale", "0.1", "--rounds", "1", "--subject", "torr-serve"];
    let ended = lab.run(&raw);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for database in ["raw, sqlite", "raw, mysql", "raw, postgres"] {
        assert!(ended.stdout.contains(database), "{}", ended.stdout);
    }
    let given = ["--database", "mysql=mysql://a:secret@127.0.0.1:1/c", "--archive", "other.jsonl"];
    let other = lab.run(&[&raw[..], &given].concat());
    assert!(other.code == Some(1) && other.stdout.contains("database mysql: "), "{other:?}");
    assert!(!other.stdout.contains("secret"), "{other:?}");
}

#[test]
fn a_new_subject_is_a_description_to_fill_in() {
    let lab = Lab::new();
    assert_eq!(lab.run(&["new-subject", "fresh"]).code, Some(0));
    let again = lab.run(&["new-subject", "fresh"]);
    assert!(again.code == Some(2) && again.stderr.contains("fresh.toml exists"), "{again:?}");
    let run = lab.run(&["run", "suite.toml", "--rounds", "1", "--subject", "fresh.toml"]);
    assert!(
        run.code == Some(1) && run.stdout.contains("no such program: '") && run.stdout.contains("/server'"),
        "{run:?}"
    );
    // Every line that is switched off is right, too: what is built then is missing.
    let text = fs::read_to_string(lab.path("fresh.toml")).expect("it was written");
    let on = |line: &str| match line.strip_prefix("# ") {
        Some(rest) if rest.starts_with('[') || rest.contains(" = ") => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    lab.write("whole.toml", &text.lines().map(on).collect::<String>().replace("\"node\"", "\"no-such-program\""));
    let args = ["run", "suite.toml", "--rounds", "1", "--subject", "whole.toml", "--archive", "whole.jsonl"];
    let whole = lab.run(&args);
    assert!(whole.code == Some(0) && whole.stdout.contains("no-such-program not found"), "{whole:?}");
}

#[test]
fn suites_and_subjects_are_listed_and_shown() {
    let list = torr(&["lab", "list"]);
    assert_eq!(list.code, Some(0));
    let suites = ["webman-reference", "drogon", "orm", "proxy", "https", "http3", "workers", "techempower"];
    for name in suites.into_iter().chain(["torr-serve", "nginx", "postgres"]) {
        assert!(list.stdout.contains(&format!("  {name} ")), "{name}: {}", list.stdout);
    }
    let show = torr(&["lab", "show", "techempower"]);
    assert!(show.stdout.contains("plaintext, c 16384") && show.stdout.contains("--pipeline 16"), "{}", show.stdout);
}

#[test]
fn mistakes_get_one_line() {
    let lab = Lab::new();
    lab.write("typo.toml", "abuot = 'x'\n");
    lab.write("flag.toml", &SUITE.replace("[2, 4]", "[2, 4]\nflags = '--no-such-flag'"));
    lab.write("placeholder.toml", "about = 'x'\ncommand = 'a {prot}'\n[paths]\nhello = '/'");
    for (args, hint) in [
        (&["run", "webmann"][..], "unknown suite 'webmann'"),
        (&["run", "suite.toml", "--subject", "nginxx"], "unknown subject 'nginxx'"),
        (&["run", "suite.toml", "--subject", "mysql"], "'mysql' is a database"),
        (&["run", "typo.toml"], "typo.toml:1:1: unknown field `abuot`"),
        (&["run", "suite.toml", "--subject", "placeholder.toml"], "unknown placeholder {prot}"),
        (&["run", "suite.toml", "--subject", "mine.toml", "--subject", "./mine.toml"], "duplicate subject 'mine'"),
        (&["run", "suite.toml", "--row", "none"], "use 'hello'"),
        (&["run", "suite.toml", "--database", "postgres=nonsense"], "none of these rows needs it; they need none"),
        (
            &["run", "orm", "--row", "raw", "--database", "postgress=nonsense"],
            "--database postgress: none of these rows needs it; they need mysql, postgres, sqlite",
        ),
        (&["run", "suite.toml", "--scale", "0"], "0.001 to 100"),
        (&["run", "flag.toml"], "row 'hello, c 2' of flag: unknown flag"),
        (&["table", "suite.toml"], "is not an archive"),
        (&["new-subject", "a/b"], "invalid name"),
    ] {
        let ended = lab.run(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(hint) && ended.stderr.lines().count() <= 3, "{args:?}: {}", ended.stderr);
    }
    assert!(!lab.path("suite.jsonl").exists(), "nothing was begun");
}

#[test]
fn a_row_has_lists_of_urls_and_bodies() {
    let lab = Lab::new();
    let rows = r#"
about = "x"
subjects = ["torr-serve"]
rounds = 1
seconds = 0.5
warmup = 0

[checks]
any = '''
POST {{url}}
`x`
HTTP *
'''

[[row]]
name = "mixed"
path = "hello"
check = "any"
connections = [1]
urls = '''
/json
POST /echo a-body
'''

[[row]]
name = "large"
path = "hello"
check = "any"
connections = [1]
body_bytes = 100000
flags = "--expect-status 405"
"#;
    lab.write("suite.toml", rows);
    let ended = lab.run(&["run", "suite.toml", "-q"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let text = fs::read_to_string(lab.path("suite.jsonl")).expect("it was begun");
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let run = |level: &str| {
        let found = lines.iter().find(|line| line["run"]["level"] == level);
        found.unwrap_or_else(|| panic!("{level}: {text}"))["run"].clone()
    };
    let mixed = run("mixed");
    assert!(mixed["command"].as_str().is_some_and(|command| command.contains("--urls")), "{mixed:#}");
    // All three URLs respond with 200.
    assert_eq!(
        mixed["result"]["status"].as_object().map(|status| status.keys().cloned().collect()),
        Some(vec!["200".to_owned()])
    );
    let large = run("large")["result"].clone();
    let (requests, sent) = (large["requests"].as_u64().unwrap_or(0), large["bytes"]["sent"].as_u64().unwrap_or(0));
    assert!(requests > 0 && sent > requests * 100_000, "{large:#}");
}

#[test]
fn every_suite_that_comes_with_the_program_can_be_read_to_its_end() {
    let lab = Lab::new();
    let absent = "about = 'x'\ncommand = 'x'\nneeds = ['no-such-program']\nget = 'ask for it'\n[paths]\nhello = '/'";
    lab.write("absent.toml", absent);
    let list = torr(&["lab", "list"]).stdout;
    let suites = list.lines().skip_while(|line| *line != "suites").skip(1).take_while(|line| !line.is_empty());
    let suites: Vec<&str> = suites.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(suites.len() >= 8, "{list}");
    for suite in suites {
        let ended = lab.run(&["run", suite, "--subject", "absent.toml", "-q"]);
        assert_eq!(ended.code, Some(0), "{suite}: {ended:?}");
        assert!(ended.stdout.contains("absent is not available"), "{suite}: {}", ended.stdout);
    }
}

#[test]
#[ignore = "long: ./test full"]
fn our_own_pages_pass_techempowers_checks() {
    let lab = Lab::new();
    // Its checks are walked through once for each row, whatever the number of connections.
    let suite = include_str!("../../crates/torr-lab/shipped/suites/techempower.toml");
    lab.write("short.toml", &suite.replace("connections = [16, 32, 64, 128, 256, 512]", "connections = [16]"));
    let rows = ["--row", "json", "--row", "fortunes", "--row", "db"];
    let short = ["--scale", "0.001", "--rounds", "1", "-q"];
    let ended = lab.run(&[&["run", "short.toml", "--subject", "torr-serve"], &rows[..], &short].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("fortunes") && !ended.stdout.contains("c 512"), "{}", ended.stdout);
}
