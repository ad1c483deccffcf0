//! The configuration of `torr serve`: file, environment and flags, their order, their effect, and mistakes in them.

use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read, Write, pipe};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use torr_test_support::client::{get, post};
use torr_test_support::program::{Ended, Running, torr, torr_command};
use torr_test_support::servers::{Serve, free_port};
use torr_test_support::wait_until;

/// A configuration file, and what stands in the environment.
struct Scene {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Scene {
    fn new(file: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        fs::write(folder.path().join("torr.toml"), file).expect("a file can be written");
        Self { folder, variables: Vec::new() }
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("torr.toml")
    }

    /// `torr serve` in the folder of the file, which it does not read unless told to.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = torr_command(&[&["serve"], args].concat());
        command.current_dir(self.folder.path()).envs(self.variables.iter().cloned());
        command
    }

    fn run(&self, args: &[&str]) -> Ended {
        Running::start(self.command(args)).wait()
    }

    fn printed(&self, args: &[&str]) -> Vec<Line> {
        let ended = self.run(&[args, &["--print-config"]].concat());
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{ended:?}");
        ended.stdout.lines().map(Line::of).collect()
    }

    /// A server by the file.
    fn serve(&self, args: &[&str]) -> Serve {
        Serve::start_as(self.command(&[&["--config", "torr.toml", "--listen", "127.0.0.1:0"], args].concat()))
    }
}

/// A line of `--print-config`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    key: String,
    value: String,
    source: String,
}

impl Line {
    fn of(text: &str) -> Self {
        let split = text.split_once(" = ").and_then(|(key, rest)| Some((key, rest.rsplit_once("  # ")?)));
        let (key, (value, source)) = split.unwrap_or_else(|| panic!("no setting: {text}"));
        Self { key: key.into(), value: value.into(), source: source.into() }
    }
}

fn line<'a>(lines: &'a [Line], key: &str) -> &'a Line {
    lines.iter().find(|line| line.key == key).unwrap_or_else(|| panic!("{key} is not in {lines:?}"))
}

/// Every setting, with a value that is not its default as it stands in a file.
const OTHER: &[(&str, &str)] = &[
    ("listen", "\"127.0.0.1:0\""),
    ("processes", "2"),
    ("workers", "3"),
    ("max_head", "1000"),
    ("max_headers", "20"),
    ("max_body", "0"),
    ("max_streamed_body", "1000000"),
    ("max_connections", "50"),
    ("max_connections_per_address", "10"),
    ("requests_per_connection", "1000"),
    ("idle_timeout", "\"5s\""),
    ("head_timeout", "\"1m 30s\""),
    ("body_timeout", "\"250ms\""),
    ("write_timeout", "\"2h\""),
    ("stop_timeout", "\"1s 500ms\""),
    ("stream_stop_timeout", "\"2s\""),
    ("start_timeout", "\"10s\""),
    ("pid_file", "\"/run/torr.pid\""),
    ("backlog", "16"),
    ("defer_accept", "false"),
    ("blocking_threads", "7"),
    ("blocking_queue", "9"),
    ("http2", "false"),
    ("tls_cert", "\"one.pem,two.pem\""),
    ("tls_key", "\"one.key,two.key\""),
    ("tls_client_ca", "\"ca.pem\""),
    ("log_level", "\"debug\""),
    ("server_name", "\"The \\\"server\\\" = # 5\""),
    ("trusted_proxies", "\"10.0.0.0/8, ::1, loopback, private, unix\""),
    ("forwarded_field", "\"forwarded\""),
    ("proxy_protocol", "\"required\""),
    ("request_ids", "true"),
    ("access_log", "\"a # log\""),
    ("access_log_format", "\"json\""),
    ("database", "\"sqlite:a # b.db\""),
    ("db_mode", "\"blocking\""),
    ("db_pipelined", "true"),
    ("db_pool_size", "3"),
    ("db_acquire_timeout", "\"1s\""),
    ("db_connect_timeout", "\"2s\""),
    ("db_statement_timeout", "\"3s\""),
    ("db_rows", "10"),
    ("cache", "\"redis://127.0.0.1:6379/3\""),
    ("cache_ttl", "\"2s\""),
    ("cache_timeout", "\"3s\""),
];

