//! The virtual users of one thread: what the load engine asks them, and when it wakes them.

use super::exchange::Sending;
use super::layout::Place;
use super::load::Load;
use super::seat::{Job, Resumption, Seat, State};
use super::stage::Stage;
use crate::api::http::HttpState;
use crate::control::StopCause;
use crate::error::{ErrorKind, ScriptError};
use crate::executors::{Ending, Order, Start};
use crate::log::Level;
use crate::machine::Pending;
use crate::metrics::{CurrentTags, Recorder, builtin};
use crate::user::exchange::Refusal;
use crate::user::{IterationTask, Task, TaskEnd, Wanted, Woken};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use torr_gauge::Failure;
use torr_net::{Nanos, clock};
use torr_press::learnt::{self, Lookup};
use torr_press::users::{Judged, Phases, ReceivedBy, Step, ThreadUsers, Wake};
use torr_press::{Keep, RequestInfo, RequestParts};

/// The seat of setup and teardown.
const STAGE_SEAT: usize = 0;
/// The number of tasks that a virtual user begins in one turn of the loop. Iterations that never wait would keep the others, the end
/// of the scenario and a stop waiting.
const MOST_BEGUN: u32 = 1;
/// How often the numbers of virtual users are recorded.
const GAUGES: Nanos = 1_000_000_000;
/// The default of `setupTimeout` and `teardownTimeout`.
const STAGE_TIMEOUT: Duration = Duration::from_secs(60);

