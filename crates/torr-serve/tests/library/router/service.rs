//! The router that is compared, and servers of it.

#![allow(dead_code, reason = "each test program uses its part of this")]

use super::wire::{Exchange, read_responses};
use crate::support::axum_serve::AxumServe;
use crate::support::{PATIENCE, Running};
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Extension, Form, MatchedPath, OriginalUri, Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{AppendHeaders, IntoResponse, Redirect};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{Stream, StreamExt, stream};
use http_body::Frame;
use http_body_util::StreamBody;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc as std_mpsc};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use torr_serve::{App, Peer};
use tower::limit::ConcurrencyLimit;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::CorsLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::request_id::PropagateRequestIdLayer;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;

/// One router under `axum::serve` and under Torr.
pub struct Both {
    theirs: AxumServe,
    ours: Running,
}

impl Both {
    pub fn start() -> Self {
        let ours = Running::start(App::new().router(router()).peer_as(ConnectInfo::<SocketAddr>).peer_as(Peer));
        Self { theirs: AxumServe::start(router()), ours }
    }

    pub fn connect(&self) -> [TcpStream; 2] {
        [self.theirs.address, self.ours.address].map(|address| {
            let stream = TcpStream::connect(address).expect("it listens");
            stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
            stream
        })
    }

    /// The responses of `axum::serve` and of Torr.
    pub fn ask(&self, requests: &[u8]) -> [Exchange; 2] {
        self.connect().map(|stream| read_responses(stream, requests))
    }
}

#[derive(Deserialize, Serialize)]
struct Item {
    name: String,
    count: u32,
}

fn frame(number: u64) -> Bytes {
    Bytes::from(format!("{number:>10}"))
}

fn frames(count: u64) -> impl Stream<Item = Result<Bytes, io::Error>> {
    stream::iter((0..count).map(|number| Ok(frame(number))))
}

fn slow_frames(count: u64) -> impl Stream<Item = Result<Bytes, io::Error>> {
    frames(count).then(|frame| async {
        tokio::time::sleep(Duration::from_millis(2)).await;
        frame
    })
}

fn failure() -> io::Error {
    io::Error::other("part of the test")
}

fn defect<T>() -> T {
    panic!("this is part of the test")
}

pub fn large() -> String {
    "a line of a page that is long enough to be worth it\n".repeat(4_000)
}

/// Files to be served.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("router-files");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        std::fs::write(folder.join("hello.txt"), "hello").expect("a file can be written");
        std::fs::write(folder.join("long.bin"), vec![b'l'; 300_000]).expect("a file can be written");
        folder
    })
}

async fn headers(headers: HeaderMap) -> String {
    let mut lines: Vec<_> = headers.iter().map(|(name, value)| format!("{name}={value:?}\n")).collect();
    lines.sort();
    lines.concat()
}

async fn channel() -> Body {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        for _ in 0..100 {
            if sender.send(Bytes::from_static(&[b'c'; 1000])).await.is_err() {
                return;
            }
        }
    });
    Body::from_stream(stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|bytes| (Ok::<_, Infallible>(bytes), receiver))
    }))
}

fn extracting() -> Router<&'static str> {
    Router::new()
        .route("/users/{id}", get(|Path(id): Path<u32>| async move { format!("user {id}") }))
        .route("/names/{name}", get(|Path(name): Path<String>| async move { name }))
        .route("/files/{*rest}", get(|Path(rest): Path<String>| async move { rest }))
        .route("/query", get(|Query(item): Query<Item>| async move { Json(item) }))
        .route("/state", get(|State(state): State<&'static str>| async move { state }))
        .route("/matched/{id}", get(|path: MatchedPath| async move { path.as_str().to_owned() }))
        .route("/uri/a", get(|OriginalUri(uri): OriginalUri, method: Method| async move { format!("{method} {uri}") }))
        .route("/headers", get(headers))
        .route("/peer", get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() }))
        .route("/torr-peer", get(|Extension(Peer(peer)): Extension<Peer>| async move { peer.to_string() }))
        .route(
            "/json",
            get(|| async { Json(Item { name: "n".into(), count: 1 }) })
                .post(|Json(item): Json<Item>| async { Json(item) }),
        )
        .route("/form", post(|Form(item): Form<Item>| async { Json(item) }))
        .route("/bytes", post(|bytes: Bytes| async { bytes }))
        .route("/text", post(|text: String| async { text }))
        .route(
            "/limited",
            post(|bytes: Bytes| async move { bytes.len().to_string() }).layer(RequestBodyLimitLayer::new(1_000)),
        )
}

