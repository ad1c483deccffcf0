//! Clients that reset streams: no handler is cancelled, and no client gets more handlers by resets.

use super::scene::{app, content};
use crate::router::http2::{Client, get};
use crate::support::{PATIENCE, Running};
use h2::Reason;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use torr_serve::{App, Response};

/// Handlers that hold something until they are released, which is spoilt if they are dropped before: a connection to a
/// database, say.
struct Leases {
    release: tokio::sync::watch::Sender<bool>,
    released: tokio::sync::watch::Receiver<bool>,
    taken: AtomicUsize,
    given_back: AtomicUsize,
    spoilt: AtomicUsize,
}

struct Lease {
    leases: Arc<Leases>,
    is_done: bool,
}

impl Leases {
    fn new() -> Arc<Self> {
        let (release, released) = tokio::sync::watch::channel(false);
        let [taken, given_back, spoilt] = [0; 3].map(AtomicUsize::new);
        Arc::new(Self { release, released, taken, given_back, spoilt })
    }

    fn counts(&self) -> [usize; 3] {
        [&self.taken, &self.given_back, &self.spoilt].map(|count| count.load(Ordering::SeqCst))
    }

    /// Waits until so many handlers have begun, been finished, and been dropped.
    fn wait_for(&self, counts: [usize; 3]) {
        let patience = Instant::now() + PATIENCE;
        while self.counts() != counts {
            assert!(Instant::now() < patience, "{:?} instead of {counts:?}", self.counts());
            std::thread::yield_now();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let count = if self.is_done { &self.leases.given_back } else { &self.leases.spoilt };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

/// `/lease` by a handler that waits, `/blocking` by one that blocks a thread.
fn leasing(leases: &Arc<Leases>) -> App {
    let (waits, blocks) = (Arc::clone(leases), Arc::clone(leases));
    let take = |leases: &Arc<Leases>| {
        leases.taken.fetch_add(1, Ordering::SeqCst);
        Lease { leases: Arc::clone(leases), is_done: false }
    };
    app()
        .metrics("/metrics")
        .get_async("/lease", move |_| {
            let lease = take(&waits);
            async move {
                let mut lease = lease;
                let mut released = lease.leases.released.clone();
                released.wait_for(|released| *released).await.expect("the sender lives");
                // Nor is it done at once then.
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
                lease.is_done = true;
                Response::text("done")
            }
        })
        .get_blocking("/blocking", move |_| {
            let mut lease = take(&blocks);
            while !*lease.leases.released.borrow() {
                std::thread::sleep(Duration::from_millis(1));
            }
            lease.is_done = true;
            Response::text("done")
        })
}

/// The pattern of CVE-2023-44487: heads, and a reset for each, as long as the connection lasts.
#[test]
fn resets_cancel_no_handler_and_get_a_client_no_more_of_them() {
    const STREAMS: usize = 128;
    let leases = Leases::new();
    let server = Running::start(leasing(&leases));
    let (client, other) = (Client::connect(server.address), Client::connect(server.address));
    for _ in 0..2 * STREAMS {
        let (response, mut sending) = client.begin(get("/lease").map(drop), true);
        // With its response the request before it is known to have been looked at. It is the router's.
        assert_eq!(content(&client.get("/users/1")), (200, "user 1"));
        sending.send_reset(Reason::CANCEL);
        drop(response);
    }
    assert_eq!(content(&client.get("/users/1")), (200, "user 1"), "the last reset is sent with this");
    assert_eq!(leases.counts(), [STREAMS, 0, 0]);
    assert_eq!(content(&other.get("/c/later")), (200, "later"), "others have handlers of their own");
    leases.release.send_replace(true);
    leases.wait_for([STREAMS, STREAMS, 0]);
    assert_eq!(content(&client.get("/lease")), (200, "done"), "the connection lives");
}

#[test]
fn resets_without_a_pause_cancel_no_handler() {
    let leases = Leases::new();
    let server = Running::start(leasing(&leases));
    leases.release.send_replace(true);
    for _ in 0..20 {
        let client = Client::connect(server.address);
        for _ in 0..50 {
            let sender = client.sender.clone();
            let is_over = client.wait(async move {
                let Ok(mut sender) = sender.ready().await else { return true };
                let Ok((_response, mut sending)) = sender.send_request(get("/lease").map(drop), true) else {
                    return true;
                };
                tokio::task::yield_now().await;
                sending.send_reset(Reason::CANCEL);
                false
            });
            if is_over {
                break;
            }
        }
    }
    let other = Client::connect(server.address);
    assert_eq!(content(&other.get("/lease")), (200, "done"));
    drop(other);
    server.stop();
    server.wait().expect("the worker is well");
    let [taken, given_back, spoilt] = leases.counts();
    assert_eq!((taken, spoilt), (given_back, 0));
}

#[test]
fn a_call_that_waits_for_a_thread_is_made_though_its_stream_is_reset() {
    let leases = Leases::new();
    let server = Running::start_with(leasing(&leases), |settings| settings.blocking_threads = 1);
    let client = Client::connect(server.address);
    for _ in 0..3 {
        let (response, mut sending) = client.begin(get("/blocking").map(drop), true);
        assert_eq!(content(&client.get("/users/1")), (200, "user 1"), "it is looked at by now");
        sending.send_reset(Reason::CANCEL);
        drop(response);
    }
    assert_eq!(content(&client.get("/users/1")), (200, "user 1"), "the last reset is sent with this");
    leases.release.send_replace(true);
    leases.wait_for([3, 3, 0]);
}

/// Else connections that come and go would have handlers without end.
#[test]
fn handlers_of_a_connection_that_has_ended_hold_its_admission() {
    let leases = Leases::new();
    let server = Running::start_with(leasing(&leases), |settings| settings.max_connections = 2);
    let mut observer = server.client();
    let client = Client::connect(server.address);
    let (response, sending) = client.begin(get("/lease").map(drop), true);
    assert_eq!(content(&client.get("/users/1")), (200, "user 1"), "it is looked at by now");
    drop((response, sending));
    client.end().expect("the client may end it");
    let patience = Instant::now() + PATIENCE;
    while !observer.get("/metrics").text().contains("torr_connections{by=\"hyper\"} 0") {
        assert!(Instant::now() < patience, "{}", observer.get("/metrics").text());
    }
    assert_eq!(server.client().get("/now").status, 503);
    leases.release.send_replace(true);
    leases.wait_for([1, 1, 0]);
    while server.client().get("/now").status == 503 {
        assert!(Instant::now() < patience);
    }
}
