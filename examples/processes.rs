//! A service in two worker processes: `cargo run --release --example processes -p torr-serve`, then
//! `curl http://127.0.0.1:8080/`; `kill -HUP` of its first process replaces the workers.

use std::process;
use torr_serve::{App, Response, ServeError, Server, Settings, worker_number};

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    // The program runs from its start in the supervisor, and again in each worker.
    let name = match worker_number() {
        None => "supervisor".to_owned(),
        Some(number) => format!("worker {number}"),
    };
    let app = App::new().get("/", move |_| Response::text(format!("{name}, process {}", process::id())));
    let mut settings = Settings::default();
    settings.processes = 2;
    settings.workers = 1;
    let server = Server::new(app).settings(settings).bind(address)?;
    let url = format!("http://{}/", server.address());
    server.on_ready(move || println!("{url} is served by two processes")).run_until_signal()?;
    if worker_number().is_none() {
        println!("all workers have left");
    }
    Ok(())
}
