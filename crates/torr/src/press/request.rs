//! From the command line to what is sent.

use super::mistake;
use crate::cli::RequestArgs;
use crate::exit::Stop;
use std::io::Read;
use torr_press::{Request, Target};

/// The request that is asked for.
pub fn request(args: &RequestArgs, target: &Target, keep_alive: bool) -> Result<Request, Stop> {
    let body = args.data.as_deref().map(body).transpose()?;
    let method = args.method.as_deref().unwrap_or(if body.is_some() { "POST" } else { "GET" });
    let mut headers = args.headers.clone();
    let is_typed = headers.iter().any(|h| h.to_ascii_lowercase().starts_with("content-type:"));
    if body.is_some() && !is_typed {
        headers.push("Content-Type: application/x-www-form-urlencoded".into());
    }
    Request::new(target, method, &headers, body.as_deref(), keep_alive).map_err(mistake)
}

/// The body that `--data` means, as with curl.
fn body(data: &str) -> Result<Vec<u8>, Stop> {
    let Some(path) = data.strip_prefix('@') else { return Ok(data.as_bytes().to_vec()) };
    let read = if path == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    read.map_err(|error| Stop::Usage(format!("cannot read the body from '{path}': {error}")))
}
