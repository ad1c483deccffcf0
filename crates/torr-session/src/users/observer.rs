//! What watches the sessions of a run: for a run of one session whose every exchange is shown.

use crate::value::Value;
use std::fmt::Debug;
use torr_press::users::{Judged, ReceivedBy};

/// A watcher of sessions. Its methods are called by the load threads.
pub trait SessionObserver: Debug + Send + Sync {
    /// Takes the bytes of a request in HTTP/1.1, or its nearest likeness in HTTP/2; `entry` is the number among all files'.
    fn sent(&self, entry: usize, request: &[u8]);

    /// Takes a value that has been captured and that no output may show, before the response that it comes from.
    fn captured_secret(&self, value: &str);

    /// Takes a response, and what it is to its user.
    fn received(&self, entry: usize, received: &ReceivedBy<'_>, judged: &Judged);

    /// Takes the failure of a request without a response, which the user sends again.
    fn retried(&self, entry: usize, failure: &str);

    /// Takes a pause of the user.
    fn pauses(&self, pause: std::time::Duration);

    /// Takes the end of a session, with the variables that have a value then.
    fn ended(&self, end: &Ended, variables: Vec<(&str, &Value)>);
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// All entries are done.
    Finished,
    /// It ended early at the entry with this number, for this reason.
    Failed(usize, String),
}
