//! The users of one thread: each sends one request of the log, then the next one that is due.

use crate::sending::passes;
use crate::shared::Shared;
use bytes::Bytes;
use torr_gauge::Failure;
use torr_logs::LoggedRequest;
use torr_press::users::{Judged, ReceivedBy, Step, ThreadPart, ThreadUsers};
use torr_press::{RequestInfo, RequestParts};

/// The users of one thread.
pub(crate) struct ReplayThread<'r> {
    shared: &'r Shared,
    thread: usize,
    users: Vec<User>,
    /// The large content of the request that was written last.
    content: Option<Bytes>,
}

/// A user: the request that it sends.
#[derive(Debug, Clone, Default)]
struct User {
    request: Option<LoggedRequest>,
    is_sent: bool,
}

impl<'r> ReplayThread<'r> {
    pub fn new(shared: &'r Shared, part: &ThreadPart) -> Self {
        Self { shared, thread: part.thread, users: vec![User::default(); part.users.len()], content: None }
    }
}

impl ThreadUsers for ReplayThread<'_> {
    fn begin(&mut self, user: usize) {
        self.users[user] = User { request: self.shared.queues.begin(self.thread), is_sent: false };
    }

    fn next(&mut self, user: usize) -> Step {
        let user = &mut self.users[user];
        match user.request {
            Some(_) if !std::mem::replace(&mut user.is_sent, true) => Step::Send(0),
            _ => Step::Finished,
        }
    }

    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let Some(request) = &self.users[user].request else { return RequestInfo::default() };
        let (info, content) = self.shared.template.send(request, out);
        self.content = content;
        info
    }

    fn take_content(&mut self) -> Option<Bytes> {
        self.content.take()
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        let request = self.users[user].request.as_ref().expect("the engine asks after a step that sends");
        self.shared.template.whole(request)
    }

    fn received(&mut self, user: usize, received: &ReceivedBy<'_>) -> Judged {
        let status = received.response.status;
        let Some(request) = &self.users[user].request else { return Judged::default() };
        self.shared.record(request, Some((status, received.took)));
        Judged { passed: passes(request, status), ..Judged::default() }
    }

    fn failed(&mut self, user: usize, _failure: &Failure) {
        if let Some(request) = &self.users[user].request {
            self.shared.record(request, None);
        }
    }

    fn secrets(&self, user: usize) -> Vec<String> {
        let request = self.users[user].request.as_ref();
        request.map(|request| self.shared.template.secrets(request)).unwrap_or_default()
    }
}
