//! The virtual users of one thread: what the load engine asks them, and when it wakes them.

mod iterations;
mod requests;
mod stages;

use super::exchange::Sending;
use super::layout::Place;
use super::load::Load;
use super::parts::parts;
use super::slot::{Resumption, State, VuSlot};
use super::stage::Stage;
use crate::executors::Order;
use crate::machine::{Near, Pending};
use crate::metrics::Recorder;
use crate::sockets::Signal;
use crate::user::{Wanted, Woken};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use torr_gauge::Failure;
use torr_net::{Nanos, WakeUp, clock, prefetch};
use torr_press::users::{Judged, Phases, ReceivedBy, Step, ThreadUsers, Transferred, Wake};
use torr_press::{RequestInfo, RequestParts};

/// The number of tasks that a virtual user begins in one turn of the loop. Iterations that never wait would keep the others, the end
/// of the scenario and a stop waiting.
const MOST_BEGUN: u32 = 1;

/// The virtual users of one thread.
pub(super) struct ThreadVus<'r> {
    load: &'r Load,
    thread: usize,
    recorder: Rc<RefCell<Recorder>>,
    slots: Vec<Option<Box<VuSlot>>>,
    /// The memory that each slot's virtual user needs first when it goes on.
    near: Vec<Near>,
    wakes: VecDeque<Wake>,
    /// What sockets raise when a virtual user has mail.
    signal: Arc<Signal>,
    /// The number of wakes that are left of this turn of the loop.
    turn: usize,
    /// Times, each with its slot and the number of the timer.
    timers: BinaryHeap<Reverse<(Nanos, usize, u32)>>,
    orders: Vec<Order>,
    servers: HashMap<Rc<str>, usize>,
    functions: Vec<Rc<str>>,
    /// The time of the system's clock at which the run's clock was at 0.
    epoch: Option<Instant>,
    /// The time of the run's clock at which the thread has polled last.
    polled: Option<Nanos>,
    stage: Stage,
    /// When the stage that runs must end.
    stage_end: Nanos,
    next_gauges: Nanos,
    is_stopping: bool,
}

impl<'r> ThreadVus<'r> {
    /// Returns the virtual users of a thread; those that are planned exist.
    pub fn new(load: &'r Load, thread: usize) -> Self {
        let scenarios = &load.conductor.plan().scenarios;
        let functions = scenarios.iter().map(|scenario| Rc::from(scenario.function())).collect();
        let mut this = Self {
            load,
            thread,
            recorder: load.recorder(),
            slots: (0..load.layout.slots).map(|_| None).collect(),
            near: vec![Near::default(); load.layout.slots],
            wakes: VecDeque::new(),
            signal: Arc::default(),
            turn: 0,
            timers: BinaryHeap::new(),
            orders: Vec::new(),
            servers: HashMap::new(),
            functions,
            epoch: None,
            polled: None,
            stage: Stage::Starting,
            stage_end: Nanos::MAX,
            next_gauges: 0,
            is_stopping: false,
        };
        let planned = load.conductor.plan().vus.planned;
        for virtual_user in load.conductor.vus_of(thread).take_while(|virtual_user| *virtual_user < planned) {
            if load.control().is_stopped() || !this.create(virtual_user) {
                break;
            }
        }
        load.ready.fetch_add(1, Ordering::AcqRel);
        this
    }

    /// Creates a virtual user. Returns whether it exists.
    fn create(&mut self, virtual_user: usize) -> bool {
        match self.load.machine(virtual_user as u64 + 1, &self.recorder) {
            Ok(machine) => {
                let slot = self.load.layout.slot_of(virtual_user);
                machine.vu.events.sockets.live_at(self.signal.clone(), slot);
                self.slots[slot] = Some(Box::new(VuSlot::new(machine, self.load.layout.lanes)));
                true
            }
            Err(error) => {
                self.load.fail(error);
                false
            }
        }
    }

    /// Returns the time of the run's clock.
    fn now(&self) -> Nanos {
        self.epoch.map_or(0, |epoch| clock::nanos(epoch.elapsed()))
    }

    /// Returns a time of the run's clock by the system's clock.
    fn instant(&self, time: Nanos) -> Option<Instant> {
        self.epoch?.checked_add(Duration::from_nanos(time))
    }

    fn slot(&mut self, slot: usize) -> Option<&mut VuSlot> {
        self.slots.get_mut(slot)?.as_deref_mut()
    }

