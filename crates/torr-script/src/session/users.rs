//! The virtual users of a script with sessions, as the engine has them.

use super::SessionScript;
use super::names::{NameCache, Names};
use super::socket::{Called, Socket, SocketCall};
use super::user::{Next, OtherServer, Stream, User, awaited_stream};
use crate::error::ScriptError;
use crate::fault::Fault;
use crate::message;
use crate::progress::Progress;
use crate::state::{State, step_mark};
use bytes::Bytes;
use http::Request;
use mlua::{IntoLuaMulti, Lua, LuaString, MultiValue, Table, Thread, Value, Variadic};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use torr_gauge::sessions::EntryName;
use torr_gauge::{Failure, Secrets};
use torr_press::learnt::{self, LearntServers, Lookup};
use torr_press::request::{Feeder, LEAST_SHARED, Order, SentContent};
use torr_press::users::{AfterEvents, Judged, Message, ReceivedBy, Step, ThreadPart, ThreadUsers, Unmet, Users};
use torr_press::{Destination, Keep, KeptResponse, RequestInfo, RequestParts, StreamEvent};
use url::{Origin, Url};

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
    secrets: Secrets,
    /// The servers beside the target that requests go to.
    learnt: Arc<LearntServers>,
    records: Option<Records>,
}

/// Records, of which each session takes one.
#[derive(Debug)]
struct Records {
    feeder: Feeder,
    order: Order,
    next: AtomicUsize,
}

impl SessionUsers {
    /// Returns the users of a script that is ready. No output shows the `secrets`. `find` finds the way to the server of an
    /// origin, or says in one line why there is none.
    pub fn new(
        script: SessionScript,
        target: Url,
        secrets: Vec<String>,
        find: impl Fn(&str) -> Result<Destination, String> + Send + Sync + 'static,
    ) -> Self {
        let progress = script.threads.iter().map(|_| Progress::default()).collect();
        let names = Names::new(script.threads[0].script.clone());
        let learnt = Arc::new(LearntServers::new(1, find));
        let secrets = Secrets::new(secrets);
        Self { script, target, names, progress, fault: Fault::default(), secrets, learnt, records: None }
    }

    /// Lets each session take a record, whose fields are variables.
    pub fn feed(&mut self, feeder: Feeder, order: Order) {
        self.records = Some(Records { feeder, order, next: AtomicUsize::new(0) });
    }

    /// Returns the record of the next session as a table, if there are records.
    fn next_record(&self, lua: &Lua) -> mlua::Result<Option<Table>> {
        let Some(Records { feeder, order, next }) = &self.records else { return Ok(None) };
        let record = match order {
            Order::Random => fastrand::usize(0..feeder.records()),
            Order::Sequence => next.fetch_add(1, Ordering::Relaxed) % feeder.records(),
        };
        let table = lua.create_table()?;
        for (field, name) in feeder.names().enumerate() {
            table.raw_set(name, lua.create_string(feeder.value(record, field))?)?;
        }
        Ok(Some(table))
    }

    fn masked(&self, text: &str) -> String {
        self.secrets.mask(text.to_owned())
    }
}

impl Users for SessionUsers {
    fn secrets(&self) -> Vec<String> {
        self.secrets.values().cloned().collect()
    }

    fn entries(&self) -> Vec<EntryName> {
        self.names.entries()
    }

    fn learnt(&self) -> Option<&LearntServers> {
        Some(&self.learnt)
    }

    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        let number = part.thread % self.script.threads.len();
        let users = part.users.map(|user| User::new(part.before + user)).collect();
        let (state, progress) = (&self.script.threads[number], &self.progress[number]);
        Box::new(SessionThread {
            shared: self,
            state,
            progress,
            names: NameCache::new(&self.names),
            users,
            found: Vec::new(),
            latest: Bytes::new(),
            content: None,
        })
    }

    fn decisions(&self, thread: usize) -> u64 {
        self.progress.get(thread).map_or(0, Progress::count)
    }

    fn error(&self) -> Option<String> {
        self.fault.get().map(|error| error.to_string())
    }

    fn given_up(&self, thread: usize) {
        let called = self.progress.get(thread).map(Progress::called);
        self.fault.set(self.script.threads[0].problem(called, "it was still running 2 s after the end of the run"));
    }
}

