//! An HTTP/3 server on the `quinn` crate, whose frames are written by hand, so that a test can have it do what no server should.

use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Connection, Endpoint, Incoming, RecvStream, SendStream, TransportConfig, VarInt};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ServerSessionMemoryCache, StoresServerSessions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local};
use torr_test_support::certificates::self_signed;
use torr_wire::http3::{MessagePiece, MessageStream, kind, qpack, varint, write_header};

/// What becomes of one request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A status and content of its announced length.
    Response(u16, Vec<u8>),
    /// These bytes, and the end of the stream.
    Bytes(Vec<u8>),
    /// A reset with this code.
    Reset(u64),
    /// The end of the connection with this code.
    Close(u64),
    /// Nothing, ever.
    Silence,
}

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub fields: Vec<(String, String)>,
    pub content: Vec<u8>,
}

/// What a server replies to a request, which has a number among all.
type Replies = Arc<dyn Fn(usize, &Seen) -> Reply + Send + Sync>;

/// What becomes of early data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyData {
    /// No ticket permits it.
    Refused,
    /// It is taken.
    Taken,
    /// Tickets permit it, and each other session is forgotten when its ticket comes back.
    Rejected,
}

/// How a server behaves.
#[derive(Clone)]
pub struct Manner {
    /// The reply to the n-th request of all.
    pub reply: Replies,
    /// The bytes of the server's control stream.
    pub control: Vec<u8>,
    /// The streams that a client may have open.
    pub streams: u32,
    /// The protocol that is negotiated.
    pub protocol: &'static [u8],
    /// After so many requests a connection gets GOAWAY.
    pub most: usize,
    /// Whether a system call sends several datagrams.
    pub sends_trains: bool,
    pub early_data: EarlyData,
}

impl Manner {
    pub fn new(reply: impl Fn(usize, &Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self {
            reply: Arc::new(reply),
            control: vec![0, 4, 0],
            streams: 100,
            protocol: b"h3",
            most: usize::MAX,
            sends_trains: true,
            early_data: EarlyData::Refused,
        }
    }
}

/// What all connections together have seen.
#[derive(Debug, Default)]
pub struct AllSeen {
    pub connections: AtomicUsize,
    pub requests: Mutex<Vec<Seen>>,
    /// The codes with which clients closed connections.
    pub closed: Mutex<Vec<u64>>,
}

/// A server on a free port of 127.0.0.1; it ends with this value.
pub struct Http3Server {
    pub address: SocketAddr,
    pub seen: Arc<AllSeen>,
    folder: TempDir,
    certificate: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Http3Server {
    pub fn start(manner: Manner) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let (certificate, key) = self_signed(folder.path());
        let settings = settings(&certificate, &key, &manner);
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        let address = socket.local_addr().expect("it is bound");
        let (stop, stopped) = oneshot::channel();
        let seen = Arc::new(AllSeen::default());
        let all = Arc::clone(&seen);
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
            LocalSet::new().block_on(&runtime, async move {
                let of_quinn = Arc::new(quinn::TokioRuntime);
                let endpoint = Endpoint::new(quinn::EndpointConfig::default(), Some(settings), socket, of_quinn);
                let endpoint = endpoint.expect("the socket is sound");
                let accept = async {
                    while let Some(incoming) = endpoint.accept().await {
                        spawn_local(serve(incoming, manner.clone(), Arc::clone(&all)));
                    }
                };
                tokio::select! { () = accept => {} _ = stopped => {} }
            });
        });
        Self { address, seen, folder, certificate, stop: Some(stop), thread: Some(thread) }
    }

    pub fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.address.port())
    }

    /// The certificate, which no one else has signed.
    pub fn certificate(&self) -> &str {
        self.certificate.to_str().expect("the path is text")
    }

    /// A folder that lives as long as the server.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn requests(&self) -> Vec<Seen> {
        self.seen.requests.lock().expect("no test fails with it").clone()
    }
}

impl Drop for Http3Server {
    fn drop(&mut self) {
        // The thread may have ended already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(|thread| thread.join());
    }
}