fn answering() -> Router<&'static str> {
    Router::new()
        .route("/", get(|| async { "hello" }))
        .route("/redirect", get(|| async { Redirect::to("/elsewhere") }))
        .route("/permanent", get(|| async { Redirect::permanent("/elsewhere") }))
        .route("/teapot", get(|| async { (StatusCode::IM_A_TEAPOT, "short and stout") }))
        .route("/created", get(|| async { (StatusCode::CREATED, [(header::LOCATION, "/new")], "made") }))
        .route(
            "/cookies",
            get(|| async { (AppendHeaders([(header::SET_COOKIE, "a=1"), (header::SET_COOKIE, "b=2")]), "") }),
        )
        .route("/no-content", get(|| async { StatusCode::NO_CONTENT }))
        .route("/not-modified", get(|| async { (StatusCode::NOT_MODIFIED, [(header::ETAG, "\"e\"")]) }))
        .route("/empty", get(|| async {}))
        .route("/error", get(|| async { Err::<(), _>((StatusCode::INTERNAL_SERVER_ERROR, "it failed")) }))
        .route(
            "/own-server",
            get(|| async { [(header::SERVER, "its own"), (header::DATE, "Sun, 06 Nov 1994 08:49:37 GMT")] }),
        )
        .route("/closes", get(|| async { ([(header::CONNECTION, "close")], "the last") }))
        .route("/large", get(|| async { large() }))
        .route(
            "/later",
            get(|| async {
                tokio::time::sleep(Duration::from_millis(2)).await;
                "later"
            }),
        )
        .route("/spawned", get(|| async { tokio::spawn(async { "spawned" }).await.expect("it ends") }))
        .route("/blocking", get(|| async { tokio::task::spawn_blocking(|| "blocking").await.expect("it ends") }))
        .route("/panics", get(|| async { defect::<()>() }))
        .route(
            "/panics-later",
            get(|| async {
                tokio::task::yield_now().await;
                defect::<()>()
            }),
        )
        .route("/caught", get(|| async { defect::<()>() }).layer(CatchPanicLayer::new()))
        .route(
            "/slow",
            get(std::future::pending::<()>)
                .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, Duration::from_millis(20))),
        )
        .nest("/nested", Router::new().route("/one", get(|| async { "one" })))
        .nest_service("/files-on-disk", ServeDir::new(folder()))
}

fn streaming() -> Router<&'static str> {
    Router::new()
        .route("/stream/{count}", get(|Path(count): Path<u64>| async move { Body::from_stream(frames(count)) }))
        .route(
            "/slow-stream/{count}",
            get(|Path(count): Path<u64>| async move { Body::from_stream(slow_frames(count)) }),
        )
        .route("/sized-stream", get(|| async { ([(header::CONTENT_LENGTH, "40")], Body::from_stream(slow_frames(4))) }))
        .route(
            "/short-stream",
            get(|| async { ([(header::CONTENT_LENGTH, "100")], Body::from_stream(slow_frames(4))) }),
        )
        .route("/cut-stream", get(|| async { ([(header::CONTENT_LENGTH, "15")], Body::from_stream(slow_frames(4))) }))
        .route(
            "/trailers",
            get(|| async {
                let trailers = HeaderMap::from_iter([(header::ETAG, HeaderValue::from_static("x"))]);
                let frames = [Frame::data(frame(1)), Frame::trailers(trailers)];
                Body::new(StreamBody::new(stream::iter(frames.map(Ok::<_, Infallible>))))
            }),
        )
        .route(
            "/big-stream",
            get(|| async {
                Body::from_stream(stream::iter((0..128).map(|n| Ok::<_, Infallible>(Bytes::from(vec![n; 64 * 1024])))))
            }),
        )
        .route("/channel", get(channel))
        .route(
            "/events",
            get(|| async {
                Sse::new(stream::iter((0..3).map(|n| Ok::<_, Infallible>(Event::default().data(format!("e-{n}"))))))
            }),
        )
        .route("/failing-stream", get(|| async { Body::from_stream(frames(2).chain(stream::iter([Err(failure())]))) }))
        .route(
            "/failing-later",
            get(|| async {
                Body::from_stream(slow_frames(2).chain(stream::once(async {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    Err(failure())
                })))
            }),
        )
        .route(
            "/panicking-stream",
            get(|| async { Body::from_stream(slow_frames(2).chain(stream::once(async { defect() }))) }),
        )
}

