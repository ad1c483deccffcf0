//! The conductor of a test: its state under one lock, and for each thread the time at which it has something to do.

use super::order::{Ending, Order};
use super::plan::ExecutionPlan;
use super::progress::{Counts, Progress};
use super::state::State;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Instant, SystemTime};
use torr_net::{Nanos, WakeUp};

/// The conductor of a test, shared by all load threads. Virtual user `n` belongs to thread `n % threads`.
#[derive(Debug)]
pub struct Conductor {
    plan: ExecutionPlan,
    threads: usize,
    state: Mutex<State>,
    /// The time of the run's clock at which the first scenario begins.
    epoch: OnceLock<Nanos>,
    /// That time on clocks that host functions can read.
    begun: OnceLock<(Instant, SystemTime)>,
    /// When each thread has something to do; the maximum if never.
    wakes: Vec<AtomicU64>,
    /// The events that end the waits of threads, once they are known.
    wake_ups: Vec<OnceLock<Arc<WakeUp>>>,
    is_over: AtomicBool,
}

impl Conductor {
    /// Returns the conductor of a plan. Nothing happens before [`start`](Self::start).
    #[must_use]
    pub fn new(plan: ExecutionPlan, threads: usize) -> Self {
        let threads = threads.max(1);
        let state = Mutex::new(State::new(&plan, threads));
        let wakes = (0..threads).map(|_| AtomicU64::new(Nanos::MAX)).collect();
        Self {
            plan,
            threads,
            state,
            epoch: OnceLock::new(),
            begun: OnceLock::new(),
            wakes,
            wake_ups: (0..threads).map(|_| OnceLock::new()).collect(),
            is_over: AtomicBool::new(false),
        }
    }

    /// Returns the plan.
    pub fn plan(&self) -> &ExecutionPlan {
        &self.plan
    }

    /// Returns the virtual users of a thread that can come to exist; those below [`VuCounts::planned`](super::VuCounts) exist
    /// before the test begins.
    pub fn vus_of(&self, thread: usize) -> impl Iterator<Item = usize> {
        (thread..self.plan.vus.most).step_by(self.threads)
    }

    /// Wakes a thread by this event from now on: when another thread has orders for it, or an iteration that is due earlier than all
    /// that it waits for.
    pub fn woken_by(&self, thread: usize, wake_up: Arc<WakeUp>) {
        let _ = self.wake_ups[thread].set(wake_up);
    }

    /// Wakes all threads.
    pub fn wake_all(&self) {
        (0..self.threads).for_each(|thread| self.wake(thread));
    }

    fn wake(&self, thread: usize) {
        if let Some(wake_up) = self.wake_ups[thread].get() {
            wake_up.wake();
        }
    }

    /// Begins the scenarios at a time of the run's clock.
    pub fn start(&self, now: Nanos) {
        if self.epoch.set(now).is_ok() {
            let _ = self.begun.set((Instant::now(), SystemTime::now()));
            self.note_wakes(&self.lock(), None);
            self.wake_all();
        }
    }

    /// Returns the time at which the scenarios began, `None` if they have not.
    pub fn started(&self) -> Option<Nanos> {
        self.epoch.get().copied()
    }

    /// Returns the time of day at which the scenarios began, `None` if they have not.
    pub fn started_at(&self) -> Option<SystemTime> {
        self.begun.get().map(|(_, at)| *at)
    }

    /// Returns the time of the run's clock, 0 before the scenarios have begun.
    pub fn now(&self) -> Nanos {
        let since = self.begun.get().map_or(0, |(at, _)| torr_net::clock::nanos(at.elapsed()));
        self.epoch.get().copied().unwrap_or_default().saturating_add(since)
    }

    /// Returns when a thread has something to do, unless one of its virtual users ends an iteration before: a time that has
    /// passed if there are orders now, the maximum if never.
    #[inline]
    pub fn next_wake(&self, thread: usize) -> Nanos {
        self.wakes[thread].load(Ordering::Relaxed)
    }

    /// Appends the orders for a thread.
    pub fn poll(&self, thread: usize, now: Nanos, orders: &mut Vec<Order>) {
        self.act(thread, now, orders, |state, now, orders| state.poll(thread, now, orders));
    }

    /// Notes that the iteration of a virtual user has ended. Called by the thread of the virtual user; appends the orders for it.
    pub fn ended(&self, vu: usize, ending: Ending, now: Nanos, orders: &mut Vec<Order>) {
        self.act(vu % self.threads, now, orders, |state, now, orders| state.ended(vu, ending, now, orders));
    }

    /// Notes that a virtual user exists that was to be created. Called by its thread; appends the orders for it.
    pub fn exists(&self, vu: usize, now: Nanos, orders: &mut Vec<Order>) {
        self.act(vu % self.threads, now, orders, |state, now, orders| state.exists(vu, now, orders));
    }

    /// Stops all scenarios: running iterations are interrupted, and no further ones begin. Called by any thread.
    pub fn stop(&self, now: Nanos) {
        // Without an epoch the scenarios never begin.
        let epoch = *self.epoch.get_or_init(|| now);
        let mut state = self.lock();
        state.stop(now.saturating_sub(epoch));
        self.note_wakes(&state, None);
    }

