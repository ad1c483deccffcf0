//! `torr replay` on the command line.

use clap::{Args, ValueHint};
use std::path::{Path, PathBuf};
use torr_gauge::number;
use torr_load::{Load, Replayed};
use torr_logs::{Format, Pattern, Selection, TimeBound};

const EXAMPLES: &str = "\
Examples:
  torr replay access.log --target http://127.0.0.1:8080
  torr replay access.log.*.gz --target URL --from 10:00 --to 10:30
  torr replay access.log --target URL --speed 2 --host shop.example
  zcat logs/* | torr replay - --target URL --format '$msec \"$request\"'";

/// The bounds of the speed.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

/// `torr replay`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReplayArgs {
    /// Access logs of nginx, Apache, Caddy, Traefik, AWS ALB or Envoy, or recordings of GoReplay, also compressed with gzip; '-' is
    /// standard input. Several are merged by their times
    #[arg(value_name = "LOG", required = true, value_hint = ValueHint::FilePath)]
    pub logs: Vec<PathBuf>,
    /// Send the requests to this service, such as http://127.0.0.1:8080
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub target: String,
    /// Let the time of the log pass this many times faster
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = speed)]
    pub speed: f64,
    /// Begin at this time of the log: 10:00 by the log's clock, or 2026-11-29T10:00:00Z
    #[arg(long, value_name = "TIME", value_parser = TimeBound::parse)]
    pub from: Option<TimeBound>,
    /// End before this time of the log
    #[arg(long, value_name = "TIME", value_parser = TimeBound::parse)]
    pub to: Option<TimeBound>,
    /// Read lines of this log_format of nginx instead of recognising the format
    #[arg(long = "format", value_name = "FORMAT", value_parser = Pattern::parse)]
    pub pattern: Option<Pattern>,
    /// Send requests with these methods; all others are left out and counted
    #[arg(long, value_name = "METHODS", default_value = Selection::SAFE, value_delimiter = ',', value_parser = Selection::method)]
    pub methods: Vec<String>,
    /// Send requests for this host as well as those for the target's, where the log names hosts; '*' is any host
    #[arg(long = "host", value_name = "NAME", value_parser = Selection::host)]
    pub hosts: Vec<String>,
    #[command(flatten)]
    pub load: Replayed,
}

impl ReplayArgs {
    /// Returns the load of the target.
    pub fn load(&self) -> Load {
        self.load.to(Some(&self.target), !self.load.pace.no_keepalive)
    }

    /// Returns the format of the logs, if it is given.
    pub fn format(&self) -> Option<Format> {
        self.pattern.clone().map(Format::given)
    }

    /// Returns the files that are written anew, each with its flag.
    pub fn outputs(&self) -> Vec<(&'static str, &Path)> {
        self.load.output.files().collect()
    }
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = number::number(text.trim_end_matches('x')).filter(|speed| SPEEDS.contains(speed));
    speed.ok_or_else(|| format!("must be from {} to {}", SPEEDS.start(), SPEEDS.end()))
}
