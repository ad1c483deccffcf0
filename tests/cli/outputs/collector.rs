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

    /// The requests, each as its head and its body.
    pub fn all(&self) -> Vec<(String, Vec<u8>)> {
        let got = self.got.lock().expect("nobody panics with it");
        let parts = got.iter().map(|request| {
            let end = request.windows(4).position(|four| four == b"\r\n\r\n").expect("a head ends") + 4;
            (String::from_utf8_lossy(&request[..end]).into_owned(), request[end..].to_vec())
        });
        parts.collect()
    }

    /// The one request.
    pub fn only(&self) -> (String, Vec<u8>) {
        let [one] = <[_; 1]>::try_from(self.all()).unwrap_or_else(|all| panic!("sent {} times", all.len()));
        one
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
    for name in ["OTEL_EXPORTER_OTLP_HEADERS", "TORR_PUSH_HEADERS"] {
        command.env_remove(name);
    }
    command
}
