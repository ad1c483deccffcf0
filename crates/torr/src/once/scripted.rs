//! One session of a script. The script's users are wrapped in users that show what passes between them and the load engine.

use crate::base::Base;
use crate::exit::{self, CliError};
use crate::script::{SLOW, slow};
use crate::{interrupt, output, press, transcript};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use torr_gauge::sessions::EntryName;
use torr_gauge::{Failure, Secrets};
use torr_press::learnt::LearntServers;
use torr_press::users::{AfterEvents, Judged, Message, ReceivedBy, Step, ThreadPart, ThreadUsers, Users};
use torr_press::{Keep, KeptResponse, Plan, RequestInfo, RequestParts, StreamEvent, Work};
use torr_report::human::{micros, plural};

/// Walks one user through one session of a script: exit code 1 if it fails, or a response or a check of it.
pub fn run(base: Base, timeout: Duration) -> Result<ExitCode, CliError> {
    let Base { plan, script, .. } = base;
    let version = transcript::version(&plan);
    let Work::Users(users) = plan.work else { return Err(CliError::Usage("missing script".into())) };
    let stop = interrupt::flag()?;
    let secrets = Secrets::new(users.secrets());
    let shown = Arc::new(Shown { users, secrets, version, outcome: Mutex::default() });
    let once = Plan {
        work: Work::Users(Arc::new(ShownUsers(Arc::clone(&shown)))),
        connections: 1,
        threads: 1,
        requests: Some(1),
        timeout,
        watch_server: false,
        ..plan
    };
    let ran = thread::scope(|scope| {
        let (end, ended) = mpsc::channel();
        let users = &*shown.users;
        scope.spawn(move || warn_of_long_calls(users, &ended));
        let ran = torr_press::run(&once, &stop, |_| ()).map_err(press::why_not);
        drop(end);
        ran
    });
    let failed = Base::script_failed(script.as_ref());
    if stop.load(Ordering::Relaxed) {
        return Ok(exit::interrupted());
    }
    if let Some(code) = failed {
        return Ok(code);
    }
    ran?;
    let outcome = shown.outcome();
    Ok(match outcome.ended {
        true if outcome.failed == 0 => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    })
}

/// Warns once that the script is in one call for [`SLOW`] or longer, until the sender of `ended` is dropped.
fn warn_of_long_calls(users: &dyn Users, ended: &Receiver<()>) {
    let mut before = users.decisions(0);
    while ended.recv_timeout(SLOW) == Err(RecvTimeoutError::Timeout) {
        let now = users.decisions(0);
        if now == before && now % 2 == 1 {
            output::note(&slow("a request or a pause"));
            return;
        }
        before = now;
    }
}

/// What is shown, and what came of it.
#[derive(Debug)]
struct Shown {
    /// The users of the script.
    users: Arc<dyn Users>,
    secrets: Secrets,
    version: &'static str,
    outcome: Mutex<Outcome>,
}

#[derive(Debug, Default)]
struct Outcome {
    /// Whether the session came to its end.
    ended: bool,
    /// The number of requests, responses and checks that failed.
    failed: usize,
}

impl Shown {
    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, text: &str) {
        output::print(&self.secrets.mask(text.to_owned()));
    }

    fn entry(&self, number: u32) -> EntryName {
        self.users.entries().into_iter().nth(number as usize).unwrap_or_default()
    }

    fn request(&self, entry: u32, request: &[u8]) {
        let EntryName { name, file, .. } = self.entry(entry);
        self.show(&format!("{file}: {name}\n{}", transcript::lines(">", request, &self.secrets)));
    }

    fn event(&self, event: &StreamEvent) {
        let [kind, data] = [&event.kind, &event.data].map(|bytes| String::from_utf8_lossy(bytes));
        let data = data.replace('\n', "\ndata: ");
        self.show(&transcript::lines("<", format!("event: {kind}\ndata: {data}\n").as_bytes(), &self.secrets));
    }

    /// Shows a message of a WebSocket that was sent (`>`) or has arrived (`<`).
    fn message(&self, mark: &str, payload: &[u8]) {
        self.show(&transcript::lines(mark, payload, &self.secrets));
    }

    fn response(&self, entry: u32, by: &ReceivedBy<'_>, judged: &Judged) {
        let mut text = transcript::response(by, &self.secrets);
        for unmet in &judged.unmet {
            text.push_str(&format!("  failed check: {}\n", unmet.expected));
        }
        if !judged.passed {
            self.outcome().failed += 1;
            if judged.unmet.is_empty() {
                text.push_str(&format!("  failed: status {} ({})\n", by.response.status, self.entry(entry).name));
            }
        }
        text.push('\n');
        self.show(&text);
    }

    fn step(&self, step: &Step) {
        match step {
            Step::Pause(pause) if !pause.is_zero() => {
                self.show(&format!("  pause of {}\n\n", micros(pause.as_secs_f64() * 1e6)));
            }
            Step::Finished => {
                let mut outcome = self.outcome();
                outcome.ended = true;
                let failed = outcome.failed;
                drop(outcome);
                self.show(&match failed {
                    0 => "The session finished.\n".to_owned(),
                    failed => format!("The session finished; {} failed.\n", plural(failed as u64, "response")),
                });
            }
            Step::Failed(entry, reason) => {
                self.outcome().failed += 1;
                let EntryName { name, file, .. } = self.entry(*entry);
                let at = if name.is_empty() { file } else { format!("{file} ({name})") };
                self.show(&format!("The session failed at {at}: {}\n", reason.as_deref().unwrap_or("a check failed")));
            }
            Step::Send(_)
            | Step::SendAll(..)
            | Step::Await
            | Step::Message
            | Step::Leave
            | Step::Park
            | Step::Pause(_)
            | Step::LookUp(_) => {}
        }
    }
}

