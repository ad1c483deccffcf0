//! A client of QUIC that sends whatever bytes a test has for its streams.

use crate::support::PATIENCE;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};
use torr_net::datagrams::{push_train, trains};
use torr_net::quic::{QuicClient, QuicConnection, QuicError, QuicEvent, ReadEnd, StreamId};
use torr_net::tls::{Roots, TlsConfig, TlsSettings};

/// What has come on a stream.
#[derive(Debug, Default, Clone)]
pub struct Received {
    pub bytes: Vec<u8>,
    /// How the stream ended, if it has.
    pub end: Option<ReadEnd>,
}

/// A connection.
pub struct Client {
    pub quic: QuicConnection,
    socket: UdpSocket,
    pub received: BTreeMap<u64, Received>,
    /// The streams on which nothing is read.
    pub unread: BTreeSet<u64>,
    /// The reasons for which the server does not want what is sent on a stream.
    pub stopped: BTreeMap<u64, u64>,
    pub end: Option<QuicError>,
    is_connected: bool,
    room: Vec<u8>,
}

/// The settings of a client that trusts this certificate.
pub fn tls(certificate: &Path) -> TlsConfig {
    settings(certificate).load().expect("the file has a certificate")
}

fn settings(certificate: &Path) -> TlsSettings {
    let roots = Roots::File(certificate.to_owned());
    TlsSettings { roots, alpn: vec!["h3".into()], ..TlsSettings::new("localhost") }
}

/// A client that keeps its sessions, and has early data where the server permits it.
pub fn early(certificate: &Path) -> QuicClient {
    let tls = TlsSettings { early_data: true, ..settings(certificate) }.load().expect("the file has a certificate");
    QuicClient::new(&tls).expect("the settings are sound")
}

impl Client {
    /// Begins a connection from another port, and sends nothing yet.
    pub fn new(address: SocketAddr, certificate: &Path) -> Self {
        Self::of(&QuicClient::new(&tls(certificate)).expect("the settings are sound"), address)
    }

    /// Begins a connection of a client from another port, and sends nothing yet.
    pub fn of(client: &QuicClient, address: SocketAddr) -> Self {
        let socket = socket(address);
        Self {
            quic: client.connect().expect("a connection can begin"),
            socket,
            received: BTreeMap::new(),
            unread: BTreeSet::new(),
            stopped: BTreeMap::new(),
            end: None,
            is_connected: false,
            room: Vec::new(),
        }
    }

    /// Shakes hands, and opens the control stream.
    pub fn connect(address: SocketAddr, certificate: &Path) -> Self {
        let mut client = Self::shake_hands(address, certificate);
        client.open_unidirectional(&[0, 4, 0]);
        client
    }

    /// Shakes hands.
    pub fn shake_hands(address: SocketAddr, certificate: &Path) -> Self {
        let mut client = Self::new(address, certificate);
        client.connected();
        client
    }

    /// Shakes hands, unless that is done.
    pub fn connected(&mut self) {
        self.until(|client| client.is_connected);
    }

    /// Opens a unidirectional stream with these bytes.
    pub fn open_unidirectional(&mut self, bytes: &[u8]) -> StreamId {
        let id = self.quic.open_unidirectional().expect("the server allows it");
        self.send(id, bytes);
        id
    }

    /// Opens a stream for a request.
    pub fn open(&mut self) -> StreamId {
        let mut opened = None;
        self.until(|client| {
            opened = client.quic.open();
            opened.is_some()
        });
        opened.expect("it was just opened")
    }

    /// Sends bytes on a stream, however long that takes.
    pub fn send(&mut self, id: StreamId, bytes: &[u8]) {
        let mut bytes = Bytes::copy_from_slice(bytes);
        self.until(|client| client.quic.write(id, &mut bytes));
        self.flush();
    }

    /// Opens a stream, sends bytes and ends it.
    pub fn request(&mut self, bytes: &[u8]) -> u64 {
        let id = self.open();
        self.send(id, bytes);
        self.quic.finish(id);
        self.flush();
        number(id)
    }

    /// Sends the first datagrams, and returns the first one that comes back.
    pub fn greet(&mut self) -> Vec<u8> {
        self.flush();
        self.socket.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        let mut buffer = [0; 2048];
        let length = self.socket.recv(&mut buffer).expect("the server replies");
        buffer[..length].to_vec()
    }

    /// Goes on from another port.
    pub fn move_elsewhere(&mut self) {
        let address = self.socket.peer_addr().expect("it is connected");
        self.socket = socket(address);
    }

    /// Sends all datagrams that there are, and returns their trains.
    pub fn flush(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.quic.write_datagrams(&mut self.room, &mut out);
        for (train, size) in trains(&out) {
            for datagram in train.chunks(size) {
                // A server that has ended refuses.
                let _ = self.socket.send(datagram);
            }
        }
        out
    }

    /// Waits until something is the case.
    pub fn until(&mut self, mut is_so: impl FnMut(&mut Self) -> bool) {
        let since = Instant::now();
        while !is_so(self) {
            assert!(since.elapsed() < PATIENCE, "it has not come: {:?}, {:?}", self.received, self.end);
            self.turn();
        }
    }

    /// Waits for the end of the connection.
    pub fn ended(&mut self) -> QuicError {
        self.until(|client| client.end.is_some());
        self.end.clone().expect("it has ended")
    }

    /// Waits for the end of a stream.
    pub fn response(&mut self, number: u64) -> Received {
        self.until(|client| client.received.get(&number).is_some_and(|one| one.end.is_some()));
        self.received[&number].clone()
    }

    /// Receives for a moment, and handles all that has happened.
    pub fn turn(&mut self) {
        self.flush();
        let mut buffer = [0; 2048];
        if let Ok(length) = self.socket.recv(&mut buffer) {
            let mut bytes = Vec::new();
            push_train(&buffer[..length], length.max(1), &mut bytes);
            self.quic.receive(&bytes, &mut self.room);
        }
        if self.quic.timeout().is_some_and(|at| at <= Instant::now()) {
            self.quic.time_out();
        }
        while let Some(event) = self.quic.next_event() {
            match event {
                QuicEvent::Connected => self.is_connected = true,
                QuicEvent::Opened => {
                    while let Some(id) = self.quic.accept() {
                        self.read(id);
                    }
                }
                QuicEvent::Readable(id) => self.read(id),
                QuicEvent::Stopped(id, code) => drop(self.stopped.insert(number(id), code)),
                QuicEvent::Lost(error) => self.end = Some(error),
                _ => {}
            }
        }
        self.flush();
    }

    /// Reads what has come on a stream.
    pub fn read(&mut self, id: StreamId) {
        if self.unread.contains(&number(id)) {
            return;
        }
        let mut chunks = Vec::new();
        let end = self.quic.read(id, &mut chunks);
        let received = self.received.entry(number(id)).or_default();
        chunks.iter().for_each(|chunk| received.bytes.extend_from_slice(chunk));
        if end != ReadEnd::Open && received.end.is_none() {
            received.end = Some(end);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.quic.close(0x100);
        self.flush();
    }
}

/// A socket on another port.
pub fn socket(address: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    socket.connect(address).expect("a socket can be connected");
    socket.set_read_timeout(Some(Duration::from_millis(5))).expect("a socket takes options");
    socket
}

/// The number of a stream.
pub fn number(id: StreamId) -> u64 {
    torr_net::quic::QuicChannel::number(id)
}
