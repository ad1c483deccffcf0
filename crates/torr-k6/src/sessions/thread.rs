//! The users of one thread whose sessions are iterations: what the load engine asks them.

use super::session_run::{Part, SessionRun};
use super::user::{SessionUser, Turn};
use crate::control::StopCause;
use crate::error::{ErrorKind, ScriptError};
use crate::metrics::{Collector, Recorder};
use crate::user::{Task, TaskEnd};
use crate::users::beginning::Beginning;
use crate::users::parts::parts;
use crate::users::{refusal, virtual_user};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use torr_gauge::{Failure, FailureKind};
use torr_net::{Nanos, clock};
use torr_press::learnt::{self, Lookup};
use torr_press::users::{Judged, Phases, ReceivedBy, Step, ThreadPart, ThreadUsers, Transferred, Wake};
use torr_press::{RequestInfo, RequestParts};

/// The number of a thread's users that are created before the run. Of a rate few are needed at a time; the others follow when their first
/// session begins.
const CREATED_BEFORE: usize = 64;

/// The users of one thread.
pub(super) struct SessionThread<'r> {
    shared: &'r SessionRun,
    recorder: Rc<RefCell<Recorder>>,
    /// The number of the first user among all users of the run.
    first: usize,
    users: Vec<Option<Box<SessionUser>>>,
    servers: HashMap<Rc<str>, usize>,
    function: Rc<str>,
    /// The time of the system's clock at which the run's clock was at 0.
    epoch: Option<Instant>,
    /// When the thread was last polled for users to be woken, by the run's clock.
    polled: Option<Nanos>,
    wakes: VecDeque<Wake>,
    /// The time of the run's clock at which `setup` or `teardown` must have ended.
    end: Nanos,
    /// Whether that time is over.
    is_late: bool,
}

impl<'r> SessionThread<'r> {
    pub fn new(shared: &'r SessionRun, part: ThreadPart) -> Self {
        let mut recorder = Recorder::new(&Collector::default(), None);
        // There is no summary, and no threshold.
        recorder.set_off(true);
        let mut this = Self {
            shared,
            recorder: Rc::new(RefCell::new(recorder)),
            first: part.before + part.users.start,
            users: part.users.clone().map(|_| None).collect(),
            servers: shared.known().collect(),
            function: Rc::from(shared.function.as_str()),
            epoch: None,
            polled: None,
            wakes: VecDeque::new(),
            end: match shared.part {
                Part::Setup(limit) | Part::Teardown(limit) => clock::nanos(limit),
                Part::FirstIteration | Part::Iterations => Nanos::MAX,
            },
            is_late: false,
        };
        for user in 0..this.users.len().min(CREATED_BEFORE) {
            if shared.is_stopped() || this.user(user).is_none() {
                break;
            }
        }
        this
    }

    /// Returns a user, who is created if this is the first time. `None` if that fails, which ends the run.
    fn user(&mut self, user: usize) -> Option<&mut SessionUser> {
        if self.users[user].is_none() {
            let id = match self.shared.part {
                Part::Setup(_) | Part::Teardown(_) => 0,
                Part::FirstIteration | Part::Iterations => (self.first + user) as u64 + 1,
            };
            match virtual_user::loaded(&self.shared.run, &self.shared.program, id, &self.recorder) {
                Ok(machine) => self.users[user] = Some(Box::new(SessionUser::new(machine))),
                Err(error) => self.shared.run.control.stop(StopCause::Failed(error)),
            }
        }
        self.users[user].as_deref_mut()
    }

    /// Returns the time of the run's clock.
    fn now(&self) -> Nanos {
        self.epoch.map_or(0, |epoch| clock::nanos(epoch.elapsed()))
    }

    /// Returns the task of a user's next session.
    fn task(&mut self, user: usize) -> Option<Task> {
        let (shared, function) = (self.shared, self.function.clone());
        let user = self.user(user)?;
        Some(match shared.part {
            Part::Setup(_) => Task::Setup,
            Part::Teardown(_) => Task::Teardown,
            Part::FirstIteration | Part::Iterations => {
                let scenario = &shared.run.options.get()?.scenarios[shared.scenario];
                let beginning = Beginning {
                    scenario,
                    scenario_number: shared.scenario,
                    function,
                    in_test: shared.begun.fetch_add(1, Ordering::Relaxed),
                    in_scenario: user.begun,
                    in_instance: user.begun,
                };
                user.begun += 1;
                beginning.task(&shared.run, &user.machine.vu)
            }
        })
    }

    /// Finds the server of a user's request. Returns the step that follows, `None` if the script goes on at once.
    fn route(&mut self, at: usize) -> Option<Step> {
        let shared = self.shared;
        let user = self.users[at].as_deref_mut()?;
        let sending = user.sending.as_mut()?;
        let origin = sending.outgoing.origin.clone();
        let server = match self.servers.get(&origin) {
            Some(server) => *server,
            None => match shared.learnt.look_up(&origin) {
                Lookup::Server(server) => {
                    self.servers.insert(origin.clone(), server);
                    server
                }
                Lookup::Pending => {
                    sending.look_ups += 1;
                    return Some(Step::LookUp(learnt::pause(sending.look_ups)));
                }
                Lookup::Refused(why) => {
                    if shared.part != Part::Iterations {
                        shared.seen().failure = Some(why.clone());
                    }
                    user.settle(|sending| sending.refused(refusal::of_look_up(why)));
                    return None;
                }
            },
        };
        if shared.part != Part::Iterations && !sending.is_repeated {
            let mut seen = shared.seen();
            seen.entries.add(&sending.outgoing);
            if !seen.origins.iter().any(|known| **known == *origin) {
                seen.origins.push(origin.to_string());
            }
        }
        Some(Step::Send(user.is_sent_to(server, &shared.entries)))
    }

