//! Outputs and thresholds.

use crate::field::{Field, all_parsed, file, output, parsed, switch};
use crate::output_file::OutputFile;
use crate::setting::{Kind, Part, Reads, Secret, Setting, Times, setting};
use crate::values::{abort_rules, address, push_interval, rules};
use torr_report::push::{Receiver, ReceiverKind};

pub const ROWS: &[Setting] = &[
    written(OutputFile::Json, output!(Json))
        .brief("Write the result as JSON; '-' is standard output")
        .help("Write the result as JSON; '-' writes it to standard output, and nothing else; other outputs accept '-' too"),
    written(OutputFile::Csv, output!(Csv))
        .help("Write the series as CSV, one line per interval"),
    written(OutputFile::CsvEntries, output!(CsvEntries))
        .help("Write the figures of each hurl entry as CSV, one line per entry"),
    written(OutputFile::Hlog, output!(Hlog))
        .help("Write an HdrHistogram interval log during the run"),
    written(OutputFile::Prometheus, output!(Prometheus))
        .help("Write the figures in the text format of Prometheus"),
    written(OutputFile::Junit, output!(Junit))
        .help("Write checks and thresholds as JUnit XML"),
    written(OutputFile::Report, output!(Report))
        .brief("Write a report as one HTML page")
        .help("Write a report as one HTML page"),
    setting(Part::Output, "otlp", Kind::Text("URL"), parsed!(output.otlp, |text| {
        Receiver::parse(ReceiverKind::Otlp, text).map_err(|error| error.to_string())
    }))
    .help("Send the figures to this OpenTelemetry collector (OTLP/HTTP), also during the run [default path: /v1/metrics]")
    .secret(Secret::Url),
    setting(Part::Output, "prometheus-remote-write", Kind::Text("URL"), parsed!(output.remote_write, |text| {
        Receiver::parse(ReceiverKind::RemoteWrite, text).map_err(|error| error.to_string())
    }))
    .help(
        "Send the figures to this Prometheus, also during the run, with native histograms (remote write) [default path: \
         /api/v1/write]",
    )
    .secret(Secret::Url),
    setting(Part::Output, "influxdb", Kind::Text("URL"), parsed!(output.influxdb, |text| {
        Receiver::parse(ReceiverKind::Influx, text).map_err(|error| error.to_string())
    }))
    .help("Send the figures to this InfluxDB, also during the run (line protocol) [default path: /write?db=torr]")
    .secret(Secret::Url),
    setting(Part::Output, "push-interval", Kind::Number("DURATION"), parsed!(output.push_interval, push_interval))
        .help("Send the figures this often during the run, at least 1s apart")
        .default("5s")
        .needs(&[&["otlp", "prometheus-remote-write", "influxdb"]]),
    setting(Part::Output, "fail-if", Kind::Text("RULE"), all_parsed!(output.fail_if, rules))
        .times(Times::Many)
        .brief("Exit with code 1 if 'p99>50ms,errors>0.1%'")
        .help(
            "Exit with code 1 if any of these hold, such as 'p99>50ms,errors>0.1%' or 'rps<1000', for hurl files also \
             'p99{ENTRY}>200ms' and 'sessions_failed>1%'; can be repeated",
        )
        .repeats(),
    setting(Part::Output, "abort-if", Kind::Text("RULE"), all_parsed!(output.abort_if, abort_rules))
        .times(Times::Many)
        .help(
            "End the run, with exit code 1, once any of these has held in each second of a time, such as \
             'errors>5% for 10s,p99>2s for 30s'; without a time, one second is enough; can be repeated",
        )
        .repeats(),
    setting(Part::Output, "quiet", Kind::Switch, switch!(output.quiet)).short('q').help("Do not show the progress line"),
    setting(Part::Output, "live", Kind::Switch, switch!(output.live))
        .help("Show the run on the whole screen, with keys to pause, steer and end it; without a terminal, show the progress line")
        .excludes(&["quiet"]),
    setting(
        Part::Output,
        "dashboard",
        Kind::OptionalText("ADDR", "127.0.0.1:0"),
        parsed!(output.dashboard, address),
    )
    .help(
        "Show the run as a page in browsers, with buttons to pause, steer and end it; beyond loopback, the page needs TLS and \
         the token in the printed URL [default ADDR: a free port of 127.0.0.1]",
    ),
    setting(Part::Output, "dashboard-cert", Kind::Path("FILE"), file!(output.dashboard_cert))
        .help("Use this certificate for the dashboard (PEM) [default beyond loopback: a certificate made for the run]")
        .reads(Reads::File)
        .needs(&[&["dashboard"], &["dashboard-key"]]),
    setting(Part::Output, "dashboard-key", Kind::Path("FILE"), file!(output.dashboard_key))
        .help("Read the key of the dashboard's certificate from this file (PEM)")
        .reads(Reads::File)
        .needs(&[&["dashboard"], &["dashboard-cert"]]),
    setting(Part::Output, "print-plan", Kind::Switch, switch!(output.print_plan))
        .help("Print these settings as a plan in TOML, without secrets, and send nothing; 'torr plan.toml' runs it"),
];

/// Returns the setting of a file that a run writes.
const fn written(file: OutputFile, field: Field) -> Setting {
    setting(Part::Output, file.name(), Kind::Path("FILE"), field)
}
