//! The supervisor: starts worker processes, restarts those that die, replaces all of them on a reload, and stops them.
//!
//! The supervisor keeps all listeners open as long as it serves, so that no connection in an accept queue is lost when a
//! worker dies or is replaced.

mod child;
mod reload;

use crate::error::ServeError;
use crate::observe::metrics_table::{self, MetricsTable};
use crate::observe::notice;
use crate::process::inherited::STOP;
use crate::process::member::GRACE;
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
use torr_net::{Event, Events, Interest, Poller, StopSignal, Token, WakeUp, backoff};

/// The time after which the end of a worker is not counted with the failures of its predecessors.
const LASTING: Duration = Duration::from_secs(10);

const SIGNALS: Token = Token::new(u32::MAX, u32::MAX);
const STOP_SIGNAL: Token = Token::new(u32::MAX, u32::MAX - 1);
const RELOAD: Token = Token::new(u32::MAX, u32::MAX - 2);
/// The generations of a worker's tokens; the index is the worker's id.
const CHANNEL: u32 = 0;
const END: u32 = 1;

/// The state of a worker process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Duty {
    /// The worker serves.
    Serving,
    /// The worker starts, and serves once all new workers are ready.
    Starting,
    /// The worker was sent a message to stop.
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
    /// The number of workers in succession that ended within [`LASTING`].
    failures: u32,
    /// The time of the next start, while the slot has no worker.
    start_at: Option<Instant>,
}

/// The settings and descriptors of a supervisor.
pub(crate) struct SupervisorOptions {
    pub program: Program,
    pub settings: Arc<Settings>,
    pub table: MetricsTable,
    /// The listeners of each worker process.
    pub listeners: Vec<Vec<OwnedFd>>,
    pub stop_signal: Arc<StopSignal>,
    /// Requests a reload, as SIGHUP does.
    pub reload: Option<Arc<WakeUp>>,
    pub signals: Option<Signals>,
    pub status: String,
    pub when_ready: Box<dyn FnOnce() + Send>,
}

struct Supervisor {
    program: Program,
    settings: Arc<Settings>,
    status: String,
    slots: Vec<WorkerSlot>,
    workers: BTreeMap<u32, Worker>,
    next_id: u32,
    table: MetricsTable,
    poller: Poller,
    signals: Option<Signals>,
    stop_signal: Arc<StopSignal>,
    reload: Option<Arc<WakeUp>>,
    /// Called when all workers are ready for the first time; `None` after that.
    when_ready: Option<Box<dyn FnOnce() + Send>>,
    /// Whether a reload was requested during another one.
    again: bool,
    leaving: bool,
    /// Why the first start failed.
    failure: Option<ServeError>,
    /// The signal that requested the end at once.
    ended_by: Option<c_int>,
}

