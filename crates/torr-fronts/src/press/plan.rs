//! The load that a command line of `drogon_ctl press` means.

use super::args::Args;
use crate::error::FrontError;
use crate::load::{self, FrontLoad};
use crate::{TlsArgs, files};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use torr_press::{Requests, Target};

/// The time-out of a request. The original has none.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A request in a file.
#[derive(Debug, Default, Deserialize)]
struct Described {
    method: Option<String>,
    #[serde(default)]
    header: BTreeMap<String, String>,
    body: Option<String>,
}

/// Returns the load.
pub fn load(args: &Args) -> Result<FrontLoad, FrontError> {
    let target = Target::parse(&args.url).map_err(FrontError::usage)?;
    let request = request(args, &target)?;
    Ok(FrontLoad {
        requests: Some(args.requests),
        tls: TlsArgs { verify: !args.insecure, ..TlsArgs::default() },
        ..FrontLoad::new(target, request, (args.connections, args.threads), TIMEOUT)
    })
}

fn request(args: &Args, target: &Target) -> Result<Requests, FrontError> {
    let described = match &args.file {
        Some(path) => serde_json::from_slice(&files::read(path)?)
            .map_err(|error| FrontError::Usage(format!("cannot read a request as JSON from '{path}': {error}")))?,
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
    load::request(target, &method, headers, described.body.as_deref(), true)
}
