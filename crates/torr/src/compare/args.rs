//! `torr compare` on the command line.

use crate::report;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use torr_lab::gate::Rule;
use torr_load::RequestAndWay;
use torr_load::values::{connections, duration, rate, threads};

const EXAMPLES: &str = "\
Examples:
  torr compare before.json after.json
  torr compare --a base/*.json --b head/*.json
  torr compare http://127.0.0.1:8080/ http://127.0.0.1:8081/ --fail-if 'cpu>+2%'
  torr compare URL1 URL2 --sse --fail-if 'gap_p99>+5%'
  torr compare --a './base 8080' --b './head 8080' --url http://127.0.0.1:8080/";

/// `torr compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareArgs {
    /// A and B: two URLs to load in turns, or two results of 'torr URL --json FILE', or directories of such results
    #[arg(value_name = "VERSION", num_args = 0..=2, conflicts_with_all = ["a", "b"])]
    pub versions: Vec<String>,
    /// Start A with this command (needs --url); or read A from these results or directories
    #[arg(long, num_args = 1.., value_name = "COMMAND|FILE", requires = "b")]
    pub a: Vec<String>,
    /// Start B with this command (needs --url); or read B from these results or directories
    #[arg(long, num_args = 1.., value_name = "COMMAND|FILE", requires = "a")]
    pub b: Vec<String>,
    /// Load the servers of --a and --b at this URL; '{port}' in the URL and both commands becomes a free port
    #[arg(long = "url", value_name = "URL", requires = "a", id = "served_at")]
    pub url: Option<String>,
    /// Finish within this time, or sooner if the result is clear
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "DURATION")]
    pub budget: Duration,
    /// Exit with code 1 if any of these is shown beyond chance, such as 'cpu>+2%,p99>+5%,throughput<-3%'; with code 4 if
    /// the comparison cannot tell
    #[arg(long, value_name = "RULES", value_parser = rules)]
    pub fail_if: Option<Rules>,
    /// Smallest relative difference to report, where --fail-if names none
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = share)]
    pub difference: f64,
    /// Compare CPU time and response times at this rate, per second [default: 60% of the lower limit]
    #[arg(short, long, value_name = "RATE", value_parser = steady)]
    pub rate: Option<f64>,
    /// Limit the request rate, per second
    #[arg(long, value_name = "RATE", value_parser = steady)]
    pub max_rate: Option<f64>,
    /// Keep this many connections open; of streams, with one on each
    #[arg(short, long, default_value_t = 64, value_parser = connections, value_name = "N")]
    pub connections: usize,
    /// Use this many threads [default: one per CPU]
    #[arg(short, long, value_parser = threads)]
    pub threads: Option<usize>,
    /// Open a connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    /// Use this seed for the order of turns and all random choices [default: random, and printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Allow targets outside this machine and private networks: you confirm that you may load them
    #[arg(long)]
    pub i_own_this: bool,
    /// Write the comparison with all blocks as JSON; '-' writes it to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a report as one HTML page
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write Markdown, for a pull request
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Append Markdown to a file, such as "$GITHUB_STEP_SUMMARY"
    #[arg(long, value_name = "FILE")]
    pub summary: Option<PathBuf>,
    /// Write the rules as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Do not show progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub load: RequestAndWay,
}

/// The rules of `--fail-if`.
#[derive(Debug, Clone)]
pub struct Rules(pub Vec<Rule>);

impl CompareArgs {
    /// Returns the rules.
    pub fn rules(&self) -> Vec<Rule> {
        self.fail_if.as_ref().map(|rules| rules.0.clone()).unwrap_or_default()
    }

    /// Returns the flag of each output that Torr overwrites, with the file where it is requested.
    pub fn outputs(&self) -> [(&'static str, Option<&Path>); 4] {
        let [json, page] = report::outputs(self.json.as_deref(), self.report.as_deref());
        [json, page, ("--markdown", self.markdown.as_deref()), ("--junit", self.junit.as_deref())]
    }

    /// Returns the seed, drawn if there is none.
    pub fn seed(&self) -> u64 {
        // Readable, and exact as a number of JSON.
        self.seed.unwrap_or_else(|| fastrand::u64(1..1_000_000))
    }
}

fn rules(text: &str) -> Result<Rules, String> {
    Rule::parse_all(text).map(Rules)
}

fn share(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').parse::<f64>().ok().filter(|percent| (0.01..100.0).contains(percent));
    percent
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "must be a difference from 0.01% to below 100%, such as 2%".into())
}

fn steady(text: &str) -> Result<f64, String> {
    rate(text).map(|schedule| schedule.peak())
}
