//! The command line of ApacheBench.

use crate::numbers::up_to;
use crate::tls::TlsArgs;
use crate::usage_error::{UsageError, text, utf8};
use lexopt::prelude::*;
use std::ffi::OsString;
use std::net::IpAddr;
use std::time::Duration;
use torr_gauge::limits::{MOST_CONNECTIONS, MOST_REQUESTS};
use torr_net::tls::Versions;

/// The largest number that ab itself can hold.
const MOST_INTEGER: u64 = i32::MAX as u64;
/// The number of requests that a time limit implies.
const REQUESTS_OF_TIME_LIMIT: u64 = 50_000;

/// The lines that name the program.
pub const BANNER: &str = concat!(
    "This is torr ab, Version ",
    env!("CARGO_PKG_VERSION"),
    ", in the layout of ApacheBench 2.3\n",
    "What it measures otherwise than ApacheBench: docs/coming-from.md\n",
    "Licensed under MIT or Apache-2.0\n\n",
);
/// The help text.
pub const USAGE: &str = "\
Usage: ab [options] [http://]host[:port]/path
       (ApacheBench's command line, run by torr)

  -n N      requests to send [1]
  -c N      concurrent connections [1]
  -t S      stop after S seconds; implies -n 50000
  -s S      timeout of a response in seconds [30]
  -k        keep connections alive
  -r        exit code 0 even if requests fail
  -B ADDR   connect from this address
  -b BYTES  socket buffers: ignored, the system's are used

  -p FILE   POST this file
  -u FILE   PUT this file
  -T TYPE   content type of the file [text/plain]
  -m NAME   another method
  -i        HEAD instead of GET
  -H LINE   header field 'Name: value'; repeatable
  -C N=V    a cookie; repeatable
  -A U:P    basic authentication
  -P U:P    authentication to a proxy
  -X P:N    proxy and port
  -f NAME   TLS protocol: ALL, TLS1.2 or TLS1.3
  -Z LIST   TLS ciphers: ignored
  -E FILE   client certificate with its key (PEM)
  -I        do not send the server name (SNI)

  -q        no progress on standard error
  -v N      from 2 on: print the request and the first response
  -d        no percentiles
  -S        no deviations
  -l        the responses' length may vary
  -e FILE   percentiles as CSV
  -g FILE   a line per response as TSV
  -w        an HTML table; -x, -y, -z TEXT: attributes of table, rows, cells
  -V        version
  -h        help
";

/// The parsed options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Args {
    /// The URL, with or without its scheme.
    pub url: String,
    /// Total requests, at least 1.
    pub requests: u64,
    /// Concurrent connections, at most as many as requests.
    pub concurrency: u64,
    /// The time limit.
    pub duration: Option<Duration>,
    /// How long a response may take.
    pub timeout: Duration,
    /// The address to connect from.
    pub source: Option<IpAddr>,
    /// The size of socket buffers in bytes.
    pub buffer: Option<u64>,
    /// Whether connections are kept alive.
    pub keep_alive: bool,
    /// Whether failed requests leave the exit code at 0.
    pub ignore_failures: bool,
    /// The file to send, and the method that its flag implies.
    pub body: Option<(String, &'static str)>,
    /// The body's media type.
    pub content_type: Option<String>,
    /// A method set by `-m`.
    pub method: Option<String>,
    /// Whether the method is HEAD.
    pub head: bool,
    /// Cookies, each `name=value`.
    pub cookies: Vec<String>,
    /// Header fields, each `Name: value`.
    pub headers: Vec<String>,
    /// Name and password for the server, with a colon between them.
    pub authorization: Option<String>,
    /// Name and password for the proxy, with a colon between them.
    pub proxy_authorization: Option<String>,
    /// A proxy's host and port.
    pub proxy: Option<(String, u16)>,
    /// TLS options.
    pub tls: TlsArgs,
    /// OpenSSL's list of ciphers.
    pub ciphers: Option<String>,
    /// Whether to print no progress.
    pub quiet: bool,
    /// How much to print of requests and responses.
    pub verbosity: u64,
    /// Whether the responses' length may vary.
    pub variable_length: bool,
    /// Whether percentiles are left out.
    pub no_percentiles: bool,
    /// Whether deviations are left out.
    pub no_deviation: bool,
    /// The attributes of the HTML table's elements, if the table is requested.
    pub table: Option<[String; 3]>,
    /// The file for percentiles, as CSV.
    pub percentages: Option<String>,
    /// The file for a line about each response, as TSV.
    pub gnuplot: Option<String>,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            url: String::new(),
            requests: 1,
            concurrency: 1,
            duration: None,
            timeout: Duration::from_secs(30),
            source: None,
            buffer: None,
            keep_alive: false,
            ignore_failures: false,
            body: None,
            content_type: None,
            method: None,
            head: false,
            cookies: Vec::new(),
            headers: Vec::new(),
            authorization: None,
            proxy_authorization: None,
            proxy: None,
            tls: TlsArgs::default(),
            ciphers: None,
            quiet: false,
            verbosity: 0,
            variable_length: false,
            no_percentiles: false,
            no_deviation: false,
            table: None,
            percentages: None,
            gnuplot: None,
        }
    }
}

