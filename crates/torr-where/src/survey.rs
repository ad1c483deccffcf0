//! The survey: a server's processes sampled while a load runs, and the places that follow.

mod process;

use super::native::observe::Parts;
use super::native::waits::acquires_lock;
use super::place::round::Round;
use super::place::tree::{StackNode, tree};
use super::place::{Place, cpu, lock, pool, wait};
use super::runtime::{self, Permission};
use super::stack::{StackSample, WaitKind};
use super::unseen::{Remedy, Runtime, Unseen, UnseenReason};
use process::{Sampled, Sampling, SurveyedProcess};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use torr_gauge::verdict::place::DOMINANT;
use torr_gauge::verdict::place::PlaceKind;

/// The most processes that are sampled.
const PROCESSES: usize = 64;
/// The longest survey.
const LONGEST: Duration = Duration::from_secs(60);
/// The most places that are named.
const NAMED: usize = 3;
/// The most places that are listed where none dominates.
const LISTED: usize = 5;
/// The fewest samples of CPU time that a place is named by.
const SAMPLES: usize = 40;
/// The smallest share with which a function of the JVM is named by dumps alone, with 95% confidence. A thread dump shows a thread at the next safepoint
/// after the code that it executed, which may be in another function (Mytkowicz et al., Evaluating the Accuracy of Java Profilers, 2010).
const AT_SAFEPOINTS: f64 = 0.35;
/// The share of the time for which the busiest thread computes or is ready to, at least, where one thread is the limit.
const ONE_THREAD: f64 = 0.4;
/// Parts of the names of functions and objects of TLS libraries.
const TLS: [&str; 8] = ["libssl", "libcrypto", "libgnutls", "rustls::", "ring::", "aws_lc", "crypto/tls", "boringssl"];

/// The resource that limits a service, and in which its place is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// The CPU time of all threads.
    Cpu,
    /// The CPU time of TLS.
    Tls,
    /// The CPU time of the busiest thread.
    Thread,
    /// A lock.
    Lock,
    /// A lock, or a pool of a few slots.
    Pool,
    /// The time of the workers.
    Workers,
    /// The time in which threads wait for peers.
    Peer,
    /// The time in which threads wait for files.
    File,
}

/// What a survey found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Localisation {
    /// The places that dominate, the widest first. Empty if none does.
    pub places: Vec<Place>,
    /// The five widest places, whether they dominate or not.
    pub widest: Vec<Place>,
    /// What could not be seen.
    pub unseen: Vec<Unseen>,
    /// The stacks that the places are computed of. `None` if none was seen.
    pub stacks: Option<StackNode>,
}

/// A survey of a server's processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    processes: Vec<i32>,
    resource: Resource,
    time: Duration,
    permission: Permission,
    in_flight: Option<usize>,
}

impl Survey {
    /// Returns a survey of these processes, which reads only.
    pub fn of(processes: Vec<i32>, resource: Resource, time: Duration) -> Self {
        Self { processes, resource, time: time.min(LONGEST), permission: Permission::Reading, in_flight: None }
    }

    /// Permits requests to the processes by their own diagnostic interfaces.
    #[must_use]
    pub fn asking(self) -> Self {
        Self { permission: Permission::Asking, ..self }
    }

    /// Tells the number of requests that are in flight all the time, by which a wait in the middle of a request is known.
    #[must_use]
    pub fn in_flight(self, requests: usize) -> Self {
        Self { in_flight: Some(requests), ..self }
    }

    /// Samples the processes, and returns the places in them. `stop` ends the sampling early.
    pub fn run(&self, stop: &AtomicBool) -> Localisation {
        let mut prepared = self.prepare();
        prepared.sample(stop);
        prepared.localise()
    }

    /// Opens the processes, which takes CPU time: a survey under a load opens them before the load.
    pub fn prepare(&self) -> PreparedSurvey {
        let processes = &self.processes[..self.processes.len().min(PROCESSES)];
        let stop = Arc::new(AtomicBool::new(false));
        let sampling = Sampling {
            parts: self.resource.parts(),
            permission: self.permission,
            time: self.time,
            processes: processes.len(),
        };
        let open = |&process: &i32| SurveyedProcess::open(process, sampling, &stop);
        let processes: Vec<_> = processes.iter().filter_map(open).collect();
        processes.iter().for_each(|process| process.wait(|| {}));
        PreparedSurvey { resource: self.resource, in_flight: self.in_flight, processes, stop }
    }
}

