//! The requests of a log for loads whose pace is another: a closed loop, or a rate.
//!
//! Requests follow one another in the order of the log, over and over, so that each stands for its share of it.

use crate::replay::shown;
use crate::request::RequestTemplate;
use crate::sending::passes;
use bytes::Bytes;
use std::sync::atomic::{AtomicUsize, Ordering};
use torr_gauge::Failure;
use torr_gauge::numbers::{count, plural};
use torr_gauge::sessions::EntryName;
use torr_logs::{LogCounts, LogError, LogReader, LoggedRequest};
use torr_press::users::{Judged, ReceivedBy, Step, ThreadPart, ThreadUsers, Users};
use torr_press::{LogTimes, RequestInfo, RequestParts};

/// The most requests that are kept, ...
const MOST_REQUESTS: usize = 200_000;
/// ... and the most bytes of their targets, fields and bodies.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// The requests of a log, in memory. The threads of a run share them.
#[derive(Debug)]
pub struct Mix {
    requests: Vec<LoggedRequest>,
    times: Option<LogTimes>,
    template: RequestTemplate,
    /// The number of requests begun.
    begun: AtomicUsize,
    methods: String,
    secrets: Vec<String>,
    counts: LogCounts,
    note: String,
}

impl Mix {
    /// Reads the requests of a log, from its beginning as many as fit into memory. `secrets` are those of the template.
    ///
    /// # Errors
    /// If the log cannot be read on.
    pub fn read(mut reader: LogReader, template: RequestTemplate, secrets: Vec<String>) -> Result<Self, LogError> {
        let (mut requests, mut bytes, mut is_whole) = (Vec::new(), 0, true);
        while let Some(request) = reader.next_request()? {
            let of_fields: usize = request.fields.iter().map(|(name, value)| name.len() + value.len()).sum();
            bytes += request.target.len() + of_fields + request.body.len();
            if requests.len() >= MOST_REQUESTS || bytes > MOST_BYTES {
                is_whole = false;
                break;
            }
            requests.push(request);
        }
        let mut methods: Vec<_> = requests.iter().map(|request| request.method.clone()).collect();
        methods.sort_unstable();
        methods.dedup();
        let times = LogTimes::new(requests.iter().map(|request| request.at));
        let (counts, note) = (reader.counts(), note(&reader, requests.len(), is_whole));
        let methods = methods.join(",");
        Ok(Self { requests, times, template, begun: AtomicUsize::new(0), methods, secrets, counts, note })
    }

    /// Returns what was read of the log, and what was left out.
    pub fn counts(&self) -> &LogCounts {
        &self.counts
    }

    /// Returns whether there is no request.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }
}

/// Returns what was read of a log, and what was left out.
fn note(reader: &LogReader, taken: usize, is_whole: bool) -> String {
    let LogCounts { unreadable, first_unreadable, methods, hosts, .. } = reader.counts();
    let mut note = format!("{} of the log, format {}", plural(taken as u64, "request"), reader.formats().join(", "));
    if !is_whole {
        note.push_str(", whose rest is left out");
    }
    let mut left_out = Vec::new();
    if let Some(first) = first_unreadable.as_deref() {
        left_out.push(format!("{} unreadable, the first one '{}'", count(unreadable), shown(first)));
    }
    for (what, names) in [("method", &methods), ("host", &hosts)] {
        if let Some((name, first)) = names.iter().max_by_key(|(_, count)| **count) {
            let all = names.values().sum();
            left_out.push(format!("{} by {what} ({name} {})", count(all), count(*first)));
        }
    }
    if !left_out.is_empty() {
        note.push_str(&format!("; left out: {}", left_out.join(", ")));
    }
    note
}

impl Users for Mix {
    fn entries(&self) -> Vec<EntryName> {
        vec![EntryName { name: "request".to_owned(), file: "log".into(), line: 1, asserts: Vec::new() }]
    }

    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        Box::new(MixThread { mix: self, users: vec![User::default(); part.users.len()], content: None })
    }

    fn methods(&self) -> Option<String> {
        Some(self.methods.clone())
    }

    fn secrets(&self) -> Vec<String> {
        self.secrets.clone()
    }

    fn has_sessions(&self) -> bool {
        false
    }

    fn logged(&self) -> Option<(LogTimes, u64)> {
        Some((self.times.clone()?, self.begun.load(Ordering::Relaxed) as u64))
    }

    fn note(&self) -> Option<String> {
        Some(self.note.clone())
    }
}

/// The users of one thread.
struct MixThread<'m> {
    mix: &'m Mix,
    users: Vec<User>,
    /// The large content of the request that was written last.
    content: Option<Bytes>,
}

/// A user: the number of the request that it sends.
#[derive(Debug, Clone, Default)]
struct User {
    request: usize,
    is_sent: bool,
}

impl<'m> MixThread<'m> {
    fn request(&self, user: usize) -> &'m LoggedRequest {
        &self.mix.requests[self.users[user].request]
    }
}

impl ThreadUsers for MixThread<'_> {
    fn begin(&mut self, user: usize) {
        let number = self.mix.begun.fetch_add(1, Ordering::Relaxed);
        self.users[user] = User { request: number % self.mix.requests.len(), is_sent: false };
    }

    fn next(&mut self, user: usize) -> Step {
        if std::mem::replace(&mut self.users[user].is_sent, true) { Step::Finished } else { Step::Send(0) }
    }

    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let (info, content) = self.mix.template.send(self.request(user), out);
        self.content = content;
        info
    }

    fn take_content(&mut self) -> Option<Bytes> {
        self.content.take()
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        self.mix.template.whole(self.request(user))
    }

    fn received(&mut self, user: usize, received: &ReceivedBy<'_>) -> Judged {
        Judged { passed: passes(self.request(user), received.response.status), ..Judged::default() }
    }

    fn failed(&mut self, _user: usize, _failure: &Failure) {}

    fn secrets(&self, user: usize) -> Vec<String> {
        self.mix.template.secrets(self.request(user))
    }
}
