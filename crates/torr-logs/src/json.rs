//! Logs of which each line is JSON: Caddy's and Traefik's.

use crate::logged::Line;
use crate::time::Stamp;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Caddy<'l> {
    ts: Time<'l>,
    #[serde(borrow)]
    request: CaddyRequest<'l>,
    status: Option<u16>,
    duration: Option<Took<'l>>,
}

#[derive(Deserialize)]
struct CaddyRequest<'l> {
    #[serde(borrow)]
    method: Cow<'l, str>,
    #[serde(borrow)]
    uri: Cow<'l, str>,
    #[serde(borrow)]
    host: Option<Cow<'l, str>>,
    #[serde(default)]
    headers: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Time<'l> {
    Seconds(f64),
    Text(Cow<'l, str>),
}

/// A response time in seconds, or as `1.5ms`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Took<'l> {
    Seconds(f64),
    Text(Cow<'l, str>),
}

/// Returns what a line of Caddy's access log holds.
pub(crate) fn caddy(text: &str) -> Option<Line> {
    let entry: Caddy<'_> = serde_json::from_str(text).ok()?;
    let stamp = match &entry.ts {
        // Of milliseconds and nanoseconds, which Caddy can write as well, the size tells.
        Time::Seconds(number) => [1.0, 1e3, 1e9].iter().find_map(|unit| Stamp::seconds(number / unit))?,
        Time::Text(text) => Stamp::iso(&text.replace('/', "-"))?,
    };
    let mut line = Line { stamp: Some(stamp), status: entry.status, ..Line::default() };
    line.set_method(&entry.request.method)?;
    line.set_target(&entry.request.uri)?;
    line.set_host(entry.request.host.as_deref().unwrap_or_default());
    line.took = match entry.duration {
        Some(Took::Seconds(seconds)) => nanos(seconds),
        Some(Took::Text(text)) => go_duration(&text),
        None => None,
    };
    for (name, values) in &entry.request.headers {
        values.iter().for_each(|value| line.set_field(name, value));
    }
    Some(line)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Traefik<'l> {
    #[serde(rename = "StartUTC", borrow)]
    start_utc: Option<Cow<'l, str>>,
    #[serde(borrow)]
    start_local: Option<Cow<'l, str>>,
    /// The response time in nanoseconds.
    duration: Option<u64>,
    #[serde(borrow)]
    request_method: Cow<'l, str>,
    #[serde(borrow)]
    request_path: Cow<'l, str>,
    #[serde(borrow)]
    request_host: Option<Cow<'l, str>>,
    downstream_status: Option<u16>,
    #[serde(rename = "request_User-Agent", borrow)]
    user_agent: Option<Cow<'l, str>>,
}

/// Returns what a line of Traefik's access log in JSON holds.
pub(crate) fn traefik(text: &str) -> Option<Line> {
    let entry: Traefik<'_> = serde_json::from_str(text).ok()?;
    let stamp = Stamp::iso(entry.start_utc.or(entry.start_local)?.as_ref())?;
    let mut line = Line { stamp: Some(stamp), is_start: true, ..Line::default() };
    (line.status, line.took) = (entry.downstream_status, entry.duration);
    line.set_method(&entry.request_method)?;
    line.set_target(&entry.request_path)?;
    line.set_host(entry.request_host.as_deref().unwrap_or_default());
    line.set_field("User-Agent", entry.user_agent.as_deref().unwrap_or_default());
    Some(line)
}

fn nanos(seconds: f64) -> Option<u64> {
    (0.0..1e9).contains(&seconds).then(|| (seconds * 1e9).round() as u64)
}

/// Parses a duration with one unit as Go writes it, such as `1.5ms`; of several units the whole is not known.
fn go_duration(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let factor = match &text[end..] {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    nanos(text[..end].parse::<f64>().ok()? * factor)
}