    /// Returns the step that follows the end of a task.
    fn ended(&mut self, at: usize, end: TaskEnd) -> Step {
        let shared = self.shared;
        let entry = self.users[at].as_ref().map_or(0, |user| user.entry);
        let is_late = self.is_late;
        let step = match end {
            _ if shared.is_stopped() => Step::Finished,
            TaskEnd::Threw(error) => {
                let why = error.to_string();
                if shared.part != Part::Iterations {
                    shared.seen().error = Some(*error);
                }
                Step::Failed(entry, Some(why))
            }
            TaskEnd::Interrupted => {
                let (kind, why) = match shared.part {
                    Part::Setup(_) if is_late => {
                        (ErrorKind::SetupTimeout, "setup() execution timed out; raise setupTimeout")
                    }
                    Part::Teardown(_) if is_late => {
                        (ErrorKind::TeardownTimeout, "teardown() execution timed out; raise teardownTimeout")
                    }
                    _ => (
                        ErrorKind::Timeout,
                        "the script was interrupted: it ran for 10 s without waiting, or waited for nothing",
                    ),
                };
                if shared.part != Part::Iterations {
                    shared.seen().error = Some(ScriptError::new(kind, why));
                }
                Step::Failed(entry, Some(why.to_owned()))
            }
            TaskEnd::Returned(data) => {
                if matches!(shared.part, Part::Setup(_)) {
                    let _ = shared.run.setup_data.set(data.map(Into::into));
                }
                Step::Finished
            }
            TaskEnd::Loaded(_) | TaskEnd::Files(_) => Step::Finished,
        };
        shared.ended.fetch_add(1, Ordering::AcqRel);
        step
    }
}

impl ThreadUsers for SessionThread<'_> {
    fn begin(&mut self, user: usize) {
        let task = self.task(user);
        if let (Some(task), Some(user)) = (task, self.user(user)) {
            user.begin(task);
        }
    }

    fn next(&mut self, at: usize) -> Step {
        loop {
            let now = self.now();
            let Some(user) = self.users[at].as_deref_mut() else { return Step::Finished };
            match user.turn(now) {
                Turn::Send => {
                    if let Some(step) = self.route(at) {
                        return step;
                    }
                }
                Turn::InFlight => return Step::Park,
                Turn::Pause(time) => return Step::Pause(time),
                Turn::Ended(end) => return self.ended(at, end),
                Turn::Idle => return Step::Finished,
            }
        }
    }

    fn destination(&self, user: usize) -> usize {
        self.users[user].as_ref().and_then(|user| user.sending.as_ref()).map_or(0, |sending| sending.server)
    }

    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let now = self.now();
        let Some(sending) = self.users[user].as_deref_mut().and_then(|user| user.sending.as_mut()) else {
            return RequestInfo::default();
        };
        sending.written = now;
        out.extend_from_slice(&sending.outgoing.bytes);
        sending.info()
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        let now = self.now();
        let Some(sending) = self.users[user].as_deref_mut().and_then(|user| user.sending.as_mut()) else {
            return RequestParts { head: http::Request::new(()), body: None, begun: RequestInfo::default() };
        };
        sending.written = now;
        parts(&sending.outgoing, sending.info())
    }

    fn received(&mut self, user: usize, received: &ReceivedBy<'_>) -> Judged {
        if self.shared.part != Part::Iterations {
            self.shared.seen().is_answered = true;
        }
        let Some(user) = self.users[user].as_deref_mut() else { return Judged::default() };
        let expects =
            user.sending.as_ref().and_then(|sending| sending.outgoing.expects.holds(received.response.status));
        user.note_connect(false);
        user.settle(|sending| sending.received(received));
        Judged { passed: expects.unwrap_or(true), ..Judged::default() }
    }

    fn failed(&mut self, user: usize, failure: &Failure) {
        self.outlives(user, failure, &Phases::default(), Transferred::default());
    }

    fn outlives(&mut self, user: usize, failure: &Failure, phases: &Phases, transferred: Transferred) -> bool {
        let shared = self.shared;
        let Some(user) = self.users[user].as_deref_mut() else { return true };
        let Some(sending) = &user.sending else { return true };
        if sending.is_lost_when_idle(failure, phases) {
            user.repeat();
            return true;
        }
        if shared.part != Part::Iterations {
            shared.seen().failure = Some(failure.what.to_string());
        }
        let is_connect = matches!(failure.kind, FailureKind::Connect | FailureKind::Ports | FailureKind::Tls);
        user.note_connect(is_connect);
        user.settle(|sending| sending.failed(failure, phases, transferred));
        true
    }

    fn timeout(&self, user: usize) -> Option<Duration> {
        let sending = self.users[user].as_ref()?.sending.as_ref();
        sending.map(|sending| sending.outgoing.timeout)
    }

    fn woken(&mut self, now: Nanos) -> Option<Wake> {
        if self.epoch.is_none() {
            self.epoch = Instant::now().checked_sub(Duration::from_nanos(now));
        }
        if self.polled != Some(now) {
            self.polled = Some(now);
            if now >= self.end && !self.is_late {
                self.is_late = true;
                self.users[0].iter_mut().for_each(|user| user.interrupt());
                self.wakes.extend([Wake::Abandon(0), Wake::Next(0)]);
            }
        }
        self.wakes.pop_front()
    }

    fn next_wake(&self) -> Nanos {
        match (self.wakes.is_empty(), self.is_late) {
            (false, _) => 0,
            (true, false) => self.end,
            (true, true) => Nanos::MAX,
        }
    }

    fn is_over(&self) -> bool {
        self.shared.is_over()
    }

    fn is_stopped(&self) -> bool {
        self.shared.is_over()
    }
}
