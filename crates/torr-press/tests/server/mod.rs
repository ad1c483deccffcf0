//! A server that responds to each request with the same pieces, for as long as a test runs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

/// A response without a body.
#[allow(dead_code, reason = "not every test wants it")]
pub const EMPTY: &[&[u8]] = &[b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"];

/// Starts it on a free port; each piece is written by a call of its own, with Nagle's algorithm.
pub fn start(pieces: &'static [&'static [u8]]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let bound = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut bytes = [0; 4096];
                while stream.read(&mut bytes).is_ok_and(|n| n > 0) {
                    // A client that has closed needs no more.
                    pieces.iter().for_each(|piece| drop(stream.write_all(piece)));
                }
            });
        }
    });
    bound
}