fn other_file() -> String {
    OTHER.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
}

/// A value as it stands in a variable or behind a flag.
fn bare(value: &str) -> String {
    value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value).replace("\\\"", "\"")
}

fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

fn variable(key: &str) -> String {
    format!("TORR_SERVE_{}", key.to_uppercase())
}

/// TOML has more than one way to write a text.
fn same_text(a: &str, b: &str) -> bool {
    let plain = |text: &str| text.trim_matches(['"', '\'']).replace("\\\"", "\"");
    plain(a) == plain(b)
}

// What is set, and by whom.

#[test]
fn every_setting_can_be_set_in_each_place() {
    let by_file = Scene::new(other_file()).printed(&["--config", "torr.toml"]);
    let scene = OTHER.iter().fold(Scene::new(""), |scene, (key, value)| scene.variable(&variable(key), &bare(value)));
    let by_variable = scene.printed(&[]);
    let flags: Vec<_> = OTHER.iter().flat_map(|(key, value)| [flag(key), bare(value)]).collect();
    let by_flag = Scene::new("").printed(&flags.iter().map(String::as_str).collect::<Vec<_>>());
    for (number, (key, value)) in OTHER.iter().enumerate() {
        for (lines, source) in [
            (&by_file, format!("file torr.toml, line {}", number + 1)),
            (&by_variable, format!("environment, {}", variable(key))),
            (&by_flag, format!("flag {}", flag(key))),
        ] {
            let line = line(lines, key);
            assert!(same_text(&line.value, value), "{key}: {line:?}");
            assert_eq!(line.source, source, "{key}");
        }
    }
    let known: Vec<_> = Scene::new("").printed(&[]).into_iter().map(|line| line.key).collect();
    assert_eq!(known, OTHER.iter().map(|(key, _)| *key).collect::<Vec<_>>(), "all settings are tested");
}

#[test]
fn users_and_passwords_are_left_out_with_a_note() {
    let lines = Scene::new("cache = \"redis://:secret@h/3\"").printed(&[
        "--config",
        "torr.toml",
        "--database",
        "mysql://a:b@h/d",
    ]);
    let note = "; what *** stands for is not shown";
    for (key, value, source) in
        [("cache", "redis://***@h/3", "file torr.toml, line 1"), ("database", "mysql://***@h/d", "flag --database")]
    {
        let line = line(&lines, key);
        assert_eq!((line.value.trim_matches('"'), &*line.source), (value, &*format!("{source}{note}")), "{key}");
    }
}

#[test]
fn flags_are_stronger_than_variables_and_those_than_the_file() {
    let scene = Scene::new("max_head = 1\n\nmax_headers = 1\n# not this\nmax_body = 1\n");
    let scene = scene.variable("TORR_SERVE_MAX_HEADERS", "2").variable("TORR_SERVE_MAX_BODY", "2");
    let lines = scene.printed(&["--config", "torr.toml", "--max-body", "3"]);
    for (key, value, source) in [
        ("max_head", "1", "file torr.toml, line 1"),
        ("max_headers", "2", "environment, TORR_SERVE_MAX_HEADERS"),
        ("max_body", "3", "flag --max-body"),
        ("max_connections", "100000", "default"),
    ] {
        let line = line(&lines, key);
        assert_eq!((&*line.value, &*line.source), (value, source), "{key}");
    }
}

