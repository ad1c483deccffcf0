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
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::numbers::plural;
use torr_gauge::threshold::AbortWatch;
use torr_gauge::{RunResult, ThresholdRule};
use torr_load::{OutputFile, OutputPart};
use torr_press::SoFar;
use torr_report::push::{Pushed, Pusher, Receiver, ReceiverKind};
use torr_report::sentence::fleet::shortcomings;
use torr_report::text::report_within;
use torr_report::{csv, expectations, junit, prometheus};

/// The variable by which OpenTelemetry's own programs take headers.
const OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
/// The variable with the headers of requests to other receivers, in the same form.
const PUSH_HEADERS: &str = "TORR_PUSH_HEADERS";
/// The variable by which OpenTelemetry's own programs choose the kind of histograms, and its value for exponential ones.
const OTLP_HISTOGRAMS: (&str, &str) =
    ("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "base2_exponential_bucket_histogram");

/// The requested outputs.
pub struct Outputs {
    rules: Vec<ThresholdRule>,
    aborts: AbortWatch,
    files: BTreeMap<OutputFile, Sink>,
    hlog: IntervalLog,
    /// What sends figures while the run goes on.
    pushers: Vec<Pusher>,
    /// Whether standard output belongs to one of them.
    stdout_taken: bool,
    /// Lines that say what went wrong.
    troubles: Vec<String>,
}

impl Outputs {
    /// Opens the outputs, before anything is sent.
    pub fn open(part: &OutputPart) -> Result<Self, CliError> {
        let receivers = part.receivers().cloned().map(by_environment).collect::<Result<Vec<_>, _>>()?;
        let requested = part.files.iter().map(|(file, path)| (*file, file.flag(), path.as_path()));
        let mut files: BTreeMap<_, _> = sink::open_each(requested.collect())?.into_iter().collect();
        let stdout_taken = files.values().any(Sink::takes_stdout);
        let hlog = files.remove(&OutputFile::Hlog).map_or(IntervalLog::None, IntervalLog::Opened);
        let aborts = AbortWatch::new(part.abort_rules());
        let start = |receiver| Pusher::start(receiver, part.push_interval());
        let pushers = receivers.into_iter().map(start).collect::<Result<_, _>>();
        let pushers = pushers.map_err(|error| CliError::Failed(format!("cannot start a thread: {error}")))?;
        Ok(Self { rules: part.rules(), aborts, files, hlog, pushers, stdout_taken, troubles: Vec::new() })
    }

    /// Begins what is written during the run against a target. A file keeps its former content until the run has a response.
    pub fn begin(&mut self, target: &str) -> Result<(), CliError> {
        self.hlog.begin(target).map_err(CliError::Failed)
    }

    /// Takes in where the run stands, and ends it with `stop` where a rule says so.
    pub fn progress(&mut self, progress: &Progress, so_far: &SoFar<'_>, stop: &AtomicBool) {
        let elapsed = Duration::from_secs_f64(progress.elapsed_s);
        let mut due: Vec<_> = self.pushers.iter_mut().filter(|pusher| pusher.is_due(elapsed)).collect();
        if !due.is_empty() {
            let run = Arc::new(so_far.measurement());
            due.iter_mut().for_each(|pusher| pusher.put(elapsed, Arc::clone(&run)));
        }
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
        let Self { files, pushers, mut troubles, .. } = self;
        troubles.extend(files.into_iter().filter_map(|(file, sink)| {
            let content = content(file, run, sink.path())?;
            write(sink, content)
        }));
        let result = &run.result;
        troubles.extend(pushers.into_iter().filter_map(|pusher| push(pusher, run)));
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

/// Sends the figures of a run that has ended, and says what became of those before. Returns a line if it failed.
fn push(pusher: Pusher, run: &Measurement) -> Option<String> {
    let url = pusher.url();
    let (Pushed { sent, failed, why, skipped }, outcome) = pusher.finish(run);
    if let Some(why) = why.filter(|_| outcome.is_ok()) {
        let times = format!("{failed} of {}", plural(sent, "time"));
        output::note(&format!("{url} did not take the figures {times} during the run: {why}"));
    }
    if skipped > 0 {
        output::note(&format!("{url} was too slow for the figures {} during the run", plural(skipped, "time")));
    }
    outcome.err().map(|error| format!("cannot send the metrics to {url}: {error}"))
}

/// Returns a receiver with what the environment says of it.
fn by_environment(receiver: Receiver) -> Result<Receiver, CliError> {
    let is_otlp = receiver.kind() == ReceiverKind::Otlp;
    let (variable, exponential) = OTLP_HISTOGRAMS;
    let is_exponential = is_otlp && std::env::var_os(variable).is_some_and(|value| value == exponential);
    let receiver = if is_exponential { receiver.with_exponential_histograms() } else { receiver };
    let name = if is_otlp { OTLP_HEADERS } else { PUSH_HEADERS };
    let Some(headers) = std::env::var_os(name) else { return Ok(receiver) };
    receiver.with_headers(&headers.to_string_lossy()).map_err(|error| CliError::Usage(format!("{name}: {error}")))
}
