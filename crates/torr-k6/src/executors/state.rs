//! The state of all scenarios and virtual users, and its transitions. Times count from the beginning of the first scenario.

use super::order::{Ending, Order, Start};
use super::plan::ExecutionPlan;
use super::progress::{Counts, Progress, Status};
use super::ramping::Change;
use super::scenario_state::{ScenarioState, Work};
use super::timers::{Timer, Timers};
use super::vu_state::{Activity, VuState};
use std::collections::VecDeque;
use torr_net::Nanos;
use torr_net::clock::nanos;

/// The shortest time between two looks for dropped iterations of a scenario.
const BETWEEN_DROPS: Nanos = 1_000_000;

/// The state of a test.
#[derive(Debug)]
pub(super) struct State {
    threads: usize,
    min_iteration: Nanos,
    scenarios: Vec<ScenarioState>,
    vus: Vec<VuState>,
    /// The virtual users without a scenario, those that have waited longest first.
    pool: VecDeque<usize>,
    /// The number of virtual users that exist or are being created.
    created: usize,
    /// The scenarios that wait for a virtual user, each with the number within the scenario.
    wanting: VecDeque<(usize, usize)>,
    timers: Timers,
    mail: Vec<Vec<Order>>,
    /// The thread that called.
    caller: usize,
    counts: Counts,
}

impl State {
    /// Returns the state before the first scenario has begun.
    pub(super) fn new(plan: &ExecutionPlan, threads: usize) -> Self {
        let planned = plan.vus.planned;
        let mut vus: Vec<_> = (0..plan.vus.most).map(|_| VuState::absent()).collect();
        vus[..planned].iter_mut().for_each(|vu| vu.activity = Activity::Pooled);
        let mut state = Self {
            threads,
            min_iteration: nanos(plan.min_iteration),
            scenarios: plan.scenarios.iter().map(ScenarioState::new).collect(),
            vus,
            pool: (0..planned).collect(),
            created: planned,
            wanting: VecDeque::new(),
            timers: Timers::new(threads),
            mail: vec![Vec::new(); threads],
            caller: 0,
            counts: Counts { initialized: planned, ..Counts::default() },
        };
        for (number, scenario) in state.scenarios.iter().enumerate() {
            state.timers.add(scenario.begin, Timer::Begin(number));
        }
        state
    }

    /// Takes all timers that are due, and moves the orders for the thread to `orders`.
    pub(super) fn poll(&mut self, thread: usize, now: Nanos, orders: &mut Vec<Order>) {
        self.caller = thread;
        self.take_timers(now);
        orders.append(&mut self.mail[thread]);
    }

    /// Notes that an iteration has ended.
    pub(super) fn ended(&mut self, vu: usize, ending: Ending, now: Nanos, orders: &mut Vec<Order>) {
        self.caller = vu % self.threads;
        self.take_timers(now);
        if matches!(self.vus[vu].activity, Activity::Running | Activity::Interrupting) {
            self.end(vu, ending, now);
            self.take_timers(now);
        }
        orders.append(&mut self.mail[vu % self.threads]);
    }

    /// Notes that a virtual user exists which was to be created.
    pub(super) fn exists(&mut self, vu: usize, now: Nanos, orders: &mut Vec<Order>) {
        self.caller = vu % self.threads;
        self.take_timers(now);
        if self.vus[vu].activity == Activity::Creating {
            self.counts.initialized += 1;
            let number = self.vus[vu].scenario;
            if let Some(arrival) = self.scenarios[number].arrival() {
                arrival.is_creating = false;
            }
            self.vus[vu].activity = Activity::Pooled;
            if self.scenarios[number].status == Status::Running {
                self.attach(vu, number, 0, now);
            } else {
                self.offer(vu, now);
            }
            self.take_timers(now);
        }
        orders.append(&mut self.mail[vu % self.threads]);
    }

    /// Stops all scenarios: running iterations are interrupted, and no further ones begin.
    pub(super) fn stop(&mut self, now: Nanos) {
        self.wanting.clear();
        for number in 0..self.scenarios.len() {
            let scenario = &mut self.scenarios[number];
            match scenario.status {
                Status::Waiting => {
                    scenario.status = Status::Done;
                    scenario.is_cut = true;
                }
                Status::Running | Status::Stopping => {
                    scenario.status = Status::Stopping;
                    scenario.is_cut = true;
                    self.interrupt_all(number, now, false);
                }
                Status::Done => {}
            }
        }
    }

    /// Returns when the thread has something to do: at once if there are orders for it.
    pub(super) fn next_wake(&self, thread: usize) -> Nanos {
        self.next_own(thread).min(self.timers.next_of_scenarios())
    }

