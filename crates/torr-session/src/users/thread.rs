//! The virtual users of one thread.

use super::encode;
use super::given::received;
use super::observer::{Ended, SessionObserver};
use super::settings::{HurlUsers, PreparedFile};
use crate::expected::{self, Expected};
use crate::scope::Variables;
use crate::walk::{Action, Judgement, Walk};
use bytes::Bytes;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use torr_gauge::{Failure, Secrets};
use torr_press::learnt::{self, Lookup};
use torr_press::request::{LEAST_SHARED, secrets_of_content, secrets_of_head};
use torr_press::users::{DecisionCount, Judged, ReceivedBy, Step, ThreadPart, ThreadUsers, Unmet};
use torr_press::{Keep, RequestInfo, RequestParts};
use url::Origin;

/// The users of one thread.
pub struct HurlThread<'r> {
    shared: &'r HurlUsers,
    decisions: &'r DecisionCount,
    keep_alive: bool,
    users: Vec<User>,
    /// The servers that this thread has learnt of, with their numbers.
    learnt: Vec<(Origin, usize)>,
    /// The secrets of the latest failed response beside those of the run, and both together.
    latest: (Vec<String>, Arc<Secrets>),
    /// The content of the latest failed request with its secrets. Most requests of a load share their content.
    failed_content: (Bytes, Vec<String>),
    /// The large content of the request that was written last, which is left to the engine.
    content: Option<Bytes>,
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
    /// The number of the server that the next request goes to.
    destination: usize,
    /// How many times the user has waited for that server to be found.
    look_ups: u32,
    /// The secrets in the latest request whose response counts as failed.
    sent: Vec<String>,
}

impl User {
    /// Returns a user at the beginning of a session of a file.
    fn new(file: usize, variables: Variables) -> Self {
        let (walk, sent) = (Walk::new(variables), Vec::new());
        Self { file, walk, thinks: false, is_unmet: false, destination: 0, look_ups: 0, sent }
    }
}

impl<'r> HurlThread<'r> {
    /// Returns the users of one thread.
    pub fn new(shared: &'r HurlUsers, part: &ThreadPart, decisions: &'r DecisionCount) -> Self {
        let user = |_| User::new(0, Variables::default());
        let users = part.users.clone().map(user).collect();
        let latest = (Vec::new(), Arc::new(shared.secrets.clone()));
        let (keep_alive, learnt, failed_content) = (part.keep_alive, Vec::new(), Default::default());
        Self { shared, decisions, keep_alive, users, learnt, latest, failed_content, content: None }
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

    /// Returns what a user has captured that no output may show.
    fn redacted(&self, user: usize) -> impl Iterator<Item = String> {
        let variables = &self.users[user].walk.variables;
        let values = self.file(user).session().redacted.iter().filter_map(|number| variables.get(*number));
        values.filter_map(|value| value.render().ok().map(Cow::into_owned))
    }

    /// Returns the secrets of the run and those that a user has captured.
    fn known_secrets(&self, user: usize) -> Cow<'r, Secrets> {
        match self.file(user).session().redacted.is_empty() {
            true => Cow::Borrowed(&self.shared.secrets),
            false => Cow::Owned(self.shared.secrets.with(self.redacted(user))),
        }
    }

    /// Returns the secrets in the latest request of a user, if its response failed, also where the file expects that.
    fn sent_secrets(&mut self, user: usize) -> Vec<String> {
        let Some(request) = self.users[user].walk.failed_request() else { return Vec::new() };
        let mut head = Vec::new();
        encode::write_head(request, Keep::Status, true, &mut head);
        let mut sent = secrets_of_head(&head);
        if let Some(content) = &request.content {
            let (known, secrets) = &mut self.failed_content;
            if (known.as_ptr(), known.len()) != (content.as_ptr(), content.len()) {
                (*known, *secrets) = (content.clone(), secrets_of_content(content));
            }
            sent.extend(secrets.iter().cloned());
        }
        sent
    }

    /// Returns all secrets that a failed response may have sent back. Most requests of a load have the same ones.
    fn secrets_of_failure(&mut self, user: usize) -> Arc<Secrets> {
        let further: Vec<String> = self.redacted(user).chain(self.users[user].sent.iter().cloned()).collect();
        if self.latest.0 != further {
            let secrets = self.shared.secrets.with(further.iter().cloned());
            self.latest = (further, Arc::new(secrets));
        }
        Arc::clone(&self.latest.1)
    }

