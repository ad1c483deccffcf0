//! A wrk script as the engine's users: each call of `request` is a session of one user, whose requests are sent together.

use super::{ThreadScript, WrkScript};
use crate::error::ScriptError;
use crate::fault::Fault;
use crate::message;
use crate::progress::Progress;
use bytes::Bytes;
use http::Request;
use memchr::memmem;
use std::net::SocketAddr;
use torr_gauge::Failure;
use torr_gauge::sessions::EntryName;
use torr_press::request::{LEAST_SHARED, SentContent, secrets_of_content, sent_secrets};
use torr_press::users::{Judged, ReceivedBy, Step, ThreadPart, ThreadUsers, Users};
use torr_press::{Keep, RequestInfo, RequestParts};

/// The users of a run by a script.
#[derive(Debug)]
pub struct WrkUsers {
    script: WrkScript,
    /// Scheme, host and port of the target, for HTTP/2.
    origin: String,
    /// The address that threads have as long as the script chooses no other.
    default_address: Option<SocketAddr>,
    /// Texts that no output shows.
    secrets: Vec<String>,
    progress: Vec<Progress>,
    fault: Fault,
}

impl WrkUsers {
    /// Returns the users of a script that is ready. `origin` is the target's scheme, host and port. No output shows the `secrets`.
    pub fn new(script: WrkScript, origin: String, default_address: Option<SocketAddr>, secrets: Vec<String>) -> Self {
        let progress = script.threads.iter().map(|_| Progress::default()).collect();
        Self { script, origin, default_address, secrets, progress, fault: Fault::default() }
    }

    /// Returns the script.
    pub fn script(&self) -> &WrkScript {
        &self.script
    }

    /// Whether a thread is to connect elsewhere than the plan says.
    pub fn chooses_addresses(&self) -> bool {
        (0..self.script.threads.len()).any(|thread| self.address(thread).is_some())
    }
}

impl Users for WrkUsers {
    fn entries(&self) -> Vec<EntryName> {
        let file = self.script.control.script.clone();
        vec![EntryName { name: "request".to_owned(), file, line: 1, asserts: Vec::new() }]
    }

    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        let (script, progress) = (self.script.thread(part.thread), &self.progress[part.thread % self.progress.len()]);
        let keep = if self.script.wants_response { Keep::Content } else { Keep::Status };
        let users = part.users.map(|_| User::default()).collect();
        let (latest, content) = (Bytes::new(), None);
        Box::new(WrkThread { shared: self, script, progress, keep, users, latest, content })
    }

    fn methods(&self) -> Option<String> {
        Some(self.script.method.clone())
    }

    fn secrets(&self) -> Vec<String> {
        self.secrets.clone()
    }

    fn has_sessions(&self) -> bool {
        false
    }

    fn address(&self, thread: usize) -> Option<SocketAddr> {
        self.script.thread(thread).address().filter(|address| Some(*address) != self.default_address)
    }

    fn decisions(&self, thread: usize) -> u64 {
        self.progress.get(thread).map_or(0, Progress::count)
    }

    fn error(&self) -> Option<String> {
        self.fault.get().map(|error| error.to_string())
    }

    fn given_up(&self, thread: usize) {
        let called = self.progress.get(thread).map(Progress::called);
        let what = "it was still running 2 s after the end of the run";
        self.fault.set(self.script.control.problem(called, what));
    }
}

/// The users of one thread.
struct WrkThread<'r> {
    shared: &'r WrkUsers,
    script: &'r ThreadScript,
    progress: &'r Progress,
    /// How much of each response is kept.
    keep: Keep,
    users: Vec<User>,
    /// The large content of the latest request that had some. Users whose requests have the same content share the memory.
    latest: Bytes,
    /// The large content of the request that was written last.
    content: Option<Bytes>,
}

/// A user: a connection, and what the script sends on it.
#[derive(Debug, Default)]
struct User {
    stage: Stage,
    /// What `request` returned, but for large content.
    bytes: Vec<u8>,
    /// The large content of the only request.
    content: Option<Bytes>,
    /// The lengths of the requests in `bytes`, where there are several.
    lengths: Vec<usize>,
    /// The number of requests that have been written on the latest connection, those with a response among them.
    written: usize,
    /// The number of requests with a response.
    answered: usize,
}

/// Where a user is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before the pause that `delay` asks for.
    #[default]
    Delay,
    /// Before the request.
    Request,
    /// Requests are in flight, or all have responses.
    Sent,
}

impl User {
    /// Returns the number of requests that are sent together.
    fn together(&self) -> usize {
        self.lengths.len().max(1)
    }

    /// Returns the request at a position.
    fn message(&self, position: usize) -> &[u8] {
        match self.lengths.get(position) {
            None => &self.bytes,
            Some(len) => {
                let start: usize = self.lengths[..position].iter().sum();
                &self.bytes[start..start + len]
            }
        }
    }

    /// Returns the request to be written next. After a connection was lost, those without a response are written again.
    fn next_message(&mut self) -> &[u8] {
        if self.written >= self.together() {
            self.written = self.answered;
        }
        self.written += 1;
        self.message(self.written - 1)
    }
}