    /// Takes a slot as far as it goes without waiting.
    fn advance(&mut self, at: usize) -> Step {
        let mut begun = 0;
        loop {
            let Some(slot) = self.slot(at) else { return Step::Park };
            match std::mem::replace(&mut slot.state, State::Idle) {
                State::Ready(Resumption::Begin(task, deadline)) if begun == MOST_BEGUN => {
                    slot.state = State::Ready(Resumption::Begin(task, deadline));
                    self.wakes.push_back(Wake::Next(at));
                    return Step::Park;
                }
                State::Ready(resumption) => {
                    begun += u32::from(matches!(resumption, Resumption::Begin(..)));
                    let pending = match resumption {
                        Resumption::Begin(task, deadline) => slot.machine.begin(task, deadline),
                        Resumption::Woken(woken) => slot.machine.wake(woken),
                        Resumption::Interrupt => slot.machine.interrupt(),
                    };
                    self.suspended(at, pending);
                }
                State::Unsent => {
                    slot.state = State::Unsent;
                    if let Some(step) = self.route(Place::Slot(at)) {
                        return step;
                    }
                }
                other => {
                    slot.state = other;
                    return Step::Park;
                }
            }
        }
    }

    /// Notes what a virtual user waits for, or that its task has ended.
    fn suspended(&mut self, at: usize, pending: Pending) {
        let now = self.now();
        let Some(slot) = self.slots.get_mut(at).and_then(|slot| slot.as_deref_mut()) else { return };
        self.near[at] = slot.machine.near();
        let events = &slot.machine.vu.events;
        let begun: Vec<_> = events.outbox.borrow_mut().drain(..).collect();
        let has_mail = events.sockets.has_mail();
        let has_arrived = has_mail || !events.arrived.borrow().is_empty();
        slot.queue.extend(begun);
        match pending {
            Pending::Waits(Wanted::Sleep(time)) => {
                slot.state = State::Sleeping;
                self.set_timer(at, now.saturating_add(clock::nanos(time)));
            }
            Pending::Waits(Wanted::Exchange(outgoing)) => {
                slot.own = Some(Sending::new(*outgoing, now));
                slot.state = State::Unsent;
            }
            Pending::Waits(Wanted::Event(_)) if has_arrived => slot.state = State::Ready(Resumption::Woken(Woken::Now)),
            Pending::Waits(Wanted::Mail(_)) if has_mail => slot.state = State::Ready(Resumption::Woken(Woken::Now)),
            Pending::Waits(Wanted::Event(until)) => self.wait_for(at, State::Event, until, now),
            Pending::Waits(Wanted::Mail(until)) => self.wait_for(at, State::Mail, until, now),
            Pending::Ended(end) => {
                slot.state = State::Idle;
                self.ended(at, end, now);
            }
        }
        self.fill_lanes(at);
    }

    /// Has a virtual user wait for an event, or until a time.
    fn wait_for(&mut self, at: usize, state: State, until: Option<Instant>, now: Nanos) {
        if let Some(slot) = self.slot(at) {
            slot.state = state;
        }
        if let Some(until) = until {
            let left = until.saturating_duration_since(Instant::now());
            self.set_timer(at, now.saturating_add(clock::nanos(left)));
        }
    }

    fn set_timer(&mut self, at: usize, time: Nanos) {
        if let Some(slot) = self.slot(at) {
            slot.timer = slot.timer.wrapping_add(1);
            let timer = slot.timer;
            self.timers.push(Reverse((time, at, timer)));
        }
    }

    /// Wakes the virtual users whose sockets have mail for them.
    fn wake_for_mail(&mut self) {
        for at in self.signal.take() {
            if let Some(slot) = self.slot(at)
                && matches!(slot.state, State::Event | State::Mail)
                && slot.machine.vu.events.sockets.has_mail()
            {
                slot.state = State::Ready(Resumption::Woken(Woken::Now));
                self.wakes.push_back(Wake::Next(at));
            }
        }
    }

