//! The command line: what can be asked for, and who does it.

use crate::exit::Stop;
use crate::{demo, press, serve};
use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use torr_press::{Arrivals, Schedule};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  torr http://127.0.0.1:8080/               10 s, 100 connections, then say what limits it
  torr URL -c 1000 -d 30s --json run.json   harder, longer, and keep the result
  torr URL -n 100000 --no-keepalive         exactly so many requests, a connection each
  torr URL -r 5000 --arrivals poisson       5,000 requests a second, as independent users would send them
  torr serve --workers 4                    a server worth pressing
  torr demo --quick                         both, on this machine, beside reference figures

Exit codes: 0 done, 1 failed, 2 bad usage, 3 target could not be reached, 130 interrupted (the report is still printed)";

/// A pressure gauge for HTTP services: loads one as hard as this machine allows, and says what limits it.
#[derive(Debug, Parser)]
#[command(name = "torr", version, styles = STYLES, after_help = EXAMPLES, max_term_width = 110)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    press: PressArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the demo application: a server worth pressing
    Serve(ServeArgs),
    /// Start that server, press it, and show its figures beside those of the source documents
    Demo(DemoArgs),
}

impl Cli {
    /// Does what was asked.
    pub fn run(self) -> Result<ExitCode, Stop> {
        match self.command {
            Some(Command::Serve(args)) => serve::run(&args),
            Some(Command::Demo(args)) => demo::run(&args),
            None => press::run(&self.press),
        }
    }
}

/// `torr URL`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("open").args(["rate", "stages"])))]
pub struct PressArgs {
    /// Where to; 'http://' may be left out
    #[arg(required = true)]
    url: Option<String>,
    /// Connections at a time
    #[arg(short, long, default_value = "100", value_parser = positive)]
    pub connections: usize,
    /// Threads [default: one per CPU]
    #[arg(short, long, value_parser = positive)]
    pub threads: Option<usize>,
    /// How long, such as 30s or 2m; a bare number is seconds [default: 10s, unless -n is given]
    #[arg(short, long, value_parser = duration)]
    pub duration: Option<Duration>,
    /// How many requests, such as 5000 or 2M; with -d, whichever is reached first
    #[arg(short = 'n', long, value_parser = requests)]
    pub requests: Option<u64>,
    /// An open loop: requests per second that are due whatever the service does; -c is the most connections
    #[arg(short, long, value_name = "RATE", value_parser = rate, conflicts_with = "stages")]
    pub rate: Option<Schedule>,
    /// An open loop whose rate goes in straight lines, such as '10s:100,30s:1000,5s:0'
    #[arg(long, value_name = "STAGES", value_parser = stages)]
    pub stages: Option<Schedule>,
    /// How requests of an open loop are spread: evenly, or at random as many independent users would
    #[arg(long, value_enum, default_value_t = ArrivalsArg::Constant, requires = "open")]
    pub arrivals: ArrivalsArg,
    /// A header, as 'Name: value'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub headers: Vec<String>,
    /// The method [default: GET, or POST with --data]
    #[arg(short = 'X', long = "request", value_name = "METHOD")]
    pub method: Option<String>,
    /// A body; @FILE reads it from a file, @- from standard input
    #[arg(long, value_name = "TEXT")]
    pub data: Option<String>,
    /// After how long without a whole answer a request has failed
    #[arg(long, default_value = "10s", value_parser = duration, value_name = "DURATION")]
    pub timeout: Duration,
    /// Addresses of this machine to connect from, taken in turn; each has its own local ports
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    pub bind: Vec<IpAddr>,
    /// Open a connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    /// Write the result as JSON; '-' writes it to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// No progress line
    #[arg(short, long)]
    pub quiet: bool,
}

