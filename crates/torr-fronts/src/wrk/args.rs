//! The command line of wrk, with the options of wrk2.

use super::numbers::{METRIC, TIME, Units, scaled};
use crate::usage_error::{UsageError, text, utf8};
use lexopt::prelude::*;
use std::ffi::OsString;
use torr_gauge::limits::{MOST_CONNECTIONS, MOST_RATE, MOST_SECONDS, MOST_THREADS};

/// The help text.
pub const USAGE: &str = "\
Usage: wrk <options> <url>      (wrk's command line, run by torr)
  Options:
    -c, --connections <N>  Concurrent connections [10]
    -d, --duration    <T>  Duration [10s]
    -t, --threads     <N>  Threads [2]

    -s, --script      <S>  A Lua script; its arguments follow the URL and --
    -H, --header      <H>  Header field 'Name: value'; repeatable
        --latency          Print the latency distribution
        --timeout     <T>  Timeout of a response [2s]
    -v, --version          Print the version

    -R, --rate        <N>  wrk2: arrival rate in requests per second
    -U, --u_latency        wrk2: latency from sending; torr does not keep it
    -B, --batch_latency    wrk2: latency of batches, which only scripts send

  <N> may end in k, M or G, <T> in s, m or h
";

/// Which of the two programs a command line is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// wrk, with the options of wrk2 as well.
    Wrk,
    /// wrk2, which needs a rate.
    Wrk2,
}

impl Program {
    /// Returns the program's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrk => "wrk",
            Self::Wrk2 => "wrk2",
        }
    }

    /// Parses a command line of this program.
    ///
    /// # Errors
    /// If an option or the URL has a mistake, or if wrk2 is given no rate.
    pub fn parse(self, args: Vec<OsString>) -> Result<Parsed, UsageError> {
        match parse(args)? {
            Parsed::Run(args) if self == Self::Wrk2 && args.rate.is_none() => {
                Err(UsageError::usage("missing rate: pass the requests per second with -R or --rate"))
            }
            parsed => Ok(parsed),
        }
    }

    /// Returns the help text.
    pub fn usage(self) -> String {
        match self {
            Self::Wrk => USAGE.to_owned(),
            Self::Wrk2 => USAGE
                .replace("Usage: wrk <options> <url>      (wrk's", "Usage: wrk2 -R <N> <options> <url>      (wrk2's")
                .replace("wrk2: ", ""),
        }
    }
}

/// The long options, which may be abbreviated while they are unambiguous.
const LONG: [&str; 12] = [
    "connections",
    "duration",
    "threads",
    "script",
    "header",
    "latency",
    "timeout",
    "version",
    "rate",
    "u_latency",
    "batch_latency",
    "help",
];

/// The parsed options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Args {
    /// The URL.
    pub url: String,
    /// Concurrent connections, at least as many as threads.
    pub connections: u64,
    /// The run's duration in seconds, at least 1.
    pub duration: u64,
    /// Threads, at least 1.
    pub threads: u64,
    /// A Lua script and its arguments.
    pub script: Option<(String, Vec<String>)>,
    /// Header fields, each `Name: value`.
    pub headers: Vec<String>,
    /// Whether to print the latency distribution.
    pub latency: bool,
    /// The timeout of a response in seconds, at least 1.
    pub timeout: u64,
    /// The arrival rate in requests per second, an option of wrk2.
    pub rate: Option<u64>,
    /// Whether to print latency without correction, which Torr does not keep.
    pub uncorrected: bool,
    /// Whether to print the version first, as wrk does before it runs.
    pub version: bool,
}

/// The outcome of parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// Run a load test.
    Run(Args),
    /// Print the help.
    Help,
}

/// Parses the command line.
pub fn parse(args: Vec<OsString>) -> Result<Parsed, UsageError> {
    let mut parser = lexopt::Parser::from_args(args);
    let (mut script, mut rest) = (None, Vec::new());
    let mut args = Args {
        url: String::new(),
        connections: 10,
        duration: 10,
        threads: 2,
        script: None,
        headers: Vec::new(),
        latency: false,
        timeout: 2,
        rate: None,
        uncorrected: false,
        version: false,
    };
    while let Some(arg) = parser.next()? {
        let flag = match arg {
            Short(flag) => flag,
            Long(name) => short(name)?,
            Value(value) => {
                rest.push(utf8(value)?);
                continue;
            }
        };
        match flag {
            'c' => args.connections = number(&mut parser, METRIC, "connections", MOST_CONNECTIONS)?,
            'd' => args.duration = number(&mut parser, TIME, "duration", MOST_SECONDS)?,
            't' => args.threads = number(&mut parser, METRIC, "threads", MOST_THREADS)?,
            's' => script = Some(text(&mut parser)?),
            'H' => args.headers.push(text(&mut parser)?),
            'L' => args.latency = true,
            'T' => args.timeout = number(&mut parser, TIME, "timeout", MOST_SECONDS)?,
            'R' => args.rate = Some(number(&mut parser, METRIC, "rate", MOST_RATE as u64)?),
            'U' => (args.latency, args.uncorrected) = (true, true),
            'B' => {}
            'v' => args.version = true,
            'h' => return Ok(Parsed::Help),
            other => return Err(Short(other).unexpected().into()),
        }
    }
    let mut rest = rest.into_iter();
    args.url = rest.next().ok_or_else(|| UsageError::usage("missing URL"))?;
    args.script = script.map(|script| (script, rest.collect()));
    if !args.url.contains("://") {
        return Err(UsageError::usage(format!("invalid URL: {} (it must begin with http://)", args.url)));
    }
    if args.connections < args.threads {
        return Err(UsageError::usage("number of connections must be >= threads"));
    }
    Ok(Parsed::Run(args))
}

