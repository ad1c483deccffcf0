//! The commands of the guide work as they stand, but for addresses, and times and counts that are too long for a test.

use crate::guide::pages;
use regex::Regex;
use std::path::Path;
use std::sync::Mutex;
use torr_test_support::certificates::self_signed;
use torr_test_support::markdown::blocks;
use torr_test_support::program::{Ended, Running, torr_shell};
use torr_test_support::proxy::proxy;
use torr_test_support::script::{Script, answering};
use torr_test_support::servers::{Nginx, Serve};

/// All servers that the guide speaks of.
struct Servers {
    folder: tempfile::TempDir,
    serve: Serve,
    /// With a WebSocket.
    router: Serve,
    tls: Nginx,
    proxy: Script,
    collector: Script,
}

impl Servers {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let (certificate, key) = self_signed(folder.path());
        let socket = folder.path().join("server.sock");
        let hello = "location / { return 200 'Hello, world!'; }";
        let tls = Nginx::start_tls(&certificate, &key, &format!("listen unix:{}; {hello}", socket.display()));
        let proxy = proxy(b"HTTP/1.1 200 Connection established\r\n\r\n");
        let collector = Script::start(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
        let router = Serve::start(&["--router", "true"]);
        Self { folder, serve: Serve::start(&[]), router, tls, proxy, collector }
    }

    /// Returns a text with the addresses of these servers instead of the guide's.
    fn addressed(&self, text: &str) -> String {
        let port = self.serve.address.rsplit(':').next().expect("it has a port");
        let file = |name: &str| self.folder.path().join(name).display().to_string();
        let text = text.replace("localhost:3000", &self.serve.address).replace("127.0.0.1:8080", &self.serve.address);
        let text = text.replace("127.0.0.1:8082", &self.router.address);
        let text = text.replace("127.0.0.1:8081", &self.serve.address).replace("/graphql", "/echo");
        text.replace(".test:8080", &format!(".test:{port}"))
            .replace("127.0.0.1:8443", &self.tls.address)
            .replace("127.0.0.1:3128", &self.proxy.address.to_string())
            .replace("localhost:4318", &self.collector.address.to_string())
            .replace("localhost:9090", &self.collector.address.to_string())
            .replace("server.pem", &file("server.pem"))
            .replace("server.sock", &file("server.sock"))
    }
}

fn shorter(text: &str, pattern: &str, by: &str) -> String {
    Regex::new(pattern).expect("it is a pattern").replace_all(text, by).into_owned()
}

/// Commands that send no load, and run as they stand.
const AS_IT_IS: [&str; 12] = [
    "torr --help-all",
    "torr check ",
    "torr compare before.json",
    "torr compare last-week.json",
    "torr history ",
    "torr import ",
    "torr lab list",
    "torr k6 ",
    "torr lab show ",
    "torr once ",
    "torr plan-schema",
    "torr report ",
];

/// Returns a command as it can be run here, and not for long.
fn short(command: &str) -> String {
    // What comes behind is another program's affair.
    let command = command.split(" | ").next().expect("a text has a first part").to_owned();
    if AS_IT_IS.iter().any(|begin| command.starts_with(begin)) {
        return command;
    }
    let command = shorter(&command, r"-n ?(\d+k|\d{4,})", "-n 500");
    if ["ab", "wrk", "wrk2", "httpress", "press"].iter().any(|front| command.starts_with(&format!("torr {front} "))) {
        // wrk ends after a time only. A second may pass without a response on a machine whose CPUs have other work.
        return shorter(&command, r"-d \d+s", "-d 3s");
    }
    if command.starts_with("torr serve") {
        // It would not end: that its flags are right is all there is to see.
        return format!("{command} --print-config");
    }
    // What is found on a machine that runs other tests at the same time is not the point.
    let command = shorter(&command, r" --budget \S+", "");
    if command.starts_with("torr limit") {
        return format!("{command} --budget 5s --max-connections 8").replace("--max-connections 200 ", "");
    }
    if command.starts_with("torr compare") {
        return format!("{command} --budget 15s -c 4 -q");
    }
    if command.contains(" --sweep ") {
        return format!("{command} --budget 8s --counts 1,2 -c 10 -q");
    }
    if command.starts_with("torr doctor") {
        return format!("{command} --budget 8s -c 10 -q");
    }
    // A number of requests, since a time may pass without a response on a machine whose CPUs have other work. Stages keep their
    // lengths: a number ends them within seconds as well.
    let command = shorter(&command, r"-d \d+[sm]", "-n 50");
    let command = shorter(&command, r"--warmup \d+s", "--warmup 200ms");
    let command = shorter(&command, r"--think \S+", "--think 10ms");
    if command.contains(" --stages ") {
        return format!("{command} -n 20");
    }
    if command.contains(" -n ") { command } else { format!("{command} -n 50") }
}