/// The virtual users of one thread.
pub(super) struct ThreadVus<'r> {
    load: &'r Load,
    thread: usize,
    recorder: Rc<RefCell<Recorder>>,
    seats: Vec<Option<Box<Seat>>>,
    wakes: VecDeque<Wake>,
    /// The number of wakes that are left of this turn of the loop.
    turn: usize,
    /// Times, each with its seat and the number of the timer.
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
            seats: (0..load.layout.seats).map(|_| None).collect(),
            wakes: VecDeque::new(),
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
                let seat = self.load.layout.seat_of(virtual_user);
                self.seats[seat] = Some(Box::new(Seat::new(machine, self.load.layout.lanes)));
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

    fn seat(&mut self, seat: usize) -> Option<&mut Seat> {
        self.seats.get_mut(seat)?.as_deref_mut()
    }

    /// Takes a seat as far as it goes without waiting.
    fn advance(&mut self, at: usize) -> Step {
        let mut begun = 0;
        loop {
            let Some(seat) = self.seat(at) else { return Step::Park };
            match std::mem::replace(&mut seat.state, State::Idle) {
                State::Ready(Resumption::Begin(task, deadline)) if begun == MOST_BEGUN => {
                    seat.state = State::Ready(Resumption::Begin(task, deadline));
                    self.wakes.push_back(Wake::Next(at));
                    return Step::Park;
                }
                State::Ready(resumption) => {
                    begun += u32::from(matches!(resumption, Resumption::Begin(..)));
                    let pending = match resumption {
                        Resumption::Begin(task, deadline) => seat.machine.begin(task, deadline),
                        Resumption::Woken(woken) => seat.machine.wake(woken),
                        Resumption::Interrupt => seat.machine.interrupt(),
                    };
                    self.suspended(at, pending);
                }
                State::Unsent => {
                    seat.state = State::Unsent;
                    if let Some(step) = self.route(Place::Seat(at)) {
                        return step;
                    }
                }
                other => {
                    seat.state = other;
                    return Step::Park;
                }
            }
        }
    }

    /// Notes what a virtual user waits for, or that its task has ended.
    fn suspended(&mut self, at: usize, pending: Pending) {
        let now = self.now();
        let Some(seat) = self.seat(at) else { return };
        let events = &seat.machine.vu.events;
        let begun: Vec<_> = events.outbox.borrow_mut().drain(..).collect();
        let has_arrived = !events.arrived.borrow().is_empty();
        seat.queue.extend(begun);
        match pending {
            Pending::Waits(Wanted::Sleep(time)) => {
                seat.state = State::Sleeping;
                self.set_timer(at, now.saturating_add(clock::nanos(time)));
            }
            Pending::Waits(Wanted::Exchange(outgoing)) => {
                seat.own = Some(Sending::new(*outgoing, now));
                seat.state = State::Unsent;
            }
            Pending::Waits(Wanted::Event(_)) if has_arrived => seat.state = State::Ready(Resumption::Woken(Woken::Now)),
            Pending::Waits(Wanted::Event(until)) => {
                seat.state = State::Event;
                if let Some(until) = until {
                    let left = until.saturating_duration_since(Instant::now());
                    self.set_timer(at, now.saturating_add(clock::nanos(left)));
                }
            }
            Pending::Ended(end) => {
                seat.state = State::Idle;
                self.ended(at, end, now);
            }
        }
        self.fill_lanes(at);
    }

    fn set_timer(&mut self, at: usize, time: Nanos) {
        if let Some(seat) = self.seat(at) {
            seat.timer = seat.timer.wrapping_add(1);
            let timer = seat.timer;
            self.timers.push(Reverse((time, at, timer)));
        }
    }

    /// Gives requests that wait to lanes that are free.
    fn fill_lanes(&mut self, at: usize) {
        let (now, layout) = (self.now(), self.load.layout);
        let settings = self.load.run.http_settings();
        let Some(seat) = self.seats[at].as_deref_mut() else { return };
        while !seat.queue.is_empty()
            && let Some((lane, outgoing)) = seat.next_for_lane(settings.batch, settings.batch_per_host)
        {
            seat.lanes[lane] = Some(Sending::new(outgoing, now));
            self.wakes.push_back(Wake::Next(layout.lane(at, lane)));
        }
    }

    /// Returns the request of a seat or lane.
    fn sending(&mut self, place: Place) -> Option<&mut Sending> {
        match place {
            Place::Seat(at) => self.seat(at)?.own.as_mut(),
            Place::Lane(at, lane) => self.seat(at)?.lanes[lane].as_mut(),
        }
    }

    /// Finds the server of a request that is not sent yet. Returns the step that follows, `None` if the script goes on at once.
    fn route(&mut self, place: Place) -> Option<Step> {
        let Some(sending) = self.sending(place) else { return Some(Step::Park) };
        if sending.is_sent {
            return Some(Step::Park);
        }
        let origin = sending.outgoing.origin.clone();
        let server = match self.servers.get(&origin) {
            Some(server) => *server,
            None => match self.load.servers.look_up(&origin) {
                Lookup::Server(server) => {
                    self.servers.insert(origin, server);
                    server
                }
                Lookup::Pending => {
                    let sending = self.sending(place)?;
                    sending.look_ups += 1;
                    return Some(Step::LookUp(learnt::pause(sending.look_ups)));
                }
                Lookup::Refused(why) => {
                    let text = if why.contains("resolve") { "lookup: no such host".to_owned() } else { why };
                    self.settle(place, |sending| sending.refused(Refusal::new(1101, text)));
                    return matches!(place, Place::Lane(..)).then_some(Step::Park);
                }
            },
        };
        let sending = self.sending(place)?;
        (sending.server, sending.is_sent) = (server, true);
        if let Place::Seat(at) = place
            && let Some(seat) = self.seat(at)
        {
            seat.state = State::InFlight;
        }
        Some(Step::Send(0))
    }

    /// Hands the outcome of a request to the script that waits for it.
    fn settle(&mut self, place: Place, outcome: impl FnOnce(Sending) -> crate::user::exchange::Outcome) {
        match place {
            Place::Seat(at) => {
                let Some(seat) = self.seat(at) else { return };
                let Some(mut sending) = seat.own.take() else { return };
                let request = std::mem::take(&mut sending.outgoing.bytes);
                let mut outcome = outcome(sending);
                outcome.request = request;
                seat.state = State::Ready(Resumption::Woken(Woken::Exchanged(Box::new(outcome))));
            }
            Place::Lane(at, lane) => {
                let Some(seat) = self.seat(at) else { return };
                let Some(mut sending) = seat.lanes[lane].take() else { return };
                let request = std::mem::take(&mut sending.outgoing.bytes);
                let mut outcome = outcome(sending);
                outcome.request = request;
                seat.machine.vu.events.arrived.borrow_mut().push(outcome);
                if matches!(seat.state, State::Event) {
                    seat.state = State::Ready(Resumption::Woken(Woken::Now));
                    self.wakes.push_back(Wake::Next(at));
                }
                self.fill_lanes(at);
            }
        }
    }

    /// Notes that a task has ended.
    fn ended(&mut self, at: usize, end: TaskEnd, now: Nanos) {
        self.give_up_lanes(at);
        let Some(seat) = self.seat(at) else { return };
        match std::mem::replace(&mut seat.job, Job::None) {
            Job::Iteration(start, begun) => self.iteration_ended(at, &start, begun, end, now),
            Job::Setup => {
                HttpState::record_data(&seat.machine.vu);
                self.setup_ended(end, now);
            }
            Job::Teardown => {
                HttpState::record_data(&seat.machine.vu);
                self.teardown_ended(end, now);
            }
            Job::None => {}
        }
    }

    fn iteration_ended(&mut self, at: usize, start: &Start, begun: Nanos, end: TaskEnd, now: Nanos) {
        let load = self.load;
        let scenario = &load.conductor.plan().scenarios[start.scenario];
        let Some(seat) = self.seats[at].as_deref_mut() else { return };
        let vu = &seat.machine.vu;
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
    fn obey(&mut self, orders: &mut Vec<Order>, current: Option<usize>, now: Nanos) {
        for order in orders.drain(..) {
            match order {
                Order::Begin(start) => self.begin_iteration(start, current, now),
                Order::Interrupt(virtual_user) => self.interrupt(self.load.layout.seat_of(virtual_user)),
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

    fn begin_iteration(&mut self, start: Start, current: Option<usize>, now: Nanos) {
        let at = self.load.layout.seat_of(start.vu);
        let scenario = &self.load.conductor.plan().scenarios[start.scenario];
        let deadline = self.instant(start.deadline);
        let function = self.functions[start.scenario].clone();
        let empty = std::collections::BTreeMap::new();
        let run_tags = self.load.run.options.get().and_then(|all| all.options.tags.as_ref()).unwrap_or(&empty);
        if let Some(due) = start.due {
            self.recorder.borrow_mut().add_send_lag(Duration::from_nanos(now.saturating_sub(due)));
        }
        let Some(seat) = self.seats[at].as_deref_mut() else { return };
        let vu = &seat.machine.vu;
        {
            let mut info = vu.iteration.borrow_mut();
            let mut tags = vu.tags.borrow_mut();
            if info.scenario != Some(start.scenario) {
                tags.begin_scenario(run_tags, &scenario.name, &scenario.tags);
            }
            tags.begin_iteration(vu.id, seat.begun);
            info.scenario = Some(start.scenario);
            info.in_test = start.in_test;
            info.in_scenario = start.in_scenario;
            info.in_instance = Some(seat.begun);
        }
        HttpState::begin_iteration(vu);
        let task = Task::Iteration(IterationTask { function, number: seat.begun, scenario: start.scenario });
        seat.begun += 1;
        seat.job = Job::Iteration(start, now);
        seat.state = State::Ready(Resumption::Begin(task, deadline));
        if current != Some(at) {
            self.wakes.push_back(Wake::Next(at));
        }
    }

    fn record_dropped(&mut self, scenario: usize, count: u64) {
        let all = self.load.run.options.get();
        let empty = std::collections::BTreeMap::new();
        let (system, run_tags) = all.map_or_else(Default::default, |all| {
            (all.options.enabled_system_tags(), all.options.tags.clone().unwrap_or_default())
        });
        let scenario = &self.load.conductor.plan().scenarios[scenario];
        let mut tags = CurrentTags::new(system, &empty);
        tags.begin_scenario(&run_tags, &scenario.name, &scenario.tags);
        let mut recorder = self.recorder.borrow_mut();
        let tags = tags.set(&mut recorder);
        recorder.add(builtin::DROPPED_ITERATIONS, count as f64, &tags);
    }

    /// Interrupts the task of a seat.
    fn interrupt(&mut self, at: usize) {
        let Some(seat) = self.seat(at) else { return };
        let begins = matches!(&seat.state, State::Ready(Resumption::Begin(..)));
        if seat.is_idle() {
            return;
        }
        seat.timer = seat.timer.wrapping_add(1);
        let in_flight = matches!(seat.state, State::InFlight | State::Unsent);
        seat.own = None;
        if begins {
            // The task has not begun: there is nothing to be interrupted.
            seat.state = State::Idle;
            let now = self.now();
            return self.ended(at, TaskEnd::Interrupted, now);
        }
        seat.state = State::Ready(Resumption::Interrupt);
        if in_flight {
            self.wakes.push_back(Wake::Abandon(at));
        }
        self.wakes.push_back(Wake::Next(at));
        self.give_up_lanes(at);
    }

    /// Gives up the requests that go on beside the script.
    fn give_up_lanes(&mut self, at: usize) {
        let layout = self.load.layout;
        let Some(seat) = self.seats[at].as_deref_mut() else { return };
        seat.queue.clear();
        for (lane, sending) in seat.lanes.iter_mut().enumerate() {
            if sending.take().is_some_and(|sending| sending.is_sent) {
                self.wakes.push_back(Wake::Abandon(layout.lane(at, lane)));
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
            if let Some(seat) = self.seat(at).filter(|seat| seat.timer == timer)
                && matches!(seat.state, State::Sleeping | State::Event)
            {
                seat.state = State::Ready(Resumption::Woken(Woken::Now));
                self.wakes.push_back(Wake::Next(at));
            }
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

    /// Leads the run through its stages, on the first thread.
    fn lead(&mut self, now: Nanos) {
        let load = self.load;
        match self.stage {
            Stage::Starting if load.ready.load(Ordering::Acquire) < load.layout.threads => {}
            Stage::Starting => {
                let _ = load.run.started.set(Instant::now());
                self.next_gauges = now + GAUGES;
                let options = load.run.options.get().map(|all| &all.options);
                let skips = options.is_some_and(|options| options.no_setup == Some(true));
                if load.control().is_stopped() {
                    // A virtual user could not be created.
                    self.finish();
                } else if load.exports.has("setup") && !skips {
                    let timeout = options.and_then(|options| options.setup_timeout).unwrap_or(STAGE_TIMEOUT);
                    self.begin_stage(Stage::Setup, Task::Setup, "::setup", now, timeout);
                } else {
                    let _ = load.run.setup_data.set(None);
                    self.begin_scenarios(now);
                }
            }
            Stage::Setup | Stage::Teardown => {
                let stops = self.stage == Stage::Setup && load.control().is_stopped();
                if now >= self.stage_end || stops {
                    self.stage_end = Nanos::MAX;
                    self.interrupt(STAGE_SEAT);
                }
            }
            Stage::Scenarios => {
                if load.control().is_stopped() && !self.is_stopping {
                    self.is_stopping = true;
                    load.conductor.stop(now);
                }
                if now >= self.next_gauges {
                    self.next_gauges = now + GAUGES;
                    self.record_gauges();
                }
                if load.conductor.is_over() {
                    self.begin_teardown(now);
                }
            }
            Stage::Over => {}
        }
        if load.run.leave.load(Ordering::Relaxed) {
            self.finish();
        }
    }

    fn record_gauges(&mut self) {
        let counts = self.load.conductor.counts();
        let run_tags = self.load.run.options.get().and_then(|all| all.options.tags.clone()).unwrap_or_default();
        let run_tags: Vec<_> = run_tags.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut recorder = self.recorder.borrow_mut();
        let tags = recorder.tag_set(&Default::default(), &run_tags);
        recorder.add(builtin::VUS, counts.active as f64, &tags);
        recorder.add(builtin::VUS_MAX, counts.initialized as f64, &tags);
    }

    /// Begins `setup` or `teardown` in a script engine of its own.
    fn begin_stage(&mut self, stage: Stage, task: Task, group: &str, now: Nanos, timeout: Duration) {
        let machine = match self.load.machine(0, &self.recorder) {
            Ok(machine) => machine,
            Err(error) => {
                self.load.fail(error);
                return self.finish();
            }
        };
        machine.vu.tags.borrow_mut().set_group(group);
        let mut seat = Seat::new(machine, self.load.layout.lanes);
        seat.job = if stage == Stage::Setup { Job::Setup } else { Job::Teardown };
        // Each stage has connections of its own.
        self.wakes.push_back(Wake::Disconnect(STAGE_SEAT));
        self.stage = stage;
        self.stage_end = now.saturating_add(clock::nanos(timeout));
        seat.state = State::Ready(Resumption::Begin(task, self.instant(self.stage_end)));
        self.seats[STAGE_SEAT] = Some(Box::new(seat));
        self.wakes.push_back(Wake::Next(STAGE_SEAT));
    }

    fn setup_ended(&mut self, end: TaskEnd, now: Nanos) {
        let timed_out = self.stage_end == Nanos::MAX || now >= self.stage_end;
        match end {
            TaskEnd::Returned(data) => {
                let _ = self.load.run.setup_data.set(data.map(Into::into));
                return self.begin_scenarios(now);
            }
            TaskEnd::Threw(error) => self.load.fail(*error),
            _ if self.load.control().is_stopped() => {}
            _ if timed_out => {
                let why = "setup() execution timed out; raise setupTimeout";
                self.load.fail(ScriptError::new(ErrorKind::SetupTimeout, why));
            }
            _ => self.load.fail(ScriptError::new(ErrorKind::Other, "setup() was interrupted")),
        }
        self.finish();
    }

    fn begin_scenarios(&mut self, now: Nanos) {
        self.stage = Stage::Scenarios;
        self.stage_end = Nanos::MAX;
        self.load.conductor.start(now);
    }

    fn begin_teardown(&mut self, now: Nanos) {
        let load = self.load;
        let options = load.run.options.get().map(|all| &all.options);
        let skips = options.is_some_and(|options| options.no_teardown == Some(true));
        if !load.exports.has("teardown") || skips {
            return self.finish();
        }
        let timeout = options.and_then(|options| options.teardown_timeout).unwrap_or(STAGE_TIMEOUT);
        self.begin_stage(Stage::Teardown, Task::Teardown, "::teardown", now, timeout);
    }

    fn teardown_ended(&mut self, end: TaskEnd, _now: Nanos) {
        match end {
            TaskEnd::Threw(error) => self.load.fail(*error),
            TaskEnd::Interrupted if self.stage_end == Nanos::MAX => {
                let why = "teardown() execution timed out; raise teardownTimeout";
                self.load.fail(ScriptError::new(ErrorKind::TeardownTimeout, why));
            }
            TaskEnd::Interrupted => {
                self.load.control().stop(StopCause::Interrupted);
            }
            _ => {}
        }
        self.finish();
    }

    fn finish(&mut self) {
        self.stage = Stage::Over;
        self.load.is_over.store(true, Ordering::Release);
    }
}

impl ThreadUsers for ThreadVus<'_> {
    fn begin(&mut self, _user: usize) {}

    fn next(&mut self, user: usize) -> Step {
        match self.load.layout.place(user) {
            Place::Seat(at) => self.advance(at),
            place => self.route(place).unwrap_or(Step::Park),
        }
    }

    fn destination(&self, user: usize) -> usize {
        let sending = match self.load.layout.place(user) {
            Place::Seat(at) => self.seats[at].as_ref().and_then(|seat| seat.own.as_ref()),
            Place::Lane(at, lane) => self.seats[at].as_ref().and_then(|seat| seat.lanes[lane].as_ref()),
        };
        sending.map_or(0, |sending| sending.server)
    }

    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let now = self.now();
        let Some(sending) = self.sending(self.load.layout.place(user)) else { return RequestInfo::default() };
        sending.written = now;
        out.extend_from_slice(&sending.outgoing.bytes);
        // The field lines have cookies and places that redirects lead to.
        let keep = if sending.outgoing.keeps_content { Keep::Content } else { Keep::Fields };
        RequestInfo { is_head: sending.outgoing.is_head, url: 0, keep }
    }

    fn parts(&mut self, user: usize) -> RequestParts {
        // Plans of such users are for HTTP/1.1, which has the request as a whole.
        let begun = self.write(user, &mut Vec::new());
        RequestParts { head: http::Request::new(()), body: None, begun }
    }

    fn received(&mut self, user: usize, received: &ReceivedBy<'_>) -> Judged {
        self.settle(self.load.layout.place(user), |sending| sending.answered(received));
        Judged { passed: true, ..Judged::default() }
    }

    fn failed(&mut self, user: usize, failure: &Failure) {
        self.outlives(user, failure, &Phases::default());
    }

    fn outlives(&mut self, user: usize, failure: &Failure, phases: &Phases) -> bool {
        let place = self.load.layout.place(user);
        let Some(sending) = self.sending(place) else { return true };
        let was_idle = phases.opened < sending.asked && failure.what.contains("idle connection");
        if sending.outgoing.repeats && was_idle && !sending.is_repeated {
            (sending.is_repeated, sending.is_sent) = (true, false);
            if let Place::Seat(at) = place
                && let Some(seat) = self.seat(at)
            {
                seat.state = State::Unsent;
            }
            return true;
        }
        self.settle(place, |sending| sending.failed(failure, phases));
        true
    }

    fn timeout(&self, user: usize) -> Option<Duration> {
        let sending = match self.load.layout.place(user) {
            Place::Seat(at) => self.seats[at].as_ref()?.own.as_ref(),
            Place::Lane(at, lane) => self.seats[at].as_ref()?.lanes[lane].as_ref(),
        };
        sending.map(|sending| sending.outgoing.timeout)
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
