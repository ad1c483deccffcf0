//! The smallest service: `cargo run --release --example hello -p torr-serve`, then `torr http://127.0.0.1:8080/`.

use torr_serve::{App, Response, ServeError, Server};

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let app = App::new().get("/", |_| Response::html("<p>Hello, world!</p>"));
    let server = Server::new(app).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
