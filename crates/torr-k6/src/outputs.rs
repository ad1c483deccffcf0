//! Outputs of samples during a run: lines of JSON and CSV, written by a thread of their own.

mod csv;
mod file;
mod json_lines;
mod number;
mod point;
mod time;

pub use csv::TimeFormat;

use crate::error::{ErrorKind, ScriptError};
use crate::log::{Level, Log};
use crate::metrics::{MetricsPlan, Sample, Thresholds};
use csv::Csv;
use file::OutputFile;
use json_lines::JsonLines;
use point::KnownMetrics;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

/// How many batches of samples wait for a slow output before the run waits, too.
const WAITING: usize = 64;

/// An output that the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputSpec {
    /// Lines of JSON. The path is `-` or empty for standard output; a file that ends in `.gz` is compressed.
    Json(String),
    /// CSV, with the form of its times. The path is that of JSON.
    Csv(String, TimeFormat),
}

/// The outputs of a run, which all get every sample.
#[derive(Debug)]
pub struct Outputs {
    outputs: Vec<(String, Output)>,
}

#[derive(Debug)]
enum Output {
    Json(Box<JsonLines>),
    Csv(Box<Csv>),
}

impl Outputs {
    /// Opens outputs, before anything is sent. `system_tags` are the tags that have a column of their own in CSV.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn open(specs: &[OutputSpec], system_tags: &[String]) -> Result<Self, ScriptError> {
        let open = |spec: &OutputSpec| {
            let (OutputSpec::Json(path) | OutputSpec::Csv(path, _)) = spec;
            let failed = |error: io::Error| ScriptError::new(ErrorKind::Other, failure(path, &error));
            let file = OutputFile::create(path).map_err(failed)?;
            let output = match spec {
                OutputSpec::Json(_) => Output::Json(Box::new(JsonLines::new(file))),
                OutputSpec::Csv(_, format) => {
                    Output::Csv(Csv::begin(file, *format, system_tags).map_err(failed)?.into())
                }
            };
            Ok((path.clone(), output))
        };
        Ok(Self { outputs: specs.iter().map(open).collect::<Result<_, _>>()? })
    }

    /// Starts the thread that writes samples. Returns what samples are sent by and the thread; `None` without outputs.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start(self, plan: Arc<MetricsPlan>, thresholds: &Thresholds) -> Result<Option<Started>, ScriptError> {
        if self.outputs.is_empty() {
            return Ok(None);
        }
        let metrics = KnownMetrics::new(plan, thresholds);
        let (sender, receiver) = mpsc::sync_channel::<Vec<Sample>>(WAITING);
        let write = move || {
            let (mut outputs, mut metrics, mut errors) = (self, metrics, Vec::new());
            for samples in receiver {
                errors.extend(outputs.write(&mut metrics, &samples));
            }
            errors.extend(outputs.finish());
            errors
        };
        let failed = |error| ScriptError::new(ErrorKind::Other, format!("cannot start the thread of outputs: {error}"));
        let thread = thread::Builder::new().name("outputs".into()).spawn(write).map_err(failed)?;
        Ok(Some((sender, Writing(thread))))
    }

    /// Writes samples. An output that fails is closed and its error returned; the others go on.
    fn write(&mut self, metrics: &mut KnownMetrics, samples: &[Sample]) -> Vec<String> {
        let mut errors = Vec::new();
        self.outputs.retain_mut(|(path, output)| {
            let written = samples.iter().try_for_each(|sample| {
                let metric = metrics.of(sample);
                match output {
                    Output::Json(json) => json.write(metric, sample),
                    Output::Csv(csv) => csv.write(metric, sample),
                }
            });
            written.map_err(|error| errors.push(failure(path, &error))).is_ok()
        });
        errors
    }

    /// Writes what is buffered, and closes the outputs. Returns what went wrong.
    fn finish(self) -> Vec<String> {
        let finish = |(path, output): (String, Output)| {
            let finished = match output {
                Output::Json(json) => json.finish(),
                Output::Csv(csv) => csv.finish(),
            };
            finished.err().map(|error| failure(&path, &error))
        };
        self.outputs.into_iter().filter_map(finish).collect()
    }
}

/// What samples are sent by, and the thread that writes them.
pub type Started = (SyncSender<Vec<Sample>>, Writing);

/// The thread that writes the samples of a run.
#[derive(Debug)]
pub struct Writing(JoinHandle<Vec<String>>);

impl Writing {
    /// Waits until all samples are written, once all senders are gone, and logs what went wrong.
    pub fn finish(self, log: &Log) {
        let errors = self.0.join().unwrap_or_else(|_| vec!["the thread of outputs failed".to_owned()]);
        errors.iter().for_each(|error| log.write(Level::Error, error, &[]));
    }
}