/// `torr serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDR")]
    pub listen: String,
    /// Worker threads [default: one per CPU]
    #[arg(long, value_parser = positive, value_name = "N")]
    pub workers: Option<usize>,
    /// Most bytes of a request's head
    #[arg(long, default_value = "8192", value_parser = positive, value_name = "BYTES")]
    pub max_head: usize,
    /// Most header fields of a request, up to 256
    #[arg(long, default_value = "100", value_parser = clap::value_parser!(u16).range(1..=256), value_name = "N")]
    pub max_headers: u16,
    /// Most bytes of a request's body
    #[arg(long, default_value = "1048576", value_name = "BYTES")]
    pub max_body: u64,
    /// Most connections at a time; further ones get a 503
    #[arg(long, default_value = "100000", value_parser = positive, value_name = "N")]
    pub max_connections: usize,
}

/// `torr demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Take 2 seconds instead of 10 for each setting
    #[arg(long)]
    pub quick: bool,
    /// Where to write all figures as JSON; '-' writes them to standard output, and nothing else
    #[arg(long, default_value = "torr-demo.json", value_name = "FILE")]
    pub json: PathBuf,
}

/// [`Arrivals`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ArrivalsArg {
    Constant,
    Poisson,
}

impl PressArgs {
    /// The open loop that is asked for.
    pub fn schedule(&self) -> Option<(Schedule, Arrivals)> {
        let arrivals = match self.arrivals {
            ArrivalsArg::Constant => Arrivals::Constant,
            ArrivalsArg::Poisson => Arrivals::Poisson,
        };
        let schedule = self.rate.as_ref().or(self.stages.as_ref())?;
        Some((schedule.clone(), arrivals))
    }

    /// The URL, which the command line cannot do without.
    pub fn url(&self) -> &str {
        self.url.as_deref().expect("clap requires it where there is no subcommand")
    }
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "not a whole number from 1 up".into())
}

/// A count, with k, M or G for thousands, millions and billions.
fn requests(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let count = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).filter(|&n| n > 0);
    count.ok_or_else(|| "not a whole number from 1 up, with or without k, M or G".into())
}

fn rate(text: &str) -> Result<Schedule, String> {
    let rate = text.parse().or_else(|_| requests(text).map(|n| n as f64));
    let rate = rate.map_err(|_| "not a number of requests per second, such as 500 or 20k")?;
    Schedule::constant(rate).map_err(|error| error.to_string())
}

/// Pairs of a length and a rate.
fn stages(text: &str) -> Result<Schedule, String> {
    let stage = |stage: &str| {
        let (length, rate) = stage.split_once(':').ok_or_else(|| format!("'{stage}' is not of the form 10s:100"))?;
        let length = if length == "0" { Ok(Duration::ZERO) } else { duration(length) };
        let rate = rate.parse().map_err(|_| format!("'{rate}' is not a number of requests per second"))?;
        Ok((length?, rate))
    };
    let stages: Vec<(Duration, f64)> = text.split(',').map(|s| stage(s.trim())).collect::<Result<_, String>>()?;
    Schedule::stages(&stages).map_err(|error| error.to_string())
}

fn duration(text: &str) -> Result<Duration, String> {
    let seconds = || text.parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    let parsed = seconds().or_else(|| humantime::parse_duration(text).ok());
    // A clock of nanoseconds in 64 bits must be able to tell its end.
    let fits = |d: &Duration| *d >= Duration::from_millis(1) && *d <= Duration::from_secs(10 * 365 * 86_400);
    parsed.filter(fits).ok_or_else(|| "not a duration such as 10s, 500ms or 2m".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn counts_and_durations() {
        assert_eq!(["1", "5k", "2M", "1G"].map(|t| requests(t).unwrap()), [1, 5_000, 2_000_000, 1_000_000_000]);
        for bad in ["", "0", "-1", "1.5", "k", "5x", "99999999999G"] {
            assert!(requests(bad).is_err(), "{bad:?} was taken");
        }
        assert_eq!(
            ["10", "0.5", "250ms", "1m 30s"].map(|t| duration(t).unwrap().as_millis()),
            [10_000, 500, 250, 90_000]
        );
        for bad in ["", "0", "-1", "0s", "ten", "1e30", "NaN", "inf", "5x", "100000000000000s"] {
            assert!(duration(bad).is_err(), "{bad:?} was taken");
        }
    }
}