/// All that is compared.
pub fn router() -> Router {
    let origin = HeaderValue::from_static("http://a.example");
    let cors = CorsLayer::new().allow_origin(origin).allow_methods([Method::GET, Method::POST]);
    let frame_options = (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    extracting()
        .merge(answering())
        .merge(streaming())
        .fallback(|| async { (StatusCode::NOT_FOUND, "the fallback") })
        .layer(CompressionLayer::new())
        .layer(cors)
        .layer(SetResponseHeaderLayer::if_not_present(frame_options.0, frame_options.1))
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(TraceLayer::new_for_http())
        .with_state("shared")
}

fn with_now(router: Router) -> App {
    App::new().router(router.route("/now", get(|| async { "now" })))
}

/// `/wait` responds when the test lets it.
pub fn gated() -> (oneshot::Sender<()>, App) {
    let (release, released) = oneshot::channel::<()>();
    let released = Arc::new(Mutex::new(Some(released)));
    let wait = move || {
        let released = released.lock().expect("nobody panics").take();
        async move {
            released.expect("one request waits").await.expect("it is released");
            "released"
        }
    };
    (release, with_now(Router::new().route("/wait", get(wait))))
}

/// Says that it was dropped.
struct Tell(std_mpsc::Sender<()>);

impl Drop for Tell {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// `/tap` streams what is sent here.
pub fn tapped() -> (mpsc::Sender<&'static str>, std_mpsc::Receiver<()>, App) {
    let (source, tap) = mpsc::channel(1);
    let (tell, dropped) = std_mpsc::channel();
    let body = Arc::new(Mutex::new(Some((tap, Tell(tell)))));
    let tap = move || {
        let state = body.lock().expect("nobody panics").take().expect("one request is made");
        let frames = stream::unfold(state, |(mut tap, tell)| async {
            tap.recv().await.map(|text| (Ok::<_, Infallible>(text), (tap, tell)))
        });
        async { Body::from_stream(frames).into_response() }
    };
    (source, dropped, with_now(Router::new().route("/tap", get(tap))))
}

/// `/endless` streams without end, and counts what it has made.
pub fn endless() -> (Arc<AtomicU64>, App) {
    let made = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&made);
    let endless = move || {
        let count = Arc::clone(&count);
        async move {
            Body::from_stream(stream::repeat(Bytes::from_static(&[b'e'; 10_000])).map(move |bytes| {
                count.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                Ok::<_, Infallible>(bytes)
            }))
        }
    };
    (made, with_now(Router::new().route("/endless", get(endless))))
}

/// Frames that come late, some of them empty, and a trailer.
pub fn late_frames(count: u64) -> impl http_body::Body<Data = Bytes, Error = io::Error> + Send + 'static {
    let frames = slow_frames(count).flat_map(|frame| stream::iter([Ok(Bytes::new()), frame]));
    let trailers = HeaderMap::from_iter([(header::ETAG, HeaderValue::from_static("x"))]);
    StreamBody::new(frames.map(|frame| frame.map(Frame::data)).chain(stream::iter([Ok(Frame::trailers(trailers))])))
}

/// A service that takes one request at a time.
pub fn limited() -> App {
    let slow = || async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        "one at a time"
    };
    App::new().router(ConcurrencyLimit::new(Router::new().route("/", get(slow)), 1))
}