/// The users of one thread.
struct SessionThread<'r> {
    shared: &'r SessionUsers,
    state: &'r State,
    progress: &'r Progress,
    names: NameCache<'r>,
    users: Vec<User>,
    /// The origins of the servers that this thread has learnt of, with their numbers.
    found: Vec<(Origin, usize)>,
    /// The large content that was composed last. Most users send the same, and share it.
    latest: Bytes,
    /// The large content of the request that was written last, which is left to the engine.
    content: Option<Bytes>,
}

impl SessionThread<'_> {
    /// Lets a user's code run until it yields a step; [`Step::Await`] is the wait for the next event of the open stream.
    fn resume(&mut self, user: usize, arguments: impl IntoLuaMulti) -> Result<Step, ScriptError> {
        let mut yielded = self.run(user, arguments)?;
        loop {
            if let Some(call) = SocketCall::of(&yielded) {
                yielded = match self.users[user].call_socket(call) {
                    Called::Step(step) => return Ok(step),
                    Called::Message(message) => {
                        let text = self.texts([&message.data, &message.kind])?;
                        self.run(user, text)?
                    }
                    Called::Closed => self.run(user, false)?,
                };
            } else if let Some(number) = awaited_stream(&yielded) {
                if self.users[user].stream == Stream::Open(number) {
                    return Ok(Step::Await);
                }
                // The session has left that stream.
                yielded = self.run(user, false)?;
            } else {
                break;
            }
        }
        let before = self.users[user].stream;
        let step = self.step(user, &yielded).ok_or_else(|| {
            let what = "it must not call coroutine.yield: only requests and user.think may yield".to_owned();
            self.state.problem(Some("session"), what)
        })?;
        match before {
            Stream::Socket(_) => Ok(self.users[user].step_beside_socket(before, step)),
            _ => Ok(step),
        }
    }

    /// Lets a user's code run until it yields.
    fn run(&mut self, user: usize, arguments: impl IntoLuaMulti) -> Result<MultiValue, ScriptError> {
        let error = |error: mlua::Error| self.state.error(Some("session"), &error);
        let state = &mut self.users[user];
        let coroutine = match &state.coroutine {
            Some(coroutine) => coroutine,
            None => {
                let record = self.shared.next_record(&self.state.lua).map_err(error)?;
                let made = self.state.function("session")?.call::<Thread>((state.number + 1, record)).map_err(error)?;
                state.coroutine.insert(made)
            }
        };
        self.progress.session(|| coroutine.resume(arguments)).map_err(error)
    }

    /// Returns the step that yielded values stand for.
    fn step(&mut self, user: usize, yielded: &MultiValue) -> Option<Step> {
        // A script that yields by itself does not have the mark.
        if yielded.front() != Some(&step_mark()) {
            return None;
        }
        let text = |position: usize| yielded.get(1 + position).and_then(Value::as_string);
        self.users[user].stream = Stream::None;
        match &*text(0)?.as_bytes() {
            how @ (b"send" | b"stream" | b"socket" | b"call") => {
                self.users[user].is_call = how == b"call";
                self.users[user].stream = match how {
                    b"stream" => Stream::Awaited,
                    b"socket" => Stream::Opening,
                    _ => Stream::None,
                };
                let (name, method, path) = (text(1)?, text(2)?, text(3)?);
                let entry = self.names.entry(&name.to_string_lossy());
                self.users[user].entry = entry;
                let origin = text(6);
                match origin.map(|origin| OtherServer::of(&origin.to_string_lossy(), &self.shared.target)).transpose() {
                    Ok(server) => self.users[user].server = server.flatten(),
                    Err(why) => return Some(Step::Failed(entry, Some(self.shared.masked(&why)))),
                }
                self.compose(user, [method, path, text(4)?, text(5)?]);
                Some(Step::Send(entry))
            }
            b"pause" => {
                // Whole numbers are integers to mlua.
                let seconds = match yielded.get(2)? {
                    Value::Integer(seconds) => *seconds as f64,
                    other => other.as_f64()?,
                };
                Some(Step::Pause(Duration::from_secs_f64(seconds.clamp(0.0, LONGEST_PAUSE_S))))
            }
            b"fail" => {
                // What a server sent back may have in it what it was sent.
                let sent = self.users[user].sent_secrets();
                let why = self.shared.secrets.with(sent).mask(text(1)?.to_string_lossy());
                Some(Step::Failed(self.users[user].entry, Some(why)))
            }
            b"finished" => Some(Step::Finished),
            _ => None,
        }
    }

    /// Composes a request of method, path, field lines and content.
    fn compose(&mut self, user: usize, [method, path, fields, content]: [&LuaString; 4]) {
        let base = self.users[user].url(&self.shared.target).clone();
        let User { request, content: large, cookies, .. } = &mut self.users[user];
        request.clear();
        let (path, fields, content) = (path.as_bytes(), fields.as_bytes(), content.as_bytes());
        for part in [&*method.as_bytes(), b" ", &*path, b" HTTP/1.1\r\n", &*fields] {
            request.extend_from_slice(part);
        }
        let has =
            |name: &[u8]| fields.split(|&byte| byte == b'\n').any(|line| line.to_ascii_lowercase().starts_with(name));
        if let Some(cookies) = cookies.as_ref().filter(|_| !has(b"cookie:")) {
            let url = base.join(&String::from_utf8_lossy(&path));
            let url = url.as_ref().unwrap_or(&base);
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
        // HTTP/2 has to read the chunks that a script wrote.
        if content.len() < LEAST_SHARED || has(b"transfer-encoding:") {
            request.extend_from_slice(&content);
            *large = None;
            return;
        }
        if self.latest != content[..] {
            self.latest = Bytes::copy_from_slice(&content);
        }
        *large = Some(self.latest.clone());
    }

    /// Returns the step of a user whose request goes to a server beside the target.
    fn send_elsewhere(&mut self, user: usize, entry: u32) -> Step {
        let state = &mut self.users[user];
        let Some(server) = &mut state.server else { return Step::Send(entry) };
        let origin = server.url.origin();
        let known = self.found.iter().find(|(known, _)| *known == origin).map(|(_, number)| Lookup::Server(*number));
        match known.unwrap_or_else(|| self.shared.learnt.look_up(&origin.ascii_serialization())) {
            Lookup::Server(number) => {
                if self.found.iter().all(|(_, known)| *known != number) {
                    self.found.push((origin, number));
                }
                server.number = Some(number);
                Step::Send(entry)
            }
            Lookup::Pending => {
                server.look_ups += 1;
                state.next = Next::Step(Step::Send(entry));
                Step::LookUp(learnt::pause(server.look_ups))
            }
            Lookup::Refused(why) => Step::Failed(entry, Some(self.shared.masked(&why))),
        }
    }

    /// Keeps the cookies of a response.
    fn keep_cookies(&mut self, user: usize, response: &KeptResponse) {
        let state = &mut self.users[user];
        for (_, value) in response.fields().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            let url = state.server.as_ref().map_or(&self.shared.target, |server| &server.url);
            let jar = state.cookies.get_or_insert_default();
            // A cookie that RFC 6265 tells clients to ignore is ignored.
            let _ = jar.parse(&String::from_utf8_lossy(value), url);
        }
    }

    /// Lets a user's code take a response.
    fn respond(&mut self, user: usize, response: &KeptResponse) -> Result<Step, ScriptError> {
        let error = |error: mlua::Error| self.state.error(Some("session"), &error);
        let lua = &self.state.lua;
        let fields = lua.create_string(lines(response)).map_err(error)?;
        let content = lua.create_string(response.decoded()).map_err(error)?;
        self.resume(user, (response.status, fields, content))
    }

    /// Lets a user's code take an event, the first one with the header section of its response.
    fn take_event(&mut self, user: usize, response: &KeptResponse, event: &StreamEvent) -> Result<Step, ScriptError> {
        let error = |error: mlua::Error| self.state.error(Some("session"), &error);
        let lua = self.state.lua.clone();
        let text = |bytes: &[u8]| lua.create_string(bytes).map_err(error);
        let (data, kind, id) = (text(&event.data)?, text(&event.kind)?, text(&event.id)?);
        if self.users[user].stream != Stream::Awaited {
            return self.resume(user, (data, kind, id));
        }
        let fields = text(&lines(response))?;
        self.keep_cookies(user, response);
        let state = &mut self.users[user];
        state.streams += 1;
        let number = state.streams;
        state.stream = Stream::Open(number);
        self.resume(user, (response.status, fields, "", number, data, kind, id))
    }

    /// Returns texts of Lua.
    fn texts<const N: usize>(&self, texts: [&[u8]; N]) -> Result<Variadic<LuaString>, ScriptError> {
        let texts = texts.into_iter().map(|text| self.state.lua.create_string(text)).collect::<mlua::Result<_>>();
        texts.map_err(|error| self.state.error(Some("session"), &error))
    }

    /// Lets a user's code go on that has nothing to take.
    fn go_on(&mut self, user: usize) -> Step {
        let has_socket = matches!(self.users[user].stream, Stream::Socket(_));
        let entry = self.users[user].entry;
        let step = self.resume(user, ()).unwrap_or_else(|error| self.end_run(user, error));
        if has_socket {
            // The checks between messages are those of the request that has opened the WebSocket.
            let unmet = self.failed_checks(entry);
            self.users[user].unmet.extend(unmet);
        }
        step
    }

    /// Lets a user's code take the WebSocket that a request has opened.
    fn open_socket(&mut self, user: usize, response: &KeptResponse) -> Result<Step, ScriptError> {
        let error = |error: mlua::Error| self.state.error(Some("session"), &error);
        let fields = self.state.lua.create_string(lines(response)).map_err(error)?;
        let state = &mut self.users[user];
        state.streams += 1;
        let number = state.streams;
        (state.stream, state.socket) = (Stream::Socket(number), Socket { number, ..Socket::default() });
        self.resume(user, (response.status, fields, "", number))
    }

    /// Lets a user's code take messages, as long as it waits for them. It finds the others when it asks for them.
    fn take_messages(&mut self, user: usize, messages: &mut VecDeque<StreamEvent>) -> AfterEvents {
        let entry = self.users[user].entry;
        while self.users[user].socket.is_awaiting
            && let Some(message) = messages.pop_front()
        {
            self.users[user].socket.is_awaiting = false;
            let text = self.texts([&message.data, &message.kind]);
            let step = text.and_then(|text| self.resume(user, text));
            let step = step.unwrap_or_else(|error| self.end_run(user, error));
            let unmet = self.failed_checks(entry);
            let state = &mut self.users[user];
            state.unmet.extend(unmet);
            match step {
                Step::Await => {}
                Step::Leave => return AfterEvents::Leave,
                step => {
                    state.socket.mail.extend(messages.drain(..));
                    state.next = Next::Step(step);
                    return AfterEvents::Step;
                }
            }
        }
        self.users[user].socket.mail.extend(messages.drain(..));
        AfterEvents::Await
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

    /// Returns the facts of the request of a user that is written next.
    fn info(&self, user: usize) -> RequestInfo {
        let User { request, stream, is_call, .. } = &self.users[user];
        let opens_websocket = *stream == Stream::Opening;
        RequestInfo {
            is_head: message::is_head(request),
            url: 0,
            keep: Keep::Content,
            hands_events: opens_websocket || *stream == Stream::Awaited,
            opens_websocket,
            is_call: *is_call,
        }
    }

    /// Ends the run, and returns the end of the session.
    fn end_run(&mut self, user: usize, error: ScriptError) -> Step {
        self.shared.fault.set(error);
        let state = &mut self.users[user];
        let end = Step::Failed(state.entry, Some("the script ended the run".to_owned()));
        match state.stream {
            Stream::Socket(_) => state.leave_before(Next::Step(end)),
            _ => end,
        }
    }
}

