//! Handlers that take their time: one that waits, one that blocks.
//! `cargo run --example blocking -p torr-serve [ADDRESS [FILE]]`, then `curl http://127.0.0.1:8080/later/500` and
//! `curl http://127.0.0.1:8080/file`.

use std::fs;
use std::time::Duration;
use torr_serve::{App, Request, Response, ServeError, Server, Settings};

/// Waits. The future owns what it needs from the request and runs on the worker, which serves other requests meanwhile.
fn later(request: &Request<'_>) -> impl Future<Output = Response> + use<> {
    let time = request.param("ms").and_then(|ms| ms.parse().ok()).map(Duration::from_millis);
    async move {
        let Some(time) = time else { return Response::error(400, "say how many milliseconds\n") };
        tokio::time::sleep(time).await;
        Response::text("here it is\n")
    }
}

/// Blocks: reading a file returns only when it is done.
fn file(path: &str) -> Response {
    match fs::read(path) {
        Ok(content) => Response::text(content),
        Err(error) => Response::error(500, format!("{error}\n")),
    }
}

fn main() -> Result<(), ServeError> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or("127.0.0.1:8080".into());
    let path = arguments.next().unwrap_or("Cargo.toml".into());
    let app = App::new()
        .get("/", |_| Response::text("at once\n"))
        .get_async("/later/{ms}", later)
        // Runs on a thread of the pool, so that no worker blocks.
        .get_blocking("/file", move |_| file(&path));
    let mut settings = Settings::default();
    settings.workers = 1;
    // At most 4 calls run and 100 wait; further requests get a 503.
    settings.blocking_threads = 4;
    settings.blocking_queue = 100;
    let server = Server::new(app).settings(settings).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
