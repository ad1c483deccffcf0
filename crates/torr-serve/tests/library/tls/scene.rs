//! A server with a certificate, and clients that trust it.

use crate::support::{PATIENCE, Running};
use bytes::Bytes;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion};
use std::io::{self, ErrorKind, Read, Write};
use std::iter;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use torr_serve::{App, Response, Settings, TlsSettings};
use torr_test_support::certificates::self_signed;

/// Both versions that there are.
pub static VERSIONS: [&SupportedProtocolVersion; 2] = [&rustls::version::TLS12, &rustls::version::TLS13];

/// A server, and the files of its certificate.
pub struct Scene {
    pub folder: TempDir,
    pub server: Running,
    roots: RootCertStore,
}

impl Scene {
    /// With the application of [`app`].
    pub fn set() -> Self {
        Self::with(app(), |_, _| {})
    }

    /// With an application, and changes of settings, which may put further files into the folder.
    pub fn with(app: App, set: impl FnOnce(&mut Settings, &Path)) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let (certificate, key) = self_signed(folder.path());
        let mut roots = RootCertStore::empty();
        let server = Running::start_with(app, |settings| {
            settings.tls = Some(TlsSettings::new(certificate, key));
            set(settings, folder.path());
            for (certificate, _) in &settings.tls.as_ref().expect("it was just set").identities {
                roots.add(certificates(certificate).remove(0)).expect("it is a certificate");
            }
        });
        Self { folder, server, roots }
    }

    /// A client's configuration, with one that may be shown.
    pub fn config(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        shown: Option<(&Path, &Path)>,
    ) -> ClientConfig {
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let builder = builder.with_protocol_versions(versions).expect("it has these versions");
        let builder = builder.with_root_certificates(self.roots.clone());
        match shown {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => builder
                .with_client_auth_cert(certificates(certificate), PrivateKeyDer::from_pem_file(key).expect("a key"))
                .expect("the key is that of the certificate"),
        }
    }

    /// A client with nothing special about it.
    pub fn client(&self) -> Secure {
        self.connect(Arc::new(self.config(&VERSIONS, None)))
    }

    pub fn connect(&self, config: Arc<ClientConfig>) -> Secure {
        Secure::connect(self.server.address, config, "localhost").expect("the handshake succeeds")
    }
}

pub fn certificates(path: &Path) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_file_iter(path).expect("it is a file").collect::<Result<_, _>>().expect("it has certificates")
}

/// What most tests talk to.
pub fn app() -> App {
    const PIECE: &[u8] = &[b'p'; 10_000];
    App::new()
        .get("/", |_| Response::text("fine"))
        .get("/large/{n}", |request| {
            let length = request.param("n").and_then(|n| n.parse().ok()).expect("it is a number");
            Response::pieces("a/b", length, iter::repeat_with(|| Bytes::from_static(PIECE)))
        })
        .get("/short", |_| Response::pieces("a/b", 100_000, iter::once(Bytes::from_static(PIECE))))
        .get("/echo", |_| Response::text("nothing"))
        .post("/echo", |request| Response::ok("a/b", request.body().to_vec()))
        .get_async("/soon/{n}", |request| {
            let n = request.param("n").expect("the path has it").to_owned();
            async move {
                tokio::task::yield_now().await;
                Response::ok("a/b", n.into_bytes())
            }
        })
}

/// A client's end.
pub struct Secure {
    pub stream: StreamOwned<ClientConnection, TcpStream>,
    buffer: Vec<u8>,
}

impl Secure {
    /// Connects and shakes hands.
    pub fn connect(address: SocketAddr, config: Arc<ClientConfig>, name: &str) -> io::Result<Self> {
        Self::over(socket(address), config, name)
    }

    /// Shakes hands where something else has been said already.
    pub fn over(socket: TcpStream, config: Arc<ClientConfig>, name: &str) -> io::Result<Self> {
        let mut stream = StreamOwned::new(hello(config, name), socket);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Self { stream, buffer: Vec::new() })
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).and_then(|()| self.stream.flush()).expect("the server takes it");
    }

    /// A GET and the text of its response.
    pub fn get(&mut self, path: &str) -> String {
        self.send(torr_test_support::client::get(path));
        String::from_utf8(self.response().1).expect("it is text")
    }

    /// Reads a response: its head and its body, sized or in chunks.
    pub fn response(&mut self) -> (String, Vec<u8>) {
        let head = self.until(b"\r\n\r\n");
        let head = String::from_utf8(head).expect("a head is text");
        let lower = head.to_ascii_lowercase();
        let field = |name: &str| lower.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        let mut body = Vec::new();
        if field("transfer-encoding: ").is_some() {
            loop {
                let size = String::from_utf8(self.until(b"\r\n")).expect("a size is text");
                let size = usize::from_str_radix(size.trim_end(), 16).expect("a size is a number");
                let chunk = self.exactly(size + 2);
                body.extend_from_slice(&chunk[..size]);
                if size == 0 {
                    break;
                }
            }
        } else {
            let length = field("content-length: ").map_or(0, |text| text.parse().expect("a length is a number"));
            body = self.exactly(length);
        }
        (head, body)
    }

    pub fn until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|w| w == end) {
                return self.exactly(at + end.len());
            }
            self.fill();
        }
    }

    pub fn exactly(&mut self, length: usize) -> Vec<u8> {
        while self.buffer.len() < length {
            self.fill();
        }
        let rest = self.buffer.split_off(length);
        std::mem::replace(&mut self.buffer, rest)
    }

    fn fill(&mut self) {
        let mut bytes = [0; 16 * 1024];
        let n = self.stream.read(&mut bytes).expect("there is more to read");
        assert!(n > 0, "the connection ended after {}", self.buffer.escape_ascii());
        self.buffer.extend_from_slice(&bytes[..n]);
    }

    /// Reads to the end. Says whether the server said that it is one (`close_notify`), and what came before.
    pub fn ends(&mut self) -> (bool, Vec<u8>) {
        let mut bytes = std::mem::take(&mut self.buffer);
        match self.stream.read_to_end(&mut bytes) {
            Ok(_) => (true, bytes),
            // The error of rustls for an end without `close_notify`.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => (false, bytes),
            Err(error) => panic!("{error} instead of an end"),
        }
    }
}

/// A client that has said nothing yet.
pub fn hello(config: Arc<ClientConfig>, name: &str) -> ClientConnection {
    let name = ServerName::try_from(name.to_owned()).expect("it is a name");
    ClientConnection::new(config, name).expect("a client can be made")
}

pub fn socket(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).expect("it listens");
    socket.set_nodelay(true).expect("a socket takes options");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
    socket.set_write_timeout(Some(PATIENCE)).expect("a socket takes options");
    socket
}

/// The paths of a certificate and its key, as they are given to a client.
pub fn shown((certificate, key): &(PathBuf, PathBuf)) -> Option<(&Path, &Path)> {
    Some((certificate, key))
}
