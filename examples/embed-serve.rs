//! A server as a part of a program that has other things to do, which starts it, uses it and stops it.
//! `cargo run --example embed-serve -p torr-serve`

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use torr_serve::{App, Response, Server, Settings};

/// Returns the last line of the response to a GET.
fn get(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response.lines().last().unwrap_or_default().into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let visits = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&visits);
    let app = App::new()
        .get("/", move |_| Response::text(format!("visit {}\n", counted.fetch_add(1, Ordering::Relaxed) + 1)));
    // In worker threads of this process. Without `watch_signals`, the program keeps its own handling of signals.
    let mut settings = Settings::default();
    settings.workers = 1;
    let server = Server::new(app).settings(settings).bind("127.0.0.1:0")?;
    let (address, stop) = (server.address(), server.stop());
    let running = thread::spawn(move || server.run());
    // The socket accepts connections since `bind`.
    for _ in 0..3 {
        println!("{}", get(address)?);
    }
    stop.stop();
    running.join().expect("the server does not panic")?;
    println!("stopped after {} visits", visits.load(Ordering::Relaxed));
    Ok(())
}
