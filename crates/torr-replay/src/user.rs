//! The users of one thread: each sends one request of the log, then the next one that is due.

use crate::shared::Shared;
use bytes::Bytes;
use torr_gauge::Failure;
use torr_logs::LoggedRequest;
use torr_press::request::{LEAST_SHARED, SentContent, sent_secrets};
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

    fn info(&self, user: usize) -> RequestInfo {
        let is_head = self.users[user].request.as_ref().is_some_and(|request| request.method == "HEAD");
        RequestInfo { is_head, ..RequestInfo::default() }
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
        if let Some(request) = &self.users[user].request {
            self.shared.template.write(request, out);
            self.content = Some(&request.body).filter(|body| body.len() >= LEAST_SHARED).cloned();
            if self.content.is_none() {
                out.extend_from_slice(&request.body);
            }
        }
        self.info(user)
    }

    fn take_content(&mut self) -> Option<Bytes> {
        self.content.take()
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        let request = self.users[user].request.as_ref();
        let head = request.map(|request| self.shared.template.parts(request)).unwrap_or_default();
        let body = request.map(|request| &request.body).filter(|body| !body.is_empty()).cloned();
        RequestParts { head, body: body.map(SentContent::from), begun: self.info(user) }
    }

    fn received(&mut self, user: usize, received: &ReceivedBy<'_>) -> Judged {
        let status = received.response.status;
        let Some(request) = &self.users[user].request else { return Judged::default() };
        self.shared.record(request, Some((status, received.took)));
        // What failed then is expected to fail now.
        Judged { passed: status < 400 || request.status == Some(status), ..Judged::default() }
    }

    fn failed(&mut self, user: usize, _failure: &Failure) {
        if let Some(request) = &self.users[user].request {
            self.shared.record(request, None);
        }
    }

    fn secrets(&self, user: usize) -> Vec<String> {
        let mut bytes = Vec::new();
        if let Some(request) = &self.users[user].request {
            self.shared.template.write(request, &mut bytes);
            bytes.extend_from_slice(&request.body);
        }
        sent_secrets(&bytes)
    }
}
