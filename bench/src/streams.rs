//! What events, messages of a WebSocket and calls of gRPC cost: CPU time beside that of a plain request, and the memory of a stream.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::archive;
use crate::built::{Build, By, on_path};
use crate::candidates::TORR;
use crate::candidates::arguments::words;
use crate::candidates::tally;
use crate::child::{self, Server, free_port};
use crate::machine::{self, Machine};
use crate::options::{RunOptions, Size};
use crate::report::table;
use crate::roster::Roster;
use crate::rounds::{self, Ratio, Row, Skipped, Taken, median, turns};
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// How streams are measured.
#[derive(Args)]
pub struct StreamOptions {
    /// How many turns, and how long.
    #[command(flatten)]
    pub size: Size,
    /// Streams open at a time, whose events are measured
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub streams: u32,
    /// Milliseconds between two events of a stream
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub every: u32,
    /// Streams open at a time, whose memory is measured
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub held: u32,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}

/// The connections of a plain request and of a WebSocket, and their rate: below what the slower of the two servers reaches, since a
/// generator that waits for its server finds fewer events at each wake-up, so that a request costs it more.
const CONNECTIONS: u32 = 100;
const RATE: u32 = 30_000;
/// The connections of HTTP/2, and the calls in flight on each.
const SHARED: u32 = 10;
const IN_FLIGHT: u32 = 10;
/// The seconds for which the streams are open whose memory is measured. Each has an event a second.
const HELD_SECONDS: u32 = 20;

/// The candidates.
const EVENTS: &str = "torr, events";
const HTTP1: &str = "torr, HTTP/1.1";
const WEBSOCKET: &str = "torr, WebSocket";
const HTTP2: &str = "torr, HTTP/2";
const GRPC: &str = "torr, gRPC";
const GHZ: &str = "ghz";

/// The server of gRPC.
const GRPC_SERVER: Build =
    Build { by: By::Go, folder: "tests/grpc", package: "grpc-server", tells: &["google.golang.org/grpc"] };
/// A method that each server of grpc-go can have; its request may be empty.
const METHOD: &str = "grpc.health.v1.Health/Check";
/// An empty message as it is sent: not compressed, and no byte long.
const MESSAGE: [u8; 5] = [0; 5];

/// One turn.
#[derive(Serialize)]
struct Turn {
    /// What was counted: events, messages, requests or calls.
    count: u64,
    cpu_us_each: f64,
    /// Of the generator's CPU.
    busy: f64,
}

impl std::fmt::Display for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} CPU us each of {}, {:.0}% of a CPU", self.cpu_us_each, self.count, self.busy * 100.0)
    }
}

/// A report, as it is archived.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    started_at: String,
    quick: bool,
    machine: Machine,
    /// The version of the server of gRPC, and that of `ghz`.
    grpc: Option<String>,
    results: Vec<Outcome>,
    held: Held,
    skipped: Vec<Skipped>,
    turns: Vec<Row<Turn>>,
}

#[derive(Serialize)]
struct Outcome {
    candidate: &'static str,
    cpu_us_each: f64,
    busy: f64,
    /// The candidate beside which it stands, and the ratio of their costs.
    beside: Option<(&'static str, Ratio)>,
}

/// The memory of streams.
#[derive(Serialize)]
struct Held {
    streams: u32,
    events: u64,
    /// The peak of a run of plain GETs with a connection for each stream, in KiB of resident memory.
    get_kib: u64,
    stream_kib: u64,
    /// What a stream takes beside its connection, in bytes.
    bytes_per_stream: f64,
}

/// What the turns are made with.
struct Scene<'a> {
    options: &'a StreamOptions,
    torr: &'a str,
    folder: &'a Path,
    port: u16,
    grpc_port: u16,
}

