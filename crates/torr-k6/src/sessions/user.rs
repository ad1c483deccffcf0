//! A virtual user whose sessions are iterations: what it does next, request by request.

use super::entries::Entries;
use crate::machine::{Machine, Pending};
use crate::user::exchange::{Outcome, Outgoing};
use crate::user::{Task, TaskEnd, Wanted, Woken};
use crate::users::exchange::Sending;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use torr_net::{Nanos, backoff};

/// The longest time for which code of a script may run without waiting. Code that runs longer is interrupted.
const LONGEST_TURN: Duration = Duration::from_secs(10);

/// A virtual user.
pub(super) struct SessionUser {
    pub machine: Machine,
    state: State,
    /// The request that is sent or in flight.
    pub sending: Option<Sending>,
    /// Whether the script waits for exactly that request, and not for one of several that it has begun.
    is_awaited: bool,
    /// Requests that the script has begun and that have not been sent.
    queue: VecDeque<Outgoing>,
    /// The number of requests of the running session.
    requests: usize,
    /// The entry of the latest request.
    pub entry: u32,
    /// The number of connects in a row that have failed.
    failed_connects: u32,
    /// How long the user waits before it goes on, since a connect has failed.
    back_off: Duration,
    /// Whether a task has begun and not ended.
    is_running: bool,
    /// The number of iterations that have begun.
    pub begun: u64,
}

/// What a virtual user does next.
enum State {
    Idle,
    /// The task begins or goes on.
    Ready(Resumption),
    /// The request is to be sent.
    Unsent,
    /// The request is in flight.
    InFlight,
}

enum Resumption {
    Begin(Task),
    Woken(Woken),
    Interrupt,
}

/// What follows when a virtual user has run as far as it goes without waiting.
pub(super) enum Turn {
    /// The request is to be sent.
    Send,
    /// The request is in flight.
    InFlight,
    /// The user waits.
    Pause(Duration),
    /// The task has ended.
    Ended(TaskEnd),
    /// There is no task.
    Idle,
}

impl SessionUser {
    /// Returns a virtual user whose modules are loaded.
    pub fn new(machine: Machine) -> Self {
        Self {
            machine,
            state: State::Idle,
            sending: None,
            is_awaited: false,
            queue: VecDeque::new(),
            requests: 0,
            entry: 0,
            failed_connects: 0,
            back_off: Duration::ZERO,
            is_running: false,
            begun: 0,
        }
    }

    /// Begins a task at the next turn. One before that has not ended is interrupted.
    pub fn begin(&mut self, task: Task) {
        if std::mem::take(&mut self.is_running) {
            self.machine.interrupt();
        }
        self.give_up();
        (self.requests, self.entry) = (0, 0);
        self.state = State::Ready(Resumption::Begin(task));
    }

    /// Interrupts the running task at the next turn.
    pub fn interrupt(&mut self) {
        if self.is_running {
            self.sending = None;
            self.state = State::Ready(Resumption::Interrupt);
        }
    }

    fn give_up(&mut self) {
        self.sending = None;
        self.queue.clear();
    }

    /// Lets the task run until it waits. `now` is the time of the run's clock.
    pub fn turn(&mut self, now: Nanos) -> Turn {
        if !self.back_off.is_zero() {
            return Turn::Pause(std::mem::take(&mut self.back_off));
        }
        loop {
            match std::mem::replace(&mut self.state, State::Idle) {
                State::Idle => return Turn::Idle,
                State::Unsent => {
                    self.state = State::Unsent;
                    return Turn::Send;
                }
                State::InFlight => {
                    self.state = State::InFlight;
                    return Turn::InFlight;
                }
                State::Ready(resumption) => {
                    let limit = Instant::now().checked_add(LONGEST_TURN);
                    let pending = match resumption {
                        Resumption::Begin(task) => {
                            self.is_running = true;
                            self.machine.begin(task, limit)
                        }
                        Resumption::Woken(woken) => self.machine.go_on(woken, limit),
                        Resumption::Interrupt => self.machine.interrupt(),
                    };
                    if let Some(turn) = self.suspended(pending, now) {
                        return turn;
                    }
                }
            }
        }
    }

    /// Notes what the task waits for. Returns `None` if it goes on at once.
    fn suspended(&mut self, pending: Pending, now: Nanos) -> Option<Turn> {
        let events = &self.machine.vu.events;
        self.queue.extend(events.outbox.borrow_mut().drain(..));
        match pending {
            Pending::Waits(Wanted::Sleep(time)) => {
                self.state = State::Ready(Resumption::Woken(Woken::Now));
                Some(Turn::Pause(time))
            }
            Pending::Waits(Wanted::Exchange(outgoing)) => {
                self.send(*outgoing, true, now);
                None
            }
            Pending::Waits(Wanted::Event(until)) => {
                if !self.machine.vu.events.arrived.borrow().is_empty() {
                    self.state = State::Ready(Resumption::Woken(Woken::Now));
                } else if let Some(outgoing) = self.queue.pop_front() {
                    self.send(outgoing, false, now);
                } else if let Some(until) = until {
                    self.state = State::Ready(Resumption::Woken(Woken::Now));
                    return Some(Turn::Pause(until.saturating_duration_since(Instant::now())));
                } else {
                    self.state = State::Ready(Resumption::Interrupt);
                }
                None
            }
            Pending::Waits(Wanted::Mail(_)) => {
                // These users open no sockets.
                self.state = State::Ready(Resumption::Interrupt);
                None
            }
            Pending::Ended(end) => {
                self.is_running = false;
                self.give_up();
                Some(Turn::Ended(end))
            }
        }
    }

    fn send(&mut self, outgoing: Outgoing, is_awaited: bool, now: Nanos) {
        self.sending = Some(Sending::new(outgoing, now));
        self.is_awaited = is_awaited;
        self.state = State::Unsent;
    }

    /// Notes that the request goes on its way to a server. Returns its entry.
    pub fn is_sent_to(&mut self, server: usize, entries: &Entries) -> u32 {
        if let Some(sending) = &mut self.sending {
            (sending.server, sending.is_sent) = (server, true);
            if !sending.is_repeated {
                self.entry = entries.entry_of(&sending.outgoing, self.requests);
                self.requests += 1;
            }
        }
        self.state = State::InFlight;
        self.entry
    }

    /// Lets the request be sent once more, as its connection turned out to have been closed before.
    pub fn repeat(&mut self) {
        if let Some(sending) = &mut self.sending {
            (sending.is_repeated, sending.is_sent) = (true, false);
            self.state = State::Unsent;
        }
    }

    /// Notes whether connecting has failed: then the user waits before it goes on, the longer the more often that has happened.
    pub fn note_connect(&mut self, has_failed: bool) {
        self.failed_connects = if has_failed { self.failed_connects.saturating_add(1) } else { 0 };
        self.back_off = Duration::from_nanos(backoff::delay_after(self.failed_connects));
    }

    /// Hands the outcome of the request to the script.
    pub fn settle(&mut self, outcome: impl FnOnce(Sending) -> Outcome) {
        let Some(sending) = self.sending.take() else { return };
        let outcome = sending.settled(outcome);
        let woken = match self.is_awaited {
            true => Woken::Exchanged(Box::new(outcome)),
            false => {
                self.machine.vu.events.arrived.borrow_mut().push(outcome);
                Woken::Now
            }
        };
        self.state = State::Ready(Resumption::Woken(woken));
    }
}