    /// Returns when the thread has something to do that no other thread can do.
    pub(super) fn next_own(&self, thread: usize) -> Nanos {
        if self.mail[thread].is_empty() { self.timers.next_of_vus(thread) } else { 0 }
    }

    /// Returns whether all scenarios have ended.
    pub(super) fn is_over(&self) -> bool {
        self.scenarios.iter().all(|scenario| scenario.status == Status::Done)
    }

    /// Returns the numbers of the test so far.
    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns what a scenario has done so far.
    pub(super) fn progress(&self, number: usize, now: Nanos) -> Progress {
        self.scenarios[number].progress(now)
    }

    fn take_timers(&mut self, now: Nanos) {
        while let Some((at, timer)) = self.timers.due(now) {
            match timer {
                // What happens late happened at its time: the first iterations of an arrival rate are late then, not dropped.
                Timer::Begin(number) => self.begin_scenario(number, at),
                Timer::Step(number) => self.step(number, at),
                Timer::Stop { vu, generation } => self.stop_vu(vu, generation, at),
                Timer::Drops(number) => self.find_drops(number, now),
                Timer::RegularEnd(number) => self.end_regularly(number, now),
                Timer::HardEnd(number) => self.interrupt_all(number, now, true),
            }
        }
        while let Some((vu, generation)) = self.timers.due_vu(self.caller, now) {
            if self.vus[vu].generation != generation {
                continue;
            }
            match self.vus[vu].activity {
                Activity::Due(due) => self.begin(vu, now, Some(due)),
                Activity::Padding => self.free(vu, now),
                _ => {}
            }
        }
    }

    fn begin_scenario(&mut self, number: usize, at: Nanos) {
        let scenario = &mut self.scenarios[number];
        if scenario.status != Status::Waiting {
            return;
        }
        scenario.status = Status::Running;
        self.timers.add(scenario.regular_end, Timer::RegularEnd(number));
        self.timers.add(scenario.hard_end, Timer::HardEnd(number));
        let vus = match &mut scenario.work {
            Work::Shared(vus, _) | Work::PerVu(vus, _) | Work::Constant(vus) | Work::Arrival(vus, _) => *vus,
            Work::Ramping(ramping) => {
                if let Some(step) = ramping.next_step() {
                    self.timers.add(at + step, Timer::Step(number));
                }
                return;
            }
        };
        (0..vus).for_each(|handle| self.acquire(number, handle, at));
        self.watch_drops(number, at);
    }

    /// Gives a scenario a virtual user, now or as soon as one is available.
    fn acquire(&mut self, number: usize, handle: usize, now: Nanos) {
        match self.pool.pop_front() {
            Some(vu) => self.attach(vu, number, handle, now),
            None => self.wanting.push_back((number, handle)),
        }
    }

    fn attach(&mut self, vu: usize, number: usize, handle: usize, now: Nanos) {
        let scenario = &mut self.scenarios[number];
        scenario.attached += 1;
        match &mut scenario.work {
            Work::Arrival(..) => {}
            work => {
                if let Work::Ramping(ramping) = work {
                    ramping.attach(handle, vu);
                }
                scenario.active += 1;
                self.counts.active += 1;
            }
        }
        let state = &mut self.vus[vu];
        (state.scenario, state.handle, state.iterations) = (number, handle, 0);
        self.set(vu, Activity::Idle);
        self.free(vu, now);
    }

    /// Decides what a virtual user does that has a scenario and no iteration.
    fn free(&mut self, vu: usize, now: Nanos) {
        let (number, handle) = (self.vus[vu].scenario, self.vus[vu].handle);
        let scenario = &mut self.scenarios[number];
        if scenario.status != Status::Running {
            return self.release(vu, now);
        }
        let begins = match &mut scenario.work {
            Work::Shared(_, left) => {
                let begins = *left > 0;
                *left = left.saturating_sub(1);
                begins
            }
            Work::PerVu(_, each) => self.vus[vu].iterations < *each,
            Work::Constant(_) => true,
            Work::Ramping(ramping) => ramping.goes_on(handle),
            Work::Arrival(_, arrival) => {
                // Iterations that became due while a virtual user was idle have been taken already.
                let dropped = arrival.drop_before(now.saturating_sub(scenario.begin));
                let due = arrival.take().map(|due| scenario.begin + due);
                self.set(vu, due.map_or(Activity::Idle, Activity::Due));
                if let Some(due) = due {
                    self.timers.add_vu(vu % self.threads, due, (vu, self.vus[vu].generation));
                }
                return self.dropped(number, dropped, now);
            }
        };
        if begins { self.begin(vu, now, None) } else { self.release(vu, now) }
    }