/// Runs worker processes until `stop_signal` or a signal stops them. Returns the signal that requested the end at once.
///
/// # Errors
/// If a worker ends before all were ready for the first time, or a system call fails.
pub(crate) fn run(options: SupervisorOptions) -> Result<Option<c_int>, ServeError> {
    let poller = Poller::new()?;
    poller.add(&options.stop_signal, STOP_SIGNAL, Interest::Level)?;
    if let Some(reload) = &options.reload {
        poller.add(&**reload, RELOAD, Interest::Level)?;
    }
    if let Some(signals) = &options.signals {
        poller.add(signals, SIGNALS, Interest::Level)?;
    }
    let slot = |listeners| WorkerSlot { listeners, ..WorkerSlot::default() };
    let supervisor = Supervisor {
        program: options.program,
        settings: options.settings,
        status: options.status,
        slots: options.listeners.into_iter().map(slot).collect(),
        workers: BTreeMap::new(),
        next_id: 0,
        table: options.table,
        poller,
        signals: options.signals,
        stop_signal: options.stop_signal,
        reload: options.reload,
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
        // One worker first: a fault of one is a fault of all, and is reported once.
        self.start(0, Duty::Starting)?;
        loop {
            self.poller.wait(&mut events, self.time_left(watchdog))?;
            if watchdog.is_some() {
                systemd::alive();
            }
            let (signals, workers): (Vec<_>, Vec<_>) =
                events.iter().partition(|event| [SIGNALS, STOP_SIGNAL, RELOAD].contains(&event.token));
            // Signals come first: a worker that ends for one is not to be restarted.
            for event in signals {
                self.handle_signal(event)?;
            }
            for event in workers {
                self.handle_worker(event)?;
            }
            self.handle_deadlines();
            if self.leaving && self.workers.is_empty() {
                return self.failure.map_or(Ok(self.ended_by), Err);
            }
        }
    }

    /// Returns the time until the next deadline, start or watchdog notification.
    fn time_left(&self, watchdog: Option<Duration>) -> Option<Duration> {
        let deadlines = self.workers.values().filter_map(|worker| Some(worker.deadline?.at));
        let next = self.slots.iter().filter_map(|slot| slot.start_at).chain(deadlines).min();
        let left = next.map(|at| at.saturating_duration_since(Instant::now()));
        left.into_iter().chain(watchdog).min()
    }

    fn start(&mut self, slot: usize, duty: Duty) -> io::Result<()> {
        // A row of its own while predecessors leave; where all rows are in use, the first one is shared.
        let held =
            |generation| self.workers.values().any(|w| w.child.number == slot + 1 && w.child.generation == generation);
        let generation = (0..metrics_table::GENERATIONS).find(|generation| !held(*generation)).unwrap_or(0);
        let mut child = self.program.start(slot + 1, generation, &self.table, &self.slots[slot].listeners)?;
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1) % (u32::MAX - 1);
        let channel = self.poller.add(child.channel(), Token::new(id, CHANNEL), Interest::Read);
        let watched = channel.and_then(|()| self.poller.add(child.end(), Token::new(id, END), Interest::Level));
        if let Err(error) = watched {
            // Its end could not be noticed.
            child.kill();
            let _ = child.wait();
            return Err(error);
        }
        // The first start has no limit: there are no old workers to continue with, and service managers have their own limit.
        let deadline = self.when_ready.is_none().then(|| Deadline {
            at: Instant::now() + self.settings.start_timeout.min(FOREVER),
            fault: "was not ready within start_timeout",
        });
        self.slots[slot].start_at = None;
        self.workers.insert(id, Worker { child, duty, ready: None, deadline });
        Ok(())
    }

    /// Handles signals of the system, the stop signal, or a requested reload.
    fn handle_signal(&mut self, event: Event) -> io::Result<()> {
        if event.token == STOP_SIGNAL {
            self.poller.remove(&self.stop_signal)?;
            self.leave();
            return Ok(());
        }
        if event.token == RELOAD {
            self.reload.iter().for_each(|reload| reload.clear());
            self.reload();
            return Ok(());
        }
        let arrived = self.signals.as_mut().map(Signals::arrived).unwrap_or_default();
        for (signal, action) in arrived {
            match action {
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

    /// Handles a message of a worker, or its end.
    fn handle_worker(&mut self, event: Event) -> Result<(), ServeError> {
        let id = event.token.index() as u32;
        if event.token.generation() == CHANNEL {
            let Some(worker) = self.workers.get_mut(&id) else { return Ok(()) };
            if worker.child.receive_ready() {
                worker.ready = Some(Instant::now());
                if worker.duty != Duty::Leaving {
                    worker.deadline = None;
                }
                if worker.duty == Duty::Starting {
                    self.continue_reload()?;
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
            Duty::Starting => self.handle_failed_start(number, status, &who),
            Duty::Serving => {
                let lasted = ready.is_some_and(|since| since.elapsed() >= LASTING);
                self.schedule_restart(number - 1, &who, lasted);
            }
            // A worker that was killed has no deadline any more, and was reported.
            Duty::Leaving if !status.success() && deadline.is_some() && self.ended_by.is_none() => {
                notice::warn(&format!("{who} during shutdown"));
            }
            Duty::Leaving => {}
        }
        Ok(())
    }

    /// Schedules the restart of a worker that has ended or failed to start.
    fn schedule_restart(&mut self, slot: usize, who: &str, lasted: bool) {
        let lost = &mut self.slots[slot];
        lost.failures = if lasted { 1 } else { lost.failures.saturating_add(1) };
        let wait = Duration::from_nanos(backoff::delay_after(lost.failures));
        lost.start_at = Some(Instant::now() + wait);
        notice::warn(&format!("{who}: restarting in {} ms", wait.as_millis()));
    }

    /// Kills workers that have missed a deadline, and starts those that are due.
    fn handle_deadlines(&mut self) {
        let now = Instant::now();
        for worker in self.workers.values_mut() {
            if let Some(Deadline { fault, .. }) = worker.deadline.take_if(|deadline| deadline.at <= now) {
                let (number, pid) = (worker.child.number, worker.child.pid());
                notice::warn(&format!("worker {number} (process {pid}) {fault}: killing it"));
                worker.child.kill();
            }
        }
        for slot in 0..self.slots.len() {
            if self.slots[slot].start_at.take_if(|at| *at <= now).is_some()
                && let Err(error) = self.start(slot, Duty::Serving)
            {
                self.schedule_restart(slot, &format!("cannot start worker {} ({error})", slot + 1), false);
            }
        }
    }

    /// Stops all workers. No worker is started any more.
    fn leave(&mut self) {
        if std::mem::replace(&mut self.leaving, true) {
            return;
        }
        systemd::stopping();
        // The workers' copies are now the last: connections are refused once all workers have ended.
        self.slots.clear();
        self.workers.values_mut().for_each(|worker| release(worker, STOP, &self.settings));
    }
}

/// A time limit longer than any process runs, which every clock can add.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Sends a worker the message to stop, and sets its deadline.
fn release(worker: &mut Worker, how: u8, settings: &Settings) {
    let earlier = worker.deadline.filter(|_| worker.duty == Duty::Leaving);
    worker.duty = Duty::Leaving;
    worker.child.send(how);
    let at = Instant::now() + settings.stop_timeout.saturating_add(GRACE).min(FOREVER);
    let at = earlier.map_or(at, |earlier| earlier.at.min(at));
    worker.deadline = Some(Deadline { at, fault: "did not stop within stop_timeout" });
}