/// The outcome of parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// Run a load test.
    Run(Box<Args>),
    /// Print the version.
    Version,
    /// Print the help.
    Help,
}

/// Parses the command line. Options end at the URL, as in ApacheBench.
pub fn parse(args: Vec<OsString>) -> Result<Parsed, UsageError> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut args = Args::default();
    let mut urls = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') => return Ok(Parsed::Help),
            Short('V') => return Ok(Parsed::Version),
            Short(flag) => args.apply(flag, &mut parser)?,
            Value(url) => {
                urls.push(url);
                urls.extend(parser.raw_args()?);
            }
            Long(_) => return Err(arg.unexpected().into()),
        }
    }
    let count = urls.len();
    let Some(url) = urls.pop().filter(|_| count == 1) else {
        return Err(UsageError::usage(format!(
            "wrong number of arguments: expected one URL after the options, found {count}"
        )));
    };
    args.url = utf8(url)?;
    args.check()?;
    Ok(Parsed::Run(Box::new(args)))
}

impl Args {
    fn apply(&mut self, flag: char, parser: &mut lexopt::Parser) -> Result<(), UsageError> {
        match flag {
            'n' => self.requests = number(parser, "Invalid number of requests", MOST_REQUESTS)?,
            'c' => self.concurrency = number(parser, "Invalid concurrency", MOST_CONNECTIONS)?,
            't' => {
                self.duration = Some(seconds(parser, "Invalid time limit")?);
                self.requests = REQUESTS_OF_TIME_LIMIT;
            }
            's' => self.timeout = seconds(parser, "Invalid timeout")?,
            'b' => self.buffer = Some(number(parser, "Invalid buffer size", MOST_INTEGER)?),
            'B' => {
                let address = text(parser)?;
                let ip = address.parse();
                self.source = Some(ip.map_err(|_| UsageError::plain(format!("'{address}' is not an IP address")))?);
            }
            'k' => self.keep_alive = true,
            'r' => self.ignore_failures = true,
            'p' => self.set_body(text(parser)?, "POST")?,
            'u' => self.set_body(text(parser)?, "PUT")?,
            'T' => self.content_type = Some(text(parser)?),
            'm' => self.method = Some(text(parser)?),
            'i' => self.head = true,
            'C' => self.cookies.push(text(parser)?),
            'H' => self.headers.push(text(parser)?),
            'A' => self.authorization = Some(text(parser)?),
            'P' => self.proxy_authorization = Some(text(parser)?),
            'X' => self.proxy = Some(proxy(&text(parser)?)?),
            'q' => self.quiet = true,
            'v' => self.verbosity = text(parser)?.parse().map_err(|_| UsageError::plain("Invalid verbosity"))?,
            'd' => self.no_percentiles = true,
            'S' => self.no_deviation = true,
            'l' => self.variable_length = true,
            'w' => _ = self.attributes(),
            'x' => self.attributes()[0] = text(parser)?,
            'y' => self.attributes()[1] = text(parser)?,
            'z' => self.attributes()[2] = text(parser)?,
            'e' => self.percentages = Some(text(parser)?),
            'g' => self.gnuplot = Some(text(parser)?),
            'I' => self.tls.no_sni = true,
            'f' => self.tls.versions = Some(versions(&text(parser)?)?),
            'E' => self.tls.identity = Some(text(parser)?),
            'Z' => self.ciphers = Some(text(parser)?),
            other => return Err(Short(other).unexpected().into()),
        }
        Ok(())
    }

    fn attributes(&mut self) -> &mut [String; 3] {
        self.table.get_or_insert_default()
    }

