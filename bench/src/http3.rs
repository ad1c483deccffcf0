//! What HTTP/3 costs: CPU time of the load and of the server beside HTTP/2 over TLS, quic-go and Caddy, and the memory of a connection.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use clap::Args;
use serde::Serialize;

use crate::archive;
use crate::built::{Build, By, on_path};
use crate::candidates::TORR;
use crate::candidates::arguments::words;
use crate::candidates::certificate;
use crate::candidates::tally;
use crate::child::{self, Server, free_port};
use crate::machine::{self, Machine};
use crate::options::{RunOptions, Size};
use crate::report::table;
use crate::roster::Roster;
use crate::rounds::{self, Ratio, Row, Skipped, Taken, median, turns};
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// How HTTP/3 is measured.
#[derive(Args)]
pub struct Http3Options {
    /// How many turns, and how long.
    #[command(flatten)]
    pub size: Size,
    /// Idle connections whose memory in the server is measured
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub held: u32,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}

/// The connections, and the requests in flight on each.
const CONNECTIONS: u32 = 10;
const IN_FLIGHT: u32 = 10;
/// The seconds for which connections are held, and the requests on all of them in a second.
const HELD_SECONDS: u32 = 40;
const HELD_RATE: u32 = 500;

/// A candidate: who loads, what and how.
#[derive(Clone, Copy)]
struct Candidate {
    name: &'static str,
    /// The candidate beside which the load's cost stands, and the one beside which the server's does.
    load_beside: Option<&'static str>,
    server_beside: Option<&'static str>,
    server: &'static str,
    path: &'static str,
    /// The flag of Torr's load; quic-go loads where there is none.
    flag: Option<&'static str>,
}

const SERVE: &str = "torr serve";
const CADDY: &str = "caddy";
const SMALL: &str = "/bytes/1000";
const LARGE: &str = "/bytes/128000";

const CANDIDATES: [Candidate; 9] = [
    torr("torr, HTTP/2, 1 kB", None, SMALL, "--http2"),
    torr("torr, HTTP/3, 1 kB", Some("torr, HTTP/2, 1 kB"), SMALL, "--http3"),
    quic_go("quic-go, 1 kB", "torr, HTTP/3, 1 kB", SMALL),
    torr("torr, HTTP/2, 128 kB", None, LARGE, "--http2"),
    torr("torr, HTTP/3, 128 kB", Some("torr, HTTP/2, 128 kB"), LARGE, "--http3"),
    quic_go("quic-go, 128 kB", "torr, HTTP/3, 128 kB", LARGE),
    torr("torr, HTTP/2, hello", None, "/plaintext", "--http2"),
    torr("torr, HTTP/3, hello", Some("torr, HTTP/2, hello"), "/plaintext", "--http3"),
    Candidate {
        name: "torr on Caddy, HTTP/3, hello",
        load_beside: None,
        server_beside: Some("torr, HTTP/3, hello"),
        server: CADDY,
        path: "/plaintext",
        flag: Some("--http3"),
    },
];

const fn torr(name: &'static str, beside: Option<&'static str>, path: &'static str, flag: &'static str) -> Candidate {
    Candidate { name, load_beside: beside, server_beside: beside, server: SERVE, path, flag: Some(flag) }
}

const fn quic_go(name: &'static str, beside: &'static str, path: &'static str) -> Candidate {
    Candidate { name, load_beside: Some(beside), server_beside: None, server: SERVE, path, flag: None }
}

/// The load by quic-go, and the module that has its version.
const QUIC_GO: Build = Build { by: By::Go, folder: "tests/http3/load", package: "quic-go-load", tells: &[] };
const MODULE: Build =
    Build { by: By::Go, folder: "tests/http3", package: "quic-go", tells: &["github.com/quic-go/quic-go"] };

/// One turn.
#[derive(Serialize)]
struct Turn {
    requests: u64,
    load_us: f64,
    server_us: f64,
    /// Of the generator's CPU.
    busy: f64,
}

impl std::fmt::Display for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (load, server, busy) = (self.load_us, self.server_us, self.busy * 100.0);
        write!(f, "{load:.2} and {server:.2} CPU us each of {}, {busy:.0}% of a CPU", self.requests)
    }
}

