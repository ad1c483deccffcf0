//! The state of a scenario: its times, its work, its counts.

use super::arrival::Arrival;
use super::progress::{Progress, Status};
use super::ramp::Ramp;
use super::ramping::Ramping;
use super::schedule::Schedule;
use crate::options::{ArrivalRate, Executor, Scenario};
use std::time::Duration;
use torr_net::Nanos;
use torr_net::clock::nanos;

/// What begins the iterations of a scenario.
#[derive(Debug)]
pub(super) enum Work {
    /// The number of virtual users, and of iterations that have not begun.
    Shared(usize, u64),
    /// The number of virtual users, and of iterations of each.
    PerVu(usize, u64),
    /// The number of virtual users.
    Constant(usize),
    Ramping(Ramping),
    /// The number of virtual users at the beginning, and the iterations.
    Arrival(usize, Arrival),
}

/// The state of a scenario.
#[derive(Debug)]
pub(super) struct ScenarioState {
    pub begin: Nanos,
    pub regular_end: Nanos,
    pub hard_end: Nanos,
    pub work: Work,
    pub status: Status,
    pub begun: u64,
    pub complete: u64,
    pub dropped: u64,
    pub iterations: Option<u64>,
    /// The virtual users that the scenario has, and those of them that are active.
    pub attached: usize,
    pub active: usize,
    pub ended: Nanos,
    pub is_cut: bool,
}

impl ScenarioState {
    /// Returns the state of a scenario that has not begun.
    pub(super) fn new(scenario: &Scenario) -> Self {
        let begin = nanos(scenario.start_time);
        let regular_end = begin + nanos(scenario.executor.regular_duration());
        let arrival = |schedule: Schedule, of: &ArrivalRate| {
            let unplanned = of.max_vus - of.pre_allocated_vus;
            Work::Arrival(of.pre_allocated_vus as usize, Arrival::new(schedule, unplanned))
        };
        let mut iterations = None;
        let work = match &scenario.executor {
            Executor::SharedIterations { vus, iterations: count, .. } => {
                iterations = Some(*count);
                Work::Shared(*vus as usize, *count)
            }
            Executor::PerVuIterations { vus, iterations: each, .. } => {
                iterations = Some(each.saturating_mul(*vus));
                Work::PerVu(*vus as usize, *each)
            }
            Executor::ConstantVus { vus, .. } => Work::Constant(*vus as usize),
            Executor::RampingVus { start_vus, stages, graceful_ramp_down } => {
                let (ramp, most) = (Ramp::new(*start_vus, stages), scenario.executor.max_vus() as usize);
                Work::Ramping(Ramping::new(ramp, most, nanos(*graceful_ramp_down)))
            }
            Executor::ConstantArrivalRate { rate, duration, arrival: of } => {
                arrival(Schedule::constant(*rate, of.time_unit, *duration), of)
            }
            Executor::RampingArrivalRate { start_rate, stages, arrival: of } => {
                arrival(Schedule::ramping(*start_rate, of.time_unit, stages), of)
            }
        };
        Self {
            begin,
            regular_end,
            hard_end: regular_end + nanos(scenario.graceful_stop),
            work,
            status: Status::Waiting,
            begun: 0,
            complete: 0,
            dropped: 0,
            iterations,
            attached: 0,
            active: 0,
            ended: 0,
            is_cut: false,
        }
    }

    /// Returns the iterations of an arrival rate, if the scenario has one.
    pub(super) fn arrival(&mut self) -> Option<&mut Arrival> {
        match &mut self.work {
            Work::Arrival(_, arrival) => Some(arrival),
            _ => None,
        }
    }

    /// Drops all iterations that have not begun and that no virtual user waits for, and returns their number.
    pub(super) fn drop_rest(&mut self) -> u64 {
        match &mut self.work {
            Work::Shared(_, left) => std::mem::take(left),
            Work::PerVu(vus, each) => each.saturating_mul(*vus as u64).saturating_sub(self.begun),
            Work::Constant(_) | Work::Ramping(_) => 0,
            Work::Arrival(_, arrival) => arrival.drop_all(),
        }
    }

    /// Returns what the scenario has done so far.
    pub(super) fn progress(&self, now: Nanos) -> Progress {
        let now = if self.status == Status::Done { self.ended } else { now };
        let elapsed = now.min(self.regular_end).saturating_sub(self.begin);
        let length = self.regular_end - self.begin;
        let share = match self.iterations {
            Some(iterations) => self.complete as f64 / iterations as f64,
            None if length == 0 => 1.0,
            None => elapsed as f64 / length as f64,
        };
        Progress {
            status: self.status,
            share,
            elapsed: Duration::from_nanos(elapsed),
            active: self.active,
            vus: self.attached,
            begun: self.begun,
            complete: self.complete,
            iterations: self.iterations,
            is_cut: self.is_cut || self.dropped > 0,
        }
    }
}
