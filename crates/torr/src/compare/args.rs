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
  torr compare --a './base --port 8080' --b './head --port 8080' --url http://127.0.0.1:8080/ --budget 5m

Exit codes: 0 shown, and no threshold failed; 1 a threshold or an output failed, 2 bad usage, 3 target could not be reached, 4 cannot tell, 130 interrupted (the report is still printed)";

/// `torr compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareArgs {
    /// A and B: two URLs that are loaded in turns, or two results of 'torr URL --json FILE' or directories of them
    #[arg(value_name = "VERSION", num_args = 0..=2, conflicts_with_all = ["a", "b"])]
    pub versions: Vec<String>,
    /// A: the command that starts it, with --url; or results or directories of them
    #[arg(long, num_args = 1.., value_name = "COMMAND|FILE", requires = "b")]
    pub a: Vec<String>,
    /// B, in the same way
    #[arg(long, num_args = 1.., value_name = "COMMAND|FILE", requires = "a")]
    pub b: Vec<String>,
    /// Where the servers of --a and --b listen; with '{port}' here and in both commands each start gets a free port
    #[arg(long = "url", value_name = "URL", requires = "a", id = "served_at")]
    pub url: Option<String>,
    /// How long all of it may take; it ends sooner where the outcome is clear
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "DURATION")]
    pub budget: Duration,
    /// Exit with 1 if so beyond doubt, and with 4 if that cannot be shown, such as 'cpu>+2%,p99>+5%,throughput<-3%'
    #[arg(long, value_name = "RULES", value_parser = rules)]
    pub fail_if: Option<Rules>,
    /// The difference that counts where no rule says otherwise
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = share)]
    pub difference: f64,
    /// The fixed rate at which CPU time and response times are compared [default: 60% of the smaller limit]
    #[arg(short, long, value_name = "RATE", value_parser = steady)]
    pub rate: Option<f64>,
    /// Never more requests per second than this
    #[arg(long, value_name = "RATE", value_parser = steady)]
    pub max_rate: Option<f64>,
    /// Connections
    #[arg(short, long, default_value_t = 64, value_parser = connections, value_name = "N")]
    pub connections: usize,
    /// Threads of the generator [default: one per CPU]
    #[arg(short, long, value_parser = threads)]
    pub threads: Option<usize>,
    /// Open a connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    /// The seed of the order of turns and of what is drawn [default: at random, and printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Load services that are neither on a loopback nor on a private address: you are responsible
    #[arg(long)]
    pub i_own_this: bool,
    /// Write the comparison with all blocks as JSON; '-' writes it to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a report as one HTML page, which loads nothing
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
    /// No progress on stderr
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

    /// Returns the flag of each output that is written anew, with the file where it is requested.
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
    percent.map(|percent| percent / 100.0).ok_or_else(|| "not a difference from 0.01% to below 100%, such as 2%".into())
}

fn steady(text: &str) -> Result<f64, String> {
    rate(text).map(|schedule| schedule.peak())
}
