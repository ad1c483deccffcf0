//! The steering of a run by an operator who watches it: pauses, another rate or other connections, marks, and an early end.
//!
//! A thread looks for what is new every 10 ms, and takes it over into its pacer; so a request costs nothing more.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use torr_gauge::steering::{SteeringEvent, SteeringKind};
use torr_net::{Clock, Nanos, clock};

/// The time in nanoseconds between two looks of a thread for changes.
pub(crate) const LOOK: Nanos = 10_000_000;
/// The time in nanoseconds from the announcement of a change to its effect, so that all threads know of the change by then.
const NOTICE: Nanos = 3 * LOOK;
/// The factor of one step of a rate, or of connections.
const STEP: f64 = 1.1;
/// The highest and the lowest multiple of the planned rate.
const RATES: [f64; 2] = [0.01, 100.0];
/// The limit of events from which on there are no more marks, so that a key that is held down does not fill the memory.
const MOST_EVENTS: usize = 10_000;
/// The limit of changes of the load, for the same reason.
const MOST_CHANGES: usize = 10_000;

/// The property of a run's load that an operator can change besides pausing the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Steerable {
    /// The rate, which is changed by a factor. The planned rate in requests per second; `None` if the open loop has stages.
    Rate(Option<f64>),
    /// The connections of a closed loop, within these limits.
    Connections {
        /// The planned number of connections.
        planned: usize,
        /// The least number of connections: one for each thread.
        least: usize,
        /// The greatest number of connections, for which slots are prepared.
        most: usize,
    },
    /// Nothing.
    Nothing,
    /// Nothing, and there are no pauses either: other machines make the load.
    Remote,
    /// Nothing, and there are no pauses either: a script decides when its users act, and ends the run itself when that is to end.
    Script,
    /// Nothing, and there are no pauses either: each request has a time of its own.
    Times,
}

impl Steerable {
    /// Whether the run can be paused.
    pub fn has_pauses(self) -> bool {
        !matches!(self, Self::Remote | Self::Script | Self::Times)
    }

    /// Whether there is a rate, or there are connections, to be raised and lowered.
    pub fn has_steps(self) -> bool {
        !matches!(self, Self::Nothing | Self::Remote | Self::Script | Self::Times)
    }
}

/// A change of the load, as threads take it over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Change {
    /// The time in nanoseconds at which the change has effect, by the run's clock.
    pub at: Nanos,
    pub kind: ChangeKind,
}

/// The kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ChangeKind {
    Pause,
    Resume,
    /// The rate from then on is this many times what it was before.
    Rate(f64),
    Connections(usize),
}

/// The changes that an operator makes to the load of a run. Shared with the threads of the run.
#[derive(Debug)]
pub struct Steering {
    steerable: Steerable,
    /// The end of the warm-up by the run's clock, in nanoseconds; no change has effect before it.
    warm_until: Nanos,
    clock: OnceLock<Clock>,
    /// The number of `changes`.
    version: AtomicU64,
    state: Mutex<State>,
    ended: AtomicBool,
}

#[derive(Debug)]
struct State {
    now: SteeringState,
    changes: Vec<Change>,
    events: Vec<SteeringEvent>,
}

/// The load as it was steered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteeringState {
    /// Whether no request begins.
    pub paused: bool,
    /// The rate as a multiple of the planned one.
    pub rate: f64,
    /// The connections in use at most.
    pub connections: usize,
}

impl Steering {
    /// Returns the steering of a run with this many connections and this warm-up, which has changed nothing yet.
    pub(crate) fn new(steerable: Steerable, connections: usize, warmup: Duration) -> Self {
        let now = SteeringState { paused: false, rate: 1.0, connections };
        Self {
            steerable,
            warm_until: clock::nanos(warmup),
            clock: OnceLock::new(),
            version: AtomicU64::new(0),
            state: Mutex::new(State { now, changes: Vec::new(), events: Vec::new() }),
            ended: AtomicBool::new(false),
        }
    }

    /// Returns what can be changed beside pauses.
    pub fn steerable(&self) -> Steerable {
        self.steerable
    }

    /// Returns the load as it was steered so far.
    pub fn state(&self) -> SteeringState {
        self.lock().now
    }

    /// Pauses the run, or continues it. Requests in flight and sessions that have begun go on; so does the run's time.
    /// `None` where that cannot be, or before the run has begun.
    pub fn toggle_pause(&self) -> Option<SteeringEvent> {
        self.steerable.has_pauses().then_some(())?;
        self.change(|load| {
            load.paused = !load.paused;
            Some(match load.paused {
                true => (ChangeKind::Pause, SteeringKind::Pause, None),
                false => (ChangeKind::Resume, SteeringKind::Resume, None),
            })
        })
    }