/// Measures all candidates in turns, then the memory, prints the tables and archives them.
pub fn run(options: &StreamOptions) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(options.held.max(options.streams))?;
    let roster = Roster::torr(options.run.torr.as_deref())?;
    let grpc_server = GRPC_SERVER.run()?;
    let (started, machine) = (SystemTime::now(), Machine::describe(&roster));
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("message"), MESSAGE)?;
    let (port, grpc_port) = (free_port()?, free_port()?);
    let most = options.held.max(options.streams) + 100;
    let serve = words(&format!("serve --workers 1 --router true --listen 127.0.0.1:{port} --max-connections {most}"));
    let mut server = Server::start("torr serve", port, roster.program(TORR), &serve, folder.path())?;
    let address = words(&format!("127.0.0.1:{grpc_port}"));
    let grpc = Server::start("grpc-go", grpc_port, &grpc_server.to_string_lossy(), &address, folder.path())?;
    let scene = Scene { options, torr: roster.program(TORR), folder: folder.path(), port, grpc_port };

    let mut turn = |name: &'static str| {
        let turn = scene.take(name);
        server.cpu_at_rest()?;
        turn
    };
    turn(HTTP1)?;
    let candidates = vec![EVENTS, HTTP1, WEBSOCKET, HTTP2, GRPC, GHZ];
    let Taken { candidates, skipped, rows, .. } =
        rounds::take("streams", options.size.rounds(), candidates, Vec::new(), turn)?;
    drop(grpc);
    let held = scene.hold()?;
    let result = |candidate: &'static str| {
        let other = match candidate {
            EVENTS | WEBSOCKET => Some(HTTP1),
            GRPC => Some(HTTP2),
            GHZ => Some(GRPC),
            _ => None,
        };
        let other = other.filter(|other| candidates.contains(other));
        Outcome {
            candidate,
            cpu_us_each: median(turns(&rows, candidate).map(|turn| turn.cpu_us_each).collect()),
            busy: median(turns(&rows, candidate).map(|turn| turn.busy).collect()),
            beside: other.map(|other| (other, Ratio::between(&rows, candidate, other, |turn| turn.cpu_us_each))),
        }
    };
    let results = candidates.iter().copied().map(result).collect();
    let (schema, started_at, quick) = ("torr.bench.streams/1", archive::moment(started), options.size.quick);
    let grpc = GRPC_SERVER.version();
    let report = Report { schema, started_at, quick, machine, grpc, results, held, skipped, turns: rows };
    let text = markdown(&report, options);
    archive::show(&options.run, &report.started_at, &report.machine, "streams", &report, &text)
}

impl Scene<'_> {
    fn take(&self, name: &'static str) -> Result<Turn, Error> {
        let seconds = self.options.size.seconds();
        let (http, grpc) = (format!("127.0.0.1:{}", self.port), format!("127.0.0.1:{}", self.grpc_port));
        let run = format!("-t 1 -d {seconds} --json -");
        let shared = format!("-c {SHARED} --streams {IN_FLIGHT}");
        let arguments = match name {
            EVENTS => {
                let (streams, every) = (self.options.streams, self.options.every);
                format!("{run} -c {streams} --sse http://{http}/sse/1000000/{every}")
            }
            HTTP1 => format!("{run} -c {CONNECTIONS} -r {RATE} http://{http}/plaintext"),
            WEBSOCKET => format!("{run} -c {CONNECTIONS} -r {RATE} --data Hello,World! ws://{http}/ws/echo"),
            HTTP2 => format!(
                "{run} {shared} --http2-prior-knowledge -H content-type:application/grpc -H te:trailers \
                 --data-binary @message http://{grpc}/{METHOD}"
            ),
            GRPC => format!("{run} {shared} --reflection grpc://{grpc}/{METHOD}"),
            _ => {
                let workers = SHARED * IN_FLIGHT;
                format!("--insecure --call {METHOD} -c {workers} --connections {SHARED} -z {seconds}s -O json {grpc}")
            }
        };
        let ghz = on_path(GHZ).map(|path| path.to_string_lossy().into_owned());
        let program = match name {
            GHZ => ghz.as_deref().ok_or_else(|| Error::failed("it is not on the PATH"))?,
            _ => self.torr,
        };
        let limit = Duration::from_secs(u64::from(seconds) + 30);
        let ended = child::run(name, program, &words(&arguments), self.folder, limit)?;
        let count = match name {
            EVENTS => events(&ended.stdout),
            GHZ => calls_of_ghz(&ended.stdout),
            _ => tally::torr(&ended.stdout).filter(|tally| tally.failed == 0).map(|tally| tally.requests),
        };
        let count = count.filter(|count| *count > 0);
        let count = count
            .ok_or_else(|| Error::failed(format!("requests failed, or none were counted: {}", ended.last_words)))?;
        let (cpu_us_each, busy) = (ended.cpu_seconds / count as f64 * 1e6, ended.cpu_seconds / ended.wall_seconds);
        Ok(Turn { count, cpu_us_each, busy })
    }

    /// Returns the memory of as many streams as wanted, each with an event a second.
    fn hold(&self) -> Result<Held, Error> {
        let streams = self.options.held;
        let peak = |name: &'static str, what: &str| {
            let url = format!("http://127.0.0.1:{}", self.port);
            let arguments =
                format!("-t 1 -c {streams} -d {HELD_SECONDS} --timeout 60s --json - {}", what.replace("URL", &url));
            let limit = Duration::from_secs(u64::from(HELD_SECONDS) + 120);
            child::run(name, self.torr, &words(&arguments), self.folder, limit)
        };
        let get = peak(HTTP1, "URL/plaintext")?;
        let held = peak(EVENTS, "--sse URL/sse/1000000/1000")?;
        let events = events(&held.stdout).unwrap_or(0);
        if events < u64::from(streams) {
            return Err(Error::failed(format!("{events} events of {streams} streams: {}", held.last_words)));
        }
        let (get_kib, stream_kib) = (get.peak_memory_kib, held.peak_memory_kib);
        let bytes_per_stream = (stream_kib as f64 - get_kib as f64) * 1024.0 / f64::from(streams);
        eprintln!("{streams} streams: {stream_kib} KiB, of plain GETs {get_kib} KiB");
        Ok(Held { streams, events, get_kib, stream_kib, bytes_per_stream })
    }
}

