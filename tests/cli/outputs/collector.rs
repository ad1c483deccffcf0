//! A collector of OpenTelemetry, and runs that no proxy comes between.

use std::process::Command;
use std::sync::{Arc, Mutex};
use torr_test_support::script::Script;

/// A collector that keeps what it gets, and always gives the same response.
pub struct Receiver {
    server: Script,
    got: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Receiver {
    pub fn answering(response: Vec<u8>) -> Self {
        let got = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&got);
        let server = Script::start(move |client| {
            while let Some(request) = client.request() {
                all.lock().expect("nobody panics with it").push(request);
                client.send(&response);
            }
        });
        Self { server, got }
    }

    pub fn taking() -> Self {
        Self::answering(response("200 OK", &[]))
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// The one request, as its head and its body.
    pub fn only(&self) -> (String, Vec<u8>) {
        let got = self.got.lock().expect("nobody panics with it");
        assert_eq!(got.len(), 1, "sent once");
        let end = got[0].windows(4).position(|four| four == b"\r\n\r\n").expect("a head ends") + 4;
        (String::from_utf8_lossy(&got[0][..end]).into_owned(), got[0][end..].to_vec())
    }
}

pub fn response(status: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: application/x-protobuf\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Without the environment's proxy.
pub fn without_proxy(mut command: Command) -> Command {
    for name in ["http_proxy", "https_proxy", "all_proxy"] {
        command.env_remove(name).env_remove(name.to_uppercase());
    }
    command.env_remove("OTEL_EXPORTER_OTLP_HEADERS");
    command
}