/// A report, as it is archived.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    started_at: String,
    quick: bool,
    machine: Machine,
    quic_go: Option<String>,
    caddy: Option<String>,
    results: Vec<Outcome>,
    held: Held,
    skipped: Vec<Skipped>,
    turns: Vec<Row<Turn>>,
}

#[derive(Serialize)]
struct Outcome {
    candidate: &'static str,
    load_us: f64,
    server_us: f64,
    busy: f64,
    load_beside: Option<(&'static str, Ratio)>,
    server_beside: Option<(&'static str, Ratio)>,
}

/// The memory of the server's connections.
#[derive(Serialize)]
struct Held {
    connections: u32,
    kib_before: u64,
    kib: u64,
    bytes_each: f64,
}

/// Two network namespaces joined by a link with an MTU of 1,500: that of the loopback would hide what datagrams cost. The servers are in the
/// program's own. It ends when this is dropped.
struct Link {
    namespace: String,
}

/// This side's address. The other's is the next.
const ADDRESS: &str = "10.213.77.1";

impl Link {
    fn new() -> Result<Self, Error> {
        let name = format!("torr-bench-{}", std::process::id());
        let link = Link { namespace: name.clone() };
        let (here, there) = ("torr-bench-a", "torr-bench-b");
        for command in [
            format!("netns add {name}"),
            format!("link add {here} type veth peer name {there} netns {name}"),
            format!("addr add {ADDRESS}/30 dev {here}"),
            format!("link set {here} up"),
            format!("-n {name} addr add 10.213.77.2/30 dev {there}"),
            format!("-n {name} link set {there} up"),
            format!("-n {name} link set lo up"),
        ] {
            let done = Command::new("ip").args(words(&command)).output()?;
            if !done.status.success() {
                let why = String::from_utf8_lossy(&done.stderr);
                return Err(Error::failed(format!("cannot make a network namespace (ip {command}): {}", why.trim())));
            }
        }
        Ok(link)
    }

    /// Returns the words that run a program in the other namespace.
    fn within(&self, program: &str, arguments: &str) -> Vec<String> {
        words(&format!("netns exec {} {program} {arguments}", self.namespace))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // With the namespace goes its end of the link, and with that the other.
        let _ = Command::new("ip").args(["netns", "del", &self.namespace]).status();
    }
}

/// What the turns are made with.
struct Scene<'a> {
    options: &'a Http3Options,
    torr: &'a str,
    quic_go: &'a str,
    certificate: &'a str,
    folder: &'a Path,
    link: &'a Link,
    server: Server,
    caddy: Option<Server>,
}

/// Measures all candidates in turns, then the memory, prints the tables and archives them.
pub fn run(options: &Http3Options) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(options.held)?;
    let roster = Roster::torr(options.run.torr.as_deref())?;
    let quic_go = QUIC_GO.run()?.to_string_lossy().into_owned();
    let (started, machine) = (SystemTime::now(), Machine::describe(&roster));
    let folder = tempfile::tempdir()?;
    let [certificate, key] = certificate::files_for(folder.path(), &["localhost", ADDRESS])?;
    let (certificate, key) = (certificate.to_string_lossy(), key.to_string_lossy());
    let link = Link::new()?;
    let port = free_port()?;
    let most = options.held + 100;
    let serve = format!(
        "serve --workers 1 --http3 --listen 0.0.0.0:{port} --tls-cert {certificate} --tls-key {key} --max-connections {most}"
    );
    let server = Server::start(SERVE, port, roster.program(TORR), &words(&serve), folder.path())?;
    let caddy = on_path(CADDY).map(|program| caddy(&program, folder.path(), &certificate, &key)).transpose()?;
    let (torr, folder) = (roster.program(TORR), folder.path());
    let mut scene =
        Scene { options, torr, quic_go: &quic_go, certificate: &certificate, folder, link: &link, server, caddy };