#[test]
fn what_is_printed_can_be_read_back() {
    for first in ["", &other_file()] {
        let scene = Scene::new(first);
        let printed = scene.run(&["--config", "torr.toml", "--print-config"]);
        fs::write(scene.file(), &printed.stdout).expect("a file can be written");
        let values = |lines: Vec<Line>| lines.into_iter().map(|line| (line.key, line.value)).collect::<Vec<_>>();
        let again = values(scene.printed(&["--config", "torr.toml"]));
        assert_eq!(again, values(printed.stdout.lines().map(Line::of).collect()));
    }
}

#[test]
fn a_variable_names_the_file_unless_a_flag_does() {
    let scene = Scene::new("workers = 7").variable("TORR_SERVE_CONFIG", "torr.toml");
    assert_eq!(line(&scene.printed(&[]), "workers").value, "7");
    fs::write(scene.folder.path().join("other.toml"), "workers = 8").expect("a file can be written");
    let lines = scene.printed(&["--config", "other.toml"]);
    assert_eq!((&*line(&lines, "workers").value, &*line(&lines, "workers").source), ("8", "file other.toml, line 1"));
}

#[test]
fn a_file_can_write_values_in_more_than_one_way() {
    let scene = Scene::new("\"workers\" = 0x1_0\r\nidle_timeout = 5\r\nhead_timeout = 0.25\r\nserver_name = 'a'\r\n");
    let lines = scene.printed(&["--config", "torr.toml"]);
    let values = ["workers", "idle_timeout", "head_timeout"].map(|key| line(&lines, key).value.clone());
    assert_eq!(values, ["16", "\"5s\"", "\"250ms\""]);
}

#[test]
fn the_name_of_a_file_cannot_break_what_is_printed() {
    let scene = Scene::new("");
    fs::write(scene.folder.path().join("a\nb"), "workers = 8\nx = 1").expect("a file can be written");
    let ended = scene.run(&["--config", "a\nb"]);
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{ended:?}");
    fs::write(scene.folder.path().join("a\nb"), "workers = 8").expect("a file can be written");
    assert_eq!(line(&scene.printed(&["--config", "a\nb"]), "workers").source, "file a?b, line 1");
}

// What it does.

#[test]
fn a_server_does_as_each_place_says() {
    let scene = Scene::new("max_body = 4\nworkers = 1\n").variable("TORR_SERVE_MAX_HEAD", "200");
    let server = scene.serve(&["--max-headers", "2"]);
    let mut client = server.client();
    client.send(post("/echo", "four"));
    assert_eq!(client.answer().text(), "four");
    client.send(post("/echo", "five!"));
    assert_eq!(client.answer().status, 413);
    let fields = |n: usize| (0..n).map(|i| format!("X{i}: x\r\n")).collect::<String>();
    for (fields, status) in [
        (fields(1), 200),
        (fields(2), 431),
        (format!("X: {}\r\n", "x".repeat(100)), 200),
        (format!("X: {}\r\n", "x".repeat(200)), 431),
    ] {
        let mut client = server.client();
        client.send(format!("GET / HTTP/1.1\r\nHost: x\r\n{fields}\r\n"));
        assert_eq!(client.answer().status, status, "{fields}");
    }
}

