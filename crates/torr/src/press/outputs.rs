//! What a run writes: opened before it begins, fed while it goes on, written when it has ended.

use super::interval_log::IntervalLog;
use crate::command_line::Repeatable;
use crate::exit::{self, CliError};
use crate::output;
use crate::report;
use crate::sink::{self, Sink};
use std::process::ExitCode;
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::fleet::Fleet;
use torr_gauge::{RunResult, ThresholdRule};
use torr_load::OutputPart;
use torr_report::otlp::Collector;
use torr_report::{csv, expectations, junit, prometheus, text};

/// The variable by which OpenTelemetry's own programs take headers.
const OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// The requested outputs.
pub struct Outputs {
    rules: Vec<ThresholdRule>,
    json: Option<Sink>,
    csv: Option<Sink>,
    csv_entries: Option<Sink>,
    hlog: IntervalLog,
    prometheus: Option<Sink>,
    junit: Option<Sink>,
    report: Option<Sink>,
    otlp: Option<Collector>,
    /// Whether standard output belongs to one of them.
    stdout_taken: bool,
    /// Lines that say what went wrong.
    troubles: Vec<String>,
}

impl Outputs {
    /// Opens the outputs, before anything is sent.
    pub fn open(part: &OutputPart) -> Result<Self, CliError> {
        let otlp = part.otlp.as_deref().cloned().map(with_headers).transpose()?;
        let [json, csv, csv_entries, log, prometheus, junit, report] = sink::open_all(part.outputs())?;
        let all = [&json, &csv, &csv_entries, &log, &prometheus, &junit, &report];
        let stdout_taken = all.into_iter().flatten().any(Sink::takes_stdout);
        Ok(Self {
            rules: part.rules(),
            json,
            csv,
            csv_entries,
            hlog: log.map_or(IntervalLog::None, IntervalLog::Opened),
            prometheus,
            junit,
            report,
            otlp,
            stdout_taken,
            troubles: Vec::new(),
        })
    }

    /// Begins what is written during the run against a target. A file keeps its former content until the run has a response.
    pub fn begin(&mut self, target: &str) -> Result<(), CliError> {
        self.hlog.begin(target).map_err(CliError::Failed)
    }

    /// Takes in where the run stands.
    pub fn progress(&mut self, progress: &Progress) {
        self.troubles.extend(self.hlog.interval(progress).err());
    }

    /// Judges the run, writes all outputs, and returns the exit code.
    pub fn finish(mut self, run: &mut Measurement) -> ExitCode {
        run.result.thresholds = self.rules.iter().map(|rule| rule.judge(run)).collect();
        if !self.stdout_taken {
            output::print(&text::report_within(&run.result, output::columns()));
        }
        self.troubles.extend(self.hlog.finish(run).err());
        let Self { json, csv, csv_entries, prometheus, junit, report, otlp, mut troubles, .. } = self;
        let result = &run.result;
        let written = [
            write(json, || Repeatable::new(result).json()),
            write(csv, || csv::series(result)),
            write(csv_entries, || csv::entries(result)),
            write(prometheus, || prometheus::text(run)),
            write(junit, || junit::run(result)),
            write(report, || report::page_of(result)),
        ];
        troubles.extend(written.into_iter().flatten());
        if let Some((collector, error)) = otlp.and_then(|collector| Some((collector.url(), collector.send(run).err()?)))
        {
            troubles.push(format!("the metrics could not be sent to {collector}: {error}"));
        }
        troubles.extend(expectations::failures(result));
        troubles.extend(result.fleet.iter().flat_map(Fleet::shortcomings));
        code(result, &troubles)
    }

    /// Writes the outputs of a run that did not begin. The JUnit file has one case that failed.
    pub fn give_up(self, target: &str, stop: CliError) -> CliError {
        if let CliError::Unreachable(why) = &stop
            && let Some(trouble) = write(self.junit, || junit::unreached(target, &self.rules, why))
        {
            return CliError::Unreachable(format!("{why}; and {trouble}"));
        }
        stop
    }
}

fn code(result: &RunResult, troubles: &[String]) -> ExitCode {
    let failed = exit::failed(troubles);
    match failed {
        _ if result.interrupted => exit::interrupted(),
        Some(code) => code,
        None => ExitCode::SUCCESS,
    }
}

/// Writes an output; returns a line if that failed.
fn write<E: std::fmt::Display>(sink: Option<Sink>, make: impl FnOnce() -> Result<String, E>) -> Option<String> {
    let sink = sink?;
    match make() {
        Ok(text) => sink.put(&text).err(),
        Err(error) => Some(sink.failed(&error)),
    }
}

fn with_headers(collector: Collector) -> Result<Collector, CliError> {
    let Some(headers) = std::env::var_os(OTLP_HEADERS) else { return Ok(collector) };
    collector
        .with_headers(&headers.to_string_lossy())
        .map_err(|error| CliError::Usage(format!("{OTLP_HEADERS}: {error}")))
}
