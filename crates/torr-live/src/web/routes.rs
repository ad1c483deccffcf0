//! The routes of a dashboard: the page, its events, and what its buttons want.

use super::events;
use super::feed::Feed;
use super::gate::Gate;
use super::subject::Subject;
use crate::wish::Wish;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use std::sync::Arc;
use torr_serve::{App, Request, Response};

/// Returns the application.
pub fn app<S: Subject>(feed: &Arc<Feed<S>>, gate: Gate) -> App {
    let gate = Arc::new(gate);
    let (page_feed, page_gate) = (Arc::clone(feed), Arc::clone(&gate));
    let (events_feed, events_gate) = (Arc::clone(feed), Arc::clone(&gate));
    let feed = Arc::clone(feed);
    App::new()
        .get("/", move |request| {
            unframed(page_gate.refusal(request).unwrap_or_else(|| fresh(Response::html(page_feed.page()))))
        })
        .get("/events", move |request| {
            let stream = || fresh(Response::stream("text/event-stream", events::stream(&events_feed)));
            unframed(events_gate.refusal(request).unwrap_or_else(stream))
        })
        .post("/steer/{wish}", move |request| {
            unframed(gate.refusal_to_steer(request).unwrap_or_else(|| steer(&feed, request)))
        })
}

/// Does what a request wants of the run.
fn steer<S: Subject>(feed: &Feed<S>, request: &Request<'_>) -> Response {
    match request.param("wish").and_then(wish) {
        Some(wish) => {
            feed.fulfil(wish);
            Response::new(204)
        }
        None => Response::error(404, "unknown action: use pause, raise, lower, mark or end\n"),
    }
}

/// Forbids pages to show a response in a frame, where a click on a button of theirs could be one on ours. The page's own policy
/// stands in its HTML, which cannot forbid frames.
fn unframed(response: Response) -> Response {
    response
        .header(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"))
        .header(CONTENT_SECURITY_POLICY, HeaderValue::from_static("frame-ancestors 'none'"))
        .header(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .header(REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}

/// Keeps a response out of caches.
fn fresh(response: Response) -> Response {
    response.header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

fn wish(name: &str) -> Option<Wish> {
    Some(match name {
        "pause" => Wish::Pause,
        "raise" => Wish::Raise,
        "lower" => Wish::Lower,
        "mark" => Wish::Mark,
        "end" => Wish::End,
        _ => return None,
    })
}
