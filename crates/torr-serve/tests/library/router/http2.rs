//! A client of HTTP/2 by prior knowledge, and the parts of responses that are compared.

use super::wire::ClientResponse;
use crate::support::PATIENCE;
use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, SendStream};
use http::{HeaderMap, Request, Uri};
use std::future::{Future, poll_fn};
use std::net::{SocketAddr, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use torr_wire::body::{BodyReader, Framing};
use torr_wire::request;

/// One connection. Its tasks run only while it is waited for something.
pub struct Client {
    runtime: Runtime,
    pub sender: SendRequest<Bytes>,
    connection: JoinHandle<Result<(), h2::Error>>,
}

/// What came of a request.
#[derive(Debug, PartialEq, Eq)]
pub struct StreamOutcome {
    pub response: Option<ClientResponse>,
    pub trailers: Vec<(String, String)>,
    /// Why the stream ended before the response did.
    pub reset: Option<Reason>,
}

impl StreamOutcome {
    pub fn response(&self) -> &ClientResponse {
        self.response.as_ref().unwrap_or_else(|| panic!("no answer: {self:?}"))
    }
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        Self::on(TcpStream::connect(address).expect("it listens"))
    }

    pub fn on(stream: TcpStream) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("it starts");
        let (sender, connection) = runtime.block_on(async {
            stream.set_nodelay(true).expect("a socket takes options");
            stream.set_nonblocking(true).expect("a socket takes options");
            let stream = tokio::net::TcpStream::from_std(stream).expect("the runtime takes it");
            let (sender, connection) = h2::client::handshake(stream).await.expect("the handshake is sent");
            (sender, tokio::spawn(connection))
        });
        Self { runtime, sender, connection }
    }

    /// Waits for something that has to do with this connection.
    pub fn wait<T>(&self, what: impl Future<Output = T>) -> T {
        self.runtime.block_on(async { timeout(PATIENCE, what).await.expect("it does not take so long") })
    }

    /// Sends a head, and gives what its body is sent by.
    pub fn begin(&self, request: Request<()>, ends: bool) -> (ResponseFuture, SendStream<Bytes>) {
        let sender = self.sender.clone();
        self.wait(async move {
            let mut sender = sender.ready().await.expect("the connection lives");
            sender.send_request(request, ends).expect("the request is valid")
        })
    }

    /// Sends a request and reads what comes.
    pub fn ask(&self, request: Request<Bytes>) -> StreamOutcome {
        let (parts, body) = request.into_parts();
        let (response, sending) = self.begin(Request::from_parts(parts, ()), body.is_empty());
        self.wait(async {
            let sending = tokio::spawn(send(sending, body));
            let outcome = read(response).await;
            sending.abort();
            outcome
        })
    }

    pub fn get(&self, path: &str) -> StreamOutcome {
        self.ask(get(path))
    }

    /// Waits for the connection's end, and gives why.
    pub fn end(self) -> Result<(), h2::Error> {
        let Self { runtime, sender, connection } = self;
        // As long as there is a sender, it lives on without streams.
        drop(sender);
        runtime.block_on(async { timeout(PATIENCE, connection).await.expect("the connection ends").expect("no panic") })
    }

    /// Waits for the server to end the connection, though it might be used again.
    pub fn ended_by_server(self) -> Result<(), h2::Error> {
        let Self { runtime, sender, connection } = self;
        let ended = runtime.block_on(async { timeout(PATIENCE, connection).await });
        drop(sender);
        ended.expect("the connection ends").expect("no panic")
    }
}

pub fn get(path: &str) -> Request<Bytes> {
    let uri = Uri::builder().scheme("http").authority("x").path_and_query(path).build().expect("the path is valid");
    Request::builder().uri(uri).body(Bytes::new()).expect("it is valid")
}

pub fn post(path: &str, body: impl Into<Bytes>) -> Request<Bytes> {
    let (mut parts, ()) = get(path).map(drop).into_parts();
    parts.method = http::Method::POST;
    Request::from_parts(parts, body.into())
}

/// Sends a body as the windows allow, until it is sent or refused.
pub async fn send(mut stream: SendStream<Bytes>, mut body: Bytes) {
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let Some(Ok(room)) = poll_fn(|cx| stream.poll_capacity(cx)).await else { return };
        let piece = body.split_to(room.min(body.len()));
        if stream.send_data(piece, body.is_empty()).is_err() {
            return;
        }
    }
}

/// Reads a response to its end.
pub async fn read(pending: ResponseFuture) -> StreamOutcome {
    let mut outcome = StreamOutcome { response: None, trailers: Vec::new(), reset: None };
    let response = match pending.await {
        Ok(response) => response,
        Err(error) => {
            outcome.reset = error.reason();
            assert!(error.is_reset() || error.is_go_away(), "{error}");
            return outcome;
        }
    };
    let mut fields = listed(response.headers());
    assert_eq!(fields.iter().filter(|(name, _)| name == "date").count(), 1, "one date in {fields:?}");
    // A handler's own date is an old one.
    fields.retain(|(name, value)| !(name == "date" && !value.contains("1994") || name == "server" && value == "torr"));
    let mut seen = ClientResponse { status: response.status().as_u16(), fields, body: Vec::new(), cut_short: false };
    let mut body = response.into_body();
    while let Some(piece) = body.data().await {
        match piece {
            Ok(piece) => {
                seen.body.extend_from_slice(&piece);
                let _ = body.flow_control().release_capacity(piece.len());
            }
            Err(error) => {
                outcome.reset = error.reason();
                seen.cut_short = true;
                break;
            }
        }
    }
    if !seen.cut_short {
        outcome.trailers = body.trailers().await.ok().flatten().map(|trailers| listed(&trailers)).unwrap_or_default();
    }
    outcome.response = Some(seen);
    outcome
}

fn listed(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let mut fields: Vec<_> = headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
    fields.sort();
    fields
}

/// A request of HTTP/1.1 in HTTP/2 (RFC 9113, section 8.3.1). `None` if it cannot be one.
pub fn translated(bytes: &[u8]) -> Option<Request<Bytes>> {
    let mut headers = request::header_buffer();
    let head = request::parse(bytes, &mut headers, request::Limits { head: 8192, headers: 100 }).ok()??;
    let mut body = Vec::new();
    if head.framing != Framing::None {
        let mut reader = BodyReader::new(head.framing);
        reader.read(&bytes[head.len..], |piece| body.extend_from_slice(piece)).ok()?;
    }
    let uri = match head.target.starts_with("http://") {
        true => head.target.parse().ok()?,
        false => Uri::builder().scheme("http").authority("x").path_and_query(head.target).build().ok()?,
    };
    let mut request = Request::builder().method(head.method).uri(uri);
    for field in head.headers {
        let name = field.name.to_ascii_lowercase();
        if !["host", "connection", "transfer-encoding"].contains(&&*name) {
            request = request.header(name, field.value);
        }
    }
    request.body(Bytes::from(body)).ok()
}