fn failure(path: &str, error: &io::Error) -> String {
    format!("cannot write the output '{path}': {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Collector, MetricKind, Recorder, Registry, SampleSender, TagSet};
    use crate::options::ThresholdOption;
    use flate2::read::GzDecoder;
    use std::io::Read;
    use std::time::{Duration, SystemTime};

    /// Records two samples of a metric of the script's into outputs.
    fn record(outputs: Outputs, log: &Log) {
        let registry = Registry::default();
        let orders = registry.register("orders", MetricKind::Counter, false).expect("the name is new");
        let of = |expression: &str| ThresholdOption {
            expression: expression.to_owned(),
            abort_on_fail: false,
            delay_abort: Duration::ZERO,
        };
        let options = [("orders".to_owned(), vec![of("count<2")]), ("orders{a:b}".to_owned(), vec![of("count<9")])];
        let thresholds = Thresholds::new(&registry, &options.into()).expect("the thresholds are right");
        let plan = MetricsPlan::new(&registry, thresholds.names(), false).expect("all are metrics");
        let plan = Arc::new(plan);
        let (sender, writing) =
            outputs.start(plan.clone(), &thresholds).expect("there are threads").expect("there are outputs");
        let mut recorder = Recorder::new(&Collector::new(plan), Some(SampleSender::new(sender)));
        let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_795_746_334_011_101_690);
        let first = [("group", ""), ("status", "200"), ("x", "y z"), ("a", "1")];
        for (value, tags) in [(1.0, &first[..]), (2.5, &[("check", "a, \"b\"")])] {
            let tags = recorder.tag_set(&TagSet::default(), tags);
            recorder.add_at(orders, value, &tags, time);
            recorder.hand_over();
        }
        drop(recorder);
        writing.finish(log);
    }

    #[test]
    fn files_have_every_sample_in_both_forms_and_compressed() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let specs = [
            OutputSpec::Json(path("a.json")),
            OutputSpec::Json(path("a.json.gz")),
            OutputSpec::Csv(path("a.csv"), TimeFormat::UnixMilli),
        ];
        let system = ["status", "group", "check"].map(str::to_owned);
        record(Outputs::open(&specs, &system).expect("the folder can be written"), &Log::default());
        let read = |name: &str| std::fs::read(path(name)).expect("the file was written");
        let plain = String::from_utf8(read("a.json")).expect("JSON is text");
        let mut unpacked = String::new();
        GzDecoder::new(&read("a.json.gz")[..]).read_to_string(&mut unpacked).expect("the file is whole");
        assert_eq!(plain, unpacked);
        let lines: Vec<serde_json::Value> =
            plain.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        assert_eq!(lines.len(), 3, "the metric once, and two samples: {plain}");
        assert_eq!((&lines[0]["type"], &lines[0]["data"]["thresholds"][0]), (&"Metric".into(), &"count<2".into()));
        assert_eq!(lines[0]["data"]["submetrics"][0]["name"], "orders{a:b}");
        assert_eq!((&lines[1]["data"]["value"], &lines[1]["data"]["tags"]["x"]), (&1.into(), &"y z".into()));
        assert!(lines[1]["data"]["time"].as_str().is_some_and(|time| time.contains(".01110169")), "{plain}");
        let csv = String::from_utf8(read("a.csv")).expect("CSV is text");
        let expected = "metric_name,timestamp,metric_value,check,group,status,extra_tags,metadata\n\
            orders,1795746334011,1.000000,,,200,a=1&x=y z,\n\
            orders,1795746334011,2.500000,\"a, \"\"b\"\"\",,,,\n";
        assert_eq!(csv, expected);
    }

    #[test]
    fn an_output_that_cannot_be_written_is_named() {
        let error = Outputs::open(&[OutputSpec::Json("/nowhere/a.json".to_owned())], &[]).expect_err("no such folder");
        assert!(error.message.starts_with("cannot write the output '/nowhere/a.json': "), "{error}");
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("log");
        let file = std::fs::File::create(&path).expect("the folder can be written");
        let log = Log::to(crate::log::LogSettings::default(), Some(Box::new(file)), false);
        record(Outputs::open(&[OutputSpec::Json("/dev/full".to_owned())], &[]).expect("it can be opened"), &log);
        let lines = std::fs::read_to_string(path).expect("the log was written");
        assert!(lines.contains("level=error") && lines.contains("/dev/full"), "{lines}");
        let none = Outputs::open(&[], &[]).expect("there is nothing to open");
        assert!(none.start(Arc::default(), &Thresholds::default()).expect("no thread is needed").is_none());
    }
}
