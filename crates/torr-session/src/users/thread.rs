//! The virtual users of one thread.

use super::encode;
use super::given::received;
use super::observer::{Ended, SessionObserver};
use super::settings::{HurlUsers, PreparedFile};
use crate::expected::Expected;
use crate::scope::Variables;
use crate::walk::{Action, Judgement, Walk};
use std::time::Duration;
use torr_gauge::Failure;
use torr_press::users::{Judged, ReceivedBy, Step, ThreadPart, ThreadUsers, Unmet};
use torr_press::{Keep, RequestInfo, RequestParts};

/// The users of one thread.
pub struct HurlThread<'r> {
    shared: &'r HurlUsers,
    keep_alive: bool,
    users: Vec<User>,
}

/// A user in a session.
#[derive(Debug)]
struct User {
    /// The position of the file.
    file: usize,
    walk: Walk,
    /// Whether the think time is ahead of the next request.
    thinks: bool,
    /// Whether the latest response did not meet the expectations.
    is_unmet: bool,
}

impl<'r> HurlThread<'r> {
    /// Returns the users of one thread.
    pub fn new(shared: &'r HurlUsers, part: &ThreadPart) -> Self {
        let user = || User { file: 0, walk: Walk::new(Variables::default()), thinks: false, is_unmet: false };
        Self { shared, keep_alive: part.keep_alive, users: part.users.clone().map(|_| user()).collect() }
    }

    fn file(&self, user: usize) -> &'r PreparedFile {
        &self.shared.files[self.users[user].file]
    }

    fn observer(&self) -> Option<&'r dyn SessionObserver> {
        self.shared.settings.observer.as_deref()
    }

    /// Tells the observer of the end of a session.
    fn end(&self, user: usize, end: &Ended) {
        if let Some(observer) = self.observer() {
            let walk = &self.users[user].walk;
            let names = self.file(user).session().names.iter();
            observer.ended(end, names.filter_map(|(name, number)| Some((name, walk.variables.get(number)?))).collect());
        }
    }

    /// Ends a session at an entry.
    fn give_up(&self, user: usize, entry: usize, reason: String) -> Step {
        let reason = self.shared.secrets.mask(reason);
        let entry = self.file(user).first_entry + entry;
        self.end(user, &Ended::Failed(entry, reason.clone()));
        Step::Failed(entry as u32, (!self.users[user].is_unmet).then_some(reason))
    }

    fn pause(&self, pause: Duration) -> Step {
        if let Some(observer) = self.observer() {
            observer.pauses(pause);
        }
        Step::Pause(pause)
    }

    /// Returns how much of the response to a user's request is kept.
    fn keep(&self, user: usize) -> Keep {
        let expected = self.file(user).session().entries.get(self.users[user].walk.entry());
        let needs_content = expected.and_then(|entry| entry.expected.as_ref()).is_some_and(Expected::needs_content);
        if needs_content || self.observer().is_some() { Keep::Content } else { Keep::Fields }
    }
}

impl ThreadUsers for HurlThread<'_> {
    fn begin(&mut self, user: usize) {
        let shared = self.shared;
        let file = shared.draw_file();
        let variables = shared.files[file].variables(shared.settings.feeder.as_ref(), shared.draw_record());
        self.users[user] = User { file, walk: Walk::new(variables), thinks: false, is_unmet: false };
    }

    fn next(&mut self, user: usize) -> Step {
        let (shared, file) = (self.shared, self.file(user));
        let state = &mut self.users[user];
        match state.walk.next(file.session()) {
            Action::Send(entry) => {
                let origin = state.walk.request().map(|request| request.url.origin());
                if let Some(other) = origin.filter(|origin| *origin != shared.origin) {
                    let (other, here) = (other.ascii_serialization(), shared.origin.ascii_serialization());
                    return self.give_up(user, entry, format!("the request goes to {other}, not to {here}"));
                }
                if let Some(think) = shared.settings.think.as_ref().filter(|_| std::mem::take(&mut state.thinks)) {
                    return self.pause(Duration::from_nanos(think.time()));
                }
                Step::Send((file.first_entry + entry) as u32)
            }
            Action::Pause(pause) => {
                state.thinks = false;
                self.pause(pause)
            }
            Action::Finished => {
                self.end(user, &Ended::Finished);
                Step::Finished
            }
            Action::Failed(entry, error) => self.give_up(user, entry, error.0),
        }
    }

    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let keep = self.keep(user);
        let Some(request) = self.users[user].walk.request() else { return RequestInfo::default() };
        let start = out.len();
        let info = encode::write(request, keep, self.keep_alive, out);
        if let Some(observer) = self.observer() {
            let entry = self.file(user).first_entry + self.users[user].walk.entry();
            observer.sent(entry, &self.shared.secrets.mask_bytes(&out[start..]));
        }
        info
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        let keep = self.keep(user);
        let request = self.users[user].walk.request().expect("the engine asks after a step that sends");
        if let Some(observer) = self.observer() {
            let mut out = Vec::new();
            encode::write(request, keep, true, &mut out);
            let entry = self.file(user).first_entry + self.users[user].walk.entry();
            observer.sent(entry, &self.shared.secrets.mask_bytes(&out));
        }
        encode::parts(request, keep)
    }

    fn received(&mut self, user: usize, by: &ReceivedBy<'_>) -> Judged {
        let (shared, file) = (self.shared, self.file(user));
        let walk = &mut self.users[user].walk;
        let entry = walk.entry();
        let judgement = walk.receive(file.session(), received(by));
        let demands_status = |expected: &Option<Expected>| expected.as_ref().is_some_and(Expected::demands_status);
        let by_status = || {
            let demands = file.session().entries.get(entry).is_some_and(|entry| demands_status(&entry.expected));
            demands || by.response.status < 400
        };
        let mask = |unmet: crate::expected::Unmet| Unmet {
            assert: file.places[entry].iter().position(|at| *at == unmet.at).unwrap_or(0),
            expected: shared.secrets.mask(unmet.expected),
            actual: shared.secrets.mask(unmet.actual),
        };
        let unmet = |unmet: Vec<crate::expected::Unmet>| unmet.into_iter().map(mask).collect();
        self.users[user].is_unmet = matches!(judgement, Judgement::Failed(_));
        let judged = match judgement {
            Judgement::Passed => {
                self.users[user].thinks = true;
                Judged { passed: by_status(), ..Judged::default() }
            }
            Judgement::Redirected => Judged { passed: true, ..Judged::default() },
            Judgement::Retried(these) => Judged { passed: false, unmet: unmet(these), retries: true },
            Judgement::Failed(these) => Judged { passed: false, unmet: unmet(these), retries: false },
        };
        if let Some(observer) = shared.settings.observer.as_deref() {
            observer.received(file.first_entry + entry, by, &judged);
        }
        judged
    }

    fn failed(&mut self, user: usize, failure: &Failure) {
        let entry = self.file(user).first_entry + self.users[user].walk.entry();
        self.end(user, &Ended::Failed(entry, failure.what.to_string()));
    }
}
