//! `torr httpress`: httpress' command line and layout.

use super::mistake::{Mistake, text, utf8};
use super::numbers::positive;
use super::run::{self, Asked};
use crate::exit::{self, Stop};
use crate::output::print;
use crate::press::mistake;
use lexopt::prelude::*;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;
use torr_gauge::collector::Progress;
use torr_press::Target;
use torr_report::fronts::httpress as layout;

/// httpress waits for ever; Torr not quite.
const TIMEOUT: Duration = Duration::from_secs(60);

const USAGE: &str = "\
httpress <options> <url>      (httpress' command line, answered by torr)
  -n num   requests to send            (default: 1)
  -t num   threads                     (default: 1)
  -c num   connections at a time       (default: 1)
  -k       keep connections alive      (default: no)
  -q       no progress, no threads     (default: no)
  -z pri   TLS priorities: without effect
  -h       this help

example: httpress -n 10000 -c 100 -t 4 -k http://localhost:8080/
";

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Args {
    url: String,
    requests: u64,
    threads: u64,
    connections: u64,
    keep_alive: bool,
    quiet: bool,
    /// Priorities of TLS, which have no effect.
    priorities: bool,
}

/// Does what the command line asks for.
pub fn run(args: Vec<OsString>) -> Result<ExitCode, Stop> {
    match parse(args) {
        Ok(Some(args)) => press(&args),
        Ok(None) => {
            print(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        Err(Mistake { what, with_usage }) => {
            anstream::eprintln!("httpress: {what}");
            if with_usage {
                print(USAGE);
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Reads the command line; nothing if it asks for help.
fn parse(args: Vec<OsString>) -> Result<Option<Args>, Mistake> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut urls = Vec::new();
    let mut args = Args { requests: 1, threads: 1, connections: 1, ..Args::default() };
    while let Some(arg) = parser.next()? {
        match arg {
            Short('n') => args.requests = number(&mut parser, "requests")?,
            Short('t') => args.threads = number(&mut parser, "threads")?,
            Short('c') => args.connections = number(&mut parser, "connections")?,
            Short('k') => args.keep_alive = true,
            Short('q') => args.quiet = true,
            Short('z') => {
                text(&mut parser)?;
                args.priorities = true;
            }
            Short('h') => return Ok(None),
            Value(url) => urls.push(utf8(url)?),
            other => return Err(other.unexpected().into()),
        }
    }
    match <[String; 1]>::try_from(urls) {
        Ok([url]) => args.url = url,
        Err(urls) if urls.is_empty() => return Err(Mistake::usage("the URL is missing")),
        Err(_) => return Err(Mistake::usage("too many arguments: one URL")),
    }
    if !["http://", "https://"].iter().any(|scheme| args.url.starts_with(scheme)) {
        return Err(Mistake::plain(format!("'{}' is not a URL: it begins with http://", args.url)));
    }
    for (less, more, what) in [
        (args.connections, args.requests, "wrong number of connections: there are fewer requests (-c is more than -n)"),
        (args.threads, args.connections, "wrong number of threads: there are fewer connections (-t is more than -c)"),
    ] {
        if less > more {
            return Err(Mistake::plain(what));
        }
    }
    Ok(Some(args))
}

fn number(parser: &mut lexopt::Parser, of: &str) -> Result<u64, Mistake> {
    let text = text(parser)?;
    positive(&text)
        .ok_or_else(|| Mistake::plain(format!("wrong number of {of}: '{text}' is no whole number from 1 up")))
}

fn press(args: &Args) -> Result<ExitCode, Stop> {
    let target = Target::parse(&args.url).map_err(mistake)?;
    let kept = if args.keep_alive { "keep-alive" } else { "close" };
    let headers = vec!["User-Agent:".to_owned(), "Accept:".to_owned(), format!("Connection: {kept}")];
    let request = run::request(&target, "GET", headers, None, args.keep_alive)?;
    let asked = Asked {
        requests: Some(args.requests),
        keep_alive: args.keep_alive,
        ..Asked::new(target, request, (args.connections, args.threads), TIMEOUT)
    };
    let mut launched = Launched::new(args);
    let measured = asked.press(|progress: &Progress| launched.at_least(progress.requests))?;
    launched.at_least(measured.result.asked);
    print(&layout::report(&measured, !args.quiet));
    let mut notes = layout::notes(&measured);
    if args.priorities {
        notes.push("-z has no effect: all cipher suites are offered".into());
    }
    run::tell_verdict(&measured, &notes);
    Ok(if measured.result.interrupted { exit::interrupted() } else { ExitCode::SUCCESS })
}

/// The lines of progress: one for each quarter, or each 50,000, and one for all.
struct Launched {
    step: Option<u64>,
    all: u64,
    told: u64,
}

impl Launched {
    fn new(args: &Args) -> Self {
        let step = (args.requests / 4).min(50_000);
        Self { step: (step >= 10 && !args.quiet).then_some(step), all: args.requests, told: 0 }
    }

    fn at_least(&mut self, requests: u64) {
        let Some(step) = self.step else { return };
        while self.told < requests && (self.told + step <= requests || requests == self.all) {
            self.told = (self.told + step).min(self.all);
            print(&format!("{} requests launched\n", self.told));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Option<Args>, Mistake> {
        parse(line.split(' ').map(OsString::from).collect())
    }

    #[test]
    fn the_documents_commands() {
        for (line, connections, requests, threads, keep_alive) in [
            ("-c 100 -n 1000000 -t 16 -k -q http://h/", 100, 1_000_000, 16, true),
            ("-c 100 -n 1000000 -t 12 -q http://h/", 100, 1_000_000, 12, false),
            ("-c 1000 -n 1000000 -t 16 -k -q http://h/", 1_000, 1_000_000, 16, true),
            ("-c 1000 -n 1000000 -t 16 -q http://h/", 1_000, 1_000_000, 16, false),
            ("-c 10000 -n 4000000 -t 16 -k -q http://h/", 10_000, 4_000_000, 16, true),
            ("-kqc10000 http://h/ -n1000000 -t16", 10_000, 1_000_000, 16, true),
        ] {
            let url = "http://h/".into();
            let expected = Args { url, requests, threads, connections, keep_alive, quiet: true, priorities: false };
            assert_eq!(parse_line(line), Ok(Some(expected)), "{line}");
        }
    }

    #[test]
    fn mistakes() {
        for (line, what, with_usage) in [
            ("-k", "URL is missing", true),
            ("http://h/ http://g/", "too many", true),
            ("-x http://h/", "'-x'", true),
            ("http://h/ -n", "needs a value", true),
            ("h/", "not a URL", false),
            ("-n 0 http://h/", "number of requests", false),
            ("-c 2 http://h/", "number of connections", false),
            ("-n 9 -c 2 -t 3 http://h/", "number of threads", false),
        ] {
            let mistake = parse_line(line).expect_err(line);
            assert!(mistake.what.contains(what) && mistake.with_usage == with_usage, "{line}: {mistake:?}");
        }
    }
}
