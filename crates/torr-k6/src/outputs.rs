//! Outputs of samples during a run: lines of JSON and CSV.

mod csv;
mod file;
mod json_lines;
mod point;
mod time;

pub use csv::TimeFormat;
pub use point::{MetricFacts, Point, PointTags, Submetric};

use crate::error::{ErrorKind, ScriptError};
use csv::Csv;
use file::OutputFile;
use json_lines::JsonLines;
use std::io;

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
    Json(JsonLines),
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
            let failed = |error: io::Error| {
                ScriptError::new(ErrorKind::Other, format!("cannot write the output '{path}': {error}"))
            };
            let file = OutputFile::create(path).map_err(failed)?;
            let output = match spec {
                OutputSpec::Json(_) => Output::Json(JsonLines::new(file)),
                OutputSpec::Csv(_, format) => {
                    Output::Csv(Csv::begin(file, *format, system_tags).map_err(failed)?.into())
                }
            };
            Ok((path.clone(), output))
        };
        Ok(Self { outputs: specs.iter().map(open).collect::<Result<_, _>>()? })
    }

    /// Returns whether there is no output.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// Writes samples. An output that fails is closed and its error returned; the others go on.
    pub fn write(&mut self, points: &[Point]) -> Vec<String> {
        let mut errors = Vec::new();
        self.outputs.retain_mut(|(path, output)| {
            let written = points.iter().try_for_each(|point| match output {
                Output::Json(json) => json.write(point),
                Output::Csv(csv) => csv.write(point),
            });
            written.map_err(|error| errors.push(failure(path, &error))).is_ok()
        });
        errors
    }

    /// Writes what is buffered, and closes the outputs. Returns what went wrong.
    pub fn finish(self) -> Vec<String> {
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

fn failure(path: &str, error: &io::Error) -> String {
    format!("cannot write the output '{path}': {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::data::Contains;
    use flate2::read::GzDecoder;
    use std::io::Read;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    fn point(name: &str, value: f64, tags: &[(&str, &str)]) -> Point {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Point {
            metric: Arc::new(MetricFacts {
                name: name.to_owned(),
                kind: "counter",
                contains: Contains::Default,
                thresholds: vec!["count<2".to_owned()],
                submetrics: vec![Submetric { suffix: "a:b".to_owned(), tags: vec![("a".to_owned(), "b".to_owned())] }],
            }),
            time: SystemTime::UNIX_EPOCH + Duration::from_nanos(1_795_746_334_011_101_690),
            value,
            tags: Arc::new(PointTags { tags: tags.iter().map(owned).collect(), metadata: Vec::new() }),
        }
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
        let mut outputs = Outputs::open(&specs, &system).expect("the folder can be written");
        let points = [
            point("http_reqs", 1.0, &[("group", ""), ("status", "200"), ("x", "y z"), ("a", "1")]),
            point("http_reqs", 2.5, &[("check", "a, \"b\"")]),
        ];
        assert_eq!((outputs.write(&points[..1]), outputs.write(&points[1..])), (Vec::new(), Vec::new()));
        assert_eq!(outputs.finish(), Vec::<String>::new());
        let read = |name: &str| std::fs::read(path(name)).expect("the file was written");
        let plain = String::from_utf8(read("a.json")).expect("JSON is text");
        let mut unpacked = String::new();
        GzDecoder::new(&read("a.json.gz")[..]).read_to_string(&mut unpacked).expect("the file is whole");
        assert_eq!(plain, unpacked);
        let lines: Vec<serde_json::Value> =
            plain.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        assert_eq!(lines.len(), 3, "the metric once, and two samples: {plain}");
        assert_eq!((&lines[0]["type"], &lines[0]["data"]["thresholds"][0]), (&"Metric".into(), &"count<2".into()));
        assert_eq!(lines[0]["data"]["submetrics"][0]["name"], "http_reqs{a:b}");
        assert_eq!((&lines[1]["data"]["value"], &lines[1]["data"]["tags"]["x"]), (&1.into(), &"y z".into()));
        assert!(lines[1]["data"]["time"].as_str().is_some_and(|time| time.contains(".01110169")), "{plain}");
        let csv = String::from_utf8(read("a.csv")).expect("CSV is text");
        let expected = "metric_name,timestamp,metric_value,check,group,status,extra_tags,metadata\n\
            http_reqs,1795746334011,1.000000,,,200,a=1&x=y z,\n\
            http_reqs,1795746334011,2.500000,\"a, \"\"b\"\"\",,,,\n";
        assert_eq!(csv, expected);
    }

    #[test]
    fn an_output_that_cannot_be_written_is_named() {
        let error = Outputs::open(&[OutputSpec::Json("/nowhere/a.json".to_owned())], &[]).expect_err("no such folder");
        assert!(error.message.starts_with("cannot write the output '/nowhere/a.json': "), "{error}");
        let mut outputs = Outputs::open(&[OutputSpec::Json("/dev/full".to_owned())], &[]).expect("it can be opened");
        outputs.write(&[point("http_reqs", 1.0, &[])]);
        assert!(outputs.finish()[0].contains("'/dev/full'"));
    }
}
