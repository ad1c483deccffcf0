//! The iterations of a thread's virtual users: what the conductor orders, and what is recorded when they end.

use super::ThreadVus;
use crate::api::http::HttpState;
use crate::executors::{Ending, Order, Start};
use crate::log::Level;
use crate::metrics::{TagSet, builtin};
use crate::options::SystemTag;
use crate::user::TaskEnd;
use crate::users::beginning::Beginning;
use crate::users::slot::{Job, Resumption, State};
use std::time::Duration;
use torr_net::Nanos;
use torr_press::users::Wake;

impl ThreadVus<'_> {
    /// Notes that a task has ended.
    pub(super) fn ended(&mut self, at: usize, end: TaskEnd, now: Nanos) {
        self.give_up_lanes(at);
        let Some(slot) = self.slot(at) else { return };
        match std::mem::replace(&mut slot.job, Job::None) {
            Job::Iteration(start, begun) => self.iteration_ended(at, &start, begun, end, now),
            Job::Setup => {
                HttpState::record_data(&slot.machine.vu);
                self.setup_ended(end, now);
            }
            Job::Teardown => {
                HttpState::record_data(&slot.machine.vu);
                self.teardown_ended(end, now);
            }
            Job::None => {}
        }
    }

    pub(super) fn iteration_ended(&mut self, at: usize, start: &Start, begun: Nanos, end: TaskEnd, now: Nanos) {
        let load = self.load;
        let scenario = &load.conductor.plan().scenarios[start.scenario];
        let Some(slot) = self.slots[at].as_deref_mut() else { return };
        let vu = &slot.machine.vu;
        let ending = match &end {
            TaskEnd::Interrupted => Ending::Interrupted,
            TaskEnd::Threw(error) => {
                let text = if error.stack.is_empty() {
                    error.message.clone()
                } else {
                    format!("{}\n{}", error.message, error.stack.trim_end())
                };
                let fields =
                    [("executor", scenario.executor.name()), ("scenario", &*scenario.name), ("source", "stacktrace")];
                load.run.log.write(Level::Error, &text, &fields);
                Ending::Complete
            }
            _ => Ending::Complete,
        };
        {
            let mut recorder = self.recorder.borrow_mut();
            recorder.set_off(false);
            if ending == Ending::Complete {
                let mut current = vu.tags.borrow_mut();
                current.set_group("");
                let tags = current.set(&mut recorder);
                recorder.add_time(builtin::ITERATION_DURATION, Duration::from_nanos(now.saturating_sub(begun)), &tags);
                recorder.add(builtin::ITERATIONS, 1.0, &tags);
            }
        }
        HttpState::record_data(vu);
        if load.run.options.get().is_some_and(|all| all.options.no_vu_connection_reuse == Some(true)) {
            self.wakes.push_back(Wake::Disconnect(at));
        }
        if load.control().is_stopped() {
            // No further iteration begins, also before the thread that leads has seen it.
            load.conductor.stop(now);
        }
        let virtual_user = load.layout.virtual_user(self.thread, at);
        let mut orders = std::mem::take(&mut self.orders);
        load.conductor.ended(virtual_user, ending, now, &mut orders);
        self.obey(&mut orders, Some(at), now);
        self.orders = orders;
    }

    /// Carries out the orders of the conductor.
    pub(super) fn obey(&mut self, orders: &mut Vec<Order>, current: Option<usize>, now: Nanos) {
        for order in orders.drain(..) {
            match order {
                Order::Begin(start) => self.begin_iteration(start, current, now),
                Order::Interrupt(virtual_user) => self.interrupt(self.load.layout.slot_of(virtual_user)),
                Order::Create(virtual_user) => {
                    if self.create(virtual_user) {
                        let mut further = Vec::new();
                        self.load.conductor.exists(virtual_user, now, &mut further);
                        self.obey(&mut further, None, now);
                    }
                }
                Order::Dropped { scenario, count } => self.record_dropped(scenario, count),
                Order::Insufficient { scenario } => {
                    let scenario = &self.load.conductor.plan().scenarios[scenario];
                    let text = format!(
                        "Insufficient VUs, reached {} active VUs and cannot initialize more",
                        scenario.executor.max_vus()
                    );
                    let fields = [("executor", scenario.executor.name()), ("scenario", &*scenario.name)];
                    self.load.run.log.write(Level::Warning, &text, &fields);
                }
            }
        }
    }

    pub(super) fn begin_iteration(&mut self, start: Start, current: Option<usize>, now: Nanos) {
        let at = self.load.layout.slot_of(start.vu);
        let scenario = &self.load.conductor.plan().scenarios[start.scenario];
        let deadline = self.instant(start.deadline);
        let function = self.functions[start.scenario].clone();
        if let Some(due) = start.due {
            self.recorder.borrow_mut().add_send_lag(Duration::from_nanos(now.saturating_sub(due)));
        }
        let Some(slot) = self.slots[at].as_deref_mut() else { return };
        let beginning = Beginning {
            scenario,
            scenario_number: start.scenario,
            function,
            in_test: start.in_test,
            in_scenario: start.in_scenario,
            in_instance: slot.begun,
        };
        let task = beginning.task(&self.load.run, &slot.machine.vu);
        slot.begun += 1;
        slot.job = Job::Iteration(start, now);
        slot.state = State::Ready(Resumption::Begin(task, deadline));
        if current != Some(at) {
            self.wakes.push_back(Wake::Next(at));
        }
    }

    pub(super) fn record_dropped(&mut self, scenario: usize, count: u64) {
        let all = self.load.run.options.get();
        let (system, run_tags) = all.map_or_else(Default::default, |all| {
            (all.options.enabled_system_tags(), all.options.tags.clone().unwrap_or_default())
        });
        let scenario = &self.load.conductor.plan().scenarios[scenario];
        // No virtual user had the iteration: it has no group, and not the tags that the scenario gives to its users.
        let mut tags: Vec<_> = run_tags.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        if system.has(SystemTag::Scenario) {
            tags.push((SystemTag::Scenario.name(), &scenario.name));
        }
        let mut recorder = self.recorder.borrow_mut();
        let tags = recorder.tag_set(&TagSet::default(), &tags);
        recorder.add(builtin::DROPPED_ITERATIONS, count as f64, &tags);
    }

    /// Interrupts the task of a slot.
    pub(super) fn interrupt(&mut self, at: usize) {
        let Some(slot) = self.slot(at) else { return };
        let begins = matches!(&slot.state, State::Ready(Resumption::Begin(..)));
        if slot.is_idle() {
            return;
        }
        slot.timer = slot.timer.wrapping_add(1);
        let in_flight = matches!(slot.state, State::InFlight | State::Unsent);
        slot.own = None;
        if begins {
            // The task has not begun: there is nothing to be interrupted.
            slot.state = State::Idle;
            let now = self.now();
            return self.ended(at, TaskEnd::Interrupted, now);
        }
        slot.state = State::Ready(Resumption::Interrupt);
        if in_flight {
            self.wakes.push_back(Wake::Abandon(at));
        }
        self.wakes.push_back(Wake::Next(at));
        self.give_up_lanes(at);
    }
}