    let held = scene.hold()?;
    let names = CANDIDATES.map(|candidate| candidate.name).to_vec();
    let Taken { candidates, skipped, rows } =
        rounds::take("http3", options.size.rounds(), names, Vec::new(), |name| scene.take(name))?;
    let of = |name: &str, figure: fn(&Turn) -> f64| median(turns(&rows, name).map(figure).collect());
    let beside = |name: &str, other: Option<&'static str>, figure: fn(&Turn) -> f64| {
        let other = other.filter(|other| candidates.contains(other))?;
        Some((other, Ratio::between(&rows, name, other, figure)))
    };
    let taken = CANDIDATES.iter().filter(|candidate| candidates.contains(&candidate.name));
    let results = taken.map(|&Candidate { name, load_beside, server_beside, .. }| Outcome {
        candidate: name,
        load_us: of(name, |turn| turn.load_us),
        server_us: of(name, |turn| turn.server_us),
        busy: of(name, |turn| turn.busy),
        load_beside: beside(name, load_beside, |turn| turn.load_us),
        server_beside: beside(name, server_beside, |turn| turn.server_us),
    });
    let results = results.collect();
    let (schema, started_at, quick) = ("torr.bench.http3/1", archive::moment(started), options.size.quick);
    let caddy = on_path(CADDY).and_then(|program| {
        let said = Command::new(program).arg("version").output().ok()?;
        String::from_utf8_lossy(&said.stdout).split_whitespace().next().map(str::to_owned)
    });
    let quic_go = MODULE.version();
    let report = Report { schema, started_at, quick, machine, quic_go, caddy, results, held, skipped, turns: rows };
    let text = markdown(&report, options);
    archive::show(&options.run, &report.started_at, &report.machine, "http3", &report, &text)
}

/// Starts Caddy with one page.
fn caddy(program: &Path, folder: &Path, certificate: &str, key: &str) -> Result<Server, Error> {
    let port = free_port()?;
    let site = format!(
        "{{\n  admin off\n  auto_https off\n  default_sni localhost\n  storage file_system {0}\n}}\nhttps://:{port} {{\n  tls {certificate} {key}\n  header \
         Content-Type text/plain\n  respond \"Hello, World!\"\n}}\n",
        folder.display()
    );
    let file = folder.join("Caddyfile");
    fs::write(&file, site)?;
    let arguments = format!("run --adapter caddyfile --config {}", file.display());
    Server::start(CADDY, port, &program.to_string_lossy(), &words(&arguments), folder)
}

impl Scene<'_> {
    fn take(&mut self, name: &'static str) -> Result<Turn, Error> {
        let candidate = CANDIDATES.iter().find(|candidate| candidate.name == name);
        let candidate = candidate.ok_or_else(|| Error::failed("it is no candidate"))?;
        let seconds = self.options.size.seconds();
        let server = match candidate.server {
            CADDY => self.caddy.as_mut().ok_or_else(|| Error::failed("it is not on the PATH"))?,
            _ => &mut self.server,
        };
        let url = format!("https://{ADDRESS}:{}{}", server.port(), candidate.path);
        let certificate = self.certificate;
        let arguments = match candidate.flag {
            Some(flag) => self.link.within(
                self.torr,
                &format!(
                    "{flag} -t 1 -c {CONNECTIONS} --streams {IN_FLIGHT} -d {seconds} --cacert {certificate} --json - {url}"
                ),
            ),
            None => {
                self.link.within(self.quic_go, &format!("{certificate} {url} {CONNECTIONS} {IN_FLIGHT} {seconds}"))
            }
        };
        let before = server.cpu_at_rest()?;
        let limit = Duration::from_secs(u64::from(seconds) + 30);
        let ended = child::run(name, "ip", &arguments, self.folder, limit)?;
        let server_seconds = server.cpu_at_rest()? - before;
        let requests = match candidate.flag {
            Some(_) => tally::torr(&ended.stdout).filter(|tally| tally.failed == 0).map(|tally| tally.requests),
            None => ended.stdout.trim().parse().ok(),
        };
        let requests = requests
            .filter(|requests| *requests > 0)
            .ok_or_else(|| Error::failed(format!("requests failed, or none were counted: {}", ended.last_words)))?;
        let each = |seconds: f64| seconds / requests as f64 * 1e6;
        Ok(Turn {
            requests,
            load_us: each(ended.cpu_seconds),
            server_us: each(server_seconds),
            busy: ended.cpu_seconds / ended.wall_seconds,
        })
    }

    /// Returns the memory of so many connections, each of which has had one response and is idle.
    fn hold(&mut self) -> Result<Held, Error> {
        let connections = self.options.held;
        let kib_before = child::resident_memory(self.server.pid())?;
        let url = format!("https://{ADDRESS}:{}/plaintext", self.server.port());
        let certificate = self.certificate;
        let arguments = self.link.within(
            self.torr,
            &format!(
                "--http3 -t 1 -c {connections} --max-rate {HELD_RATE} -d {HELD_SECONDS} --timeout 60s --tls-resumption off --cacert \
                 {certificate} --json - {url}"
            ),
        );
        let mut kib = 0;
        let pid = self.server.pid();
        let limit = Duration::from_secs(u64::from(HELD_SECONDS) + 120);
        let ended = child::run_while(SERVE, "ip", &arguments, self.folder, limit, || {
            kib = child::resident_memory(pid)?.max(kib);
            Ok(())
        })?;
        let result: serde_json::Value =
            serde_json::from_str(&ended.stdout).map_err(|_| Error::failed(ended.last_words))?;
        let opened = result["connections"]["peak"].as_u64().unwrap_or(0);
        if opened < u64::from(connections) {
            return Err(Error::failed(format!("{opened} connections of {connections} were open at a time")));
        }
        let bytes_each = (kib as f64 - kib_before as f64) * 1024.0 / f64::from(connections);
        eprintln!("{connections} connections: {kib} KiB in the server, {kib_before} KiB before");
        Ok(Held { connections, kib_before, kib, bytes_each })
    }
}

