//! The conductor of a test: its state under one lock, and for each thread the time at which it has something to do.

use super::order::{Ending, Order};
use super::plan::ExecutionPlan;
use super::progress::{Counts, Progress};
use super::state::State;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Instant, SystemTime};
use torr_net::Nanos;

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

    /// Begins the scenarios at a time of the run's clock.
    pub fn start(&self, now: Nanos) {
        if self.epoch.set(now).is_ok() {
            let _ = self.begun.set((Instant::now(), SystemTime::now()));
            self.note_wakes(&self.lock());
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
        self.act(now, orders, |state, now, orders| state.poll(thread, now, orders));
    }

    /// Notes that the iteration of a virtual user has ended. Called by the thread of the virtual user; appends the orders for it.
    pub fn ended(&self, vu: usize, ending: Ending, now: Nanos, orders: &mut Vec<Order>) {
        self.act(now, orders, |state, now, orders| state.ended(vu, ending, now, orders));
    }

    /// Notes that a virtual user exists that was to be created. Called by its thread; appends the orders for it.
    pub fn exists(&self, vu: usize, now: Nanos, orders: &mut Vec<Order>) {
        self.act(now, orders, |state, now, orders| state.exists(vu, now, orders));
    }

    /// Stops all scenarios: running iterations are interrupted, and no further ones begin. Called by any thread. Threads that
    /// sleep have to be woken by the caller.
    pub fn stop(&self, now: Nanos) {
        // Without an epoch the scenarios never begin.
        let epoch = *self.epoch.get_or_init(|| now);
        let mut state = self.lock();
        state.stop(now.saturating_sub(epoch));
        self.note_wakes(&state);
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

    /// Lets the state act at a time of the run's clock. Times within orders are those of the run's clock again.
    fn act(&self, now: Nanos, orders: &mut Vec<Order>, act: impl FnOnce(&mut State, Nanos, &mut Vec<Order>)) {
        let Some(&epoch) = self.epoch.get() else { return };
        let before = orders.len();
        let mut state = self.lock();
        act(&mut state, now.saturating_sub(epoch), orders);
        self.note_wakes(&state);
        drop(state);
        for order in &mut orders[before..] {
            if let Order::Begin(start) = order {
                start.deadline = start.deadline.saturating_add(epoch);
                start.due = start.due.map(|due| due.saturating_add(epoch));
            }
        }
    }

    fn note_wakes(&self, state: &State) {
        let epoch = self.epoch.get().copied().unwrap_or_default();
        for (thread, wake) in self.wakes.iter().enumerate() {
            wake.store(state.next_wake(thread).saturating_add(epoch), Ordering::Relaxed);
        }
        if state.is_over() {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
