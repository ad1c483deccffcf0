//! `torr limit` on the command line.

use crate::fleet::ThroughFleet;
use crate::steps::ViewArgs;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use std::time::Duration;
use torr_doctor::limit::Slo;
use torr_load::values::{arrivals, connections, duration, rate, threads};
use torr_load::{Exchanged, Load};
use torr_press::Arrivals;

const EXAMPLES: &str = "\
Examples:
  torr limit http://127.0.0.1:8080/                    p99<50ms, errors<0.1%
  torr limit URL --slo 'p99.9<200ms,max<2s,errors<=0'  other objectives
  torr limit URL --sse                                 streams at a time
  torr limit URL --sse --slo 'gap_p99<100ms'           with other objectives
  torr limit URL --budget 5m --max-connections 2000    search longer and wider
  torr limit URL --max-rate 5k --json limit.json       stay below a rate";

/// `torr limit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LimitArgs {
    /// A URL, with or without 'http://'; or a.hurl, script.lua, script.js or plan.toml, whose pace and duration are ignored
    #[arg(required_unless_present = "urls")]
    pub url: Option<String>,
    /// Meet these objectives [default: p99<50ms,errors<0.1%; of streams first_event_p99<1s,errors<0.1%, and 99% of the gaps
    /// within twice that of one stream and 50 ms]
    #[arg(long, value_name = "RULES", value_parser = Slo::parse)]
    pub slo: Option<Slo>,
    /// Finish within this time
    #[arg(long, default_value = "60s", value_parser = budget, value_name = "DURATION")]
    pub budget: Duration,
    /// Limit the request rate, per second; of streams, the rate at which they begin
    #[arg(long, value_name = "RATE", value_parser = most)]
    pub max_rate: Option<f64>,
    /// Limit the number of connections
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = connections)]
    pub max_connections: usize,
    /// Spread the requests of an open loop at random as independent users do (poisson), evenly (constant), or in the bursts of --log
    /// (logged)
    #[arg(long, default_value = "poisson",
          value_parser = PossibleValuesParser::new(Arrivals::NAMES).try_map(|text| arrivals(&text)))]
    pub arrivals: Arrivals,
    /// Use this many threads [default: one per CPU]
    #[arg(short, long, value_parser = threads)]
    pub threads: Option<usize>,
    /// Open a connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    /// Allow a target outside this machine and private networks: you confirm that you may load it
    #[arg(long)]
    pub i_own_this: bool,
    /// Write the result as JSON; '-' writes it to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a report as one HTML page: curves and all steps
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Do not show the progress line
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub views: ViewArgs,
    #[command(flatten)]
    pub load: Exchanged,
    #[command(flatten)]
    pub through: ThroughFleet,
}

impl LimitArgs {
    /// Takes the load of a plan instead of that of the command line.
    pub fn take(&mut self, load: Load) {
        let pace = &load.pace;
        self.url = load.targets.first().cloned();
        self.threads = pace.threads.as_deref().copied().or(self.threads);
        self.max_rate = pace.max_rate.as_deref().copied().or(self.max_rate);
        self.no_keepalive |= pace.no_keepalive;
        self.load = Exchanged::of(&load);
    }

    /// Returns what is loaded.
    pub fn load(&self) -> Load {
        self.load.to(self.url.as_deref(), !self.no_keepalive)
    }
}

/// The shortest budget.
const SHORTEST: Duration = Duration::from_secs(5);

fn budget(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|budget| if budget < SHORTEST { Err("must be at least 5s".into()) } else { Ok(budget) })
}

fn most(text: &str) -> Result<f64, String> {
    rate(text).map(|schedule| schedule.peak())
}