/// A survey whose processes are open. Nothing but sampling takes time while a load runs.
#[derive(Debug)]
pub struct PreparedSurvey {
    resource: Resource,
    in_flight: Option<usize>,
    processes: Vec<SurveyedProcess>,
    /// Ends the sampling of all processes.
    stop: Arc<AtomicBool>,
}

impl PreparedSurvey {
    /// Samples the processes while a load runs. `stop` ends the sampling early.
    pub fn sample(&mut self, stop: &AtomicBool) {
        let look = || self.stop.store(stop.load(Ordering::Relaxed), Ordering::Relaxed);
        look();
        self.processes.iter().for_each(SurveyedProcess::go_on);
        self.processes.iter().for_each(|process| process.wait(look));
    }

    /// Names what was sampled, and returns the places. That takes CPU time, so that it is for the time after a load.
    pub fn localise(self) -> Localisation {
        self.processes.iter().for_each(SurveyedProcess::go_on);
        let sampled: Vec<Sampled> = self.processes.into_iter().filter_map(SurveyedProcess::sampled).collect();
        localise(self.resource, self.in_flight, &sampled)
    }
}

impl Resource {
    /// Returns whether the place is looked for among threads that wait, rather than among those that compute.
    fn is_by_waits(self) -> bool {
        !matches!(self, Self::Cpu | Self::Tls | Self::Thread)
    }

    /// Returns what of a process shows the place. The holder of a lock may compute.
    fn parts(self) -> Parts {
        Parts { waits: self.is_by_waits(), computing: !matches!(self, Self::Workers | Self::Peer | Self::File) }
    }
}

/// Returns the places of a resource in what was sampled.
fn localise(resource: Resource, in_flight: Option<usize>, sampled: &[Sampled]) -> Localisation {
    let mut unseen: Vec<Unseen> = sampled.iter().flat_map(|one| one.observed.unseen.clone()).collect();
    let (mut found, shown) = match resource {
        Resource::Cpu | Resource::Tls | Resource::Thread => of_cpu(resource, sampled),
        Resource::Lock => (of_locks(sampled), waiting(sampled)),
        Resource::Pool => (of_pools(sampled, in_flight), waiting(sampled)),
        Resource::Workers => (of_waits(sampled, |wait| wait.lock().is_none()), waiting(sampled)),
        Resource::Peer => (of_waits(sampled, |wait| matches!(wait, WaitKind::Socket { .. })), waiting(sampled)),
        Resource::File => (of_waits(sampled, |wait| *wait == WaitKind::File), waiting(sampled)),
    };
    for place in &mut found {
        let of = sampled.iter().find(|one| one.observed.process == place.process);
        place.runtime = of.map_or(Runtime::Native, |one| one.runtime);
        let is_by_dumps = place.kind == PlaceKind::Cpu && of.is_some_and(|one| one.at_safepoints);
        if is_by_dumps && place.share.low < AT_SAFEPOINTS {
            place.share.low = 0.0;
        }
    }
    let is_named = |place: &&Place| {
        let frame = place.frame.as_ref().or(place.leaf.as_ref());
        frame.is_some_and(|frame| frame.is_named && (frame.is_own || place.kind == PlaceKind::Cpu))
    };
    let places: Vec<Place> =
        found.iter().filter(|place| place.dominates()).filter(is_named).take(NAMED).cloned().collect();
    if places.is_empty() && resource.is_by_waits() {
        unseen.extend(tasks(sampled));
    }
    if places.is_empty() && !resource.is_by_waits() {
        unseen.extend(without_lines(sampled, found.first()));
    }
    unseen.sort_unstable();
    unseen.dedup();
    found.truncate(LISTED);
    // What is wide and has no name is not known to dominate: it may be many functions.
    let unnamed = |place: &&mut Place| place.frame.as_ref().is_some_and(|frame| !frame.is_named);
    found.iter_mut().filter(unnamed).for_each(|place| place.share.low = 0.0);
    let stacks = tree(shown);
    Localisation { places, widest: found, unseen, stacks: (stacks.weight > 0.0).then_some(stacks) }
}

