//! A service as it is deployed: worker processes, a log, `/metrics`, a pid file, TLS.
//! `cargo run --release --example service -p torr-serve [ADDRESS [FOLDER]]`, then `curl http://127.0.0.1:8080/` and
//! `curl http://127.0.0.1:8080/metrics`. With `cert.pem` and `key.pem` in the folder it speaks TLS.

use std::path::{Path, PathBuf};
use torr_serve::{App, LogTarget, Request, Response, ServeError, Server, Settings, TlsSettings};

/// Returns the address of the client; behind a trusted proxy, of the client that the proxy names.
fn greet(request: &Request<'_>) -> Response {
    let client = request.peer().map_or("nobody".into(), |peer| peer.ip().to_string());
    Response::text(format!("Hello, {client}!\n"))
}

fn settings(folder: &Path) -> Settings {
    let mut settings = Settings::default();
    // Two processes with one worker thread each. The default is one process with a worker thread per CPU.
    (settings.processes, settings.workers) = (2, 1);
    settings.max_connections = 20_000;
    settings.pid_file = Some(folder.join("tea.pid"));
    settings.access_log = Some(LogTarget::File(folder.join("access.log")));
    settings.trusted_proxies = "loopback".parse().expect("a known word");
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    if certificate.exists() {
        settings.tls = Some(TlsSettings::new(certificate, key));
    }
    settings
}

fn main() -> Result<(), ServeError> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or("127.0.0.1:8080".into());
    let folder = PathBuf::from(arguments.next().unwrap_or(".".into()));
    let settings = settings(&folder);
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let app = App::new().get("/", greet).metrics("/metrics");
    let server = Server::new(app).settings(settings).bind(address)?;
    let url = format!("{scheme}://{}/", server.address());
    // Called once all workers serve, in the supervisor only.
    server.on_ready(move || println!("{url}")).run_until_signal()
}