impl ThreadUsers for SessionThread<'_> {
    fn begin(&mut self, user: usize) {
        let state = &mut self.users[user];
        *state = User { request: std::mem::take(&mut state.request), ..User::new(state.number) };
    }

    fn next(&mut self, user: usize) -> Step {
        let step = match std::mem::replace(&mut self.users[user].next, Next::Resume) {
            Next::Step(step) => step,
            Next::Resume | Next::Paused => self.go_on(user),
            Next::StillPaused => {
                self.users[user].next = Next::Paused;
                return Step::Await;
            }
        };
        match step {
            Step::Send(entry) if self.users[user].server.is_some() => self.send_elsewhere(user, entry),
            Step::Pause(pause) => {
                self.users[user].next = Next::Paused;
                Step::Pause(pause)
            }
            step => step,
        }
    }

    fn destination(&self, user: usize) -> usize {
        self.users[user].server.as_ref().and_then(|server| server.number).unwrap_or(0)
    }

    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let User { request, content, .. } = &self.users[user];
        out.extend_from_slice(request);
        self.content.clone_from(content);
        self.info(user)
    }

    fn take_content(&mut self) -> Option<Bytes> {
        self.content.take()
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        let User { request, content: large, .. } = &self.users[user];
        let begun = self.info(user);
        let origin = self.users[user].url(&self.shared.target).origin().ascii_serialization();
        match message::parts(request, &origin) {
            Ok((head, content)) => {
                let body = large.clone().or_else(|| (!content.is_empty()).then(|| Bytes::from(content)));
                RequestParts { head, body: body.map(SentContent::from), begun }
            }
            Err(what) => {
                self.shared.fault.set(self.state.problem(Some("session"), what));
                let mut head = Request::new(());
                *head.uri_mut() = self.shared.target.as_str().parse().unwrap_or_default();
                RequestParts { head, body: None, begun }
            }
        }
    }

    fn arrived(&mut self, user: usize, response: &KeptResponse, events: &mut VecDeque<StreamEvent>) -> AfterEvents {
        if let Stream::Socket(_) = self.users[user].stream {
            return self.take_messages(user, events);
        }
        let entry = self.users[user].entry;
        while let Some(event) = events.pop_front() {
            let step = self.take_event(user, response, &event).unwrap_or_else(|error| self.end_run(user, error));
            let unmet = self.failed_checks(entry);
            let state = &mut self.users[user];
            state.unmet.extend(unmet);
            if step != Step::Await {
                (state.after_leaving, state.has_left) = (Next::Step(step), true);
                return AfterEvents::Leave;
            }
        }
        AfterEvents::Await
    }

    fn switched(&mut self, user: usize, response: &KeptResponse) {
        self.keep_cookies(user, response);
        let entry = self.users[user].entry;
        let step = self.open_socket(user, response).unwrap_or_else(|error| self.end_run(user, error));
        let unmet = self.failed_checks(entry);
        let state = &mut self.users[user];
        state.unmet.extend(unmet);
        state.next = Next::Step(step);
    }

    fn take_message(&mut self, user: usize) -> Option<Message> {
        self.users[user].socket.outgoing.take()
    }

    fn received(&mut self, user: usize, received: &ReceivedBy<'_>) -> Judged {
        let state = &mut self.users[user];
        let mut unmet = std::mem::take(&mut state.unmet);
        if std::mem::take(&mut state.has_left) {
            state.next = std::mem::replace(&mut state.after_leaving, Next::Resume);
            return Judged { passed: unmet.is_empty(), unmet, retries: false };
        }
        let entry = state.entry;
        let stream = std::mem::replace(&mut state.stream, Stream::None);
        if let Stream::Socket(_) = stream
            && !std::mem::take(&mut state.socket.is_awaiting)
        {
            // The session learns of the end when it wants a message.
            if state.next == Next::Paused {
                state.next = Next::StillPaused;
            }
            return Judged { passed: unmet.is_empty(), unmet, retries: false };
        }
        let has_events = matches!(stream, Stream::Open(_) | Stream::Socket(_));
        self.keep_cookies(user, received.response);
        if received.response.status >= 400 {
            // The next request is composed while the script takes the response.
            self.users[user].sent = self.users[user].sent_secrets();
        }
        let step = match has_events {
            true => self.resume(user, ()),
            false => self.respond(user, received.response),
        };
        let step = step.unwrap_or_else(|error| self.end_run(user, error));
        self.users[user].next = Next::Step(step);
        unmet.extend(self.failed_checks(entry));
        Judged { passed: received.response.status < 400 && unmet.is_empty(), unmet, retries: false }
    }

    fn secrets(&self, user: usize) -> Vec<String> {
        self.users[user].sent.clone()
    }

    fn failed(&mut self, user: usize, _failure: &Failure) {
        self.users[user].coroutine = None;
    }

    fn is_over(&self) -> bool {
        self.shared.fault.is_set()
    }
}

/// Returns the field lines of a response as sessions have them.
fn lines(response: &KeptResponse) -> Vec<u8> {
    let mut lines = Vec::new();
    for (name, value) in response.fields() {
        for part in [name.as_bytes(), b":", value, b"\n"] {
            lines.extend_from_slice(part);
        }
    }
    lines
}

impl Drop for SessionThread<'_> {
    fn drop(&mut self) {
        self.state.flush();
    }
}