/// Files that pages name, as their readers have them.
const FILES: [(&str, &str); 6] = [
    ("Cargo.toml", "a file to send"),
    ("token.txt", "correct-horse"),
    ("order.json", r#"{"item": 7}"#),
    (
        "shop.js",
        "import http from 'k6/http';\nimport { check } from 'k6';\nexport default function () {\n  \
         check(http.get('http://127.0.0.1:8080/'), { found: (r) => r.status === 200 });\n}\n",
    ),
    (
        "access.log",
        "10.0.0.1 - - [29/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"curl/8.5.0\"\n\
         10.0.0.1 - - [29/Nov/2026:10:00:01 +0000] \"GET /bytes/9 HTTP/1.1\" 200 5 \"-\" \"curl/8.5.0\"\n",
    ),
    ("post.lua", "wrk.method = \"POST\"\n"),
];

/// The pages with commands in `text` blocks, which this test does not run: how many commands, and why.
const NOT_RUN: [(&str, usize, &str); 8] = [
    (
        "docs/alternatives.md",
        6,
        "they need other programs' servers, one on port 80, or a certificate that the machine trusts",
    ),
    ("docs/compare.md", 1, "it needs archives of two versions"),
    ("docs/cookbook.md", 3, "they need the machines of a fleet, and a proxy on port 80"),
    ("docs/doctor.md", 3, "they need another machine"),
    ("docs/lab.md", 8, "suites take minutes and need other programs' servers"),
    ("docs/plan.md", 2, "they write into folders of the system"),
    ("docs/transport.md", 1, "its server would not end"),
    ("docs/where.md", 5, "they need the web shop, a program of Python"),
];

/// Returns the number of commands of Torr in all blocks of a page, whatever their kind.
fn shown(page: &str) -> usize {
    let command = Regex::new(r"(?m)^([A-Z_]+=(\$\([^)]*\)|\S*) )*torr ").expect("it is a pattern");
    blocks(page).iter().map(|block| command.find_iter(&block.text).count()).sum()
}

/// Writes the files that a page shows, and runs its commands: all except those that [`NOT_RUN`] counts.
fn play(servers: &Servers, name: &str, page: &str) {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), servers.addressed(text)).expect("a file can be written");
    };
    for (name, text) in FILES {
        write(name, text);
    }
    let entry = r#"{"request": {"method": "GET", "url": "http://127.0.0.1:8080/"}, "response": {"status": 200}}"#;
    write("visit.har", &format!(r#"{{"log": {{"entries": [{entry}]}}}}"#));
    std::fs::create_dir(folder.path().join("results")).expect("a folder can be made");
    if page.contains(" before.json ") && !page.contains("--json before.json") {
        for file in ["before.json", "after.json"] {
            let ended =
                run(folder.path(), &servers.addressed(&format!("torr http://127.0.0.1:8080/ -n 500 --json {file}")));
            assert_eq!(ended.code, Some(0), "{ended:?}");
        }
    }
    if page.contains("torr history results") {
        // A change shows in six results or more.
        for day in 1..=6 {
            let command = format!("torr http://127.0.0.1:8080/ -n 500 --json results/{day}.json");
            assert_eq!(run(folder.path(), &servers.addressed(&command)).code, Some(0));
        }
    }
    let mut runs = 0;
    for block in blocks(page).iter().filter(|block| ["", "sh", "toml"].contains(&block.kind)) {
        if let Some((file, text)) = block.text.strip_prefix("# ").and_then(|rest| rest.split_once('\n')) {
            write(file, text);
            continue;
        }
        if block.kind == "toml" {
            continue;
        }
        for command in block.text.lines() {
            let (environment, command) = command.split_at(assignments(command));
            let here = format!("{environment}{}", servers.addressed(&short(command)));
            if !command.starts_with("torr ") {
                // Of other programs only those are run that are small and everywhere.
                if ["cat ", "printf "].iter().any(|known| command.starts_with(known)) {
                    assert_eq!(run(folder.path(), &here).code, Some(0), "{here}");
                }
                continue;
            }
            judge(name, command, &here, &run(folder.path(), &here));
            runs += 1;
        }
    }
    let not_run = NOT_RUN.iter().find(|(listed, ..)| *listed == name).map_or(0, |(_, count, _)| *count);
    assert_eq!(
        runs + not_run,
        shown(page),
        "{name}: commands that were run or are listed in NOT_RUN, and commands that the page shows"
    );
    assert!(runs >= 1, "no command was run of {name}");
}

/// Returns where the command begins behind variables that it is given.
fn assignments(command: &str) -> usize {
    let variables = Regex::new(r"^([A-Z_]+=(\$\([^)]*\)|[^ ]*) )*").expect("it is a pattern");
    variables.find(command).map_or(0, |found| found.end())
}

fn run(folder: &Path, command: &str) -> Ended {
    let mut shell = torr_shell(command);
    shell.current_dir(folder);
    Running::start(shell).wait()
}

fn judge(page: &str, command: &str, here: &str, ended: &Ended) {
    let judges = ["--fail-if", "torr limit ", "plan.toml"].iter().any(|word| command.contains(word));
    let compares = command.starts_with("torr compare ");
    // Beside other tests a machine may take longer for three rounds than a test may.
    let short = ended.code == Some(2) && ended.stderr.contains("is too short to measure");
    let judged = short || judges && ended.code == Some(1) || compares && matches!(ended.code, Some(1 | 4));
    assert!(ended.code == Some(0) || judged, "{page}: {command}\n{here}\n{ended:?}");
    // Command lines of other programs, imports and the dashboard say something on standard error, and so does what runs a k6 script in
    // its own way, or leaves out what is not about streams.
    let speaks = [
        "torr once shop.js",
        "torr doctor shop.js",
        "torr limit shop.js",
        "torr doctor http://127.0.0.1:8080/sse/",
        "torr ab ",
        "torr wrk",
        "torr httpress ",
        "torr press ",
        "torr import ",
        "torr lab ",
        // Says what the format is, and that bodies are missing.
        "torr replay ",
    ];
    // A mix of a log says what was read of it.
    let speaks = compares
        || command.contains("--log ")
        || command.contains("--dashboard")
        || speaks.iter().any(|begin| command.starts_with(begin));
    assert!(judged || speaks || ended.stderr.is_empty(), "{page}: {command}\n{here}\n{ended:?}");
    assert!(!ended.stdout.contains("errors       connect"), "{page}: {command}\n{here}\n{ended:?}");
}

/// Pages whose commands other tests run (`session_guide`, `script_sessions`, `import_guide`, `fleet_guide`, `documentation`,
/// `serve_docs`, `grpc`, `mcp`), and two that have none of `torr`.
const ELSEWHERE: [&str; 11] = [
    "docs/sessions.md",
    "docs/scripts.md",
    "docs/import.md",
    "docs/fleet.md",
    "docs/from-axum.md",
    "docs/grpc.md",
    "docs/mcp.md",
    "docs/why-believe-it.md",
    "docs/serve/configuration.md",
    "docs/serve/edge.md",
    "docs/serve/library.md",
];

#[test]
fn the_commands_of_the_guide_work() {
    let servers = Servers::start();
    let played = pages().into_iter().filter(|(name, _)| !ELSEWHERE.contains(&name.as_str()));
    let pages = Mutex::new(played.collect::<Vec<_>>());
    // Some pages at a time: most commands take a second in which little is done.
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let next = pages.lock().expect("no other thread has failed").pop();
                    let Some((name, text)) = next else { break };
                    play(&servers, &name, &text);
                }
            });
        }
    });
}

#[test]
fn pages_begin_with_a_command_and_the_guide_stays_small() {
    let pages = pages();
    let words: usize = pages.iter().map(|(_, text)| text.split_whitespace().count()).sum();
    assert!(pages.len() <= 39 && words <= 50_500, "{} pages with {words} words", pages.len());
    for (name, text) in &pages {
        let begins = text.lines().take(9).any(|line| line.starts_with("```"));
        assert!(begins, "{name} does not begin with a command");
    }
}
