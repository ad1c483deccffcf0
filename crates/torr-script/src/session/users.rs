//! The virtual users of a script with sessions, as the engine has them.

use super::SessionScript;
use super::names::{NameCache, Names};
use crate::error::ScriptError;
use crate::fault::Fault;
use crate::message;
use crate::progress::Progress;
use crate::state::State;
use bytes::Bytes;
use cookie_store::CookieStore;
use http::Request;
use mlua::{IntoLuaMulti, LuaString, MultiValue, Thread, Value};
use std::time::Duration;
use torr_gauge::Failure;
use torr_gauge::sessions::EntryName;
use torr_press::users::{Judged, ReceivedBy, Step, ThreadPart, ThreadUsers, Unmet, Users};
use torr_press::{Keep, KeptResponse, RequestInfo, RequestParts};
use url::Url;

/// The longest pause in seconds, a day: longer ones would overflow the clock.
const LONGEST_PAUSE_S: f64 = 86_400.0;

/// The virtual users of a run.
#[derive(Debug)]
pub struct SessionUsers {
    script: SessionScript,
    /// The target, which cookies and requests of HTTP/2 belong to.
    target: Url,
    names: Names,
    progress: Vec<Progress>,
    fault: Fault,
    /// Texts that no output shows.
    secrets: Vec<String>,
}

impl SessionUsers {
    /// Returns the users of a script that is ready. No output shows the `secrets`.
    pub fn new(script: SessionScript, target: Url, secrets: Vec<String>) -> Self {
        let progress = script.threads.iter().map(|_| Progress::default()).collect();
        let names = Names::new(script.threads[0].script.clone());
        Self { script, target, names, progress, fault: Fault::default(), secrets }
    }

    /// Returns the error that ended the run, if one did.
    pub fn error(&self) -> Option<ScriptError> {
        self.fault.get()
    }

    fn origin(&self) -> String {
        self.target.origin().ascii_serialization()
    }

    fn masked(&self, text: &str) -> String {
        let secrets = self.secrets.iter().filter(|secret| !secret.is_empty());
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
    }
}

impl Users for SessionUsers {
    fn entries(&self) -> Vec<EntryName> {
        self.names.entries()
    }

    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        let number = part.thread % self.script.threads.len();
        let users = part.users.map(User::new).collect();
        let (state, progress) = (&self.script.threads[number], &self.progress[number]);
        Box::new(SessionThread { shared: self, state, progress, names: NameCache::new(&self.names), users })
    }

    fn decisions(&self, thread: usize) -> u64 {
        self.progress.get(thread).map_or(0, Progress::count)
    }

    fn given_up(&self, thread: usize) {
        let called = self.progress.get(thread).map(Progress::called);
        self.fault.set(self.script.threads[0].problem(called, "it had not returned 2 s after the end of the run"));
    }
}

/// The users of one thread.
struct SessionThread<'r> {
    shared: &'r SessionUsers,
    state: &'r State,
    progress: &'r Progress,
    names: NameCache<'r>,
    users: Vec<User>,
}

/// A virtual user.
#[derive(Debug)]
struct User {
    /// The number among all users of the run.
    number: usize,
    coroutine: Option<Thread>,
    /// What the session does next.
    next: Next,
    /// The entry of the latest request.
    entry: u32,
    /// The latest request in HTTP/1.1.
    request: Vec<u8>,
    /// The cookies of the session, from the first one on.
    cookies: Option<Box<CookieStore>>,
}

/// What a session does next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    /// Lua code runs.
    Resume,
    /// The engine acts.
    Step(Step),
}

impl User {
    fn new(number: usize) -> Self {
        Self { number, coroutine: None, next: Next::Resume, entry: 0, request: Vec::new(), cookies: None }
    }
}

