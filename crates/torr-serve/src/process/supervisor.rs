//! The supervisor: starts worker processes, starts anew those that die, replaces all of them on a reload, and ends them.
//!
//! It keeps all listeners open as long as it serves, so that no connection that waits to be accepted is lost when a worker
//! dies or is replaced.

mod child;
mod reload;

use crate::error::ServeError;
use crate::observe::metrics_table::{self, MetricsTable};
use crate::process::inherited::STOP;
use crate::process::member::GRACE;
use crate::process::notice;
use crate::process::signals::{SignalAction, Signals, is_urgent};
use crate::process::systemd;
use crate::settings::Settings;
pub(crate) use child::Program;
use child::{Child, Deadline, ending};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use torr_net::{Event, Events, Interest, Poller, StopSignal, Token, backoff};

/// A worker that has served for so long does not die of what killed its predecessors.
const LASTING: Duration = Duration::from_secs(10);

const SIGNALS: Token = Token::new(u32::MAX, u32::MAX);
const STOP_SIGNAL: Token = Token::new(u32::MAX, u32::MAX - 1);
/// The generations of a worker's tokens, whose index is its id.
const CHANNEL: u32 = 0;
const END: u32 = 1;

/// The state of a worker process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Duty {
    /// The worker serves.
    Serving,
    /// The worker replaces another one once all new workers are ready.
    Coming,
    /// The worker was told to stop.
    Leaving,
}

#[derive(Debug)]
struct Worker {
    child: Child,
    duty: Duty,
    ready: Option<Instant>,
    deadline: Option<Deadline>,
}

/// One of the workers to be kept running.
#[derive(Debug, Default)]
struct WorkerSlot {
    listeners: Vec<OwnedFd>,
    /// Workers that have ended soon after their start, without a lasting one between them.
    failures: u32,
    /// The time of the next start, while the slot has no worker.
    start_at: Option<Instant>,
}

/// What a supervisor needs.
pub(crate) struct SupervisorOptions {
    pub program: Program,
    pub settings: Arc<Settings>,
    pub table: MetricsTable,
    /// The listeners of each worker.
    pub listeners: Vec<Vec<OwnedFd>>,
    pub stop_signal: Arc<StopSignal>,
    pub signals: Option<Signals>,
    pub status: String,
    pub when_ready: Box<dyn FnOnce() + Send>,
}

struct Supervisor {
    program: Program,
    settings: Arc<Settings>,
    status: String,
    places: Vec<WorkerSlot>,
    workers: BTreeMap<u32, Worker>,
    next_id: u32,
    table: MetricsTable,
    poller: Poller,
    signals: Option<Signals>,
    stop_signal: Arc<StopSignal>,
    /// Told when all are ready for the first time; gone after that.
    when_ready: Option<Box<dyn FnOnce() + Send>>,
    /// A reload was asked for while one was under way.
    again: bool,
    leaving: bool,
    /// Why the first start failed.
    failure: Option<ServeError>,
    /// The signal that asked for the end at once.
    ended_by: Option<c_int>,
}

/// Runs worker processes until the stop_signal or a signal asks for the end. Returns the signal that asked for it at once.
///
/// # Errors
/// If a worker ends before all were ready for the first time, or the system refuses something.
pub(crate) fn run(options: SupervisorOptions) -> Result<Option<c_int>, ServeError> {
    let poller = Poller::new()?;
    poller.add(&options.stop_signal, STOP_SIGNAL, Interest::Level)?;
    if let Some(signals) = &options.signals {
        poller.add(signals, SIGNALS, Interest::Level)?;
    }
    let place = |listeners| WorkerSlot { listeners, ..WorkerSlot::default() };
    let supervisor = Supervisor {
        program: options.program,
        settings: options.settings,
        status: options.status,
        places: options.listeners.into_iter().map(place).collect(),
        workers: BTreeMap::new(),
        next_id: 0,
        table: options.table,
        poller,
        signals: options.signals,
        stop_signal: options.stop_signal,
        when_ready: Some(options.when_ready),
        again: false,
        leaving: false,
        failure: None,
        ended_by: None,
    };
    supervisor.run()
}

impl Supervisor {
    fn run(mut self) -> Result<Option<c_int>, ServeError> {
        let mut events = Events::with_capacity(64);
        let watchdog = systemd::watchdog();
        // One worker alone first: what is wrong with one is wrong with all, and need not be told by each.
        self.start(0, Duty::Coming)?;
        loop {
            self.poller.wait(&mut events, self.time_left(watchdog))?;
            if watchdog.is_some() {
                systemd::alive();
            }
            let (asked, told): (Vec<_>, Vec<_>) =
                events.iter().partition(|event| [SIGNALS, STOP_SIGNAL].contains(&event.token));
            // What is asked for comes first: a worker that ends for it is not to be started anew.
            for event in asked {
                self.asked(event)?;
            }
            for event in told {
                self.told(event)?;
            }
            self.tend();
            if self.leaving && self.workers.is_empty() {
                return self.failure.map_or(Ok(self.ended_by), Err);
            }
        }
    }

    /// How long there is nothing to do but to wait.
    fn time_left(&self, watchdog: Option<Duration>) -> Option<Duration> {
        let deadlines = self.workers.values().filter_map(|worker| Some(worker.deadline?.at));
        let next = self.places.iter().filter_map(|place| place.start_at).chain(deadlines).min();
        let left = next.map(|at| at.saturating_duration_since(Instant::now()));
        left.into_iter().chain(watchdog).min()
    }

