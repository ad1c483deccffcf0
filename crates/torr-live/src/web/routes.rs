//! The routes of a dashboard: the page, its events, and what its buttons want.

use super::events;
use super::feed::Feed;
use super::gate::Gate;
use super::panel;
use crate::wish::Wish;
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use std::sync::Arc;
use torr_serve::{App, Response};

/// Returns the application.
pub fn app(feed: &Arc<Feed>, gate: Gate) -> App {
    let gate = Arc::new(gate);
    let (page_feed, page_gate) = (Arc::clone(feed), Arc::clone(&gate));
    let (events_feed, events_gate) = (Arc::clone(feed), Arc::clone(&gate));
    let feed = Arc::clone(feed);
    App::new()
        .get("/", move |request| {
            page_gate.refusal(request).unwrap_or_else(|| fresh(Response::html(panel::page(&page_feed.load()))))
        })
        .get("/events", move |request| {
            let stream = || fresh(Response::stream("text/event-stream", events::stream(&events_feed)));
            events_gate.refusal(request).unwrap_or_else(stream)
        })
        .post("/steer/{wish}", move |request| {
            if let Some(refusal) = gate.refusal_to_steer(request) {
                return refusal;
            }
            match request.param("wish").and_then(wish) {
                Some(wish) => {
                    feed.fulfil(wish);
                    Response::new(204)
                }
                None => Response::error(404, "a run can be steered by: pause, raise, lower, mark, end\n"),
            }
        })
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