    fn begin(&mut self, vu: usize, now: Nanos, due: Option<Nanos>) {
        self.set(vu, Activity::Running);
        let in_scenario = self.vus[vu].begin(now);
        let number = self.vus[vu].scenario;
        let scenario = &mut self.scenarios[number];
        let start =
            Start { vu, scenario: number, in_test: scenario.begun, in_scenario, due, deadline: scenario.hard_end };
        scenario.begun += 1;
        self.mail[vu % self.threads].push(Order::Begin(start));
        if let Some(arrival) = scenario.arrival() {
            arrival.waiting -= 1;
            scenario.active += 1;
            self.counts.active += 1;
            self.watch_drops(number, now);
        }
    }

    fn end(&mut self, vu: usize, ending: Ending, now: Nanos) {
        let number = self.vus[vu].scenario;
        let scenario = &mut self.scenarios[number];
        match ending {
            Ending::Complete => {
                self.counts.complete += 1;
                scenario.complete += 1;
            }
            Ending::Interrupted => self.counts.interrupted += 1,
        }
        if matches!(scenario.work, Work::Arrival(..)) {
            scenario.active -= 1;
            self.counts.active -= 1;
        }
        let padded = self.vus[vu].begun + self.min_iteration;
        if ending == Ending::Complete && now < padded && now < scenario.hard_end && scenario.status != Status::Done {
            let at = padded.min(scenario.hard_end);
            self.set(vu, Activity::Padding);
            self.timers.add_vu(vu % self.threads, at, (vu, self.vus[vu].generation));
        } else {
            self.set(vu, Activity::Idle);
            self.free(vu, now);
        }
    }

    /// Takes a virtual user from its scenario.
    fn release(&mut self, vu: usize, now: Nanos) {
        let (number, handle) = (self.vus[vu].scenario, self.vus[vu].handle);
        let scenario = &mut self.scenarios[number];
        scenario.attached -= 1;
        match &mut scenario.work {
            Work::Arrival(_, arrival) => {
                arrival.waiting -= usize::from(matches!(self.vus[vu].activity, Activity::Due(_)))
            }
            work => {
                if let Work::Ramping(ramping) = work {
                    ramping.detach(handle);
                }
                scenario.active -= 1;
                self.counts.active -= 1;
            }
        }
        self.set(vu, Activity::Pooled);
        self.finish_if_empty(number, now);
        self.offer(vu, now);
    }

    /// Gives a virtual user without a scenario to the scenario that has waited longest.
    fn offer(&mut self, vu: usize, now: Nanos) {
        match self.wanting.pop_front() {
            Some((number, handle)) => self.attach(vu, number, handle, now),
            None => self.pool.push_back(vu),
        }
    }

    /// Ends a scenario that has no virtual users left and needs none.
    fn finish_if_empty(&mut self, number: usize, now: Nanos) {
        let scenario = &mut self.scenarios[number];
        let has_all = match (&scenario.work, scenario.status) {
            (_, Status::Stopping) => true,
            (Work::Shared(_, left), Status::Running) => *left == 0,
            (Work::PerVu(..), Status::Running) => scenario.iterations == Some(scenario.begun),
            _ => false,
        };
        if has_all && scenario.attached == 0 {
            scenario.status = Status::Done;
            scenario.ended = now;
            self.wanting.retain(|(of, _)| *of != number);
        }
    }

    fn step(&mut self, number: usize, at: Nanos) {
        let scenario = &mut self.scenarios[number];
        let (begin, regular_end, hard_end) = (scenario.begin, scenario.regular_end, scenario.hard_end);
        let (Status::Running, Work::Ramping(ramping)) = (scenario.status, &mut scenario.work) else { return };
        // The step's own times count from the beginning of the scenario.
        let change = ramping.step();
        if let Some(next) = ramping.next_step() {
            self.timers.add(begin + next, Timer::Step(number));
        }
        match change {
            // A virtual user that starts at the very end would run one iteration outside of the regular time.
            Change::Acquire(_) if at >= regular_end => {}
            Change::Acquire(handle) => self.acquire(number, handle, at),
            Change::Forget(handle) => self.wanting.retain(|wanting| *wanting != (number, handle)),
            Change::Leave(vu, until) => {
                let until = begin.saturating_add(until);
                match self.vus[vu].activity {
                    Activity::Running if until < hard_end => {
                        self.timers.add(until, Timer::Stop { vu, generation: self.vus[vu].generation });
                    }
                    Activity::Running | Activity::Interrupting => {}
                    _ => self.release(vu, at),
                }
            }
            Change::Nothing => {}
        }
    }

