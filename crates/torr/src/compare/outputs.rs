//! The outputs of a comparison.

use super::written::WrittenReport;
use super::{CompareArgs, sentences, words};
use crate::command_line::Repeatable;
use crate::exit::CliError;
use crate::output;
use crate::report;
use crate::sink::{self, Sink};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use torr_lab::gate::Kept;
use torr_lab::report::{Judged, Report};
use torr_net::errors::describe;

/// The requested outputs, opened before the work.
pub struct Outputs {
    json: Option<Sink>,
    page: Option<Sink>,
    markdown: Option<Sink>,
    junit: Option<Sink>,
    summary: Option<(PathBuf, File)>,
}

impl Outputs {
    /// Opens the outputs.
    pub fn open(args: &CompareArgs) -> Result<Self, CliError> {
        let [json, page, markdown, junit] = sink::open_all(args.outputs())?;
        Ok(Self { json, page, markdown, junit, summary: args.summary.clone().map(append).transpose()? })
    }

    /// Writes all of them, and the text unless one takes standard output. Returns a line for each that could not be written.
    pub fn put(self, report: &Report) -> Vec<String> {
        let is_taken = [&self.json, &self.page, &self.markdown, &self.junit]
            .iter()
            .any(|sink| sink.as_ref().is_some_and(Sink::takes_stdout));
        let text = |sink: Option<Sink>, text: Result<String, String>| {
            sink.map_or(Ok(()), |sink| text.and_then(|text| sink.put(&text)))
        };
        let (markdown, written) = (words::markdown(report), WrittenReport::of(report));
        let summary = self.summary.map_or(Ok(()), |(path, mut file)| {
            let written = writeln!(file, "{markdown}");
            written.map_err(|error| format!("cannot write {}: {}", path.display(), describe(&error)))
        });
        let outcomes = [
            text(self.json, Repeatable::new(&written).json().map_err(|error| error.to_string())),
            self.page.map_or(Ok(()), |page| report::put(&written, page)),
            text(self.markdown, Ok(markdown)),
            text(self.junit, junit(report)),
            summary,
        ];
        if !is_taken {
            output::report(&words::text(report));
        }
        outcomes.into_iter().filter_map(Result::err).collect()
    }
}

fn append(path: PathBuf) -> Result<(PathBuf, File), CliError> {
    let opened = OpenOptions::new().append(true).create(true).open(&path);
    let file =
        opened.map_err(|error| CliError::Usage(format!("cannot write {}: {}", path.display(), describe(&error))))?;
    Ok((path, file))
}

/// Returns a test case for each rule; one that cannot be shown has failed as one that was not passed.
fn junit(report: &Report) -> Result<String, String> {
    let mut suite = TestSuite::new(format!("{} and {}", report.a, report.b));
    suite.timestamp = report.started_at.parse().ok();
    let case = |judged: &Judged| {
        let status = match judged.outcome {
            Kept::Passed => TestCaseStatus::success(),
            outcome => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(if outcome == Kept::Failed { "threshold" } else { "cannot-tell" });
                status.set_message(sentences::because(report, judged));
                status
            }
        };
        let mut case = TestCase::new(judged.rule.to_string(), status);
        case.set_classname("torr compare");
        case
    };
    suite.add_test_cases(report.rules.iter().map(case));
    let mut all = quick_junit::Report::new("torr");
    all.add_test_suite(suite);
    all.to_string().map_err(|error| error.to_string())
}