#[test]
fn the_server_has_the_name_that_it_is_given() {
    let server = Scene::new("server_name = \"by file: \\\"1\\\"\"").serve(&[]);
    let answer = server.exchange(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(answer.contains("\r\nServer: by file: \"1\"\r\n"), "{answer}");
}

#[test]
fn connections_are_as_many_as_the_file_says() {
    let server = Scene::new("max_connections = 1").serve(&[]);
    let mut first = server.client();
    assert_eq!(first.get("/").status, 200);
    let mut second = server.client();
    second.send(get("/"));
    assert_eq!(second.answer().status, 503);
    assert_eq!(first.get("/").status, 200);
}

#[test]
fn connections_of_an_address_are_as_many_as_the_file_says() {
    let file = "max_connections_per_address = 1\nworkers = 2\n";
    let server = Scene::new(file).serve(&[]);
    let mut first = server.client();
    assert_eq!(first.get("/").status, 200);
    let mut second = server.client();
    second.send(get("/"));
    assert_eq!(second.answer().status, 503);
    drop(first);
    let served = || {
        let mut third = server.client();
        third.send(get("/"));
        (third.answer().status == 200).then_some(())
    };
    wait_until("the first to have left its place", served);

    // A trusted proxy has the connections of many.
    let server = Scene::new(format!("{file}trusted_proxies = 'loopback'")).serve(&[]);
    let mut clients = [server.client(), server.client()];
    clients.iter_mut().for_each(|client| assert_eq!(client.get("/").status, 200));
}

/// Checks that something ends long before it would by default.
fn within<T>(default: u64, what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    assert!(start.elapsed() < Duration::from_secs(default), "{what}: only after {:?}", start.elapsed());
    done
}

#[test]
fn timeouts_are_those_of_the_file() {
    let server = Scene::new("idle_timeout = '100ms'").serve(&[]);
    let mut idle = server.client();
    assert_eq!(idle.get("/").status, 200);
    within(75, "idle", || idle.ends());
    for (setting, default, unfinished) in [
        ("head_timeout", 10, "GET / HTTP/1.1\r\nHos"),
        ("body_timeout", 60, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nfour"),
    ] {
        let server = Scene::new(format!("{setting} = 0.001")).serve(&[]);
        let mut client = server.client();
        client.send(unfinished);
        assert_eq!(within(default, setting, || client.answer()).status, 408, "{setting}");
    }
    let mut server = Scene::new("stop_timeout = '1ms'\nworkers = 1").serve(&[]);
    let mut client = server.client();
    // By the answer to the first the second is known to be under way.
    client.send(get("/healthz") + &get("/sleep/3600000"));
    assert_eq!(client.answer().status, 200);
    server.terminate();
    assert_eq!(within(30, "stop_timeout", || server.wait()), Some(0));
}

#[test]
fn the_largest_values_do_no_harm() {
    let largest = i64::MAX;
    let years = "\"9years\"";
    let scene = Scene::new(format!(
        "max_head = {largest}\nmax_headers = 256\nmax_body = {largest}\nmax_connections = {largest}\nbacklog = {}\n\
         idle_timeout = {years}\nhead_timeout = {years}\nbody_timeout = {years}\nwrite_timeout = {years}\n\
         stop_timeout = {years}\nworkers = 1\n",
        i32::MAX
    ));
    let mut server = scene.serve(&[]);
    let mut client = server.client();
    client.send(post("/echo", "hello"));
    assert_eq!(client.answer().text(), "hello");
    assert_eq!(client.get("/").status, 200);
    server.terminate();
    client.ends();
    assert_eq!(server.wait(), Some(0));
}

// Mistakes.

fn one_line(ended: &Ended, shown: &str) {
    assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{shown}: {ended:?}");
    assert!(ended.stderr.starts_with("torr: ") && ended.stderr.lines().count() == 1, "{shown}: {}", ended.stderr);
}

#[test]
fn mistakes_in_a_file_get_one_line_with_their_place() {
    let cases: &[(&str, &str)] = &[
        ("\nworkesr = 4", "torr.toml:2: unknown key 'workesr' (did you mean 'workers'?)"),
        ("max-head = 4", "torr.toml:1: unknown key 'max-head' (did you mean 'max_head'?)"),
        ("MAX_HEAD = 4", "unknown key 'MAX_HEAD' (did you mean 'max_head'?)"),
        ("xyz = 1", "unknown key 'xyz' (see 'torr serve --print-config' for all keys)"),
        ("\"a\\nb\" = 1", "unknown key 'a b'"),
        ("workers = 1\n\n[server]\nworkers = 4", "torr.toml:3: unknown key 'server' (there are no tables"),
        ("workers = 1\n\n# x\nworkers = 5", "torr.toml:4: duplicate key at 'workers = 5'"),
        ("idle_timeout = \"1s\"\nzzz = 1\naaa = 1", "torr.toml:2: unknown key 'zzz'"),
        ("workers = \"4\"", "workers must be a whole number from 1 to 4096, not \"4\" (did you mean workers = 4?)"),
        ("workers = 0", "workers must be a whole number from 1 to 4096, not 0"),
        ("workers = -1", "not -1"),
        ("workers = 4.5", "not 4.5"),
        ("workers = 4097", "not 4097"),
        ("workers = 99999999999999999999999999999999999999999999", "workers must be a whole number"),
        ("workers = true", "not true"),
        ("workers = 2026-01-01", "not 2026-01-01"),
        ("workers = [4]", "not an array"),
        ("workers.n = 4", "not a table"),
        ("[workers]\nn = 4", "workers must be a whole number from 1 to 4096, not a table"),
        ("max_headers = 257", "max_headers must be a whole number from 1 to 256, not 257"),
        ("max_body = 9223372036854775808", "max_body must be a whole number from 0 up"),
        ("backlog = 2147483648", "backlog must be"),
        ("idle_timeout = \"1 parsec\"", "idle_timeout must be a duration such as 10s, 500ms or 2m, not \"1 parsec\""),
        ("idle_timeout = 0", "not 0"),
        ("idle_timeout = nan", "not nan"),
        ("idle_timeout = 10s # short", "not 10s # short (did you mean idle_timeout = \"10s\"?)"),
        ("listen = 127.0.0.1:80", "not 127.0.0.1:80 (did you mean listen = \"127.0.0.1:80\"?)"),
        ("listen = \"nowhere\"", "listen must be an address to listen on, such as 127.0.0.1:8080, not \"nowhere\""),
        ("listen = 8080", "not 8080"),
        ("defer_accept = yes", "defer_accept must be true or false, not yes"),
        ("defer_accept = \"true\"", "not \"true\" (did you mean defer_accept = true?)"),
        ("server_name = \"a\\r\\nX: y\"", "server_name must be 1 to 100 printable ASCII characters"),
        ("server_name = \"\"\"a\nb\"\"\"", "not \"\"\"a b\"\"\""),
        ("server_name = \"\"", "server_name must be"),
        ("max_connections_per_address = -1", "max_connections_per_address must be a whole number from 0 up, not -1"),
        ("trusted_proxies = \"10.0.0.0/33\"", "not \"10.0.0.0/33\""),
        ("trusted_proxies = 10.0.0.1", "not 10.0.0.1 (did you mean trusted_proxies = \"10.0.0.1\"?)"),
        ("trusted_proxies = [\"10.0.0.1\"]", "trusted_proxies must be addresses and networks with commas between them"),
        (
            "forwarded_field = \"x-client\"",
            "forwarded_field must be x-forwarded-for, forwarded or x-real-ip, not \"x-client\"",
        ),
        ("proxy_protocol = \"optional\"", "proxy_protocol must be off or required, not \"optional\""),
        ("proxy_protocol = true", "not true"),
        ("request_ids = 1", "request_ids must be true or false, not 1"),
        ("access_log = \"a\\nb\"", "access_log must be the name of a file, - for standard output, or nothing"),
        ("access_log_format = \"apache\"", "access_log_format must be common, combined or json, not \"apache\""),
        ("\n\nworkers =", "torr.toml:3: "),
        ("workers", "torr.toml:1: "),
        ("[", "torr.toml:1: "),
        ("server_name = \"\"\"a", "torr.toml:1: "),
    ];
    for (file, words) in cases {
        let scene = Scene::new(file);
        for args in [&["--config", "torr.toml"][..], &["--config", "torr.toml", "--workers", "2", "--print-config"]] {
            let ended = scene.run(args);
            one_line(&ended, file);
            assert!(ended.stderr.contains(words) && ended.stderr.contains("torr.toml:"), "{file}: {}", ended.stderr);
        }
    }
    let scene = Scene::new(b"\xff\xfe");
    for (file, words) in [("none.toml", "No such file"), ("/", "directory"), ("torr.toml", "UTF-8")] {
        let ended = scene.run(&["--config", file]);
        one_line(&ended, file);
        assert!(ended.stderr.contains(file) && ended.stderr.contains(words), "{file}: {}", ended.stderr);
    }
}

#[test]
fn mistakes_in_the_environment_get_one_line() {
    for (name, value, words) in [
        ("TORR_SERVE_WORKERS", "0", "TORR_SERVE_WORKERS must be a whole number from 1 to 4096, not '0'"),
        ("TORR_SERVE_WORKERS", "", "not ''"),
        ("TORR_SERVE_WORKERS", "a\nb", "not 'a\\nb'"),
        ("TORR_SERVE_IDLE_TIMEOUT", "soon", "TORR_SERVE_IDLE_TIMEOUT must be a duration"),
        ("TORR_SERVE_WROKERS", "1", "unknown variable TORR_SERVE_WROKERS (did you mean 'TORR_SERVE_WORKERS'?)"),
        ("TORR_SERVE_MAXHEAD", "1", "(did you mean 'TORR_SERVE_MAX_HEAD'?)"),
        ("TORR_SERVE_CONFIGS", "1", "(did you mean 'TORR_SERVE_CONFIG'?)"),
        ("TORR_SERVE_CONFIG", "/no/such/file", "/no/such/file"),
        ("TORR_SERVE_LISTEN", "no-such-host.invalid:80", "(environment, TORR_SERVE_LISTEN)"),
    ] {
        // A mistake is one although a flag is stronger.
        let flags: &[&str] = if name.ends_with("LISTEN") { &[] } else { &["--workers", "1", "--idle-timeout", "1s"] };
        let ended = Scene::new("").variable(name, value).run(flags);
        one_line(&ended, name);
        assert!(ended.stderr.contains(words), "{name}={value}: {}", ended.stderr);
    }
}

#[test]
fn variables_that_kubernetes_sets_for_a_service_of_this_name_are_left_alone() {
    let mut scene = Scene::new("");
    for name in ["SERVICE_HOST", "SERVICE_PORT", "PORT", "PORT_80_TCP", "PORT_80_TCP_ADDR", "PORT_80_TCP_PROTO"] {
        scene = scene.variable(&format!("TORR_SERVE_{name}"), "tcp://10.0.0.1:80");
    }
    assert!(scene.printed(&[]).iter().all(|line| line.source.starts_with("default")));
}

#[test]
fn the_demo_is_not_disturbed_by_the_server_s_variables() {
    // With these its server would not start.
    let scene = Scene::new("").variable("TORR_SERVE_WORKERS", "none").variable("TORR_SERVE_CONFIG", "/no/such/file");
    let mut command = torr_command(&["demo", "--quick", "--json", "demo.json"]);
    command.current_dir(scene.folder.path()).envs(scene.variables.iter().cloned());
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

// The documentation.

#[test]
fn the_help_and_the_guide_tell_every_setting() {
    let help = torr(&["serve", "--help"]).stdout;
    let guide = include_str!("../../docs/serve.md");
    let rows: BTreeSet<_> = guide.lines().filter(|line| line.starts_with("| `")).collect();
    for line in Scene::new("").printed(&[]) {
        let (flag, variable) = (flag(&line.key), variable(&line.key));
        assert!(help.contains(&format!("{flag} <")), "{flag}: {help}");
        let default = match line.source.strip_prefix("default, ") {
            Some(what) => what.to_owned(),
            None => format!("`{}`", line.value),
        };
        let row = format!("| `{}` | `{flag}` | `{variable}` | {default} | ", line.key);
        assert!(rows.iter().any(|known| known.starts_with(&row)), "docs/serve.md has no row {row}");
    }
}

/// The blocks of the guide's section on configuration, without the words behind their fences.
fn blocks() -> Vec<&'static str> {
    let guide = include_str!("../../docs/serve.md");
    let section =
        guide.split("\n## ").find(|section| section.starts_with("Configuration")).expect("it has this section");
    let within = section.split("\n```").skip(1).step_by(2);
    within.map(|block| block.split_once('\n').expect("a fence ends its line").1).collect()
}

#[test]
fn the_examples_of_the_guide_are_true() {
    let [command, file, printed, mistakes] = blocks()[..] else { panic!("other blocks: {:?}", blocks()) };
    assert_eq!(command, "TORR_SERVE_MAX_BODY=65536 torr serve --config torr.toml --workers 4");
    let scene = Scene::new(file).variable("TORR_SERVE_MAX_BODY", "65536");
    let lines = scene.printed(&["--config", "torr.toml", "--workers", "4"]);
    assert_eq!(printed.lines().map(Line::of).collect::<Vec<_>>(), lines[..6]);
    assert_eq!(line(&lines, "idle_timeout").source, "file torr.toml, line 4");

    let said = [("\nworkesr = 4", "1"), ("\n\nworkers = \"4\"", "1"), ("", "0")].map(|(file, workers)| {
        let ended = Scene::new(file).variable("TORR_SERVE_WORKERS", workers).run(&["--config", "torr.toml"]);
        one_line(&ended, file);
        ended.stderr
    });
    assert_eq!(said.concat().trim_end(), mistakes);
}

// Signals.

/// A process that is killed at the end of the test, if it still runs.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Killed {
    fn terminate(&self) {
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).expect("a child has a process id");
        kill_process(pid, Signal::TERM).expect("a child can be told to end");
    }

    /// Whether its first thread waits for something.
    fn waits(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).expect("it runs");
        stat.rsplit_once(") ").expect("a name stands in brackets").1.starts_with('S')
    }
}

