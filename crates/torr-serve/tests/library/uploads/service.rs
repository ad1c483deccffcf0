//! Handlers that take bodies in different ways, and what a test sees of them.

#![allow(dead_code, reason = "each test program uses its part of this")]

use crate::support::PATIENCE;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::routing::{get, post};
use futures_util::StreamExt;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use torr_serve::{App, BodyError, RequestBody, Response};

/// What tests and handlers share.
#[derive(Clone)]
pub struct Shared {
    /// A handler that waits takes one of these for each step.
    pub permits: Arc<Semaphore>,
    /// Bytes that the handler has taken.
    pub taken: Arc<AtomicU64>,
    events: Sender<Event>,
}

/// What happened to a handler.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    Called,
    Dropped,
    /// How many bytes came, and how it ended.
    Read(usize, Result<(), BodyError>),
}

/// The test's end.
pub struct Seen {
    pub shared: Shared,
    events: Receiver<Event>,
}

impl Seen {
    /// Lets a handler go so many steps on.
    pub fn release(&self, steps: usize) {
        self.shared.permits.add_permits(steps);
    }

    pub fn taken(&self) -> u64 {
        self.shared.taken.load(Ordering::Relaxed)
    }

    /// What happens next.
    pub fn next(&self) -> Event {
        self.events.recv_timeout(PATIENCE).expect("something happens")
    }

    /// Checks that there are no unexpected events.
    pub fn nothing(&self) {
        assert_eq!(self.events.try_recv().ok(), None);
    }
}

/// Says that it was dropped.
struct Guard(Sender<Event>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Dropped);
    }
}

impl Shared {
    fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    async fn step(&self) {
        self.permits.acquire().await.expect("nobody closes it").forget();
    }
}

/// What an error of a body says of itself, below whatever axum puts around it.
fn fault(error: &axum::Error) -> BodyError {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<BodyError>() {
            return error.clone();
        }
        source = error.source();
    }
    panic!("no BodyError in {error:?}")
}

async fn read(body: Body) -> (usize, Result<(), BodyError>) {
    let (mut pieces, mut length) = (body.into_data_stream(), 0);
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(piece) => length += piece.len(),
            Err(error) => return (length, Err(fault(&error))),
        }
    }
    (length, Ok(()))
}

/// A number that depends on all bytes and their order.
pub fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(7, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)))
}

async fn gathered(bytes: Bytes) -> String {
    format!("{} bytes, {}", bytes.len(), sum(&bytes))
}

/// Takes a piece for each step.
async fn stepwise(State(shared): State<Shared>, body: Body) -> String {
    let _guard = Guard(shared.events.clone());
    shared.tell(Event::Called);
    let mut pieces = body.into_data_stream();
    let mut all = Vec::new();
    loop {
        shared.step().await;
        match pieces.next().await {
            Some(Ok(piece)) => {
                shared.taken.fetch_add(piece.len() as u64, Ordering::Relaxed);
                all.extend_from_slice(&piece);
            }
            Some(Err(error)) => return format!("{error}"),
            None => return gathered(all.into()).await,
        }
    }
}

/// Waits, then takes all of it.
async fn late(State(shared): State<Shared>, body: Body) -> String {
    let _guard = Guard(shared.events.clone());
    shared.tell(Event::Called);
    shared.step().await;
    format!("{:?}", read(body).await)
}

async fn read_here(State(shared): State<Shared>, body: Body) -> String {
    let _guard = Guard(shared.events.clone());
    shared.tell(Event::Called);
    format!("{:?}", read(body).await)
}

/// Takes it in a task of its own, and waits for that.
async fn spawned(State(shared): State<Shared>, body: Body) -> String {
    shared.tell(Event::Called);
    let task = tokio::spawn(async move {
        let (length, end) = read(body).await;
        shared.tell(Event::Read(length, end));
        length
    });
    format!("{} bytes", task.await.expect("it ends"))
}

/// Gives it to another thread, which waits for a step, and responds at once.
async fn elsewhere(State(shared): State<Shared>, body: Body) -> &'static str {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it starts");
        runtime.block_on(async {
            shared.step().await;
            let (length, end) = read(body).await;
            shared.tell(Event::Read(length, end));
        });
    });
    "elsewhere"
}

async fn first(body: Body) -> String {
    let piece = body.into_data_stream().next().await.expect("there is one").expect("no error");
    format!("{}", piece[0] as char)
}

/// Says what kind of body a request has.
async fn described(body: Body) -> String {
    let hint = http_body::Body::size_hint(&body);
    format!("{} to {:?}, ended: {}", hint.lower(), hint.upper(), http_body::Body::is_end_stream(&body))
}

pub fn app() -> (Seen, App) {
    let (events, seen) = channel();
    let shared = Shared { permits: Arc::new(Semaphore::new(0)), taken: Arc::default(), events };
    let router = Router::new()
        .route("/now", get(|| async { "now" }))
        .route("/echo", post(|body: Body| async { body }))
        .route("/gathered", post(gathered))
        .route("/stepwise", post(stepwise))
        .route("/late", post(late))
        .route("/read", post(read_here))
        .route("/spawned", post(spawned))
        .route("/elsewhere", post(elsewhere))
        .route("/first", post(first))
        .route("/described", post(described))
        .route("/ignored", post(|| async { "ignored" }))
        .layer(DefaultBodyLimit::disable())
        .with_state(shared.clone());
    let app = App::new().post("/c/length", |request| Response::text(request.body().len().to_string())).router(router);
    (Seen { shared, events: seen }, app)
}

/// A service without axum, which sees the body itself.
pub fn bare() -> (Receiver<String>, App) {
    let (tell, events) = channel();
    let tell = Arc::new(Mutex::new(tell));
    let service = tower::service_fn(move |request: http::Request<RequestBody>| {
        let tell = tell.lock().expect("nobody panics").clone();
        async move {
            let mut body = request.into_body();
            let say = |body: &RequestBody| {
                let hint = http_body::Body::size_hint(body);
                let ended = http_body::Body::is_end_stream(body);
                tell.send(format!("{:?} {ended}", hint.exact())).expect("the test lives");
            };
            say(&body);
            while let Some(frame) = http_body_util::BodyExt::frame(&mut body).await {
                frame.expect("no error");
                say(&body);
            }
            Ok(http::Response::new(http_body_util::Empty::<Bytes>::new()))
        }
    });
    (events, App::new().get("/now", |_| Response::text("now")).router(service))
}