    fn set_body(&mut self, file: String, method: &'static str) -> Result<(), UsageError> {
        if self.body.as_ref().is_some_and(|(_, other)| *other != method) {
            return Err(UsageError::plain("Cannot mix POST with other methods: give -p or -u"));
        }
        self.body = Some((file, method));
        Ok(())
    }

    fn check(&self) -> Result<(), UsageError> {
        if self.head && (self.body.is_some() || self.method.is_some()) {
            return Err(UsageError::plain("Cannot mix HEAD with other methods: leave out -i, or -p, -u and -m"));
        }
        if self.concurrency > self.requests {
            let what = "Cannot use concurrency level greater than total number of requests: -c is more than -n";
            return Err(UsageError::usage(what));
        }
        let location = self.url.split_once("://").map_or(self.url.as_str(), |(_, location)| location);
        if !location.contains('/') || location.starts_with('/') {
            return Err(UsageError::usage(format!(
                "invalid URL '{}': expected a host and a path, at least '/'",
                self.url
            )));
        }
        Ok(())
    }
}

fn number(parser: &mut lexopt::Parser, mistake: &str, most: u64) -> Result<u64, UsageError> {
    let text = text(parser)?;
    up_to(most, &text)
        .ok_or_else(|| UsageError::plain(format!("{mistake} '{text}': expected a whole number from 1 to {most}")))
}

fn seconds(parser: &mut lexopt::Parser, mistake: &str) -> Result<Duration, UsageError> {
    // A longer time than a year is as good as none.
    number(parser, mistake, MOST_INTEGER).map(|seconds| Duration::from_secs(seconds.min(31_536_000)))
}

/// Parses a host and a port, by default 80.
fn proxy(text: &str) -> Result<(String, u16), UsageError> {
    let (host, port) = text.rsplit_once(':').unwrap_or((text, "80"));
    let port = port.parse().map_err(|_| UsageError::plain(format!("expected a proxy and its port, found '{text}'")))?;
    Ok((host.to_owned(), port))
}

fn versions(text: &str) -> Result<Versions, UsageError> {
    match text.to_ascii_uppercase().as_str() {
        "ALL" => Ok(Versions::Both),
        "TLS1.2" => Ok(Versions::Tls12),
        "TLS1.3" => Ok(Versions::Tls13),
        _ => Err(UsageError::plain(format!("'{text}' is not supported: use ALL, TLS1.2 or TLS1.3"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Args {
        match parse(line.split(' ').map(OsString::from).collect()) {
            Ok(Parsed::Run(args)) => *args,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn values_may_be_glued_and_flags_bundled() {
        let glued = args("-n100000 -c200 -k http://127.0.0.1:8787/");
        assert_eq!((glued.requests, glued.concurrency, glued.keep_alive), (100_000, 200, true));
        let bundled = args("-kqrn50 -c 5 -HX:1 -H Y:2 host/");
        assert_eq!((bundled.keep_alive, bundled.quiet, bundled.ignore_failures), (true, true, true));
        assert_eq!((bundled.requests, bundled.headers), (50, vec!["X:1".to_owned(), "Y:2".to_owned()]));
    }

    #[test]
    fn a_time_limit_means_fifty_thousand_unless_a_number_follows() {
        assert_eq!(args("-n 100 -t 5 h/").requests, 50_000);
        let both = args("-t 5 -n 100 h/");
        assert_eq!((both.requests, both.duration), (100, Some(Duration::from_secs(5))));
    }

    #[test]
    fn mistakes() {
        for (line, what, with_usage) in [
            ("-k", "wrong number of arguments", true),
            ("h/ g/", "wrong number of arguments", true),
            ("h/ -n 5", "wrong number of arguments", true),
            ("-n", "missing value", true),
            ("-W h/", "'-W'", true),
            ("--keepalive h/", "'--keepalive'", true),
            ("-n 0 h/", "Invalid number of requests", false),
            ("-n 5k h/", "Invalid number of requests", false),
            ("-c 5 -n 2 h/", "concurrency level", true),
            ("-i -p x h/", "Cannot mix", false),
            ("-u x -p x h/", "Cannot mix", false),
            ("http://h", "invalid URL", true),
            ("http:///x", "invalid URL", true),
            ("-B eth0 h/", "IP address", false),
        ] {
            let error = parse(line.split(' ').map(OsString::from).collect()).expect_err(line);
            assert!(error.message.contains(what) && error.with_usage == with_usage, "{line}: {error:?}");
        }
    }
}
