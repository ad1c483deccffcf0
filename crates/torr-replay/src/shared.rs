//! What the users of all threads share.

use crate::comparison::Comparison;
use crate::queue::Queues;
use crate::request::RequestTemplate;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use torr_logs::LoggedRequest;

/// What the users of all threads share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub queues: Arc<Queues>,
    pub template: RequestTemplate,
    comparison: Mutex<Comparison>,
}

impl Shared {
    pub fn new(queues: Arc<Queues>, template: RequestTemplate) -> Self {
        Self { queues, template, comparison: Mutex::default() }
    }

    /// Records the end of a request: the status and the response time in nanoseconds, `None` if it failed.
    pub fn record(&self, request: &LoggedRequest, now: Option<(u16, u64)>) {
        self.comparison().record(request, now);
    }

    /// Returns the run beside the log so far.
    pub fn comparison(&self) -> MutexGuard<'_, Comparison> {
        self.comparison.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
