//! The flags of outputs and thresholds.

use crate::exit::CliError;
use clap::Args;
use std::path::{Path, PathBuf};
use torr_gauge::ThresholdRule;
use torr_gauge::sessions::EntryName;
use torr_gauge::threshold::{self, MisplacedRuleError};
use torr_report::otlp::Collector;

/// The flags of outputs and thresholds.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write the result as JSON; '-' as any FILE is standard output, where nothing else is written then
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the series as CSV, a line for each interval
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the entries of a hurl file as CSV, a line for each
    #[arg(long, value_name = "FILE")]
    pub csv_entries: Option<PathBuf>,
    /// Write an HdrHistogram interval log while the run goes on
    #[arg(long, value_name = "FILE")]
    pub hlog: Option<PathBuf>,
    /// Write the figures in Prometheus' text format
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<PathBuf>,
    /// Write checks and thresholds as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write a report as one HTML page, which loads nothing
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Send the figures to an OpenTelemetry collector (OTLP/HTTP); the path is /v1/metrics if there is none
    #[arg(long, value_name = "URL", value_parser = Collector::parse)]
    pub otlp: Option<Collector>,
    /// Exit with 1 if this is so, such as 'p99>50ms', 'errors>0.1%' or 'rps<1000'; several with commas, or repeated. Of a
    /// hurl file also 'p99{ENTRY}>200ms' and 'sessions_failed>1%'
    #[arg(long, value_name = "RULE", value_parser = Rules::parse)]
    fail_if: Vec<Rules>,
    /// No progress line
    #[arg(short, long)]
    pub quiet: bool,
}

/// Rules with commas between them.
#[derive(Debug, Clone)]
struct Rules(Vec<ThresholdRule>);

impl Rules {
    fn parse(text: &str) -> Result<Self, String> {
        let texts = threshold::split(text);
        let parse = |rule: &&str| {
            ThresholdRule::parse(rule).map_err(|error| match texts.len() {
                1 => error.to_string(),
                _ => format!("'{}': {error}", rule.trim()),
            })
        };
        texts.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }
}

impl OutputArgs {
    /// Returns all rules of `--fail-if`.
    pub fn rules(&self) -> Vec<ThresholdRule> {
        self.fail_if.iter().flat_map(|rules| rules.0.iter().cloned()).collect()
    }

    /// Checks that all rules of `--fail-if` and all outputs fit a run with these entries, none for a URL.
    pub fn check(&self, entries: &[EntryName]) -> Result<(), CliError> {
        if self.csv_entries.is_some() && entries.is_empty() {
            return Err(CliError::Usage("--csv-entries is for hurl files: a URL has no entries".into()));
        }
        let misplaced = |error: MisplacedRuleError| CliError::Usage(format!("--fail-if {error}"));
        self.rules().iter().try_for_each(|rule| rule.check(entries).map_err(misplaced))
    }

    /// Returns the requested files, each with its flag.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.outputs().into_iter().filter_map(|(flag, file)| Some((flag, file?)))
    }

    /// Returns the flag of each output that is a file, with the file where it is requested.
    pub fn outputs(&self) -> [(&'static str, Option<&Path>); 7] {
        [
            ("--json", self.json.as_deref()),
            ("--csv", self.csv.as_deref()),
            ("--csv-entries", self.csv_entries.as_deref()),
            ("--hlog", self.hlog.as_deref()),
            ("--prometheus", self.prometheus.as_deref()),
            ("--junit", self.junit.as_deref()),
            ("--report", self.report.as_deref()),
        ]
    }
}