    /// Multiplies the rate by 1.1, or the number of connections, rounded up. `None` where neither can be changed, at the upper
    /// limit, after too many changes, or before the run has begun.
    pub fn raise(&self) -> Option<SteeringEvent> {
        self.step(STEP)
    }

    /// Divides the rate by 1.1, or the number of connections, rounded down. `None` where neither can be changed, at the lower
    /// limit, after too many changes, or before the run has begun.
    pub fn lower(&self) -> Option<SteeringEvent> {
        self.step(1.0 / STEP)
    }

    /// Marks this moment. `None` before the run has begun, or where there are too many marks.
    pub fn mark(&self) -> Option<SteeringEvent> {
        self.note(SteeringKind::Mark)
    }

    /// Ends the run, which is not interrupted then.
    pub fn end(&self) -> Option<SteeringEvent> {
        self.ended.store(true, Ordering::Relaxed);
        self.note(SteeringKind::End)
    }

    /// Returns whether the load engine ends the run now.
    pub(crate) fn ends_now(&self) -> bool {
        self.steerable != Steerable::Script && self.is_ended()
    }

    /// Returns whether the run was ended by [`Steering::end`].
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Returns all that was done.
    pub fn events(&self) -> Vec<SteeringEvent> {
        self.lock().events.clone()
    }

    /// Whether connections can be raised and lowered.
    pub(crate) fn has_connections(&self) -> bool {
        matches!(self.steerable, Steerable::Connections { .. })
    }

    /// Returns the most connections of the run, where they can be changed.
    pub(crate) fn most_connections(&self) -> Option<usize> {
        match self.steerable {
            Steerable::Connections { most, .. } => Some(most),
            _ => None,
        }
    }

    /// Notes the clock of the run, which begins at its epoch.
    pub fn begin(&self, clock: Clock) {
        // A second run with the same steering would keep the first one's clock; there is none.
        let _ = self.clock.set(clock);
    }

    /// Returns the changes from number `seen` on; nothing without a lock where there is none.
    pub(crate) fn changes_from(&self, seen: usize) -> Vec<Change> {
        if self.version.load(Ordering::Acquire) as usize == seen {
            return Vec::new();
        }
        self.lock().changes.get(seen..).map(<[Change]>::to_vec).unwrap_or_default()
    }

    fn step(&self, factor: f64) -> Option<SteeringEvent> {
        self.change(|load| match self.steerable {
            Steerable::Rate(_) => {
                let [least, most] = RATES;
                let (before, rate) = (load.rate, load.rate * factor);
                // Steps up and down meet again at what was planned.
                load.rate = if (rate - 1.0).abs() < 1e-9 { 1.0 } else { rate };
                let value = (load.rate * 1e6).round() / 1e6;
                let change = (ChangeKind::Rate(load.rate / before), SteeringKind::Rate, Some(value));
                (least..=most).contains(&load.rate).then_some(change)
            }
            Steerable::Connections { least, most, .. } => {
                let (before, exact) = (load.connections, load.connections as f64 * factor);
                let wanted = if factor > 1.0 { exact.ceil() } else { exact.floor() } as usize;
                load.connections = wanted.clamp(least, most);
                let value = Some(load.connections as f64);
                let change = (ChangeKind::Connections(load.connections), SteeringKind::Connections, value);
                (load.connections != before).then_some(change)
            }
            Steerable::Nothing | Steerable::Remote | Steerable::Script | Steerable::Times => None,
        })
    }

    /// Changes the load as `decide` does, which returns what to tell the threads and the result. It is called with the lock held, so
    /// that changes at one time are made one after another.
    fn change(
        &self,
        decide: impl FnOnce(&mut SteeringState) -> Option<(ChangeKind, SteeringKind, Option<f64>)>,
    ) -> Option<SteeringEvent> {
        let clock = self.clock.get()?;
        let mut state = self.lock();
        let mut load = state.now;
        let (kind, what, value) = decide(&mut load)?;
        // A pause can always be ended.
        (state.changes.len() < MOST_CHANGES || kind == ChangeKind::Resume).then_some(())?;
        let last = state.changes.last().map_or(0, |change| change.at);
        let at = (clock.now() + NOTICE).max(self.warm_until).max(last);
        let event = SteeringEvent { t: self.measured_s(at), what, value };
        state.changes.push(Change { at, kind });
        state.events.push(event);
        state.now = load;
        self.version.store(state.changes.len() as u64, Ordering::Release);
        Some(event)
    }

    fn note(&self, what: SteeringKind) -> Option<SteeringEvent> {
        let mut state = self.lock();
        let has_room = state.events.len() < MOST_EVENTS || what != SteeringKind::Mark;
        let clock = self.clock.get().filter(|_| has_room)?;
        let event = SteeringEvent { t: self.measured_s(clock.now()), what, value: None };
        state.events.push(event);
        Some(event)
    }

