//! ApacheBench's layout: its page of figures, and the parts that its other formats share with it.

pub mod files;
mod page;
mod table;
pub mod times;

pub use page::report;
pub use table::table;

use self::times::Times;
use super::failed;
use torr_gauge::Kind;
use torr_gauge::collector::Measured;

/// What the layout needs to know of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Host as in the URL.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// Connections at a time.
    pub concurrency: usize,
    /// Whether the answers' length may vary (`-l`).
    pub variable_length: bool,
    /// Whether a body is sent with each request.
    pub sends_body: bool,
    /// Whether connections are kept (`-k`).
    pub keep_alive: bool,
    /// Whether percentiles are left out (`-d`).
    pub no_percentiles: bool,
    /// Whether deviations are left out (`-S`).
    pub no_deviation: bool,
}

/// A label with its value; both columns as they stand on the page.
type Row = (&'static str, String);

/// The first block: whom, and what.
fn service(measured: &Measured, asked: &Asked) -> Vec<Row> {
    let software = measured.first.as_ref().and_then(|first| first.header("server")).unwrap_or_default();
    let length = match asked.variable_length {
        true => "Variable".into(),
        false => format!("{} bytes", document_length(measured)),
    };
    vec![
        // Its first word, as there.
        ("Server Software:", software.split_whitespace().next().unwrap_or_default().to_owned()),
        ("Server Hostname:", asked.host.clone()),
        ("Server Port:", asked.port.to_string()),
        ("Document Path:", asked.path.clone()),
        ("Document Length:", length),
    ]
}

/// The counts of the second block.
fn counts(measured: &Measured, asked: &Asked) -> Vec<Row> {
    let result = &measured.result;
    let of = |kinds: &[Kind]| kinds.iter().map(|&kind| measured.total.failures.of(kind)).sum::<u64>();
    let mut rows = vec![
        ("Concurrency Level:", asked.concurrency.to_string()),
        ("Time taken for tests:", format!("{:.3} seconds", result.duration_s)),
        ("Complete requests:", result.requests.to_string()),
        ("Failed requests:", failed(measured).to_string()),
    ];
    if failed(measured) > 0 {
        let connect = of(&[Kind::Connect, Kind::Tls, Kind::Ports]);
        let (receive, exceptions) = (of(&[Kind::Read, Kind::Protocol]), of(&[Kind::Timeout]));
        let kinds = format!("Connect: {connect}, Receive: {receive}, Length: 0, Exceptions: {exceptions}");
        rows.push(("", kinds));
    }
    let mut others = |label, n: u64| {
        if n > 0 {
            rows.push((label, n.to_string()));
        }
    };
    others("Write errors:", of(&[Kind::Write]));
    others("Non-2xx responses:", result.status.iter().filter(|(code, _)| **code / 100 != 2).map(|(_, n)| n).sum());
    if asked.keep_alive {
        rows.push(("Keep-Alive requests:", kept(measured).to_string()));
    }
    rows.push(("Total transferred:", format!("{} bytes", result.bytes.received)));
    if asked.sends_body {
        rows.push(("Total body sent:", result.bytes.sent.to_string()));
    }
    rows.push(("HTML transferred:", format!("{} bytes", result.bytes.body)));
    rows
}

/// Answers after which the connection could be used again.
fn kept(measured: &Measured) -> u64 {
    measured.result.requests.saturating_sub(measured.result.connections.closed_by_server)
}

/// The first answer's, or where that is not known the mean.
fn document_length(measured: &Measured) -> u64 {
    let mean = || super::mean(measured.result.bytes.body, measured.result.requests);
    measured.first.as_ref().map_or_else(mean, |first| first.body)
}

/// Which figures differ from what ApacheBench would have shown of this run.
pub fn notes(measured: &Measured, asked: &Asked) -> Vec<String> {
    let mut notes =
        vec!["times are to the microsecond, and include requests that were not answered in time".to_owned()];
    let result = &measured.result;
    if result.bytes.body != document_length(measured) * result.requests && !asked.variable_length {
        notes.push("answers differ in length, which is no failure".into());
    }
    if failed(measured) > 0 {
        notes.push("only answered requests are complete; time-outs are exceptions".into());
    }
    if result.requests > 0 && Times::of(measured, asked.keep_alive).processing.median.is_nan() {
        notes.push("nan: not known apart from the time that connecting took".into());
    }
    notes
}
