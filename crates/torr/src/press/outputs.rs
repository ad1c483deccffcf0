//! What a run writes: opened before it begins, fed while it goes on, written when it has ended.

use crate::exit::{self, Stop};
use crate::flags::output::OutputArgs;
use crate::output;
use crate::sink::{self, Sink};
use std::io;
use std::process::ExitCode;
use std::time::SystemTime;
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::{RunResult, ThresholdRule};
use torr_report::hlog::HistogramLog;
use torr_report::otlp::Collector;
use torr_report::{csv, expectations, junit, prometheus, text};

/// The variable by which OpenTelemetry's own programs take headers.
const OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// All that was asked for.
pub struct Outputs {
    rules: Vec<ThresholdRule>,
    json: Option<Sink>,
    csv: Option<Sink>,
    csv_entries: Option<Sink>,
    hlog: Option<HistogramLog<Sink>>,
    prometheus: Option<Sink>,
    junit: Option<Sink>,
    otlp: Option<Collector>,
    /// Whether standard output belongs to one of them.
    stdout_taken: bool,
    /// Lines that say what went wrong.
    troubles: Vec<String>,
}

impl Outputs {
    /// Opens what was asked for, right before the run.
    pub fn open(args: &OutputArgs, target: &str) -> Result<Self, Stop> {
        let on_stdout: Vec<_> = args.files().filter(|(_, path)| sink::is_stdout(path)).collect();
        if let [(one, _), (other, _), ..] = on_stdout[..] {
            return Err(Stop::Usage(format!("{one} and {other} cannot both go to standard output: name a file")));
        }
        let otlp = args.otlp.clone().map(with_headers).transpose()?;
        let mut sinks = Vec::new();
        for (flag, path) in args.files() {
            let sink = Sink::open(path)?;
            let same = |(_, other): &&(_, Sink)| sink.identity().is_some_and(|file| other.identity() == Some(file));
            if let Some((other, _)) = sinks.iter().find(same) {
                return Err(Stop::Usage(format!("{other} and {flag} cannot both go to {}", path.display())));
            }
            sinks.push((flag, sink));
        }
        let mut take = |flag| {
            let at = sinks.iter().position(|(name, _)| *name == flag)?;
            Some(sinks.swap_remove(at).1)
        };
        let begin = |sink| {
            HistogramLog::begin(sink, target, SystemTime::now()).map_err(|error| Stop::Failed(log_trouble(&error)))
        };
        Ok(Self {
            rules: args.rules(),
            json: take("--json"),
            csv: take("--csv"),
            csv_entries: take("--csv-entries"),
            hlog: take("--hlog").map(begin).transpose()?,
            prometheus: take("--prometheus"),
            junit: take("--junit"),
            otlp,
            stdout_taken: !on_stdout.is_empty(),
            troubles: Vec::new(),
        })
    }

    /// Takes in where the run stands.
    pub fn progress(&mut self, progress: &Progress) {
        if let Some(Err(error)) = self.hlog.as_mut().map(|log| log.interval(progress)) {
            self.troubles.push(log_trouble(&error));
            self.hlog = None;
        }
    }

    /// Judges the run, tells all that was asked for, and gives the exit code.
    pub fn finish(mut self, mut run: Measurement) -> ExitCode {
        run.result.thresholds = self.rules.iter().map(|rule| rule.judge(&run)).collect();
        if !self.stdout_taken {
            output::print(&text::report_within(&run.result, output::columns()));
        }
        if let Some(Err(error)) = self.hlog.take().map(|log| log.finish(&run)) {
            self.troubles.push(log_trouble(&error));
        }
        let Self { json, csv, csv_entries, prometheus, junit, otlp, mut troubles, .. } = self;
        let result = &run.result;
        let written = [
            write(json, || torr_report::json(result)),
            write(csv, || csv::series(result)),
            write(csv_entries, || csv::entries(result)),
            write(prometheus, || prometheus::text(&run)),
            write(junit, || junit::run(result)),
        ];
        troubles.extend(written.into_iter().flatten());
        if let Some((collector, error)) =
            otlp.and_then(|collector| Some((collector.url(), collector.send(&run).err()?)))
        {
            troubles.push(format!("the metrics could not be sent to {collector}: {error}"));
        }
        troubles.extend(expectations::failures(result));
        code(result, &troubles)
    }

    /// Writes the outputs of a run that did not begin. The JUnit file has one case that failed.
    pub fn give_up(self, target: &str, stop: Stop) -> Stop {
        if let Stop::Unreachable(why) = &stop
            && let Some(trouble) = write(self.junit, || junit::unreached(target, &self.rules, why))
        {
            return Stop::Unreachable(format!("{why}; and {trouble}"));
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

/// Writes what is asked for; gives a line if it could not be.
fn write<E: std::fmt::Display>(sink: Option<Sink>, make: impl FnOnce() -> Result<String, E>) -> Option<String> {
    let sink = sink?;
    match make() {
        Ok(text) => sink.put(&text).err(),
        Err(error) => Some(sink.failed(&error)),
    }
}

fn with_headers(collector: Collector) -> Result<Collector, Stop> {
    let Some(headers) = std::env::var_os(OTLP_HEADERS) else { return Ok(collector) };
    collector.with_headers(&headers.to_string_lossy()).map_err(|error| Stop::Usage(format!("{OTLP_HEADERS}: {error}")))
}

fn log_trouble(error: &io::Error) -> String {
    format!("the interval log could not be written: {error}")
}
