//! What is told, and where.

use clap::Args;
use std::path::PathBuf;
use torr_gauge::ThresholdRule;
use torr_report::otlp::Collector;

/// Where results go, and what makes the run a failure.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write the result as JSON; '-' as any FILE is standard output, where nothing else is written then
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the series as CSV, a line for each interval
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write an HdrHistogram interval log while the run goes on
    #[arg(long, value_name = "FILE")]
    pub hlog: Option<PathBuf>,
    /// Write the figures in Prometheus' text format
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<PathBuf>,
    /// Write checks and thresholds as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Send the figures to an OpenTelemetry collector (OTLP/HTTP); the path is /v1/metrics if there is none
    #[arg(long, value_name = "URL", value_parser = Collector::parse)]
    pub otlp: Option<Collector>,
    /// Exit with 1 if this is so, such as 'p99>50ms', 'errors>0.1%' or 'rps<1000'; several with commas, or repeated
    #[arg(long, value_name = "RULE", value_parser = ThresholdRule::parse, value_delimiter = ',')]
    pub fail_if: Vec<ThresholdRule>,
    /// No progress line
    #[arg(short, long)]
    pub quiet: bool,
}

impl OutputArgs {
    /// The files that are asked for, each with its flag.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let files = [
            ("--json", &self.json),
            ("--csv", &self.csv),
            ("--hlog", &self.hlog),
            ("--prometheus", &self.prometheus),
            ("--junit", &self.junit),
        ];
        files.into_iter().filter_map(|(flag, file)| Some((flag, file.as_ref()?)))
    }
}