#[test]
fn a_signal_while_it_says_where_it_listens_lets_it_leave_in_order() {
    // A full pipe holds it up there.
    let (mut reader, mut writer) = pipe().expect("there are pipes");
    ioctl_fionbio(&writer, true).expect("a pipe can be told not to wait");
    for piece in [4096, 1] {
        let full = loop {
            if let Err(error) = writer.write(&vec![b'.'; piece]) {
                break error;
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
    }
    ioctl_fionbio(&writer, false).expect("a pipe can be told to wait");
    let address = format!("127.0.0.1:{}", free_port());
    let mut command = torr_command(&["serve", "--listen", &address, "--workers", "1"]);
    let mut server = Killed(command.stdin(Stdio::null()).stderr(writer).spawn().expect("torr starts"));
    // Only now is there no other writer left.
    drop(command);
    wait_until("the server to listen", || TcpStream::connect(&address).ok());
    let mut seen = 0;
    wait_until("the server to wait for the pipe", || {
        seen = if server.waits() { seen + 1 } else { 0 };
        (seen == 5).then_some(())
    });
    server.terminate();
    let said = thread::spawn(move || {
        let mut said = String::new();
        reader.read_to_string(&mut said).expect("a pipe can be read");
        said
    });
    let status = wait_until("the server to end", || server.0.try_wait().expect("a child can be waited for"));
    assert_eq!(status.code(), Some(0), "{status}");
    let said = said.join().expect("reading does not panic");
    assert!(
        said.ends_with(&format!("torr: serving on http://{address} with 1 worker\n")),
        "{}",
        said.trim_start_matches('.')
    );
}

#[test]
fn a_signal_right_after_it_said_where_it_listens_lets_it_leave_in_order() {
    for round in 0..20 {
        let mut server = Serve::start(&["--workers", "1"]);
        let pid = i32::try_from(server.pid()).ok().and_then(Pid::from_raw).expect("a child has a process id");
        kill_process(pid, Signal::TERM).expect("a child can be told to end");
        assert_eq!(server.wait(), Some(0), "round {round}");
    }
}
