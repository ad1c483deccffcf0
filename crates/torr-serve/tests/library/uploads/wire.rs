//! Clients that send bodies, and what they check of the responses.

#![allow(dead_code, reason = "each test program uses its part of this")]

use super::service::{Seen, app};
use crate::support::{PATIENCE, Running};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use torr_serve::Settings;
use torr_test_support::client::{Client, ClientResponse};

pub const MEGABYTE: usize = 1024 * 1024;
/// More than the kernel's buffers of a connection hold.
pub const HUGE: usize = 64 * MEGABYTE;

pub fn start(set: impl FnOnce(&mut Settings)) -> (Running, Seen, Client) {
    let (seen, app) = app();
    let server = Running::start_with(app, set);
    let client = server.client();
    (server, seen, client)
}

pub fn head(path: &str, fields: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: x\r\n{fields}\r\n")
}

pub fn sized(path: &str, length: usize) -> String {
    head(path, &format!("Content-Length: {length}\r\n"))
}

pub fn chunked(path: &str) -> String {
    head(path, "Transfer-Encoding: chunked\r\n")
}

pub fn chunk(bytes: &str) -> String {
    format!("{:x}\r\n{bytes}\r\n", bytes.len())
}

/// Bytes of which none is where another could be.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n % 251) as u8 ^ (n / 65_521) as u8).collect()
}

/// By another's response the server is known to have seen what was sent before.
pub fn sync(server: &Running) {
    assert_eq!(server.client().get("/now").text(), "now");
}

pub fn lives(client: &mut Client) {
    assert_eq!(client.get("/now").text(), "now");
}

pub fn closes(client: &mut Client, response: &ClientResponse, status: u16) {
    assert_eq!((response.status, response.field("Connection")), (status, Some("close")), "{response:?}");
    client.ends();
}

pub fn socket(server: &Running) -> TcpStream {
    let stream = TcpStream::connect(server.address).expect("it listens");
    stream.set_nodelay(true).expect("a socket takes options");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
    stream
}

pub fn read_until(stream: &mut TcpStream, end: &[u8]) -> String {
    let (mut seen, mut byte) = (Vec::new(), [0]);
    while !seen.ends_with(end) {
        stream.read_exact(&mut byte).unwrap_or_else(|error| panic!("{error} after {}", seen.escape_ascii()));
        seen.push(byte[0]);
    }
    String::from_utf8_lossy(&seen).into_owned()
}

/// Sends without end, and counts.
pub fn pour(mut stream: TcpStream, piece: Vec<u8>) -> (Arc<AtomicUsize>, thread::JoinHandle<()>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let pouring = thread::spawn(move || {
        while let Ok(written) = stream.write(&piece) {
            count.fetch_add(written, Ordering::Relaxed);
        }
    });
    (sent, pouring)
}

/// Waits until a number does not change while the server handles many others.
pub fn settled(server: &Running, count: &AtomicUsize) -> usize {
    let (mut other, mut last, mut still) = (server.client(), usize::MAX, 0);
    while still < 300 {
        lives(&mut other);
        let now = count.load(Ordering::Relaxed);
        assert!(now < HUGE, "{now} bytes are taken from a client whose handler takes nothing");
        still = if now == last { still + 1 } else { 0 };
        last = now;
    }
    last
}
