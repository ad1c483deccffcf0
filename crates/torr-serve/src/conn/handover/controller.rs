//! Requests for handlers of the `App` on a connection of HTTP/2 or HTTP/3: bodies are gathered within bounds, and a handler that waits is
//! a task of its own, which a client's reset does not cancel.

use super::refusal::refusal;
use crate::app::owned::OwnedHead;
use crate::app::{self, Content, Outcome};
use crate::client::Client;
use crate::conn::admission::Admission;
use crate::conn::context::WorkerContext;
use crate::message::body_error::BodyError;
use crate::message::body_pace::BodyPace;
use crate::message::bounded_body::{BoundedBody, ReceivedContent};
use crate::message::response::Response;
use http::request::Parts;
use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task;
use tokio::time::timeout;
use torr_net::clock;

/// The number of bodies of the largest size allowed that one connection may have gathered at a time.
const BODIES: u64 = 16;
/// The number of bytes that the bodies of one connection may have together at least: small ones are not refused for their
/// number, since 128 streams of 32 KiB fit.
const LEAST_GATHERED: u64 = 4 * 1024 * 1024;

/// The limits of one connection for handlers of the `App`.
pub(in crate::conn) struct Budget {
    /// A permit for each handler that is working, also for those whose streams were reset. A request without a permit waits, so
    /// that a client that resets its requests has no more handlers working for it than one that waits for its responses.
    handlers: Arc<Semaphore>,
    /// The number of bytes of bodies that are gathered, or that a handler is working on.
    gathered: Rc<Cell<u64>>,
    /// The connection's admission. Handlers that still work for a connection that has ended hold it, so that `max_connections`
    /// bounds them as well.
    admission: Arc<Admission>,
}

impl Budget {
    /// Returns a budget of this many handlers at a time.
    pub fn new(handlers: u32, admission: Arc<Admission>) -> Self {
        Self { handlers: Arc::new(Semaphore::new(handlers as usize)), gathered: Rc::default(), admission }
    }
}

/// Why a request's body was not gathered.
enum Failure {
    Body(BodyError),
    /// The connection has too many bytes of other bodies.
    Budget,
}

impl From<BodyError> for Failure {
    fn from(error: BodyError) -> Self {
        Self::Body(error)
    }
}

/// A whole body, counted among those of its connection.
struct Gathered {
    bytes: Vec<u8>,
    counted: u64,
    all: Rc<Cell<u64>>,
}

impl Gathered {
    fn new(budget: &Budget) -> Self {
        Self { bytes: Vec::new(), counted: 0, all: Rc::clone(&budget.gathered) }
    }

    /// Copies a frame's data: a frame keeps far more memory than it has data where it is small.
    fn push(&mut self, data: &[u8], most: u64) -> Result<(), Failure> {
        let length = data.len() as u64;
        if self.all.get() + length > most {
            return Err(Failure::Budget);
        }
        self.all.set(self.all.get() + length);
        self.counted += length;
        self.bytes.extend_from_slice(data);
        Ok(())
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        self.all.set(self.all.get() - self.counted);
    }
}

/// Gathers a request's body and calls its handler.
pub(super) async fn respond(
    worker: &Rc<WorkerContext>,
    budget: &Budget,
    client: &Client,
    parts: Parts,
    content: ReceivedContent,
) -> Response {
    // As in the engine, the whole body has this time.
    let gathered = timeout(worker.settings.body_timeout, gather(worker, budget, content)).await;
    let body = match gathered.unwrap_or(Err(Failure::Body(BodyError::TimedOut))) {
        Ok(body) => body,
        Err(Failure::Body(error)) => return refusal(error),
        Err(Failure::Budget) => return Response::error(503, "Too many request bodies at a time on this connection\n"),
    };
    let permit = Arc::clone(&budget.handlers).acquire_owned().await.expect("this semaphore is never closed");
    let head = OwnedHead::of_parts(&parts);
    drop(parts);
    let called = {
        let (_context, begin) = (worker.app.enter(), clock::coarse());
        let called = head.with(|head| worker.app.call(head, Content::Whole(&body.bytes), client));
        worker.app.watch.took(clock::coarse().saturating_sub(begin));
        called
    };
    match called {
        Outcome::Ready(response) => response,
        Outcome::Pending { future, .. } => {
            let (worker, admission) = (Rc::clone(worker), Arc::clone(&budget.admission));
            let work = async move {
                let _held = (permit, body, admission);
                app::survive(worker.app.within(future), || worker.app.panicked()).await
            };
            // Without its handle the task continues, until the handler ends or the worker does.
            task::spawn_local(work).await.unwrap_or_else(|_| Response::error(503, "The server is stopping\n"))
        }
    }
}

/// Gathers a body into one piece of memory.
async fn gather(worker: &WorkerContext, budget: &Budget, content: ReceivedContent) -> Result<Gathered, Failure> {
    let most = worker.settings.max_body;
    let at_a_time = most.saturating_mul(BODIES).max(LEAST_GATHERED);
    if content.size_hint().lower() > most {
        return Err(BodyError::TooLarge.into());
    }
    let mut gathered = Gathered::new(budget);
    let mut body = BoundedBody::new(content, most, BodyPace::new(&worker.settings));
    while let Some(frame) = poll_fn(|cx| body.poll_frame(cx)).await {
        if let Ok(data) = frame?.into_data() {
            gathered.push(&data, at_a_time)?;
        }
    }
    Ok(gathered)
}