    /// Returns whether all scenarios have ended.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Returns the numbers of the test so far.
    pub fn counts(&self) -> Counts {
        self.lock().counts()
    }

    /// Returns what a scenario has done so far.
    pub fn progress(&self, scenario: usize, now: Nanos) -> Progress {
        let since = self.epoch.get().map_or(0, |epoch| now.saturating_sub(*epoch));
        self.lock().progress(scenario, since)
    }

    /// Lets the state act for a thread at a time of the run's clock. Times within orders are those of the run's clock again.
    fn act(
        &self,
        thread: usize,
        now: Nanos,
        orders: &mut Vec<Order>,
        act: impl FnOnce(&mut State, Nanos, &mut Vec<Order>),
    ) {
        let Some(&epoch) = self.epoch.get() else { return };
        let before = orders.len();
        let mut state = self.lock();
        act(&mut state, now.saturating_sub(epoch), orders);
        self.note_wakes(&state, Some(thread));
        drop(state);
        for order in &mut orders[before..] {
            if let Order::Begin(start) = order {
                start.deadline = start.deadline.saturating_add(epoch);
                start.due = start.due.map(|due| due.saturating_add(epoch));
            }
        }
    }

    /// Notes when threads have something to do. A thread beside the caller is woken if that is its own to do, and before what it waits for.
    fn note_wakes(&self, state: &State, caller: Option<usize>) {
        let epoch = self.epoch.get().copied().unwrap_or_default();
        for (thread, wake) in self.wakes.iter().enumerate() {
            let before = wake.swap(state.next_wake(thread).saturating_add(epoch), Ordering::Relaxed);
            // What any thread can do, the caller does.
            if caller != Some(thread) && state.next_own(thread).saturating_add(epoch) < before {
                self.wake(thread);
            }
        }
        if state.is_over() && !self.is_over.swap(true, Ordering::Relaxed) {
            self.wake_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulation::{MS, plan};
    use super::*;
    use serde_json::json;
    use std::time::Duration;
    use torr_net::{Events, Interest, Poller, Token};

    /// Returns the threads that were woken since the last call.
    fn woken(wake_ups: &[Arc<WakeUp>]) -> Vec<usize> {
        let poller = Poller::new().expect("there are descriptors");
        for (thread, wake_up) in wake_ups.iter().enumerate() {
            poller.add(&**wake_up, Token::new(thread as u32, 0), Interest::Level).expect("it is pollable");
        }
        let mut events = Events::with_capacity(8);
        poller.wait(&mut events, Some(Duration::ZERO)).expect("it waits");
        let mut threads: Vec<_> = events.iter().map(|event| event.token.index()).collect();
        threads.sort_unstable();
        wake_ups.iter().for_each(|wake_up| wake_up.clear());
        threads
    }

    #[test]
    fn other_threads_are_woken_for_what_only_they_can_do() {
        let options = json!({"scenarios": {
            "now": {"executor": "per-vu-iterations", "vus": 3, "iterations": 1},
            "rate": {"executor": "constant-arrival-rate", "rate": 10, "duration": "1s", "preAllocatedVUs": 3, "startTime": "1s"},
        }});
        let conductor = Conductor::new(plan(&options), 3);
        let wake_ups: Vec<_> = (0..3).map(|_| Arc::new(WakeUp::new().expect("there are descriptors"))).collect();
        wake_ups.iter().enumerate().for_each(|(thread, wake_up)| conductor.woken_by(thread, wake_up.clone()));
        conductor.start(0);
        assert_eq!(woken(&wake_ups), [0, 1, 2], "the scenarios begin");
        let mut orders = Vec::new();
        (0..3).for_each(|thread| conductor.poll(thread, 0, &mut orders));
        (0..2).for_each(|vu| conductor.ended(vu, Ending::Complete, MS, &mut orders));
        assert_eq!((orders.len(), woken(&wake_ups)), (3, vec![]), "{orders:?}");
        // The first thread begins the second scenario, for which the others wait as well.
        conductor.poll(0, 1_000 * MS, &mut orders);
        assert_eq!((orders.len(), woken(&wake_ups)), (4, vec![]), "{orders:?}");
        (1..3).for_each(|thread| conductor.poll(thread, 1_000 * MS, &mut orders));
        orders.clear();
        // Two virtual users run, of the last thread and of the first.
        conductor.stop(1_001 * MS);
        assert_eq!(woken(&wake_ups), [0, 2], "each has an iteration to interrupt");
        (0..3).for_each(|thread| conductor.poll(thread, 1_001 * MS, &mut orders));
        assert_eq!(orders, [Order::Interrupt(3), Order::Interrupt(2)]);
        conductor.ended(2, Ending::Interrupted, 1_002 * MS, &mut orders);
        assert_eq!((conductor.is_over(), woken(&wake_ups)), (false, vec![]));
        conductor.ended(3, Ending::Interrupted, 1_002 * MS, &mut orders);
        assert!(conductor.is_over());
        assert_eq!(woken(&wake_ups), [0, 1, 2], "the run goes on to its end");
    }
}
