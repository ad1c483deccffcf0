//! Streams of events, and the completion of a chat as language models stream it.

use super::params::{duration, number};
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http::header::CACHE_CONTROL;
use http::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use torr_serve::{App, Request, Response};

/// The limits of the paths: the events of a stream, and the time between two of them.
const MOST_EVENTS: u64 = 1_000_000;
const LONGEST_GAP: Duration = Duration::from_secs(3600);
/// What a completion has unless the request says otherwise: tokens, and the milliseconds between two of them.
const TOKENS: u64 = 32;
const TOKEN_MS: u64 = 10;
/// Has proxies such as nginx pass each event on at once.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Adds the paths to an app.
pub fn add(app: App) -> App {
    app.get("/sse/{n}/{ms}", events).post("/v1/chat/completions", completion)
}

fn events(request: &Request<'_>) -> Response {
    let count = number(request, "n").filter(|count| *count <= MOST_EVENTS);
    let (Some(count), Some(gap)) = (count, duration(request, "ms", 1_000, LONGEST_GAP)) else {
        let what = "The path must be /sse/N/MS: up to 1000000 events, so many milliseconds apart, up to an hour\n";
        return Response::error(400, what);
    };
    stream_of(count, gap, |n| format!("id: {n}\ndata: {{\"n\":{n}}}\n\n").into())
}

/// The members of a request for a completion that are heeded.
#[derive(Debug, Deserialize)]
struct Completion {
    #[serde(default)]
    stream: bool,
    max_tokens: Option<u64>,
    #[serde(default)]
    stream_options: StreamOptions,
    /// The milliseconds between two tokens, which no other service has.
    token_ms: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

/// Responds with a text of as many tokens as the request wants, each of them the same word.
fn completion(request: &Request<'_>) -> Response {
    let wanted: Completion = match serde_json::from_slice(request.body()) {
        Ok(wanted) => wanted,
        Err(error) => return Response::error(400, format!("The body must be a request for a completion: {error}\n")),
    };
    let tokens = wanted.max_tokens.unwrap_or(TOKENS).clamp(1, MOST_EVENTS);
    let gap = Duration::from_millis(wanted.token_ms.unwrap_or(TOKEN_MS)).min(LONGEST_GAP);
    let usage = json!({ "prompt_tokens": 1, "completion_tokens": tokens, "total_tokens": tokens + 1 });
    if !wanted.stream {
        let text = " token".repeat(tokens.min(10_000) as usize);
        let message = json!({ "role": "assistant", "content": text });
        let choice = json!({ "index": 0, "message": message, "finish_reason": "length" });
        return Response::json(object("chat.completion", &[choice], &usage).to_string());
    }
    let with_usage = wanted.stream_options.include_usage;
    let chunk = |choices: &[Value], usage: &Value| -> Bytes {
        format!("data: {}\n\n", object("chat.completion.chunk", choices, usage)).into()
    };
    // The tokens, then the reason of the end, then the usage if it is wanted, then the mark of the end.
    stream_of(tokens + 2 + u64::from(with_usage), gap, move |n| match n.saturating_sub(tokens) {
        0 => chunk(&[json!({ "index": 0, "delta": { "content": " token" }, "finish_reason": null })], &Value::Null),
        1 => chunk(&[json!({ "index": 0, "delta": {}, "finish_reason": "length" })], &Value::Null),
        2 if with_usage => chunk(&[], &usage),
        _ => Bytes::from_static(b"data: [DONE]\n\n"),
    })
}

fn object(kind: &str, choices: &[Value], usage: &Value) -> Value {
    let mut object = json!({ "id": "chatcmpl-1", "object": kind, "created": 0, "model": "torr", "choices": choices });
    if !usage.is_null() {
        object["usage"] = usage.clone();
    }
    object
}

/// Returns a stream of events, numbered from 1: the first at once, each other one so much later than the one before. An event that
/// is sent late does not delay those behind it.
fn stream_of(count: u64, gap: Duration, event: impl Fn(u64) -> Bytes + Send + 'static) -> Response {
    let began = Instant::now();
    let events = stream::unfold((1, event), move |(n, event)| async move {
        if n > count {
            return None;
        }
        let due = u32::try_from(n - 1).ok().and_then(|gaps| began.checked_add(gap * gaps))?;
        sleep_until(due).await;
        Some((Ok::<_, Infallible>(event(n)), (n + 1, event)))
    });
    Response::stream("text/event-stream", Body::from_stream(events))
        .header(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        .header(UNBUFFERED, HeaderValue::from_static("no"))
}
