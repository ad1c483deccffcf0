//! `torr press`: the command line and layout of `drogon_ctl press`.

use super::run::{self, FrontLoad};
use crate::exit::{self, CliError};
use crate::output::print;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;
use torr_fronts::press::{Args, parse};
use torr_fronts::{TlsArgs, UsageError};
use torr_gauge::collector::Progress;
use torr_press::{Requests, Target};
use torr_report::fronts::press as layout;

/// The time-out of a request. The original has none.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The number of responses for each line of progress.
const STEP: u64 = 100_000;

const USAGE: &str = "\
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

/// A request in a file.
#[derive(Debug, Default, Deserialize)]
struct Described {
    method: Option<String>,
    #[serde(default)]
    header: BTreeMap<String, String>,
    body: Option<String>,
}

/// Runs the command line. Mistakes are printed on standard output, as by the original.
pub fn run(args: Vec<OsString>) -> Result<ExitCode, CliError> {
    match parse(args) {
        Ok(Some(args)) => press(&args),
        Ok(None) => {
            print(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        Err(UsageError { message: what, .. }) => {
            print(&format!("{what}\n"));
            Ok(ExitCode::FAILURE)
        }
    }
}

fn press(args: &Args) -> Result<ExitCode, CliError> {
    let target = Target::parse(&args.url).map_err(CliError::usage)?;
    let request = request(args, &target)?;
    let load = FrontLoad {
        requests: Some(args.requests),
        tls: TlsArgs { verify: !args.insecure, ..TlsArgs::default() },
        ..FrontLoad::new(target, request, (args.connections, args.threads), TIMEOUT)
    };
    let mut shown = 0;
    let mut received = |requests: u64| {
        while !args.quiet && shown + STEP <= requests {
            shown += STEP;
            print(&format!("{shown} responses are received\n\n"));
        }
    };
    let measured = load.press(|progress: &Progress| received(progress.requests))?;
    received(measured.result.requests);
    print(&layout::report(&measured));
    run::tell_verdict(&measured, &layout::notes(&measured));
    Ok(if measured.result.interrupted { exit::interrupted() } else { ExitCode::SUCCESS })
}

fn request(args: &Args, target: &Target) -> Result<Requests, CliError> {
    let described = match &args.file {
        Some(path) => serde_json::from_slice(&run::read_file(path)?)
            .map_err(|error| CliError::Usage(format!("'{path}' does not describe a request as JSON: {error}")))?,
        None => Described::default(),
    };
    let method = described.method.as_deref().unwrap_or("GET").to_uppercase();
    let mut headers = vec!["User-Agent: DrogonClient".to_owned(), "Accept:".to_owned()];
    if described.header.keys().any(|name| name.eq_ignore_ascii_case("user-agent")) {
        headers[0] = "User-Agent:".into();
    }
    headers.extend(described.header.iter().map(|(name, value)| format!("{name}: {value}")));
    if !described.header.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
        // The original sends no content type by itself.
        headers.push("Content-Type:".into());
    }
    run::request(target, &method, headers, described.body.as_deref(), true)
}
