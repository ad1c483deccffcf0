//! Connections to a worker whose handler blocks are served by the workers that are idle.

use crate::support::{PATIENCE, Running};
use axum::Router;
use axum::routing::get;
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use torr_serve::{App, Response, Server, Settings};
use torr_test_support::client::Client;

const WORKERS: usize = 8;

/// Blocks each request until all workers have one.
#[derive(Clone, Default)]
struct Meeting(Arc<(Mutex<usize>, Condvar)>);

impl Meeting {
    /// Blocks the calling thread until all have come. Returns whether they have.
    fn wait(&self) -> &'static str {
        let (count, all) = &*self.0;
        let mut here = count.lock().expect("nobody panics");
        *here += 1;
        all.notify_all();
        let (here, _) = all.wait_timeout_while(here, PATIENCE, |here| *here < WORKERS).expect("nobody panics");
        if *here < WORKERS { "alone" } else { "met" }
    }
}

fn controller() -> App {
    let meeting = Meeting::default();
    App::new().get("/meet", move |_| Response::text(meeting.wait()))
}

fn router() -> App {
    let meeting = Meeting::default();
    App::new().router(Router::new().route("/meet", get(|| async move { meeting.wait() })))
}

fn settings(shared: bool) -> Settings {
    let mut settings = Settings::default();
    // Routes that block would otherwise move to other threads.
    (settings.workers, settings.compute_after, settings.shared_listener) = (WORKERS, Duration::ZERO, shared);
    settings
}

/// Demands that one connection per worker is enough for all workers to be busy at a time, whatever worker the kernel has chosen for
/// each connection.
fn all_meet(server: &Running) {
    let clients: Vec<_> = (0..WORKERS).map(|_| Client::connect(server.address)).collect();
    let ask = |mut client: Client| std::thread::spawn(move || client.get("/meet").text().to_owned());
    let said: Vec<_> = clients.into_iter().map(ask).collect();
    for said in said {
        assert_eq!(said.join().expect("it has a response"), "met");
    }
}

#[test]
fn idle_workers_accept_connections_of_one_that_is_held_up() {
    for app in [controller(), router()] {
        let bound = Server::new(app).settings(settings(false)).bind("127.0.0.1:0").expect("a port is free");
        let server = Running::of(bound);
        all_meet(&server);
        // Nothing else holds the port of a server that has ended.
        server.stop();
        server.wait().expect("it ends well");
        TcpStream::connect(server.address).expect_err("it listens no more");
    }
}

#[test]
fn a_shared_listener_needs_no_time_for_that() {
    let bound = Server::new(controller()).settings(settings(true)).bind("127.0.0.1:0").expect("a port is free");
    all_meet(&Running::of(bound));
}
