#[path = "../src/pages.rs"]
#[allow(dead_code)]
mod pages;
use std::time::Instant;
use torr_serve::fuzzing::{Connection, Server};
use torr_serve::{App, Response, Settings};
fn main() {
    let router = Server::new(App::new().router(pages::router()), Settings::default());
    let plain = Server::new(App::new().get("/", |_| Response::html(pages::HELLO)), Settings::default());
    let request = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";
    let mut best = [f64::MAX; 2];
    for _ in 0..40 {
        for (n, server) in [&plain, &router].into_iter().enumerate() {
            let mut connection = Connection::new(server, false);
            let mut out = Vec::with_capacity(65536);
            let start = Instant::now();
            for i in 0..20_000 {
                if i % 64 == 0 {
                    out.clear();
                }
                connection.receive(request, &mut out);
            }
            best[n] = best[n].min(start.elapsed().as_nanos() as f64 / 20_000.0);
        }
    }
    println!("plain {:.0} ns, router {:.0} ns", best[0], best[1]);
}