    /// Interrupts a virtual user that is no longer wanted and has not ended its iteration in time.
    fn stop_vu(&mut self, vu: usize, generation: u64, at: Nanos) {
        let state = &self.vus[vu];
        if state.generation != generation || state.activity != Activity::Running {
            return;
        }
        let (handle, scenario) = (state.handle, &mut self.scenarios[state.scenario]);
        let since = at - scenario.begin;
        if let Work::Ramping(ramping) = &mut scenario.work
            && ramping.stops(handle, since)
        {
            self.interrupt(vu);
        }
    }

    fn interrupt(&mut self, vu: usize) {
        self.set(vu, Activity::Interrupting);
        self.mail[vu % self.threads].push(Order::Interrupt(vu));
    }

    fn end_regularly(&mut self, number: usize, now: Nanos) {
        let scenario = &mut self.scenarios[number];
        if scenario.status != Status::Running {
            return;
        }
        scenario.status = Status::Stopping;
        self.wanting.retain(|(of, _)| *of != number);
        let dropped = scenario.drop_rest();
        self.dropped(number, dropped, now);
        // A virtual user whose iteration was due before the end begins it: its thread may be late.
        self.each_of(number, |state, vu| {
            if state.vus[vu].activity == Activity::Idle {
                state.release(vu, now);
            }
        });
        self.finish_if_empty(number, now);
    }

    fn interrupt_all(&mut self, number: usize, now: Nanos, counts_dropped: bool) {
        if self.scenarios[number].status == Status::Done {
            return;
        }
        self.scenarios[number].status = Status::Stopping;
        let mut dropped = 0;
        self.each_of(number, |state, vu| match state.vus[vu].activity {
            Activity::Running => state.interrupt(vu),
            Activity::Due(_) => {
                dropped += u64::from(counts_dropped);
                state.release(vu, now);
            }
            Activity::Idle | Activity::Padding => state.release(vu, now),
            _ => {}
        });
        self.dropped(number, dropped, now);
        self.finish_if_empty(number, now);
    }

    /// Does something with all virtual users that a scenario has.
    fn each_of(&mut self, number: usize, mut act: impl FnMut(&mut Self, usize)) {
        for vu in 0..self.created {
            let state = &self.vus[vu];
            if state.scenario == number
                && !matches!(state.activity, Activity::Absent | Activity::Creating | Activity::Pooled)
            {
                act(self, vu);
            }
        }
    }

    fn find_drops(&mut self, number: usize, now: Nanos) {
        let scenario = &mut self.scenarios[number];
        let (status, since) = (scenario.status, now.saturating_sub(scenario.begin));
        let Some(arrival) = scenario.arrival() else { return };
        arrival.is_watched = false;
        if status == Status::Running && arrival.waiting == 0 {
            let dropped = arrival.drop_before(since + 1);
            self.dropped(number, dropped, now);
            self.watch_drops(number, now);
        }
    }

    /// Looks for dropped iterations when the next one is due, if no virtual user waits for it.
    fn watch_drops(&mut self, number: usize, now: Nanos) {
        let scenario = &mut self.scenarios[number];
        let begin = scenario.begin;
        let Some(arrival) = scenario.arrival() else { return };
        let is_settled = arrival.unplanned == 0 && !arrival.is_creating && arrival.has_warned;
        if arrival.waiting > 0 || arrival.is_watched || is_settled {
            return;
        }
        if let Some(due) = arrival.next_due() {
            arrival.is_watched = true;
            self.timers.add((begin + due).max(now + BETWEEN_DROPS), Timer::Drops(number));
        }
    }

    /// Notes iterations that were dropped. An arrival rate gets another virtual user for that, or warns that there is none.
    fn dropped(&mut self, number: usize, count: u64, now: Nanos) {
        if count == 0 {
            return;
        }
        let scenario = &mut self.scenarios[number];
        scenario.dropped += count;
        self.mail[self.caller].push(Order::Dropped { scenario: number, count });
        let is_running = scenario.status == Status::Running;
        let Some(arrival) = scenario.arrival() else { return };
        if !is_running || arrival.is_creating {
            return;
        }
        if arrival.unplanned == 0 {
            if !std::mem::replace(&mut arrival.has_warned, true) {
                self.mail[self.caller].push(Order::Insufficient { scenario: number });
            }
        } else if self.created < self.vus.len() {
            arrival.unplanned -= 1;
            arrival.is_creating = true;
            let vu = self.created;
            self.created += 1;
            self.vus[vu].scenario = number;
            self.set(vu, Activity::Creating);
            self.mail[vu % self.threads].push(Order::Create(vu));
        } else if let Some(vu) = self.pool.pop_front() {
            arrival.unplanned -= 1;
            self.attach(vu, number, 0, now);
        }
    }

    fn set(&mut self, vu: usize, activity: Activity) {
        let state = &mut self.vus[vu];
        state.activity = activity;
        state.generation += 1;
    }
}
