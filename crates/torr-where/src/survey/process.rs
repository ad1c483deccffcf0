//! One process of a survey: opened before the load, sampled while the load runs, named after the load, by a thread of its own.

use crate::native::observe::{Observed, Observer, Parts};
use crate::place::round::{CpuSeries, Round};
use crate::runtime::{self, Permission, Reader, Reading};
use crate::unseen::Runtime;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The time between two looks at the flag that ends the sampling.
const LOOK: Duration = Duration::from_millis(20);

/// How each process of a survey is sampled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sampling {
    /// What of a program in machine code is sampled.
    pub(super) parts: Parts,
    pub(super) permission: Permission,
    pub(super) time: Duration,
    /// The number of processes that share what sampling may cost.
    pub(super) processes: usize,
}

/// What was sampled of a process.
#[derive(Debug)]
pub(super) struct Sampled {
    pub(super) runtime: Runtime,
    pub(super) observed: Observed,
    /// Whether `cpu` has the CPU time of all threads. Readers of some runtimes have computing threads in the rounds.
    pub(super) is_native: bool,
    /// Whether computing threads were seen at safepoints only.
    pub(super) at_safepoints: bool,
}

/// A process of a survey. Readers of programs are bound to their thread, so that each process has one from its begin to its end.
#[derive(Debug)]
pub(super) struct SurveyedProcess {
    steps: Sender<()>,
    done: Receiver<()>,
    thread: JoinHandle<Option<Sampled>>,
}

impl SurveyedProcess {
    /// Begins to open a process. `None` if there are too many threads.
    pub(super) fn open(process: i32, sampling: Sampling, stop: &Arc<AtomicBool>) -> Option<Self> {
        let ((steps, next), (tell, done)) = (channel(), channel());
        let stop = Arc::clone(stop);
        let work = move || steps_of(process, sampling, &stop, &next, &tell);
        let thread = thread::Builder::new().name("torr-survey".into()).spawn(work).ok()?;
        Some(Self { steps, done, thread })
    }

    /// Begins the next step: sampling, then naming.
    pub(super) fn go_on(&self) {
        // A thread that has ended tells nothing more.
        let _ = self.steps.send(());
    }

    /// Waits for the end of the present step, and looks around meanwhile.
    pub(super) fn wait(&self, look: impl Fn()) {
        while self.done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            look();
        }
    }

    /// Waits for the last step, and returns what was sampled.
    pub(super) fn sampled(self) -> Option<Sampled> {
        let Self { steps, done: _done, thread } = self;
        // Without a further step a thread that waits for one ends.
        drop(steps);
        thread.join().ok().flatten()
    }
}

/// Opens, samples and names a process, each when it is its time. `None` if the survey ends before.
fn steps_of(
    process: i32,
    sampling: Sampling,
    stop: &AtomicBool,
    next: &Receiver<()>,
    tell: &Sender<()>,
) -> Option<Sampled> {
    let runtime = runtime::detect(process);
    if !matches!(runtime, Runtime::Native | Runtime::Go) {
        let reader = Reader::open(process, runtime, sampling.permission);
        tell.send(()).ok()?;
        next.recv().ok()?;
        let reading = reader.of_all(sampling.processes).sample(sampling.time, stop);
        tell.send(()).ok()?;
        next.recv().ok()?;
        let at_safepoints = reading.at_safepoints;
        let observed = of_reading(process, reading, sampling.time);
        return Some(Sampled { runtime, observed, is_native: false, at_safepoints });
    }
    let opened = Observer::open(process, sampling.parts);
    let opened = opened.map(|observer| observer.of_all(sampling.processes));
    tell.send(()).ok()?;
    next.recv().ok()?;
    let sampled = opened.map(|mut observer| {
        observer.sample(sampling.time, stop);
        observer
    });
    tell.send(()).ok()?;
    next.recv().ok()?;
    let observed = sampled.map_or_else(|unseen| Observed::unseen(process, unseen), Observer::named);
    Some(Sampled { runtime, observed, is_native: true, at_safepoints: false })
}

/// Returns what a reader of a runtime read in the form of what is observed of native programs.
fn of_reading(process: i32, reading: Reading, time: Duration) -> Observed {
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let used = reading.used.into_iter().map(|(thread, time)| (thread, nanoseconds(time))).collect();
    let rounds = reading.rounds.into_iter().map(|samples| Round { time: 0, samples }).collect();
    let cpu = CpuSeries(reading.cpu.into_iter().map(|sample| (u64::MAX / 2, sample)).collect());
    let unseen = reading.unseen.into_iter().collect();
    Observed { process, rounds, cpu, used, visible: 1.0, time, unseen, ..Observed::default() }
}
