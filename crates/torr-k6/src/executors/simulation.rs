//! A test on a simulated clock: threads that are never late, and iterations that take what a function says.

use super::conductor::Conductor;
use super::order::{Ending, Order, Start};
use super::plan::ExecutionPlan;
use crate::options::{Options, layered};
use serde_json::Value;
use std::collections::BTreeMap;
use torr_net::Nanos;

/// A time of the run's clock at which scenarios begin: not 0, so that a mixture of both clocks shows.
const EPOCH: Nanos = 7_000_000_000;

pub(super) const MS: Nanos = 1_000_000;

/// An iteration that has ended, with times in milliseconds from the beginning of the first scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Iteration {
    pub vu: usize,
    pub scenario: usize,
    pub begin: u64,
    pub end: u64,
    pub ending: Ending,
    pub start: Start,
}

/// What has happened in a test.
#[derive(Debug)]
pub(super) struct Outcome {
    pub iterations: Vec<Iteration>,
    pub dropped: BTreeMap<usize, u64>,
    pub warned: Vec<usize>,
    pub created: Vec<(usize, u64)>,
    /// When the last scenario ended, in milliseconds.
    pub end: u64,
    pub conductor: Conductor,
}

impl Outcome {
    /// Returns the iterations of a scenario as begin, end and virtual user, in the order of their beginnings.
    pub(super) fn times(&self, scenario: usize) -> Vec<(u64, u64, usize)> {
        let mut of: Vec<_> = self.iterations.iter().filter(|iteration| iteration.scenario == scenario).collect();
        of.sort_by_key(|iteration| iteration.start.in_test);
        of.iter().map(|iteration| (iteration.begin, iteration.end, iteration.vu)).collect()
    }

    pub(super) fn interrupted(&self) -> usize {
        self.iterations.iter().filter(|iteration| iteration.ending == Ending::Interrupted).count()
    }
}

pub(super) fn plan(options: &Value) -> ExecutionPlan {
    let (script, _) = Options::from_json(options).unwrap_or_else(|error| panic!("{error}"));
    let none = Options::default();
    let found = layered(&none, &script, &none, &none).unwrap_or_else(|error| panic!("{error}"));
    let min = found.options.min_iteration_duration;
    ExecutionPlan::new(&found.scenarios, min).unwrap_or_else(|error| panic!("{error}"))
}

/// A test that is simulated.
pub(super) struct Simulation {
    pub threads: usize,
    /// How long it takes to create a virtual user, in milliseconds.
    pub creation: u64,
    /// When the test is stopped, in milliseconds.
    pub stop: Option<u64>,
}

impl Default for Simulation {
    fn default() -> Self {
        Self { threads: 2, creation: 1, stop: None }
    }
}

impl Simulation {
    /// Runs a test whose iterations take so many milliseconds.
    pub(super) fn run(&self, options: &Value, takes: impl Fn(&Start) -> u64) -> Outcome {
        let conductor = Conductor::new(plan(options), self.threads);
        conductor.start(EPOCH);
        let mut running: BTreeMap<usize, (Nanos, Nanos, Start)> = BTreeMap::new();
        let mut creating: Vec<(Nanos, usize)> = Vec::new();
        let mut outcome = Outcome {
            iterations: Vec::new(),
            dropped: BTreeMap::new(),
            warned: Vec::new(),
            created: Vec::new(),
            end: 0,
            conductor,
        };
        let mut stop = self.stop.map(|at| EPOCH + at * MS);
        let mut turns = 0;
        while !outcome.conductor.is_over() {
            turns += 1;
            assert!(turns < 1_000_000, "the test does not end: {outcome:?}");
            let wakes = (0..self.threads).map(|thread| outcome.conductor.next_wake(thread));
            let ends = running.values().map(|(_, end, _)| *end);
            let now = wakes.chain(ends).chain(creating.iter().map(|(at, _)| *at)).chain(stop).min();
            let now = now.expect("a test that is not over has something to do").max(EPOCH);
            assert_ne!(now, Nanos::MAX, "the test waits for ever: {outcome:?}");
            let mut orders = Vec::new();
            if stop.is_some_and(|at| at <= now) {
                stop = None;
                outcome.conductor.stop(now);
            }
            // Iterations end before timers of the same time.
            let ended: Vec<_> = running.iter().filter(|(_, (_, end, _))| *end <= now).map(|(vu, _)| *vu).collect();
            for vu in ended {
                let (begin, _, start) = running.remove(&vu).expect("it was found above");
                outcome.end_of(vu, begin, now, start, Ending::Complete, &mut orders);
            }
            for (_, vu) in creating.extract_if(.., |(at, _)| *at <= now) {
                outcome.conductor.exists(vu, now, &mut orders);
            }
            for thread in 0..self.threads {
                if outcome.conductor.next_wake(thread) <= now {
                    outcome.conductor.poll(thread, now, &mut orders);
                }
            }
            while !orders.is_empty() {
                for order in std::mem::take(&mut orders) {
                    match order {
                        Order::Begin(start) => {
                            let end = now + takes(&start) * MS;
                            let before = running.insert(start.vu, (now, end, start));
                            assert_eq!(before, None, "a virtual user runs one iteration at a time");
                        }
                        Order::Interrupt(vu) => {
                            // The iteration may have ended in the meantime.
                            if let Some((begin, _, start)) = running.remove(&vu) {
                                outcome.end_of(vu, begin, now, start, Ending::Interrupted, &mut orders);
                            }
                        }
                        Order::Create(vu) => {
                            outcome.created.push((vu, (now - EPOCH) / MS));
                            creating.push((now + self.creation * MS, vu));
                        }
                        Order::Dropped { scenario, count } => *outcome.dropped.entry(scenario).or_default() += count,
                        Order::Insufficient { scenario } => outcome.warned.push(scenario),
                    }
                }
            }
            outcome.end = (now - EPOCH) / MS;
        }
        assert!(running.is_empty(), "no iteration runs after the end");
        outcome
    }
}

impl Outcome {
    fn end_of(&mut self, vu: usize, begin: Nanos, now: Nanos, start: Start, ending: Ending, orders: &mut Vec<Order>) {
        let (scenario, begin, end) = (start.scenario, (begin - EPOCH) / MS, (now - EPOCH) / MS);
        self.iterations.push(Iteration { vu, scenario, begin, end, ending, start });
        self.conductor.ended(vu, ending, now, orders);
    }
}
