//! `torr press`: the command line and layout of `drogon_ctl press`.

use super::mistake::{Mistake, text, utf8};
use super::numbers::positive;
use super::run::{self, Asked};
use crate::exit::{self, Stop};
use crate::output::print;
use crate::press::mistake;
use lexopt::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;
use torr_gauge::collector::Progress;
use torr_press::{Requests, Target};
use torr_report::fronts::press as layout;

/// The original waits for ever; Torr not quite.
const TIMEOUT: Duration = Duration::from_secs(60);
/// After so many answers progress is told.
const STEP: u64 = 100_000;

const USAGE: &str = "\
Usage: drogon_ctl press <options> <url>   (its command line, answered by torr)
  -n num    requests to send (default: 1)
  -t num    threads (default: 1)
  -c num    connections at a time (default: 1)
  -k        do not check the server's certificate
  -f file   a request as JSON:
            {\"method\": \"POST\", \"header\": {\"Name\": \"value\"}, \"body\": \"text\"}
  -q        no progress
  -h        this help

example: drogon_ctl press -n 10000 -c 100 -t 4 -q http://localhost:8080/
";

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Args {
    url: String,
    requests: u64,
    threads: u64,
    connections: u64,
    file: Option<String>,
    insecure: bool,
    quiet: bool,
}

/// A request in a file.
#[derive(Debug, Default, Deserialize)]
struct Described {
    method: Option<String>,
    #[serde(default)]
    header: BTreeMap<String, String>,
    body: Option<String>,
}

/// Does what the command line asks for. Mistakes are told on standard output, as there.
pub fn run(args: Vec<OsString>) -> Result<ExitCode, Stop> {
    match parse(args) {
        Ok(Some(args)) => press(&args),
        Ok(None) => {
            print(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        Err(Mistake { what, .. }) => {
            print(&format!("{what}\n"));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Reads the command line; nothing if it asks for help.
fn parse(args: Vec<OsString>) -> Result<Option<Args>, Mistake> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut args =
        Args { url: String::new(), requests: 1, threads: 1, connections: 1, file: None, insecure: false, quiet: false };
    while let Some(arg) = parser.next()? {
        match arg {
            Short('n') => args.requests = number(&mut parser, "requests")?,
            Short('t') => args.threads = number(&mut parser, "threads")?,
            Short('c') => args.connections = number(&mut parser, "connections")?,
            Short('f') => args.file = Some(text(&mut parser)?),
            Short('k') => args.insecure = true,
            Short('q') => args.quiet = true,
            Short('h') | Long("help") => return Ok(None),
            // The last one counts, as there.
            Value(url) => args.url = utf8(url)?,
            other => return Err(other.unexpected().into()),
        }
    }
    if !["http://", "https://"].iter().any(|scheme| args.url.starts_with(scheme)) {
        return Err(Mistake::plain(format!("Invalid URL '{}': it begins with http://", args.url)));
    }
    Ok(Some(args))
}

fn number(parser: &mut lexopt::Parser, of: &str) -> Result<u64, Mistake> {
    let text = text(parser)?;
    positive(&text)
        .ok_or_else(|| Mistake::plain(format!("Invalid number of {of}! '{text}' is no whole number from 1 up")))
}

fn press(args: &Args) -> Result<ExitCode, Stop> {
    let target = Target::parse(&args.url).map_err(mistake)?;
    let request = request(args, &target)?;
    let asked = Asked {
        requests: Some(args.requests),
        tls: run::Tls { checked: !args.insecure, ..run::Tls::default() },
        ..Asked::new(target, request, (args.connections, args.threads), TIMEOUT)
    };
    let mut told = 0;
    let mut received = |requests: u64| {
        while !args.quiet && told + STEP <= requests {
            told += STEP;
            print(&format!("{told} responses are received\n\n"));
        }
    };
    let measured = asked.press(|progress: &Progress| received(progress.requests))?;
    received(measured.result.requests);
    print(&layout::report(&measured));
    run::tell_verdict(&measured, &layout::notes(&measured));
    Ok(if measured.result.interrupted { exit::interrupted() } else { ExitCode::SUCCESS })
}

fn request(args: &Args, target: &Target) -> Result<Requests, Stop> {
    let described = match &args.file {
        Some(path) => serde_json::from_slice(&run::read_file(path)?)
            .map_err(|error| Stop::Usage(format!("'{path}' does not describe a request as JSON: {error}")))?,
        None => Described::default(),
    };
    let method = described.method.as_deref().unwrap_or("GET").to_uppercase();
    let mut headers = vec!["User-Agent: DrogonClient".to_owned(), "Accept:".to_owned()];
    if described.header.keys().any(|name| name.eq_ignore_ascii_case("user-agent")) {
        headers[0] = "User-Agent:".into();
    }
    headers.extend(described.header.iter().map(|(name, value)| format!("{name}: {value}")));
    if !described.header.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
        // It says nothing of its own about the body.
        headers.push("Content-Type:".into());
    }
    run::request(target, &method, headers, described.body.as_deref(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Option<Args>, Mistake> {
        parse(line.split(' ').map(OsString::from).collect())
    }

    #[test]
    fn values_may_be_glued() {
        let args = parse_line("-n10000 -c 100 -t4 -k -q http://h/").unwrap().unwrap();
        assert_eq!((args.requests, args.connections, args.threads, args.quiet), (10_000, 100, 4, true));
    }

    #[test]
    fn mistakes() {
        for (line, what) in [
            ("-q", "Invalid URL"),
            ("h/", "Invalid URL"),
            ("-n x http://h/", "Invalid number of requests!"),
            ("-c0 http://h/", "Invalid number of connections!"),
            ("http://h/ -t", "needs a value"),
        ] {
            let mistake = parse_line(line).expect_err(line);
            assert!(mistake.what.contains(what), "{line}: {mistake:?}");
        }
    }
}
