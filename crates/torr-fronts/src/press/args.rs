//! The command line of `drogon_ctl press`.

use crate::numbers::up_to;
use crate::usage_error::{UsageError, text, utf8};
use lexopt::prelude::*;
use std::ffi::OsString;
use torr_gauge::limits::{MOST_CONNECTIONS, MOST_REQUESTS, MOST_THREADS};

/// The help text.
pub const USAGE: &str = "\
Usage: drogon_ctl press <options> <url>   (its command line, run by torr)
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

/// The parsed options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Args {
    /// The URL.
    pub url: String,
    /// Total requests, at least 1.
    pub requests: u64,
    /// Threads, at least 1.
    pub threads: u64,
    /// Concurrent connections, at least 1.
    pub connections: u64,
    /// The JSON file that describes the request.
    pub file: Option<String>,
    /// Whether to accept any server certificate.
    pub insecure: bool,
    /// Whether to print no progress.
    pub quiet: bool,
}

/// Parses the command line. Returns `None` if it asks for help.
///
/// # Errors
/// [`UsageError`] with the wrong argument.
pub fn parse(args: Vec<OsString>) -> Result<Option<Args>, UsageError> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut args =
        Args { url: String::new(), requests: 1, threads: 1, connections: 1, file: None, insecure: false, quiet: false };
    while let Some(arg) = parser.next()? {
        match arg {
            Short('n') => args.requests = number(&mut parser, "requests", MOST_REQUESTS)?,
            Short('t') => args.threads = number(&mut parser, "threads", MOST_THREADS)?,
            Short('c') => args.connections = number(&mut parser, "connections", MOST_CONNECTIONS)?,
            Short('f') => args.file = Some(text(&mut parser)?),
            Short('k') => args.insecure = true,
            Short('q') => args.quiet = true,
            Short('h') | Long("help") => return Ok(None),
            // The last URL counts, as in drogon_ctl.
            Value(url) => args.url = utf8(url)?,
            other => return Err(other.unexpected().into()),
        }
    }
    if !["http://", "https://"].iter().any(|scheme| args.url.starts_with(scheme)) {
        return Err(UsageError::plain(format!("Invalid URL '{}': it must begin with http://", args.url)));
    }
    Ok(Some(args))
}

fn number(parser: &mut lexopt::Parser, of: &str, most: u64) -> Result<u64, UsageError> {
    let text = text(parser)?;
    up_to(most, &text).ok_or_else(|| {
        UsageError::plain(format!("Invalid number of {of}! Expected a whole number from 1 to {most}, found '{text}'"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Option<Args>, UsageError> {
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
            ("http://h/ -t", "missing value"),
        ] {
            let error = parse_line(line).expect_err(line);
            assert!(error.message.contains(what), "{line}: {error:?}");
        }
    }
}
