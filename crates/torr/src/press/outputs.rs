//! What a run writes: opened before it begins, fed while it goes on, written when it has ended.

use super::interval_log::IntervalLog;
use crate::command_line::Repeatable;
use crate::exit::{self, CliError};
use crate::output;
use crate::report;
use crate::sink::{self, Sink};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::threshold::AbortWatch;
use torr_gauge::{RunResult, ThresholdRule};
use torr_load::{OutputFile, OutputPart};
use torr_report::otlp::Collector;
use torr_report::sentence::fleet::shortcomings;
use torr_report::text::report_within;
use torr_report::{csv, expectations, junit, prometheus};

/// The variable by which OpenTelemetry's own programs take headers.
const OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// The requested outputs.
pub struct Outputs {
    rules: Vec<ThresholdRule>,
    aborts: AbortWatch,
    files: BTreeMap<OutputFile, Sink>,
    hlog: IntervalLog,
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
        let requested = part.files.iter().map(|(file, path)| (*file, file.flag(), path.as_path()));
        let mut files: BTreeMap<_, _> = sink::open_each(requested.collect())?.into_iter().collect();
        let stdout_taken = files.values().any(Sink::takes_stdout);
        let hlog = files.remove(&OutputFile::Hlog).map_or(IntervalLog::None, IntervalLog::Opened);
        let aborts = AbortWatch::new(part.abort_rules());
        Ok(Self { rules: part.rules(), aborts, files, hlog, otlp, stdout_taken, troubles: Vec::new() })
    }

    /// Begins what is written during the run against a target. A file keeps its former content until the run has a response.
    pub fn begin(&mut self, target: &str) -> Result<(), CliError> {
        self.hlog.begin(target).map_err(CliError::Failed)
    }

    /// Takes in where the run stands, and ends it with `stop` where a rule says so.
    pub fn progress(&mut self, progress: &Progress, stop: &AtomicBool) {
        if self.aborts.see(progress) {
            stop.store(true, Ordering::Relaxed);
        }
        self.troubles.extend(self.hlog.interval(progress).err());
    }

    /// Judges the run, writes all outputs, and returns the exit code.
    pub fn finish(mut self, run: &mut Measurement) -> ExitCode {
        let (aborts, has_aborted) = self.aborts.finish();
        run.result.thresholds = self.rules.iter().map(|rule| rule.judge(run)).chain(aborts).collect();
        // Torr has ended the run, and its user has not.
        run.result.interrupted &= !has_aborted;
        if !self.stdout_taken {
            output::print(&report_within(&run.result, output::columns()));
        }
        self.troubles.extend(self.hlog.finish(run).err());
        let Self { files, otlp, mut troubles, .. } = self;
        troubles.extend(files.into_iter().filter_map(|(file, sink)| {
            let content = content(file, run, sink.path())?;
            write(sink, content)
        }));
        let result = &run.result;
        if let Some((collector, error)) = otlp.and_then(|collector| Some((collector.url(), collector.send(run).err()?)))
        {
            troubles.push(format!("cannot send the metrics to {collector}: {error}"));
        }
        troubles.extend(expectations::failures(result));
        troubles.extend(result.fleet.iter().flat_map(shortcomings));
        code(result, &troubles)
    }

    /// Writes the outputs of a run that did not begin. The JUnit file has one case that failed.
    pub fn give_up(mut self, target: &str, stop: CliError) -> CliError {
        if let CliError::Unreachable(why) = &stop
            && let Some(junit) = self.files.remove(&OutputFile::Junit)
            && let Some(trouble) = write(junit, text(junit::unreached(target, &self.rules, why)))
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

/// Returns the content of an output after a run, whose path is that of a file; `None` for the interval log, which was written during the run.
fn content(file: OutputFile, run: &Measurement, path: Option<&Path>) -> Option<Result<String, String>> {
    let result = &run.result;
    Some(match file {
        OutputFile::Json => text(Repeatable::new(result).json()),
        OutputFile::Csv => text(csv::series(result)),
        OutputFile::CsvEntries => text(csv::entries(result)),
        OutputFile::Hlog => return None,
        OutputFile::Prometheus => text(prometheus::text(run)),
        OutputFile::Junit => text(junit::run(result)),
        OutputFile::Report => report::page_of(result, path),
    })
}

/// Returns a text, or in one line why there is none.
fn text<E: std::fmt::Display>(made: Result<String, E>) -> Result<String, String> {
    made.map_err(|error| error.to_string())
}

/// Writes an output; returns a line if that failed.
fn write(sink: Sink, text: Result<String, String>) -> Option<String> {
    match text {
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
