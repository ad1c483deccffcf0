//! Outputs and thresholds.

use crate::field::{all_parsed, file, parsed, switch};
use crate::setting::{Kind, Part, Reads, Secret, Setting, Times, setting};
use crate::values::{address, rules};
use torr_report::otlp::Collector;

pub const ROWS: &[Setting] = &[
    setting(Part::Output, "json", Kind::Path("FILE"), file!(output.json))
        .brief("Write the result as JSON")
        .help("Write the result as JSON; '-' as any FILE is standard output, where nothing else is written then"),
    setting(Part::Output, "csv", Kind::Path("FILE"), file!(output.csv))
        .help("Write the series as CSV, a line for each interval"),
    setting(Part::Output, "csv-entries", Kind::Path("FILE"), file!(output.csv_entries))
        .help("Write the entries of a hurl file as CSV, a line for each"),
    setting(Part::Output, "hlog", Kind::Path("FILE"), file!(output.hlog))
        .help("Write an HdrHistogram interval log during the run"),
    setting(Part::Output, "prometheus", Kind::Path("FILE"), file!(output.prometheus))
        .help("Write the figures in Prometheus' text format"),
    setting(Part::Output, "junit", Kind::Path("FILE"), file!(output.junit))
        .help("Write checks and thresholds as JUnit XML"),
    setting(Part::Output, "report", Kind::Path("FILE"), file!(output.report))
        .help("Write a report as one HTML page, which loads nothing"),
    setting(Part::Output, "otlp", Kind::Text("URL"), parsed!(output.otlp, |text| {
        Collector::parse(text).map_err(|error| error.to_string())
    }))
    .help("Send the figures to an OpenTelemetry collector (OTLP/HTTP) [default path: /v1/metrics]")
    .secret(Secret::Url),
    setting(Part::Output, "fail-if", Kind::Text("RULE"), all_parsed!(output.fail_if, rules))
        .times(Times::Many)
        .brief("Exit with code 1 if so: 'p99>50ms,errors>0.1%'")
        .help(
            "Exit with code 1 if any of these hold, such as 'p99>50ms,errors>0.1%' or 'rps<1000'; can be repeated. Of a hurl \
             file also 'p99{ENTRY}>200ms' and 'sessions_failed>1%'",
        )
        .repeats(),
    setting(Part::Output, "quiet", Kind::Switch, switch!(output.quiet)).short('q').help("Show no progress line"),
    setting(Part::Output, "live", Kind::Switch, switch!(output.live))
        .help("Show the run on the whole screen, with keys that pause, steer and end it; without a terminal the progress line")
        .excludes(&["quiet"]),
    setting(
        Part::Output,
        "dashboard",
        Kind::OptionalText("ADDR", "127.0.0.1:0"),
        parsed!(output.dashboard, address),
    )
    .help(
        "Show the run as a page in browsers, with buttons that pause, steer and end it [default ADDR: a free port of \
         127.0.0.1]. Beyond loopback the page has TLS and a token, which is in the printed URL",
    ),
    setting(Part::Output, "dashboard-cert", Kind::Path("FILE"), file!(output.dashboard_cert))
        .help("Use this certificate for the dashboard, as PEM [default beyond loopback: one that is made for the run]")
        .reads(Reads::File)
        .needs(&[&["dashboard"], &["dashboard-key"]]),
    setting(Part::Output, "dashboard-key", Kind::Path("FILE"), file!(output.dashboard_key))
        .help("Read the key of the dashboard's certificate from this PEM file")
        .reads(Reads::File)
        .needs(&[&["dashboard"], &["dashboard-cert"]]),
    setting(Part::Output, "print-plan", Kind::Switch, switch!(output.print_plan))
        .brief("Print these settings as a plan, send nothing")
        .help("Print these settings as a plan in TOML, without secrets, and send nothing; 'torr plan.toml' runs it"),
];