    /// Returns a time of the run's clock in seconds since the measurement began, to milliseconds.
    fn measured_s(&self, at: Nanos) -> f64 {
        (at.saturating_sub(self.warm_until) as f64 / 1e6).round() / 1e3
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is complete when the lock is given back, whatever panics later.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn connections_go_in_steps_between_the_limits() {
        let steering = Steering::new(Steerable::Connections { planned: 10, least: 2, most: 40 }, 10, Duration::ZERO);
        assert_eq!((steering.raise(), steering.toggle_pause()), (None, None), "the run has not begun");
        steering.begin(Clock::start());
        assert_eq!(steering.raise().unwrap().value, Some(11.0));
        while steering.raise().is_some() {}
        assert_eq!(steering.state().connections, 40);
        while steering.lower().is_some() {}
        assert_eq!(steering.state().connections, 2);
        assert_eq!(steering.events().len(), steering.changes_from(0).len());
        assert!(steering.changes_from(steering.events().len()).is_empty());
    }

    #[test]
    fn a_rate_returns_to_the_plan_and_pauses_are_events() {
        let steering = Steering::new(Steerable::Rate(Some(1000.0)), 10, Duration::ZERO);
        steering.begin(Clock::start());
        steering.raise();
        steering.raise();
        steering.lower();
        steering.lower();
        assert_eq!(steering.state().rate, 1.0);
        steering.toggle_pause();
        assert!(steering.state().paused);
        steering.mark();
        steering.toggle_pause();
        steering.end();
        let kinds: Vec<_> = steering.events().iter().map(|event| event.what).collect();
        use SteeringKind::{End, Mark, Pause, Rate, Resume};
        assert_eq!(kinds, [Rate, Rate, Rate, Rate, Pause, Mark, Resume, End]);
        assert!(steering.is_ended() && !steering.state().paused);
    }

    #[test]
    fn what_several_do_at_once_is_done_one_after_another() {
        let steering = Steering::new(Steerable::Rate(Some(1000.0)), 10, Duration::ZERO);
        steering.begin(Clock::start());
        let begin = Barrier::new(4);
        let with_others = |act: fn(&Steering) -> Option<SteeringEvent>,
                           back: fn(&Steering) -> Option<SteeringEvent>| {
            begin.wait();
            (0..1000).for_each(|_| assert!(act(&steering).and(back(&steering)).is_some(), "there is room for all"));
        };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| with_others(Steering::raise, Steering::lower));
                scope.spawn(|| with_others(Steering::toggle_pause, Steering::toggle_pause));
            }
        });
        let (mut rate, mut paused) = (1.0, false);
        for (change, event) in steering.changes_from(0).iter().zip(steering.events()) {
            match change.kind {
                ChangeKind::Rate(factor) => {
                    rate *= factor;
                    let shown = event.value.expect("a rate has a value");
                    assert!((rate / shown - 1.0).abs() < 1e-3, "the rate is {rate}, the event says {shown}");
                }
                kind => {
                    assert_eq!(kind == ChangeKind::Pause, !paused, "pauses and their ends take turns");
                    paused = !paused;
                }
            }
        }
        assert!((rate / steering.state().rate - 1.0).abs() < 1e-6 && paused == steering.state().paused);
    }

    #[test]
    fn a_key_that_is_held_down_neither_fills_the_memory_nor_takes_a_pause_hostage() {
        let steering = Steering::new(Steerable::Rate(Some(1000.0)), 10, Duration::ZERO);
        steering.begin(Clock::start());
        assert!(steering.toggle_pause().is_some());
        let marks = (0..3 * MOST_EVENTS).take_while(|_| steering.mark().is_some()).count();
        assert!(marks <= MOST_EVENTS, "{marks}");
        assert!(steering.toggle_pause().is_some() && !steering.state().paused, "the run goes on");
        assert!(steering.raise().is_some() && steering.toggle_pause().is_some());
        for _ in 0..3 * MOST_EVENTS {
            steering.raise();
            steering.lower();
        }
        assert!(steering.toggle_pause().is_some() && !steering.state().paused, "a pause always ends");
        let changes = (0..3 * MOST_EVENTS).take_while(|_| steering.toggle_pause().is_some()).count();
        assert!(changes < 3 && !steering.state().paused, "{changes}");
        assert!(steering.end().is_some() && steering.events().len() <= 2 * MOST_EVENTS + 2);
    }

    #[test]
    fn a_run_of_which_nothing_can_be_changed_can_be_paused() {
        let steering = Steering::new(Steerable::Nothing, 10, Duration::ZERO);
        steering.begin(Clock::start());
        assert_eq!((steering.raise(), steering.lower()), (None, None));
        assert!(steering.toggle_pause().is_some());
    }
}