/// Reads the events of a run without failures.
fn events(out: &str) -> Option<u64> {
    let result: Value = serde_json::from_str(out).ok()?;
    result["streams"]["events"].as_u64().filter(|_| tally::failed(&result) == Some(0))
}

/// Reads the calls that `ghz` counts as right. Those in flight at the end it counts as failed.
fn calls_of_ghz(out: &str) -> Option<u64> {
    let result: Value = serde_json::from_str(out).ok()?;
    result["statusCodeDistribution"]["OK"].as_u64()
}

fn markdown(report: &Report, options: &StreamOptions) -> String {
    let header = ["", "CPU us each", "of a CPU", "beside", "x", "range"].map(str::to_owned).to_vec();
    let row = |result: &Outcome| {
        let (beside, ratio, range) = match &result.beside {
            Some((other, ratio)) => {
                ((*other).to_owned(), format!("{:.2}", ratio.median), format!("{:.2} to {:.2}", ratio.min, ratio.max))
            }
            None => Default::default(),
        };
        let busy = format!("{:.0}%", result.busy * 100.0);
        vec![result.candidate.to_owned(), format!("{:.2}", result.cpu_us_each), busy, beside, ratio, range]
    };
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(report.results.iter().map(row)).collect();
    let (started, revision) = (&report.started_at, &report.machine.revision);
    let mut text = format!("# Streams, WebSockets and gRPC, {started}, revision {revision}\n\n");
    text += &format!(
        "Servers on CPU 0, the load on CPU 1, {} rounds of {} s turns, the order reversed every other round. Events: {} \
         streams of `torr serve --workers 1`, an event each {} ms. HTTP/1.1 and WebSocket: `/plaintext` and `/ws/echo` of it, {CONNECTIONS} \
         connections, {RATE} requests a second. HTTP/2, gRPC and ghz: `{METHOD}` of a server by grpc-go, {SHARED} connections with {IN_FLIGHT} calls in flight each; \
         the request of HTTP/2 has the same bytes.\n\n",
        options.size.rounds(),
        options.size.seconds(),
        options.streams,
        options.every
    );
    if report.quick {
        text += "**A quick run: it shows that all works, not what it costs.**\n\n";
    }
    text += &archive::on(&report.machine);
    if let Some(grpc) = &report.grpc {
        text += &format!("- grpc-go: {grpc}\n");
    }
    for skipped in &report.skipped {
        text += &format!("- {} dropped out: {}\n", skipped.candidate, skipped.reason);
    }
    text += &format!("\n{}\n", table(&rows));
    let Held { streams, events, get_kib, stream_kib, bytes_per_stream } = &report.held;
    let mib = |kib: &u64| *kib as f64 / 1024.0;
    text + &format!(
        "{streams} streams with an event a second: {:.1} MiB of resident memory at most, {events} events; as many connections with plain \
         GETs: {:.1} MiB. A stream takes {bytes_per_stream:.0} bytes beside its connection.\n",
        mib(stream_kib),
        mib(get_kib)
    )
}
