//! The floor: an HTTP/1.1 server and a load generator that parse nothing, so their CPU time per request is the kernel's.

pub mod client;
pub mod server;

/// The page that every measured server responds with.
pub const PAGE: &str = "<p>Hello, world!</p>";

/// The request that the floor's client sends, and that servers are probed with.
pub fn request(path: &str, close: bool) -> String {
    let connection = if close { "Connection: close\r\n" } else { "" };
    format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{connection}\r\n")
}