fn settings(certificate: &Path, key: &Path, manner: &Manner) -> quinn::ServerConfig {
    let chain = vec![CertificateDer::from_pem_file(certificate).expect("it is a certificate")];
    let key = PrivateKeyDer::from_pem_file(key).expect("it is a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("ring has TLS 1.3");
    let mut tls = builder.with_no_client_auth().with_single_cert(chain, key).expect("the key is its own");
    tls.alpn_protocols = vec![manner.protocol.to_vec()];
    if manner.early_data != EarlyData::Refused {
        tls.max_early_data_size = u32::MAX;
        let sessions = ServerSessionMemoryCache::new(1000);
        let forgets = manner.early_data == EarlyData::Rejected;
        tls.session_storage = Arc::new(Sessions { sessions, forgets, taken: AtomicUsize::new(0) });
    }
    let crypto = QuicServerConfig::try_from(tls).expect("ring has the first cipher suite");
    let mut settings = quinn::ServerConfig::with_crypto(Arc::new(crypto));
    let mut transport = TransportConfig::default();
    transport.max_concurrent_bidi_streams(manner.streams.into()).enable_segmentation_offload(manner.sends_trains);
    settings.transport_config(Arc::new(transport));
    settings
}

/// Sessions of which each other one is forgotten, if it `forgets`.
#[derive(Debug)]
struct Sessions {
    sessions: Arc<ServerSessionMemoryCache>,
    forgets: bool,
    taken: AtomicUsize,
}

impl StoresServerSessions for Sessions {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        self.sessions.put(key, value)
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.sessions.get(key)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        let is_forgotten = self.forgets && self.taken.fetch_add(1, Ordering::SeqCst) % 2 == 1;
        self.sessions.take(key).filter(|_| !is_forgotten)
    }

    fn can_cache(&self) -> bool {
        true
    }
}

/// One connection; how it ends is the client's affair.
async fn serve(incoming: Incoming, manner: Manner, seen: Arc<AllSeen>) {
    let Ok(connection) = incoming.await else { return };
    seen.connections.fetch_add(1, Ordering::SeqCst);
    let Ok(mut control) = connection.open_uni().await else { return };
    if control.write_all(&manner.control).await.is_err() {
        return;
    }
    let mut begun = 0;
    let closed = loop {
        match connection.accept_bi().await {
            Ok((send, receive)) => {
                begun += 1;
                spawn_local(respond(connection.clone(), send, receive, manner.clone(), Arc::clone(&seen)));
                if begun == manner.most {
                    let (mut goaway, mut next) = (vec![], vec![]);
                    varint::write(4 * begun as u64, &mut next);
                    write_header(kind::GOAWAY, next.len() as u64, &mut goaway);
                    goaway.extend_from_slice(&next);
                    // The client may have gone.
                    let _ = control.write_all(&goaway).await;
                }
            }
            Err(error) => break error,
        }
    };
    if let quinn::ConnectionError::ApplicationClosed(close) = closed {
        seen.closed.lock().expect("no test fails with it").push(close.error_code.into_inner());
    }
}

async fn respond(
    connection: Connection,
    mut send: SendStream,
    mut receive: RecvStream,
    manner: Manner,
    seen: Arc<AllSeen>,
) {
    let Ok(bytes) = receive.read_to_end(64 * 1024 * 1024).await else { return };
    let request = request(&bytes);
    let number = {
        let mut all = seen.requests.lock().expect("no test fails with it");
        all.push(request.clone());
        all.len() - 1
    };
    let bytes = match (manner.reply)(number, &request) {
        Reply::Response(status, content) => response(status, &content),
        Reply::Bytes(bytes) => bytes,
        Reply::Reset(code) => {
            let _ = send.reset(VarInt::from_u64(code).expect("it has 62 bits"));
            return;
        }
        Reply::Close(code) => return connection.close(VarInt::from_u64(code).expect("it has 62 bits"), b""),
        Reply::Silence => return std::future::pending().await,
    };
    if send.write_all(&bytes).await.is_ok() {
        let _ = send.finish();
    }
}

/// A request has the frames of a response.
fn request(mut bytes: &[u8]) -> Seen {
    let (mut reader, mut seen) = (MessageStream::default(), Seen { fields: vec![], content: vec![] });
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it is text");
    while let Some(piece) = reader.next(&mut bytes).expect("the client keeps to the protocol") {
        match piece {
            MessagePiece::Section(section) => {
                let decoded = qpack::decode(section.as_ref(), &mut vec![], |name, value| {
                    seen.fields.push((text(name), text(value)));
                });
                decoded.expect("the client keeps to the protocol");
            }
            MessagePiece::Content(content) => seen.content.extend_from_slice(content),
            MessagePiece::TooLarge => panic!("the client keeps to the limit"),
        }
    }
    assert!(reader.is_between(), "a request ends with a frame");
    seen
}

/// The frames of a response whose length is announced.
pub fn response(status: u16, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_string();
    let fields = [(24, status.to_string()), (4, length)];
    let mut bytes = head(&fields);
    write_header(kind::DATA, content.len() as u64, &mut bytes);
    bytes.extend_from_slice(content);
    bytes
}

/// A HEADERS frame with fields whose names have these indices in the static table of QPACK, up to 14 + 127.
pub fn head(fields: &[(u8, String)]) -> Vec<u8> {
    let mut section = vec![0, 0];
    for (index, value) in fields {
        match index {
            0..15 => section.push(0x50 | index),
            _ => section.extend_from_slice(&[0x5f, index - 15]),
        }
        section.push(u8::try_from(value.len()).expect("a value is short"));
        section.extend_from_slice(value.as_bytes());
    }
    let mut bytes = vec![];
    write_header(kind::HEADERS, section.len() as u64, &mut bytes);
    bytes.extend_from_slice(&section);
    bytes
}