/// The users of a script, shown.
#[derive(Debug)]
struct ShownUsers(Arc<Shown>);

impl Users for ShownUsers {
    fn entries(&self) -> Vec<EntryName> {
        self.0.users.entries()
    }

    fn learnt(&self) -> Option<&LearntServers> {
        self.0.users.learnt()
    }

    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        Box::new(ShownThread { shown: &self.0, users: self.0.users.thread(part), entry: 0, is_switched: false })
    }

    fn has_sessions(&self) -> bool {
        self.0.users.has_sessions()
    }

    fn address(&self, thread: usize) -> Option<SocketAddr> {
        self.0.users.address(thread)
    }

    fn decisions(&self, thread: usize) -> u64 {
        self.0.users.decisions(thread)
    }

    fn given_up(&self, thread: usize) {
        self.0.users.given_up(thread);
    }
}

/// The one user.
struct ShownThread<'r> {
    shown: &'r Shown,
    users: Box<dyn ThreadUsers + 'r>,
    /// The entry of the latest request.
    entry: u32,
    /// Whether that has opened a WebSocket.
    is_switched: bool,
}

impl ThreadUsers for ShownThread<'_> {
    fn begin(&mut self, user: usize) {
        self.users.begin(user);
    }

    fn next(&mut self, user: usize) -> Step {
        let step = self.users.next(user);
        if let Step::Send(entry) | Step::SendAll(entry, _) = step {
            (self.entry, self.is_switched) = (entry, false);
        }
        self.shown.step(&step);
        step
    }

    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let before = out.len();
        let info = self.users.write(user, out);
        // There is one user, so no content is shared, and all that is sent is shown.
        if let Some(content) = self.users.take_content() {
            out.extend_from_slice(&content);
        }
        self.shown.request(self.entry, &out[before..]);
        RequestInfo { keep: Keep::Content, ..info }
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        let mut parts = self.users.parts(user);
        parts.begun.keep = Keep::Content;
        self.shown.request(self.entry, &transcript::of_parts(&parts, self.shown.version));
        parts
    }

    fn arrived(&mut self, user: usize, response: &KeptResponse, events: &mut VecDeque<StreamEvent>) -> AfterEvents {
        let handed = events.clone();
        let then = self.users.arrived(user, response, events);
        let taken = handed.iter().take(handed.len() - events.len());
        match self.is_switched {
            true => taken.for_each(|message| self.shown.message("<", &message.data)),
            false => taken.for_each(|event| self.shown.event(event)),
        }
        then
    }

    fn switched(&mut self, user: usize, response: &KeptResponse) {
        self.is_switched = true;
        self.users.switched(user, response);
    }

    fn take_message(&mut self, user: usize) -> Option<Message> {
        let message = self.users.take_message(user);
        message.iter().for_each(|message| self.shown.message(">", &message.payload));
        message
    }

    fn received(&mut self, user: usize, received: &ReceivedBy<'_>) -> Judged {
        let judged = self.users.received(user, received);
        self.shown.response(self.entry, received, &judged);
        judged
    }

    fn destination(&self, user: usize) -> usize {
        self.users.destination(user)
    }

    fn secrets(&self, user: usize) -> Vec<String> {
        self.users.secrets(user)
    }

    fn retries(&mut self, user: usize, failure: &Failure) -> bool {
        self.users.retries(user, failure)
    }

    fn failed(&mut self, user: usize, failure: &Failure) {
        self.users.failed(user, failure);
        self.shown.outcome().failed += 1;
        let EntryName { name, file, .. } = self.shown.entry(self.entry);
        self.shown.show(&format!("The session failed at {file} ({name}): {}\n", failure.what));
    }

    fn is_over(&self) -> bool {
        self.users.is_over()
    }

    fn is_stopped(&self) -> bool {
        self.users.is_stopped()
    }
}