/// Returns the places of computing threads, and their samples.
fn of_cpu(resource: Resource, sampled: &[Sampled]) -> (Vec<Place>, Vec<&StackSample>) {
    // Goroutines change threads, and threads of Python take turns: of such a program all threads count as one.
    let takes_turns = |runtime: Runtime| matches!(runtime, Runtime::Go | Runtime::Python | Runtime::Ruby);
    let is_one = |process: i32| sampled.iter().any(|one| one.observed.process == process && takes_turns(one.runtime));
    let one_thread = |one: &Sampled| {
        let used = &one.observed.used;
        let whole = (used.values().sum(), one.observed.process, 0);
        let busiest = used.iter().map(|(&thread, &used)| (used, one.observed.process, thread)).max();
        if takes_turns(one.runtime) { Some(whole) } else { busiest }
    };
    let busiest = sampled.iter().filter_map(one_thread).max();
    let is_of_resource = |sample: &&StackSample| match (resource, busiest) {
        (Resource::Thread, Some((_, process, thread))) => {
            sample.process == process && (sample.thread == thread || is_one(process))
        }
        _ => true,
    };
    let samples: Vec<&StackSample> = sampled
        .iter()
        .flat_map(|one| one.observed.cpu.0.iter().map(|(_, sample)| sample))
        .filter(is_of_resource)
        .collect();
    let time = sampled.iter().map(|one| one.observed.time).max().unwrap_or_default().as_nanos() as f64;
    let is_busy = busiest.is_some_and(|(used, ..)| used as f64 >= ONE_THREAD * time);
    // How much of the CPU time is visible is weighted by how many samples each process has.
    let weight = |one: &Sampled| one.observed.cpu.0.len() as f64;
    let weights: f64 = sampled.iter().map(weight).sum();
    let visible = sampled.iter().map(|one| one.observed.visible * weight(one)).sum::<f64>() / weights.max(1.0);
    let is_tls = |sample: &StackSample| {
        sample
            .stack
            .0
            .iter()
            .any(|frame| TLS.iter().any(|part| frame.function.contains(part) || frame.object.contains(part)))
    };
    let is_native = |process: i32| sampled.iter().any(|one| one.observed.process == process && one.is_native);
    let counts = |sample: &StackSample| resource != Resource::Tls || is_tls(sample);
    let mut places = cpu::places(&samples, visible, counts, is_native);
    if samples.len() < SAMPLES || (resource == Resource::Thread && !is_busy) {
        places.iter_mut().for_each(|place| place.share.low = 0.0);
    }
    (places, samples)
}

fn of_locks(sampled: &[Sampled]) -> Vec<Place> {
    let all: f64 = sampled.iter().map(|one| lock::busy(&one.observed.rounds)).sum();
    let of = |one: &Sampled| lock::places(&one.observed.rounds, &one.observed.cpu, all, acquires_lock);
    let mut places: Vec<Place> = sampled.iter().flat_map(of).collect();
    places.sort_by(|a, b| b.share.low.total_cmp(&a.share.low).then(b.share.value.total_cmp(&a.share.value)));
    places
}

/// Returns the places of pools, or of locks where none is a pool.
fn of_pools(sampled: &[Sampled], in_flight: Option<usize>) -> Vec<Place> {
    let all: f64 = sampled.iter().map(|one| lock::busy(&one.observed.rounds)).sum();
    let of = |one: &Sampled| pool::places(&one.observed.rounds, &one.observed.cpu, all, in_flight);
    let mut places: Vec<Place> = sampled.iter().flat_map(of).collect();
    places.extend(of_locks(sampled));
    places.sort_by(|a, b| b.share.low.total_cmp(&a.share.low).then(b.share.value.total_cmp(&a.share.value)));
    places
}