    /// Ends a session at an entry.
    fn give_up(&mut self, user: usize, entry: usize, reason: String) -> Step {
        // The user may have captured what the latest response sent back, also where the file expected that response.
        let sent = self.sent_secrets(user);
        let reason = self.known_secrets(user).with(sent).mask(reason);
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

    /// Returns the number of the server of an origin, as far as it is known.
    fn server(&mut self, origin: Origin) -> Lookup {
        if let Some(number) = self.shared.origins.iter().position(|known| *known == origin) {
            return Lookup::Server(number);
        }
        if let Some((_, number)) = self.learnt.iter().find(|(known, _)| *known == origin) {
            return Lookup::Server(*number);
        }
        let Some(learnt) = &self.shared.learnt else { return Lookup::Refused(self.shared.unknown_server(&origin)) };
        let found = learnt.look_up(&origin.ascii_serialization());
        if let Lookup::Server(number) = found {
            self.learnt.push((origin, number));
        }
        found
    }

    /// Returns what did not hold for a response as it may be shown.
    fn shown(&mut self, user: usize, entry: usize, unmet: Vec<expected::Unmet>) -> Vec<Unmet> {
        let (secrets, places) = (self.secrets_of_failure(user), &self.file(user).places[entry]);
        let mask = |unmet: expected::Unmet| Unmet {
            assert: places.binary_search(&unmet.at).unwrap_or(0),
            expected: secrets.mask(unmet.expected),
            actual: secrets.mask(unmet.actual),
        };
        unmet.into_iter().map(mask).collect()
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
        self.users[user] = User::new(file, variables);
    }

    fn next(&mut self, user: usize) -> Step {
        let (shared, file) = (self.shared, self.file(user));
        let state = &mut self.users[user];
        match state.walk.next(file.session()) {
            Action::Send(entry) => {
                let origin = state.walk.request().map(|request| request.url.origin());
                if let Some(origin) = origin {
                    match self.server(origin) {
                        Lookup::Server(number) => {
                            let state = &mut self.users[user];
                            (state.destination, state.look_ups) = (number, 0);
                        }
                        Lookup::Pending => {
                            let look_ups = &mut self.users[user].look_ups;
                            *look_ups += 1;
                            return Step::LookUp(learnt::pause(*look_ups));
                        }
                        Lookup::Refused(why) => return self.give_up(user, entry, why),
                    }
                }
                let state = &mut self.users[user];
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

    fn destination(&self, user: usize) -> usize {
        self.users[user].destination
    }

    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let keep = self.keep(user);
        let Some(request) = self.users[user].walk.request() else { return RequestInfo::default() };
        if let Some(content) = request.sent_content().filter(|content| content.len() >= LEAST_SHARED)
            && self.shared.settings.observer.is_none()
        {
            self.content = Some(content.clone());
            return encode::write_head(request, keep, self.keep_alive, out);
        }
        let start = out.len();
        let info = encode::write(request, keep, self.keep_alive, out);
        if let Some(observer) = self.observer() {
            let entry = self.file(user).first_entry + self.users[user].walk.entry();
            observer.sent(entry, &self.known_secrets(user).mask_bytes(&out[start..]));
        }
        info
    }

    fn take_content(&mut self) -> Option<Bytes> {
        self.content.take()
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        let keep = self.keep(user);
        let request = self.users[user].walk.request().expect("the engine asks after a step that sends");
        if let Some(observer) = self.observer() {
            let mut out = Vec::new();
            encode::write(request, keep, true, &mut out);
            let entry = self.file(user).first_entry + self.users[user].walk.entry();
            observer.sent(entry, &self.known_secrets(user).mask_bytes(&out));
        }
        encode::parts(request, keep)
    }

    fn received(&mut self, user: usize, by: &ReceivedBy<'_>) -> Judged {
        let (shared, file) = (self.shared, self.file(user));
        let walk = &mut self.users[user].walk;
        let entry = walk.entry();
        let judgement = self.decisions.during(|| walk.receive(file.session(), received(by)));
        let demands_status = |expected: &Option<Expected>| expected.as_ref().is_some_and(Expected::demands_status);
        let by_status = || {
            let demands = file.session().entries.get(entry).is_some_and(|entry| demands_status(&entry.expected));
            demands || by.response.status < 400
        };
        let passed = match judgement {
            Judgement::Passed => by_status(),
            Judgement::Redirected => true,
            Judgement::Retried(_) | Judgement::Failed(_) => false,
        };
        if !passed {
            self.users[user].sent = self.sent_secrets(user);
        }
        self.users[user].is_unmet = matches!(judgement, Judgement::Failed(_));
        let judged = match judgement {
            Judgement::Passed => {
                self.users[user].thinks = true;
                Judged { passed, ..Judged::default() }
            }
            Judgement::Redirected => Judged { passed, ..Judged::default() },
            Judgement::Retried(unmet) => Judged { passed, unmet: self.shown(user, entry, unmet), retries: true },
            Judgement::Failed(unmet) => Judged { passed, unmet: self.shown(user, entry, unmet), retries: false },
        };
        if let Some(observer) = shared.settings.observer.as_deref() {
            self.redacted(user).for_each(|value| observer.captured_secret(&value));
            observer.received(file.first_entry + entry, by, &judged);
        }
        judged
    }

    fn secrets(&self, user: usize) -> Vec<String> {
        self.redacted(user).chain(self.users[user].sent.iter().cloned()).collect()
    }

    fn retries(&mut self, user: usize, failure: &Failure) -> bool {
        let file = self.file(user);
        let state = &mut self.users[user];
        let entry = file.first_entry + state.walk.entry();
        let retries = state.walk.retries(file.session());
        if let Some(observer) = self.observer().filter(|_| retries) {
            observer.retried(entry, &failure.what);
        }
        retries
    }

    fn failed(&mut self, user: usize, failure: &Failure) {
        let entry = self.file(user).first_entry + self.users[user].walk.entry();
        self.end(user, &Ended::Failed(entry, failure.what.to_string()));
    }
}
