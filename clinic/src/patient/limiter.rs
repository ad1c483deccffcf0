//! Limits of a rate that a service sets itself.

use super::http::Answer;
use super::work::{Does, later};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::time::sleep_until;

/// How much a bucket holds: so many seconds' worth.
const BURST: f64 = 0.25;

/// Tokens that come at a rate, of which a few can be saved up.
struct Bucket {
    /// When the next token is there; in the past if some have been saved.
    next: Instant,
}

impl Bucket {
    /// Takes a token that is there or will be, and says when.
    fn take(&mut self, rate: u32) -> Instant {
        let due = self.refreshed();
        self.next = due + Duration::from_secs(1) / rate;
        due
    }

    /// Takes a token if it is there.
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

/// Answers wait for their token in silence.
pub fn bucket(rate: u32) -> Does {
    let bucket = Arc::new(Mutex::new(Bucket { next: Instant::now() }));
    later(move |_| {
        let due = held(&bucket).take(rate);
        async move {
            sleep_until(due.into()).await;
            Answer::hello()
        }
    })
}

/// Each connection gets answers at this rate, and no faster.
pub fn pace(rate: u32) -> Does {
    later(move |request| {
        let mut next = held(&request.visitor.next);
        let due = next.max(Instant::now());
        *next = due + Duration::from_secs(1) / rate;
        async move {
            sleep_until(due.into()).await;
            Answer::hello()
        }
    })
}

/// Each client's address has a bucket; when it is empty, there is a 429.
pub fn per_address(rate: u32) -> Does {
    let buckets = Arc::new(Mutex::new(HashMap::<IpAddr, Bucket>::new()));
    later(move |request| {
        let mut buckets = held(&buckets);
        let bucket = buckets.entry(request.visitor.address).or_insert_with(|| Bucket { next: Instant::now() });
        let answer = if bucket.take_now(rate) { Answer::hello() } else { Answer::status(429) };
        async move { answer }
    })
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().expect("nobody panics who holds it")
}