impl SessionThread<'_> {
    /// Lets a user's code run until it yields.
    fn resume(&mut self, user: usize, arguments: impl IntoLuaMulti) -> Result<Step, ScriptError> {
        let error = |error: mlua::Error| self.state.error(Some("session"), &error);
        let state = &mut self.users[user];
        let coroutine = match &state.coroutine {
            Some(coroutine) => coroutine,
            None => {
                let made = self.state.function("session")?.call::<Thread>(state.number + 1).map_err(error)?;
                state.coroutine.insert(made)
            }
        };
        let yielded: MultiValue = self.progress.session(|| coroutine.resume(arguments)).map_err(error)?;
        self.step(user, &yielded).ok_or_else(|| {
            let what = "it yielded by itself: only requests and user.think may yield".to_owned();
            self.state.problem(Some("session"), what)
        })
    }

    /// Returns the step that yielded values stand for.
    fn step(&mut self, user: usize, yielded: &MultiValue) -> Option<Step> {
        let text = |position: usize| yielded.get(position).and_then(Value::as_string);
        match &*text(0)?.as_bytes() {
            b"send" => {
                let (name, method, path) = (text(1)?, text(2)?, text(3)?);
                let entry = self.names.entry(&name.to_string_lossy());
                self.users[user].entry = entry;
                self.compose(user, [method, path, text(4)?, text(5)?]);
                Some(Step::Send(entry))
            }
            b"pause" => {
                let seconds = yielded.get(1)?.as_f64()?.clamp(0.0, LONGEST_PAUSE_S);
                Some(Step::Pause(Duration::from_secs_f64(seconds)))
            }
            b"fail" => {
                let why = self.shared.masked(&text(1)?.to_string_lossy());
                Some(Step::Failed(self.users[user].entry, Some(why)))
            }
            b"finished" => Some(Step::Finished),
            _ => None,
        }
    }

    /// Composes a request of method, path, field lines and content.
    fn compose(&mut self, user: usize, [method, path, fields, content]: [&LuaString; 4]) {
        let User { request, cookies, .. } = &mut self.users[user];
        request.clear();
        let (path, fields) = (path.as_bytes(), fields.as_bytes());
        for part in [&*method.as_bytes(), b" ", &*path, b" HTTP/1.1\r\n", &*fields] {
            request.extend_from_slice(part);
        }
        let own = || fields.split(|&byte| byte == b'\n').any(|line| line.to_ascii_lowercase().starts_with(b"cookie:"));
        if let Some(cookies) = cookies.as_ref().filter(|_| !own()) {
            let url = self.shared.target.join(&String::from_utf8_lossy(&path));
            let url = url.as_ref().unwrap_or(&self.shared.target);
            let mut separator: &[u8] = b"Cookie: ";
            for (name, value) in cookies.get_request_values(url) {
                for part in [separator, name.as_bytes(), b"=", value.as_bytes()] {
                    request.extend_from_slice(part);
                }
                separator = b"; ";
            }
            if separator == b"; " {
                request.extend_from_slice(b"\r\n");
            }
        }
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(&content.as_bytes());
    }

    /// Keeps the cookies of a response.
    fn keep_cookies(&mut self, user: usize, response: &KeptResponse) {
        for (_, value) in response.fields().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            let jar = self.users[user].cookies.get_or_insert_default();
            // A cookie that RFC 6265 tells clients to ignore is ignored.
            let _ = jar.parse(&String::from_utf8_lossy(value), &self.shared.target);
        }
    }

    /// Lets a user's code take a response.
    fn respond(&mut self, user: usize, response: &KeptResponse) -> Result<Step, ScriptError> {
        let error = |error: mlua::Error| self.state.error(Some("session"), &error);
        let mut fields = Vec::new();
        for (name, value) in response.fields() {
            for part in [name.as_bytes(), b":", value, b"\n"] {
                fields.extend_from_slice(part);
            }
        }
        let lua = &self.state.lua;
        let fields = lua.create_string(&fields).map_err(error)?;
        let content = lua.create_string(response.decoded()).map_err(error)?;
        self.resume(user, (response.status, fields, content))
    }

    /// Returns the checks that failed since the last call.
    fn failed_checks(&mut self, entry: u32) -> Vec<Unmet> {
        let checks = self.state.take_checks();
        let mut unmet = Vec::new();
        for (name, holds) in checks {
            let name = self.shared.masked(&name);
            let assert = self.names.check(entry, &name);
            if !holds {
                unmet.push(Unmet { assert, expected: name, actual: "false".to_owned() });
            }
        }
        unmet
    }

    /// Ends the run, and returns the end of the session.
    fn end_run(&mut self, user: usize, error: ScriptError) -> Step {
        self.shared.fault.set(error);
        Step::Failed(self.users[user].entry, Some("the script ended the run".to_owned()))
    }
}

impl ThreadUsers for SessionThread<'_> {
    fn begin(&mut self, user: usize) {
        let state = &mut self.users[user];
        *state = User { request: std::mem::take(&mut state.request), ..User::new(state.number) };
    }

    fn next(&mut self, user: usize) -> Step {
        match std::mem::replace(&mut self.users[user].next, Next::Resume) {
            Next::Step(step) => step,
            Next::Resume => self.resume(user, ()).unwrap_or_else(|error| self.end_run(user, error)),
        }
    }

    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let request = &self.users[user].request;
        out.extend_from_slice(request);
        RequestInfo { is_head: message::is_head(request), url: 0, keep: Keep::Content }
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        let request = &self.users[user].request;
        let begun = RequestInfo { is_head: message::is_head(request), url: 0, keep: Keep::Content };
        match message::parts(request, &self.shared.origin()) {
            Ok((head, content)) => {
                let body = (!content.is_empty()).then(|| Bytes::from(content));
                RequestParts { head, body, begun }
            }
            Err(what) => {
                self.shared.fault.set(self.state.problem(Some("session"), what));
                let mut head = Request::new(());
                *head.uri_mut() = self.shared.target.as_str().parse().unwrap_or_default();
                RequestParts { head, body: None, begun }
            }
        }
    }

    fn received(&mut self, user: usize, received: &ReceivedBy<'_>) -> Judged {
        let entry = self.users[user].entry;
        self.keep_cookies(user, received.response);
        let step = self.respond(user, received.response).unwrap_or_else(|error| self.end_run(user, error));
        self.users[user].next = Next::Step(step);
        let unmet = self.failed_checks(entry);
        Judged { passed: received.response.status < 400 && unmet.is_empty(), unmet, retries: false }
    }

    fn failed(&mut self, user: usize, _failure: &Failure) {
        self.users[user].coroutine = None;
    }

    fn is_over(&self) -> bool {
        self.shared.fault.is_set()
    }
}

impl Drop for SessionThread<'_> {
    fn drop(&mut self) {
        self.state.flush();
    }
}