impl WrkThread<'_> {
    /// Has the script make what the user sends.
    #[inline]
    fn request(&mut self, user: usize) -> Result<Step, ScriptError> {
        let state = &mut self.users[user];
        state.bytes.clear();
        state.content = None;
        (state.written, state.answered, state.stage) = (0, 0, Stage::Sent);
        self.progress.request(|| self.script.request(&mut state.bytes))?;
        let bad = |error: message::MessageError| self.script.state.problem(Some("request"), error);
        if self.shared.script.depth > 1 {
            state.lengths = message::lengths(&state.bytes).map_err(bad)?;
            return Ok(Step::SendAll(0, self.script.together(&state.lengths)?));
        }
        if state.bytes.is_empty() {
            return Err(self.script.state.problem(Some("request"), "it returned an empty text instead of a request"));
        }
        if state.bytes.len() >= LEAST_SHARED {
            self.share_content(user);
        }
        Ok(Step::Send(0))
    }

    /// Moves large content of the only request of a user to where all users share it that send the same.
    #[cold]
    fn share_content(&mut self, user: usize) {
        let state = &mut self.users[user];
        let Some(head) = memmem::find(&state.bytes, b"\r\n\r\n").map(|at| at + 4) else { return };
        let (head, content) = state.bytes.split_at(head);
        let is_chunked = |line: &[u8]| line.to_ascii_lowercase().starts_with(b"transfer-encoding:");
        // HTTP/2 has to read the chunks that a script wrote.
        if content.len() < LEAST_SHARED || head.split(|&byte| byte == b'\n').any(is_chunked) {
            return;
        }
        if self.latest != *content {
            self.latest = Bytes::copy_from_slice(content);
        }
        state.content = Some(self.latest.clone());
        state.bytes = head.to_vec();
    }

    fn step(&mut self, user: usize) -> Result<Step, ScriptError> {
        let state = &mut self.users[user];
        match state.stage {
            Stage::Delay if self.shared.script.delays => {
                state.stage = Stage::Request;
                Ok(Step::Pause(self.progress.delay(|| self.script.delay())?))
            }
            Stage::Delay | Stage::Request => self.request(user),
            Stage::Sent if state.answered < state.together() => Ok(Step::Await),
            Stage::Sent => Ok(Step::Finished),
        }
    }
}

impl ThreadUsers for WrkThread<'_> {
    #[inline]
    fn begin(&mut self, user: usize) {
        self.users[user].stage = Stage::Delay;
    }

    #[inline]
    fn next(&mut self, user: usize) -> Step {
        if !self.shared.fault.is_set() {
            match self.step(user) {
                Ok(step) => return step,
                Err(error) => self.shared.fault.set(error),
            }
        }
        Step::Failed(0, Some("the script ended the run".to_owned()))
    }

    #[inline]
    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        self.content.clone_from(&self.users[user].content);
        let message = self.users[user].next_message();
        out.extend_from_slice(message);
        RequestInfo { is_head: message::is_head(message), keep: self.keep, ..RequestInfo::default() }
    }

    fn take_content(&mut self) -> Option<Bytes> {
        self.content.take()
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        let keep = self.keep;
        let large = self.users[user].content.clone();
        let message = self.users[user].next_message();
        let begun = RequestInfo { is_head: message::is_head(message), keep, ..RequestInfo::default() };
        match message::parts(message, &self.shared.origin) {
            Ok((head, content)) => {
                let body = large.or_else(|| (!content.is_empty()).then(|| Bytes::from(content)));
                RequestParts { head, body: body.map(SentContent::from), begun }
            }
            Err(what) => {
                self.shared.fault.set(self.script.state.problem(Some("request"), what));
                let mut head = Request::new(());
                *head.uri_mut() = self.shared.origin.parse().unwrap_or_default();
                RequestParts { head, body: None, begun }
            }
        }
    }

    #[inline]
    fn received(&mut self, user: usize, received: &ReceivedBy<'_>) -> Judged {
        let response = received.response;
        self.users[user].answered += 1;
        if self.keep == Keep::Content && !self.shared.fault.is_set() {
            let of_http2 = matches!(response.version, "2" | "3");
            let call = || self.script.response(response.status, response.fields(), response.content(), of_http2);
            if let Err(error) = self.progress.response(call) {
                self.shared.fault.set(error);
            }
        }
        Judged { passed: response.status < 400, ..Judged::default() }
    }

    fn secrets(&self, user: usize) -> Vec<String> {
        let state = &self.users[user];
        let of_messages = (0..state.together()).flat_map(|position| sent_secrets(state.message(position)));
        of_messages.chain(state.content.iter().flat_map(|content| secrets_of_content(content))).collect()
    }

    fn failed(&mut self, _user: usize, _failure: &Failure) {}

    fn is_over(&self) -> bool {
        self.shared.fault.is_set()
    }

    fn is_stopped(&self) -> bool {
        self.script.is_stopped()
    }
}

impl Drop for WrkThread<'_> {
    fn drop(&mut self) {
        self.script.flush();
    }
}