fn markdown(report: &Report, options: &Http3Options) -> String {
    let header =
        ["", "load, CPU us", "server, CPU us", "of a CPU", "load beside", "x", "range", "server beside", "x", "range"];
    let header = header.map(str::to_owned).to_vec();
    let ratio = |beside: &Option<(&'static str, Ratio)>| match beside {
        Some((other, ratio)) => {
            [(*other).to_owned(), format!("{:.2}", ratio.median), format!("{:.2} to {:.2}", ratio.min, ratio.max)]
        }
        None => Default::default(),
    };
    let row = |result: &Outcome| {
        let (load, server) = (format!("{:.2}", result.load_us), format!("{:.2}", result.server_us));
        let first = [result.candidate.to_owned(), load, server, format!("{:.0}%", result.busy * 100.0)];
        first.into_iter().chain(ratio(&result.load_beside)).chain(ratio(&result.server_beside)).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(report.results.iter().map(row)).collect();
    let (started, revision) = (&report.started_at, &report.machine.revision);
    let mut text = format!("# HTTP/3, {started}, revision {revision}\n\n");
    text += &format!(
        "Servers on CPU 0, the load on CPU 1 in a network namespace of its own behind a link with an MTU of 1,500, {} rounds of {} s \
         turns, the order reversed every other round. {CONNECTIONS} connections with {IN_FLIGHT} requests in flight each. The server is \
         `torr serve --workers 1 --http3` but for Caddy, which responds from its configuration. quic-go loads with a goroutine for each \
         request in flight.\n\n",
        options.size.rounds(),
        options.size.seconds(),
    );
    if report.quick {
        text += "**A quick run: it shows that all works, not what it costs.**\n\n";
    }
    text += &archive::on(&report.machine);
    for (name, version) in [("quic-go", &report.quic_go), ("Caddy", &report.caddy)] {
        if let Some(version) = version {
            text += &format!("- {name}: {version}\n");
        }
    }
    for skipped in &report.skipped {
        text += &format!("- {} dropped out: {}\n", skipped.candidate, skipped.reason);
    }
    text += &format!("\n{}\n", table(&rows));
    let Held { connections, kib_before, kib, bytes_each } = &report.held;
    text + &format!(
        "{connections} idle connections, each of which has had a response: {kib} KiB of resident memory in the server, {kib_before} KiB \
         before. A connection takes {:.1} KiB.\n",
        bytes_each / 1024.0
    )
}
