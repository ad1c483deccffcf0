//! What a virtual user waits for, and the end of a wait.

use super::exchange::{Outcome, Outgoing};
use std::time::{Duration, Instant};

/// What a virtual user waits for.
#[derive(Debug)]
pub enum Wanted {
    /// The end of a time.
    Sleep(Duration),
    /// The outcome of a request.
    Exchange(Box<Outgoing>),
    /// The outcome of a request among those that go on meanwhile, an event of a socket, or this time.
    Event(Option<Instant>),
    /// An event of a socket, or this time.
    Mail(Option<Instant>),
}

/// The end of a wait.
#[derive(Debug)]
pub enum Woken {
    /// The time is over, a request among those that go on has an outcome, or a socket has an event.
    Now,
    /// The request has an outcome.
    Exchanged(Box<Outcome>),
}
