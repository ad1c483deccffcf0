//! The command line of httpress.

use crate::numbers::up_to;
use crate::usage_error::{UsageError, text, utf8};
use lexopt::prelude::*;
use std::ffi::OsString;
use torr_gauge::limits::{MOST_CONNECTIONS, MOST_REQUESTS, MOST_THREADS};

/// The help text.
pub const USAGE: &str = "\
httpress <options> <url>      (httpress' command line, run by torr)
  -n num   requests to send            (default: 1)
  -t num   threads                     (default: 1)
  -c num   connections at a time       (default: 1)
  -k       keep connections alive      (default: no)
  -q       no progress, no threads     (default: no)
  -z pri   TLS priorities: without effect
  -h       this help

example: httpress -n 10000 -c 100 -t 4 -k http://localhost:8080/
";

/// The parsed options.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Args {
    /// The URL.
    pub url: String,
    /// Total requests, at least 1.
    pub requests: u64,
    /// Threads, no more than connections.
    pub threads: u64,
    /// Concurrent connections, at most as many as requests.
    pub connections: u64,
    /// Whether connections are kept alive.
    pub keep_alive: bool,
    /// Whether to print no progress.
    pub quiet: bool,
    /// Whether TLS priorities were given, which have no effect.
    pub priorities: bool,
}

/// Parses the command line. Returns `None` if it asks for help.
///
/// # Errors
/// [`UsageError`] with the wrong argument.
pub fn parse(args: Vec<OsString>) -> Result<Option<Args>, UsageError> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut urls = Vec::new();
    let mut args = Args { requests: 1, threads: 1, connections: 1, ..Args::default() };
    while let Some(arg) = parser.next()? {
        match arg {
            Short('n') => args.requests = number(&mut parser, "requests", MOST_REQUESTS)?,
            Short('t') => args.threads = number(&mut parser, "threads", MOST_THREADS)?,
            Short('c') => args.connections = number(&mut parser, "connections", MOST_CONNECTIONS)?,
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
        Err(urls) if urls.is_empty() => return Err(UsageError::usage("missing URL")),
        Err(_) => return Err(UsageError::usage("too many arguments: expected one URL")),
    }
    if !["http://", "https://"].iter().any(|scheme| args.url.starts_with(scheme)) {
        return Err(UsageError::plain(format!("invalid URL '{}': it must begin with http://", args.url)));
    }
    for (less, more, what) in [
        (args.connections, args.requests, "wrong number of connections: -c must not exceed -n"),
        (args.threads, args.connections, "wrong number of threads: -t must not exceed -c"),
    ] {
        if less > more {
            return Err(UsageError::plain(what));
        }
    }
    Ok(Some(args))
}

fn number(parser: &mut lexopt::Parser, of: &str, most: u64) -> Result<u64, UsageError> {
    let text = text(parser)?;
    up_to(most, &text).ok_or_else(|| {
        UsageError::plain(format!("wrong number of {of}: expected a whole number from 1 to {most}, found '{text}'"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Option<Args>, UsageError> {
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
            ("-k", "missing URL", true),
            ("http://h/ http://g/", "too many", true),
            ("-x http://h/", "'-x'", true),
            ("http://h/ -n", "missing value", true),
            ("h/", "invalid URL", false),
            ("-n 0 http://h/", "number of requests", false),
            ("-c 2 http://h/", "number of connections", false),
            ("-n 9 -c 2 -t 3 http://h/", "number of threads", false),
        ] {
            let error = parse_line(line).expect_err(line);
            assert!(error.message.contains(what) && error.with_usage == with_usage, "{line}: {error:?}");
        }
    }
}