    /// Does what is due at a time: timers, orders, stages, samples.
    fn poll(&mut self, now: Nanos) {
        if self.epoch.is_none() {
            self.epoch = Instant::now().checked_sub(Duration::from_nanos(now));
        }
        while let Some(&Reverse((time, at, timer))) = self.timers.peek() {
            if time > now {
                break;
            }
            self.timers.pop();
            if let Some(slot) = self.slot(at).filter(|slot| slot.timer == timer)
                && matches!(slot.state, State::Sleeping | State::Event | State::Mail)
            {
                slot.state = State::Ready(Resumption::Woken(Woken::Now));
                self.wakes.push_back(Wake::Next(at));
            }
        }
        if self.load.run.carrier.get().is_some() {
            self.wake_for_mail();
        }
        if self.thread == 0 {
            self.lead(now);
        }
        if self.load.conductor.next_wake(self.thread) <= now {
            let mut orders = std::mem::take(&mut self.orders);
            self.load.conductor.poll(self.thread, now, &mut orders);
            self.obey(&mut orders, None, now);
            self.orders = orders;
        }
        self.recorder.borrow_mut().tick(now);
    }
}

impl ThreadUsers for ThreadVus<'_> {
    fn begin(&mut self, _user: usize) {}

    fn next(&mut self, user: usize) -> Step {
        match self.load.layout.place(user) {
            Place::Slot(at) => self.advance(at),
            place => self.route(place).unwrap_or(Step::Park),
        }
    }

    fn destination(&self, user: usize) -> usize {
        let sending = match self.load.layout.place(user) {
            Place::Slot(at) => self.slots[at].as_ref().and_then(|slot| slot.own.as_ref()),
            Place::Lane(at, lane) => self.slots[at].as_ref().and_then(|slot| slot.lanes[lane].as_ref()),
        };
        sending.map_or(0, |sending| sending.server)
    }

    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let now = self.now();
        let Some(sending) = self.sending(self.load.layout.place(user)) else { return RequestInfo::default() };
        sending.written = now;
        out.extend_from_slice(&sending.outgoing.bytes);
        sending.info()
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        let now = self.now();
        let Some(sending) = self.sending(self.load.layout.place(user)) else {
            return RequestParts { head: http::Request::new(()), body: None, begun: RequestInfo::default() };
        };
        sending.written = now;
        parts(&sending.outgoing, sending.info())
    }

    #[inline]
    fn expect(&self, user: usize) {
        let (Place::Slot(at) | Place::Lane(at, _)) = self.load.layout.place(user);
        if let (Some(near), Some(Some(slot))) = (self.near.get(at), self.slots.get(at)) {
            prefetch::value(&**slot);
            near.prefetch();
        }
    }

    fn received(&mut self, user: usize, received: &ReceivedBy<'_>) -> Judged {
        self.settle(self.load.layout.place(user), |sending| sending.received(received));
        Judged { passed: true, ..Judged::default() }
    }

    fn failed(&mut self, user: usize, failure: &Failure) {
        self.outlives(user, failure, &Phases::default(), Transferred::default());
    }

    fn outlives(&mut self, user: usize, failure: &Failure, phases: &Phases, transferred: Transferred) -> bool {
        let place = self.load.layout.place(user);
        let Some(sending) = self.sending(place) else { return true };
        if sending.is_lost_when_idle(failure, phases) {
            (sending.is_repeated, sending.is_sent, sending.transferred) = (true, false, transferred);
            if let Place::Slot(at) = place
                && let Some(slot) = self.slot(at)
            {
                slot.state = State::Unsent;
            }
            return true;
        }
        self.settle(place, |sending| sending.failed(failure, phases, transferred));
        true
    }

    fn timeout(&self, user: usize) -> Option<Duration> {
        let sending = match self.load.layout.place(user) {
            Place::Slot(at) => self.slots[at].as_ref()?.own.as_ref(),
            Place::Lane(at, lane) => self.slots[at].as_ref()?.lanes[lane].as_ref(),
        };
        sending.map(|sending| sending.outgoing.timeout)
    }

    fn woken_by(&mut self, wake_up: &Arc<WakeUp>) {
        self.signal.wakes(wake_up.clone());
        self.load.conductor.woken_by(self.thread, wake_up.clone());
    }

    fn woken(&mut self, now: Nanos) -> Option<Wake> {
        if self.polled != Some(now) {
            self.polled = Some(now);
            self.poll(now);
            self.turn = self.wakes.len();
        }
        // What is woken from here on has its turn after the loop has polled again.
        self.turn = self.turn.checked_sub(1)?;
        self.wakes.pop_front()
    }

    fn next_wake(&self) -> Nanos {
        if !self.wakes.is_empty() || self.polled.is_none() {
            return 0;
        }
        let timer = self.timers.peek().map_or(Nanos::MAX, |Reverse((time, ..))| *time);
        timer.min(self.load.conductor.next_wake(self.thread))
    }

    fn is_stopped(&self) -> bool {
        self.load.is_over.load(Ordering::Acquire)
    }
}
