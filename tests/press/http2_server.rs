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
    /// A reset.
    Reset(Reason),
    /// Nothing, ever.
    Silence,
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
}

impl Manner {
    pub fn new(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        Self { settings: Builder::new(), most: usize::MAX, takes: Duration::ZERO, reply: Arc::new(reply) }
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
        spawn_local(async move {
            if !takes.is_zero() {
                tokio::time::sleep(takes).await;
            }
            send_reply(request, respond, reply, seen).await;
        });
        streams += 1;
        if streams == manner.most {
            connection.graceful_shutdown();
        }
    }
}

async fn send_reply(request: Request<RecvStream>, mut respond: SendResponse<Bytes>, reply: Reply, seen: Arc<Seen>) {
    let (head, mut body) = request.into_parts();
    seen.first.lock().expect("nobody panics with it").get_or_insert(Request::from_parts(head, ()));
    let (status, fields, content, behind) = match reply {
        Reply::Reset(reason) => return respond.send_reset(reason),
        Reply::Silence => {
            let _ = std::future::poll_fn(|context| respond.poll_reset(context)).await;
            seen.resets.fetch_add(1, Ordering::SeqCst);
            return;
        }
        Reply::Response(status, fields, content, behind) => (status, fields, content, behind),
    };
    while let Some(Ok(piece)) = body.data().await {
        seen.body.fetch_add(piece.len(), Ordering::SeqCst);
        let _ = body.flow_control().release_capacity(piece.len());
    }
    let mut response = Response::builder().status(status);
    for (name, value) in fields {
        response = response.header(name, value);
    }
    let response = response.body(()).expect("a test gives valid fields");
    let is_all = content.is_empty() && behind.is_none();
    let Ok(mut stream) = respond.send_response(response, is_all) else { return };
    if !content.is_empty() {
        let _ = stream.send_data(content, behind.is_none());
    }
    if let Some(behind) = behind {
        let mut fields = HeaderMap::new();
        fields.insert(behind, "x".parse().expect("it is a value"));
        let _ = stream.send_trailers(fields);
    }
    // The content is sent as the client takes it, as long as this sender is not dropped.
    let _ = std::future::poll_fn(|context| stream.poll_reset(context)).await;
}
