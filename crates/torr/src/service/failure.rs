//! Responses and log lines for failures of the database or the cache.

use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue};
use std::cell::Cell;
use std::time::{Duration, Instant};
use torr_data::DataError;
use torr_serve::{RequestId, Response};

/// The most lines that a worker logs in a second: under load there are thousands of failures.
const LINES: u32 = 10;

/// Returns the response to a request with this id: the outcome, or a failure.
pub fn or<T>(outcome: Result<T, DataError>, id: Option<RequestId>, show: impl FnOnce(T) -> Response) -> Response {
    outcome.map_or_else(|error| failure(&error, id), show)
}

/// Returns the response to a failure: 503 if a retry may succeed, otherwise 500. The response has no details, but the id of the
/// log line.
fn failure(error: &DataError, given: Option<RequestId>) -> Response {
    // Where the server gives ids, it has put this one into the head.
    let (id, add) = given.map_or_else(|| (RequestId::fresh(), true), |id| (id, false));
    let id = id.to_string();
    log(error, &id);
    let (status, what) = if error.is_temporary() {
        (503, "a backend of this service is not available, try again")
    } else {
        (500, "a backend of this service failed")
    };
    let body = format!("{{\"error\":\"{what}\",\"request_id\":\"{id}\"}}\n");
    let mut response = Response::json(body).status(status);
    if add && let Ok(value) = HeaderValue::from_str(&id) {
        response = response.header(HeaderName::from_static("x-request-id"), value);
    }
    if status == 503 { response.header(RETRY_AFTER, HeaderValue::from_static("1")) } else { response }
}

fn log(error: &DataError, id: &str) {
    thread_local! {
        static WRITTEN: Cell<Option<(Instant, u32)>> = const { Cell::new(None) };
    }
    let now = Instant::now();
    let within = |(since, _): &(Instant, u32)| now.duration_since(*since) < Duration::from_secs(1);
    let (since, lines) = WRITTEN.get().filter(within).unwrap_or((now, 0));
    WRITTEN.set(Some((since, lines.saturating_add(1))));
    let (kind, side) = (error.kind(), error.side());
    if lines < LINES {
        tracing::warn!(request_id = id, ?kind, ?side, "{error}");
    } else if lines == LINES {
        tracing::warn!("further failures are not logged for a second");
    }
}