/// Returns the short form of a long option.
fn short(name: &str) -> Result<char, UsageError> {
    let exact = LONG.iter().filter(|long| **long == name);
    let begun: Vec<_> = LONG.iter().filter(|long| long.starts_with(name)).collect();
    let long = exact.chain(begun.iter().copied().filter(|_| begun.len() == 1)).next();
    match long.copied() {
        Some("latency") => Ok('L'),
        Some("timeout") => Ok('T'),
        Some("header") => Ok('H'),
        Some("rate") => Ok('R'),
        Some("u_latency") => Ok('U'),
        Some("batch_latency") => Ok('B'),
        Some(long) => Ok(long.chars().next().unwrap_or_default()),
        None => {
            let rated = LONG.iter().map(|long| (strsim::osa_distance(name, long), long));
            let near = rated.min().filter(|(distance, long)| *distance <= 2 && *distance < long.len() / 2);
            let hint = near.map_or(String::new(), |(_, long)| format!(" (did you mean '--{long}'?)"));
            Err(UsageError::usage(format!("unknown option '--{name}'{hint}")))
        }
    }
}

fn number(parser: &mut lexopt::Parser, units: Units, what: &str, most: u64) -> Result<u64, UsageError> {
    let text = text(parser)?;
    let number = scaled(&text, units).filter(|n| (1..=most).contains(n));
    number.ok_or_else(|| {
        UsageError::usage(format!(
            "{what} must be a whole number from 1 to {most}, with or without a unit, found '{text}'"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Args {
        match parse(line.split(' ').map(OsString::from).collect()) {
            Ok(Parsed::Run(args)) => args,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn options_in_every_form_and_position() {
        let defaults = args("http://example.com");
        let Args { connections, duration, threads, timeout, latency, rate, .. } = defaults;
        assert_eq!((connections, duration, threads, timeout, latency, rate), (10, 10, 2, 2, false, None));
        let short = args("-c200 -d 10s -t4 http://h/ -H A:1 -H B:2 -L -T1m");
        assert_eq!((short.connections, short.duration, short.threads), (200, 10, 4));
        assert_eq!((short.headers.len(), short.latency, short.timeout), (2, true, 60));
        let long = args("--connections=1k --dur 2m --thr 2 --lat --timeout 3 -R 5k http://h/");
        assert_eq!((long.connections, long.duration, long.latency, long.timeout), (1000, 120, true, 3));
        assert_eq!(long.rate, Some(5000));
        let script = args("-s a.lua http://h/ -- x -y").script;
        assert_eq!(script, Some(("a.lua".to_owned(), vec!["x".to_owned(), "-y".to_owned()])));
    }

    #[test]
    fn mistakes() {
        for (line, what) in [
            ("-c 5", &["missing URL"][..]),
            ("example.com", &["invalid URL"]),
            ("-c 1 http://h/", &[">= threads"]),
            ("-d 0 http://h/", &["duration must be", "found '0'"]),
            ("-c 1.5k http://h/", &["connections must be", "found '1.5k'"]),
            ("-d 100ms http://h/", &["duration must be", "found '100ms'"]),
            ("-z http://h/", &["'-z'"]),
            ("--t 5 http://h/", &["'--t'"]),
            ("--latnecy http://h/", &["did you mean '--latency'?"]),
            ("http://h/ -c", &["missing value of option '-c'"]),
        ] {
            let error = parse(line.split(' ').map(OsString::from).collect()).expect_err(line);
            assert!(what.iter().all(|what| error.message.contains(what)), "{line}: {error:?}");
        }
    }

    #[test]
    fn wrk2_needs_a_rate() {
        let parse = |line: &str| Program::Wrk2.parse(line.split(' ').map(OsString::from).collect());
        let error = parse("-c 10 -U http://h/").expect_err("there is no rate");
        assert!(error.message.contains("-R"), "{error:?}");
        let parsed = parse("-R 2k -U -B http://h/").expect("there is a rate");
        assert!(matches!(parsed, Parsed::Run(Args { rate: Some(2000), uncorrected: true, latency: true, .. })));
        assert!(Program::Wrk2.usage().starts_with("Usage: wrk2 -R <N>") && !Program::Wrk2.usage().contains("wrk2: "));
    }
}