    fn start(&mut self, place: usize, duty: Duty) -> io::Result<()> {
        // Counts of its own as long as its predecessors leave; of more than there is room for, it shares the first's.
        let held =
            |generation| self.workers.values().any(|w| w.child.number == place + 1 && w.child.generation == generation);
        let generation = (0..metrics_table::GENERATIONS).find(|generation| !held(*generation)).unwrap_or(0);
        let mut child = self.program.start(place + 1, generation, &self.table, &self.places[place].listeners)?;
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1) % (u32::MAX - 1);
        let channel = self.poller.add(child.channel(), Token::new(id, CHANNEL), Interest::Read);
        let watched = channel.and_then(|()| self.poller.add(child.end(), Token::new(id, END), Interest::Level));
        if let Err(error) = watched {
            // Nobody would ever hear of its end.
            child.kill();
            let _ = child.wait();
            return Err(error);
        }
        // At the first start there is nothing else to fall back to, and whoever started this has a patience of their own.
        let deadline = self.when_ready.is_none().then(|| Deadline {
            at: Instant::now() + self.settings.start_timeout.min(FOREVER),
            fault: "was not ready within start_timeout",
        });
        self.places[place].start_at = None;
        self.workers.insert(id, Worker { child, duty, ready: None, deadline });
        Ok(())
    }

    /// A signal, or the stop_signal.
    fn asked(&mut self, event: Event) -> io::Result<()> {
        if event.token == STOP_SIGNAL {
            self.poller.remove(&self.stop_signal)?;
            self.leave();
            return Ok(());
        }
        let arrived = self.signals.as_mut().map(Signals::arrived).unwrap_or_default();
        for (signal, asked) in arrived {
            match asked {
                SignalAction::Leave if self.leaving && is_urgent(signal) => {
                    self.ended_by = Some(signal);
                    self.workers.values_mut().for_each(|worker| worker.child.kill());
                }
                SignalAction::Leave => self.leave(),
                SignalAction::Reload => self.reload(),
            }
        }
        Ok(())
    }

    /// A worker has something to say, or has ended.
    fn told(&mut self, event: Event) -> Result<(), ServeError> {
        let id = event.token.index() as u32;
        if event.token.generation() == CHANNEL {
            let Some(worker) = self.workers.get_mut(&id) else { return Ok(()) };
            if worker.child.says_ready() {
                worker.ready = Some(Instant::now());
                if worker.duty != Duty::Leaving {
                    worker.deadline = None;
                }
                if worker.duty == Duty::Coming {
                    self.come_on()?;
                }
            }
            return Ok(());
        }
        let Some(worker) = self.workers.remove(&id) else { return Ok(()) };
        let Worker { child, duty, ready, deadline } = worker;
        let (number, generation, pid) = (child.number, child.generation, child.pid());
        let status = child.wait()?;
        let threads = self.settings.workers.max(1);
        (0..threads)
            .for_each(|thread| self.table.close(metrics_table::row((number - 1) * threads + thread, generation)));
        let who = format!("worker {number} (process {pid}) {}", ending(status));
        match duty {
            Duty::Coming => self.give_up(number, status, &who),
            Duty::Serving => {
                let lasted = ready.is_some_and(|since| since.elapsed() >= LASTING);
                self.miss(number - 1, &who, lasted);
            }
            // The deadline of one that was killed is gone, and has been told of.
            Duty::Leaving if !status.success() && deadline.is_some() && self.ended_by.is_none() => {
                notice::warn(&format!("{who} while it was leaving"));
            }
            Duty::Leaving => {}
        }
        Ok(())
    }

    /// A place has lost its worker.
    fn miss(&mut self, place: usize, who: &str, lasted: bool) {
        let lost = &mut self.places[place];
        lost.failures = if lasted { 1 } else { lost.failures.saturating_add(1) };
        let wait = Duration::from_nanos(backoff::delay_after(lost.failures));
        lost.start_at = Some(Instant::now() + wait);
        notice::warn(&format!("{who}: it is started anew in {} ms", wait.as_millis()));
    }

    /// What is due by now.
    fn tend(&mut self) {
        let now = Instant::now();
        for worker in self.workers.values_mut() {
            if let Some(Deadline { fault, .. }) = worker.deadline.take_if(|deadline| deadline.at <= now) {
                let (number, pid) = (worker.child.number, worker.child.pid());
                notice::warn(&format!("worker {number} (process {pid}) {fault}: it is killed"));
                worker.child.kill();
            }
        }
        for place in 0..self.places.len() {
            if self.places[place].start_at.take_if(|at| *at <= now).is_some()
                && let Err(error) = self.start(place, Duty::Serving)
            {
                self.miss(place, &format!("worker {} cannot be started ({error})", place + 1), false);
            }
        }
    }

    /// Tells all workers to leave. Nobody is started any more.
    fn leave(&mut self) {
        if std::mem::replace(&mut self.leaving, true) {
            return;
        }
        systemd::stopping();
        // The workers' copies are now the last: who connects after they have left is refused.
        self.places.clear();
        self.workers.values_mut().for_each(|worker| release(worker, STOP, &self.settings));
    }
}

/// Longer than any process runs, and short enough for every clock.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Tells a worker to leave, and gives it time for that.
fn release(worker: &mut Worker, how: u8, settings: &Settings) {
    let earlier = worker.deadline.filter(|_| worker.duty == Duty::Leaving);
    worker.duty = Duty::Leaving;
    worker.child.tell(how);
    let at = Instant::now() + settings.stop_timeout.saturating_add(GRACE).min(FOREVER);
    let at = earlier.map_or(at, |earlier| earlier.at.min(at));
    worker.deadline = Some(Deadline { at, fault: "did not leave within stop_timeout" });
}
