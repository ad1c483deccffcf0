//! Rate limits of the service itself.

use super::handler::{Handler, later};
use super::http::Response;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::time::sleep_until;

/// The capacity of a bucket, in seconds of its rate.
const BURST: f64 = 0.25;

/// A token bucket.
struct Bucket {
    /// The time of the next token. In the past if tokens have been saved.
    next: Instant,
}

impl Bucket {
    /// Takes the next token, and returns when it is there.
    fn take(&mut self, rate: u32) -> Instant {
        let due = self.refreshed();
        self.next = due + Duration::from_secs(1) / rate;
        due
    }

    /// Takes a token if one is there now.
    fn take_now(&mut self, rate: u32) -> bool {
        let there = self.refreshed() <= Instant::now();
        if there {
            self.take(rate);
        }
        there
    }

    fn refreshed(&self) -> Instant {
        let earliest = Instant::now().checked_sub(Duration::from_secs_f64(BURST)).unwrap_or(self.next);
        self.next.max(earliest)
    }
}

/// Returns a handler that delays each response until there is a token.
pub fn bucket(rate: u32) -> Handler {
    let bucket = Arc::new(Mutex::new(Bucket { next: Instant::now() }));
    later(move |_| {
        let due = held(&bucket).take(rate);
        async move {
            sleep_until(due.into()).await;
            Response::hello()
        }
    })
}

/// Returns a handler that limits each connection to a rate.
pub fn pace(rate: u32) -> Handler {
    later(move |request| {
        let mut next = held(&request.client.next);
        let due = next.max(Instant::now());
        *next = due + Duration::from_secs(1) / rate;
        async move {
            sleep_until(due.into()).await;
            Response::hello()
        }
    })
}

/// Returns a handler with a bucket for each client address, which responds with 429 when that is empty.
pub fn per_address(rate: u32) -> Handler {
    let buckets = Arc::new(Mutex::new(HashMap::<IpAddr, Bucket>::new()));
    later(move |request| {
        let mut buckets = held(&buckets);
        let bucket = buckets.entry(request.client.address).or_insert_with(|| Bucket { next: Instant::now() });
        let response = if bucket.take_now(rate) { Response::hello() } else { Response::status(429) };
        async move { response }
    })
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().expect("no holder panics")
}
