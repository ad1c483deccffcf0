//! A server with worker processes that its own program stops. This program is its worker as well, so it is no test among
//! others, but runs by itself.

use std::sync::mpsc::channel;
use std::thread;
use torr_serve::{App, Response, Server, Settings, worker_number};
use torr_test_support::PATIENCE;
use torr_test_support::client::Client;

fn main() {
    let mut settings = Settings::default();
    settings.processes = 2;
    settings.workers = 2;
    let app = App::new().get("/", |_| Response::text(worker_number().expect("no other process serves").to_string()));
    let bound = Server::new(app).settings(settings).bind("127.0.0.1:0").expect("a port is free, or inherited");
    if worker_number().is_some() {
        return bound.run().expect("it serves");
    }
    let (address, stop) = (bound.address(), bound.stop());
    let (tell_ready, ready) = channel();
    let (tell_end, end) = channel();
    let bound = bound.on_ready(move || tell_ready.send(()).expect("it is waited for"));
    thread::spawn(move || tell_end.send(bound.run()));
    ready.recv_timeout(PATIENCE).expect("it gets ready");
    let mut client = Client::connect(address);
    let text = client.get("/").text().to_owned();
    assert!(["1", "2"].contains(&&*text), "worker {text} of 2");
    stop.stop();
    client.ends();
    drop(client);
    end.recv_timeout(PATIENCE).expect("it ends").expect("it served");
    std::net::TcpStream::connect(address).expect_err("nobody listens any more");
    println!("a server with worker processes can be stopped by its program: ok");
}