fn of_waits(sampled: &[Sampled], counts: impl Fn(&WaitKind) -> bool) -> Vec<Place> {
    let rounds: Vec<Round> = sampled.iter().flat_map(|one| one.observed.rounds.iter().cloned()).collect();
    let peer = |process: i32, inode: u64| {
        let of = sampled.iter().find(|one| one.observed.process == process)?;
        of.observed.peers.get(&inode).cloned()
    };
    wait::places(&rounds, counts, peer)
}

/// Returns the samples of threads with work to do that wait.
fn waiting(sampled: &[Sampled]) -> Vec<&StackSample> {
    let all = sampled.iter().flat_map(|one| &one.observed.rounds).flat_map(|round| &round.samples);
    all.filter(|sample| sample.wait.as_ref().is_some_and(|wait| !wait.is_idle())).collect()
}

/// Returns the program of a place that could not be named because it has no lines.
fn without_lines(sampled: &[Sampled], widest: Option<&Place>) -> Option<Unseen> {
    let place = widest.filter(|place| place.share.low == 0.0 && place.share.value >= DOMINANT)?;
    let of = sampled.iter().find(|one| one.observed.process == place.process && one.is_native)?;
    let has_no_line = place.frame.as_ref().is_some_and(|frame| frame.line.is_none());
    has_no_line.then(|| Unseen {
        process: place.process,
        name: runtime::process::name(place.process),
        runtime: of.runtime,
        why: UnseenReason::Stripped,
        remedies: vec![Remedy::Symbols],
    })
}

/// Returns the programs whose tasks may wait in no thread.
fn tasks(sampled: &[Sampled]) -> Vec<Unseen> {
    let is_asynchronous =
        |sample: &StackSample| sample.stack.0.iter().any(|frame| frame.function.contains("tokio::runtime"));
    let of = |one: &Sampled| {
        let mut samples = one.observed.rounds.iter().flat_map(|round| &round.samples);
        let is_one = one.is_native && samples.any(is_asynchronous);
        is_one.then(|| Unseen {
            process: one.observed.process,
            name: runtime::process::name(one.observed.process),
            runtime: one.runtime,
            why: UnseenReason::Tasks,
            remedies: Vec::new(),
        })
    };
    sampled.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::observe::Observed;
    use crate::place::round::CpuSeries;
    use crate::stack::{Frame, Stack};

    /// Returns what localising finds in a process of a runtime of whose 100 samples so many are in `busy`.
    fn found(runtime: Runtime, at_safepoints: bool, busy: usize, is_named: bool) -> Localisation {
        let frame = |name: &str, is_named| {
            Arc::new(Frame { function: name.to_owned(), is_own: true, is_named, line: Some(7), ..Frame::default() })
        };
        let sample = |at: usize| StackSample {
            process: 1,
            thread: 1,
            on_cpu: true,
            wait: None,
            holds: vec![],
            stack: Stack(vec![if at < busy { frame("busy", is_named) } else { frame(&format!("other{at}"), true) }]),
            weight: 1.0,
        };
        let cpu = CpuSeries((0..100).map(|at| (0, sample(at))).collect());
        let observed = Observed { process: 1, cpu, visible: 1.0, ..Observed::default() };
        localise(Resource::Cpu, None, &[Sampled { runtime, observed, is_native: false, at_safepoints }])
    }

    #[test]
    fn what_is_not_proved_is_no_place_and_has_no_lower_end() {
        for (runtime, at_safepoints, busy, is_named, is_place) in [
            (Runtime::Python, false, 35, true, true),
            (Runtime::Jvm, true, 35, true, false),
            (Runtime::Jvm, true, 60, true, true),
            (Runtime::Jvm, false, 35, true, true),
            (Runtime::Node, false, 80, true, true),
            (Runtime::Node, false, 80, false, false),
        ] {
            let found = found(runtime, at_safepoints, busy, is_named);
            let low = found.widest[0].share.low;
            assert_eq!((found.places.len(), low > 0.0), (usize::from(is_place), is_place), "{runtime:?} {busy}");
        }
    }
}
