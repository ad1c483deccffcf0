//! A server that does exactly what a test tells it to, however wrong.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Requests that are kept.
const KEPT: usize = 10_000;

/// One connection, as the script sees it.
pub struct Client {
    pub stream: TcpStream,
    buffer: Vec<u8>,
    seen: Arc<Seen>,
}

/// What all connections together have seen.
#[derive(Debug, Default)]
pub struct Seen {
    pub connections: AtomicUsize,
    pub requests: AtomicUsize,
    /// The first request, head and body.
    pub first: Mutex<Vec<u8>>,
    /// The first requests of all connections in the order in which they were read, as many as are kept.
    pub all: Mutex<Vec<Vec<u8>>>,
}

/// A server on a free port that gives each connection to the script, on a thread of its own.
pub struct Script {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
    stop: Arc<AtomicBool>,
    acceptor: Option<thread::JoinHandle<()>>,
}

impl Script {
    /// On a free port of 127.0.0.1.
    pub fn start(script: impl Fn(&mut Client) + Send + Sync + 'static) -> Self {
        Self::start_on("127.0.0.1:0", script)
    }

    pub fn start_on(address: &str, script: impl Fn(&mut Client) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap_or_else(|error| panic!("{address}: {error}"));
        Self::accepting(listener, Duration::ZERO, script)
    }

    /// On a listener of the test's own. So long does the acceptor stand still after each connection.
    pub fn accepting(
        listener: TcpListener,
        pause: Duration,
        script: impl Fn(&mut Client) + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().expect("it is bound");
        let (seen, stop, script) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)), Arc::new(script));
        let (all, ended) = (Arc::clone(&seen), Arc::clone(&stop));
        let acceptor = thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let stream = stream.expect("a connection can be accepted");
                stream.set_nodelay(true).expect("a socket takes options");
                stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket takes options");
                all.connections.fetch_add(1, Ordering::SeqCst);
                let (script, seen) = (Arc::clone(&script), Arc::clone(&all));
                thread::spawn(move || script(&mut Client { stream, buffer: Vec::new(), seen }));
                thread::sleep(pause);
            }
        });
        Self { address, seen, stop, acceptor: Some(acceptor) }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    pub fn requests(&self) -> usize {
        self.seen.requests.load(Ordering::SeqCst)
    }

    /// The requests themselves, as text.
    pub fn texts(&self) -> Vec<String> {
        let all = self.seen.all.lock().expect("nobody panics with it");
        all.iter().map(|request| String::from_utf8_lossy(request).into_owned()).collect()
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the acceptor, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

impl Client {
    /// Reads one request, head and sized body. `None` once the client has gone.
    pub fn request(&mut self) -> Option<Vec<u8>> {
        let head = loop {
            if let Some(at) = self.buffer.windows(4).position(|w| w == b"\r\n\r\n") {
                break at + 4;
            }
            self.fill()?;
        };
        let text = String::from_utf8_lossy(&self.buffer[..head]).to_ascii_lowercase();
        let length =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok()).unwrap_or(0);
        while self.buffer.len() < head + length {
            self.fill()?;
        }
        let rest = self.buffer.split_off(head + length);
        let request = std::mem::replace(&mut self.buffer, rest);
        if self.seen.requests.fetch_add(1, Ordering::SeqCst) == 0 {
            *self.seen.first.lock().expect("nobody panics with it") = request.clone();
        }
        let mut all = self.seen.all.lock().expect("nobody panics with it");
        if all.len() < KEPT {
            all.push(request.clone());
        }
        drop(all);
        Some(request)
    }

    fn fill(&mut self) -> Option<()> {
        let mut bytes = [0; 4096];
        let n = self.stream.read(&mut bytes).ok().filter(|&n| n > 0)?;
        self.buffer.extend_from_slice(&bytes[..n]);
        Some(())
    }

    /// Passes everything on to a server at this address, and back, until one side ends.
    pub fn relay(&mut self, to: &str) {
        let mut server = TcpStream::connect(to).unwrap_or_else(|error| panic!("{to}: {error}"));
        let _ = server.write_all(&std::mem::take(&mut self.buffer));
        let (mut from, mut back) = (self.stream.try_clone().expect("a socket can be shared"), server.try_clone());
        let there = thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut server);
            let _ = server.shutdown(std::net::Shutdown::Both);
        });
        if let Ok(back) = &mut back {
            let _ = std::io::copy(back, &mut self.stream);
        }
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        let _ = there.join();
    }

    /// Sends all of it; a client that has gone is its own affair.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Sends it one byte a packet.
    pub fn send_bytewise(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.send(&[*byte]));
    }
}

/// Responds to every request on a connection with the same bytes.
pub fn answering(response: &'static [u8]) -> impl Fn(&mut Client) + Send + Sync + 'static {
    move |client| {
        while client.request().is_some() {
            client.send(response);
        }
    }
}

/// A small response that keeps the connection alive.
pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
