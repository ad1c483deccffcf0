//! An HTTP/2 server on the `h2` crate, without TLS, that responds as a test has it.

use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request, Response};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local};

/// What becomes of one request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A status, fields, a body, and fields behind it.
    Response(u16, Vec<(&'static str, String)>, Bytes, Option<&'static str>),
    /// A status, fields, a body, and several fields behind it.
    Trailers(u16, Vec<(&'static str, String)>, Bytes, Vec<(&'static str, String)>),
    /// Fields, pieces of content with a time between them, and their end.
    Pieces(Vec<(&'static str, String)>, Vec<Bytes>, Duration, End),
    /// A reset.
    Reset(Reason),
    /// Nothing, ever.
    Silence,
}

/// The end of pieces of content.
#[derive(Debug, Clone)]
pub enum End {
    /// Fields behind them.
    Trailers(Vec<(&'static str, String)>),
    /// A reset.
    Reset(Reason),
    /// None: the stream stays open.
    Never,
}

impl Reply {
    pub fn ok(body: impl Into<Bytes>) -> Self {
        Self::Response(200, vec![], body.into(), None)
    }
}

/// What all connections together have seen.
#[derive(Debug, Default)]
pub struct Seen {
    pub connections: AtomicUsize,
    pub requests: AtomicUsize,
    pub body: AtomicUsize,
    /// Streams that the client has given up.
    pub resets: AtomicUsize,
    /// The first request.
    pub first: Mutex<Option<Request<()>>>,
}

/// A server on a free port of 127.0.0.1; it ends with this value.
pub struct Http2Server {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

/// How it responds.
#[derive(Clone)]
pub struct Manner {
    pub settings: Builder,
    /// It leaves a connection after so many streams.
    pub most: usize,
    /// How long each request is worked on.
    pub takes: Duration,
    /// The reply to the n-th request.
    pub reply: Arc<dyn Fn(usize) -> Reply + Send + Sync>,
    /// The reply to a request with this path and this content, instead of `reply`.
    pub by_content: Option<Arc<ByContent>>,
}

/// A reply to a path and content.
pub type ByContent = dyn Fn(&str, &[u8]) -> Reply + Send + Sync;

impl Manner {
    pub fn new(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        Self {
            settings: Builder::new(),
            most: usize::MAX,
            takes: Duration::ZERO,
            reply: Arc::new(reply),
            by_content: None,
        }
    }

    pub fn by_content(reply: impl Fn(&str, &[u8]) -> Reply + Send + Sync + 'static) -> Self {
        Self { by_content: Some(Arc::new(reply)), ..Self::new(|_| Reply::Silence) }
    }
}

impl Http2Server {
    pub fn start(manner: Manner) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.set_nonblocking(true).expect("a socket takes options");
        let address = listener.local_addr().expect("it is bound");
        let (stop, stopped) = oneshot::channel();
        let seen = Arc::new(Seen::default());
        let all = Arc::clone(&seen);
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
            LocalSet::new().block_on(&runtime, async move {
                let listener = TcpListener::from_std(listener).expect("it does not block");
                let accept = async {
                    loop {
                        let (socket, _) = listener.accept().await.expect("a connection can be accepted");
                        all.connections.fetch_add(1, Ordering::SeqCst);
                        spawn_local(serve(socket, manner.clone(), Arc::clone(&all)));
                    }
                };
                tokio::select! { _ = accept => {} _ = stopped => {} }
            });
        });
        Self { address, seen, stop: Some(stop), thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

impl Drop for Http2Server {
    fn drop(&mut self) {
        // The connection may have ended already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(|thread| thread.join());
    }
}

/// One connection; how it ends is the client's affair.
async fn serve(socket: TcpStream, manner: Manner, seen: Arc<Seen>) {
    socket.set_nodelay(true).expect("a socket takes options");
    let Ok(mut connection) = manner.settings.handshake(socket).await else { return };
    let mut streams = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        let nth = seen.requests.fetch_add(1, Ordering::SeqCst);
        let (reply, takes, seen) = ((manner.reply)(nth), manner.takes, Arc::clone(&seen));
        let by_content = manner.by_content.clone();
        spawn_local(async move {
            if !takes.is_zero() {
                tokio::time::sleep(takes).await;
            }
            send_reply(request, respond, reply, by_content, seen).await;
        });
        streams += 1;
        if streams == manner.most {
            connection.graceful_shutdown();
        }
    }
}

async fn send_reply(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    reply: Reply,
    by_content: Option<Arc<ByContent>>,
    seen: Arc<Seen>,
) {
    let (head, mut body) = request.into_parts();
    let path = head.uri.path().to_owned();
    seen.first.lock().expect("nobody panics with it").get_or_insert(Request::from_parts(head, ()));
    let reply = match by_content {
        None => reply,
        Some(by_content) => by_content(&path, &whole(&mut body, &seen).await),
    };
    let (status, fields, content, behind) = match reply {
        Reply::Reset(reason) => return respond.send_reset(reason),
        Reply::Silence => {
            let _ = std::future::poll_fn(|context| respond.poll_reset(context)).await;
            seen.resets.fetch_add(1, Ordering::SeqCst);
            return;
        }
        Reply::Pieces(fields, pieces, between, end) => {
            whole(&mut body, &seen).await;
            return send_pieces(respond, fields, pieces, between, end, &seen).await;
        }
        Reply::Response(status, fields, content, behind) => {
            (status, fields, content, behind.map(|name| vec![(name, "x".to_owned())]))
        }
        Reply::Trailers(status, fields, content, behind) => (status, fields, content, Some(behind)),
    };
    whole(&mut body, &seen).await;
    let response = head_of(status, fields);
    let is_all = content.is_empty() && behind.is_none();
    let Ok(mut stream) = respond.send_response(response, is_all) else { return };
    if !content.is_empty() {
        let _ = stream.send_data(content, behind.is_none());
    }
    if let Some(behind) = behind {
        let _ = stream.send_trailers(trailers(behind));
    }
    // The content is sent as the client takes it, as long as this sender is not dropped.
    let _ = std::future::poll_fn(|context| stream.poll_reset(context)).await;
}

/// Sends pieces of content until their end, or until the client resets the stream.
async fn send_pieces(
    mut respond: SendResponse<Bytes>,
    fields: Vec<(&'static str, String)>,
    pieces: Vec<Bytes>,
    between: Duration,
    end: End,
    seen: &Seen,
) {
    let Ok(mut stream) = respond.send_response(head_of(200, fields), false) else { return };
    for (nth, piece) in pieces.into_iter().enumerate() {
        if nth > 0 {
            tokio::time::sleep(between).await;
        }
        if stream.send_data(piece, false).is_err() {
            break;
        }
    }
    match end {
        End::Trailers(behind) => drop(stream.send_trailers(trailers(behind))),
        End::Reset(reason) => {
            // A reset takes back what is not sent yet.
            tokio::time::sleep(between).await;
            return stream.send_reset(reason);
        }
        End::Never => {}
    }
    if std::future::poll_fn(|context| stream.poll_reset(context)).await.is_ok() {
        seen.resets.fetch_add(1, Ordering::SeqCst);
    }
}

fn head_of(status: u16, fields: Vec<(&'static str, String)>) -> Response<()> {
    let response = Response::builder().status(status);
    let response = fields.into_iter().fold(response, |response, (name, value)| response.header(name, value));
    response.body(()).expect("a test gives valid fields")
}

fn trailers(behind: Vec<(&'static str, String)>) -> HeaderMap {
    let value = |value: String| value.parse().expect("it is a value");
    behind.into_iter().map(|(name, text)| (name.parse().expect("it is a name"), value(text))).collect()
}

/// Returns the content that is left.
async fn whole(body: &mut RecvStream, seen: &Seen) -> Vec<u8> {
    let mut content = Vec::new();
    while let Some(Ok(piece)) = body.data().await {
        seen.body.fetch_add(piece.len(), Ordering::SeqCst);
        content.extend_from_slice(&piece);
        let _ = body.flow_control().release_capacity(piece.len());
    }
    content
}
