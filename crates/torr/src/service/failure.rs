//! What a client is told when the database or the cache fails, and what the log is.

use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue};
use std::cell::Cell;
use std::time::{Duration, Instant};
use torr_data::DataError;
use torr_serve::{RequestId, Response};

/// Lines that a worker writes within a second at most: under pressure failures come by the thousand.
const LINES: u32 = 10;

/// The answer to a request that has this id: what is shown of what came, or why nothing did.
pub fn or<T>(outcome: Result<T, DataError>, id: Option<RequestId>, show: impl FnOnce(T) -> Response) -> Response {
    outcome.map_or_else(|error| answer(&error, id), show)
}

/// The answer: 503 if the same may succeed a little later, else 500. It says nothing of what is inside, but has the id
/// under which the log has it.
fn answer(error: &DataError, given: Option<RequestId>) -> Response {
    // Where the server gives ids, it has put this one into the head.
    let (id, add) = given.map_or_else(|| (RequestId::fresh(), true), |id| (id, false));
    let id = id.to_string();
    log(error, &id);
    let (status, what) = if error.is_temporary() {
        (503, "what stands behind this cannot answer now, try again")
    } else {
        (500, "what stands behind this did not do what it was asked")
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
        tracing::warn!("there are more failures, which are not told for a second");
    }
}
