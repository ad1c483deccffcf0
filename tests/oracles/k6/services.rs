//! The services that scripts speak to, and their addresses as variables.

use super::shop;
use crate::echo::Echo;
use std::net::TcpListener;
use std::thread;
use tempfile::TempDir;
use torr_test_support::certificates::self_signed;
use torr_test_support::servers::{GrpcGo, Nginx};
use tungstenite::Message;

/// Running services; they end with the test program.
pub struct Services {
    /// The shop, in which requests are recorded.
    pub shop: Echo,
    /// A server with a certificate that no authority has signed.
    secure: Nginx,
    _certificates: TempDir,
    /// The URL of WebSockets that send back what they get.
    sockets: String,
    /// A server of gRPC.
    calls: GrpcGo,
}

impl Services {
    pub fn start() -> Self {
        let certificates = tempfile::tempdir().expect("there is room");
        let (certificate, key) = self_signed(certificates.path());
        let secure = Nginx::start_tls(&certificate, &key, "location / { return 200 'secure'; }");
        let (shop, sockets, calls) = (Echo::responding(shop::response), sockets(), GrpcGo::start());
        Self { shop, secure, _certificates: certificates, sockets, calls }
    }

    /// Returns the variables with the addresses.
    pub fn variables(&self) -> [String; 4] {
        let secure = self.secure.https();
        [
            format!("BASE={}", self.shop.origin),
            format!("SECURE={}", secure.trim_end_matches('/')),
            format!("SOCKETS={}", self.sockets),
            format!("GRPC={}", self.calls.address),
        ]
    }
}

/// Starts a server of WebSockets, and returns its URL.
fn sockets() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let Ok(mut socket) = tungstenite::accept(stream) else { return };
                // The library responds to pings and closes.
                while let Ok(message) = socket.read() {
                    if matches!(message, Message::Text(_) | Message::Binary(_)) && socket.send(message).is_err() {
                        return;
                    }
                }
            });
        }
    });
    format!("ws://{address}/")
}
