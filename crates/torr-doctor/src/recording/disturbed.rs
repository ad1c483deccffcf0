//! Recorded services beside programs that come and go: what was observed of a service of the clinic on a quiet machine is slowed as
//! neighbours would have slowed it. No verdict is certain and wrong.

use super::{Recording, Replay};
use crate::diagnosis::Diagnosis;
use crate::driver;
use crate::halt::Halt;
use crate::observation::Observation;
use crate::passive::passive;
use crate::runner::{ExperimentRunner, Order};
use crate::simulation::neighbours::{Neighbours, Pressure};
use crate::times::Spread;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::host::Host;
use torr_gauge::verdict::ExperimentId as Id;
use torr_gauge::{Confidence, Factor, RunResult};
use torr_signals::{ProcessUse, Signals};

/// In how many weathers each recording is replayed.
const WEATHERS: u64 = 4;

/// A replay beside neighbours. Its clock advances by the length of each experiment.
struct Disturbed<'r> {
    replay: Replay<'r>,
    neighbours: Neighbours,
    random: fastrand::Rng,
    clock: Duration,
    /// The experiments that were taken from the recording, for those that are repeated because of the neighbours.
    taken: Vec<Observation>,
    /// The response time of a single request in seconds, as it was recorded.
    alone_s: f64,
}

impl Disturbed<'_> {
    /// Returns what was recorded of an experiment, or of the one that it repeats.
    fn recorded(&mut self, order: &Order<'_>) -> Result<Observation, Halt> {
        let id = order.experiment.id;
        let of = match id {
            Id::AloneUndisturbed => Id::Alone,
            Id::FullUndisturbed | Id::FullSpread => Id::Full,
            other => other,
        };
        let again = self.taken.iter().rfind(|seen| seen.id == of).cloned();
        let seen = match self.replay.take(order.experiment) {
            Err(Halt::NotRecorded(_) | Halt::Run(_)) if again.is_some() => again.expect("it is some"),
            taken => taken?,
        };
        self.taken.push(seen.clone());
        Ok(Observation { id, ..seen })
    }

    fn seen(&mut self, order: &Order<'_>) -> Result<Observation, Halt> {
        let mut seen = self.recorded(order)?;
        let time = (self.clock + order.warmup, self.clock + order.warmup + order.duration);
        let run = &seen.run;
        let generator = run.generator_cores().unwrap_or(0.0);
        let signals = seen.signals.as_ref();
        let server = signals.map_or(0.0, |signals| signals.server_cores() + signals.peer_cores());
        let cores = signals.and_then(|signals| signals.machine).map_or(2, |machine| machine.cores);
        let own = threads(signals).max(1.0) + run.generator.busy_share.unwrap_or(0.0).max(0.1);
        let wanted = (server + generator).min(cores as f64);
        let pressure = self.neighbours.pressure(time, cores, own, wanted, &mut self.random);
        slow(&mut seen, &pressure, self.alone_s);
        Ok(seen)
    }
}

impl ExperimentRunner for Disturbed<'_> {
    fn elapsed(&self) -> Duration {
        self.clock
    }

    fn run(&mut self, order: &Order<'_>) -> Result<Observation, Halt> {
        let seen = self.seen(order)?;
        self.clock += order.warmup + order.duration;
        Ok(seen)
    }

    fn run_beside(&mut self, order: &Order<'_>, light: &Order<'_>) -> Result<[Observation; 2], Halt> {
        let both = [self.seen(order)?, self.seen(light)?];
        self.clock += order.warmup + order.duration;
        Ok(both)
    }

    fn rest(&mut self, time: Duration) -> Result<(), Halt> {
        self.clock += time;
        Ok(())
    }
}

/// Returns the number of the server's and its peers' threads that want a CPU at a time.
fn threads(signals: Option<&Signals>) -> f64 {
    let processes = signals
        .into_iter()
        .flat_map(|signals| signals.processes.iter().chain(signals.peers.iter().flat_map(|peer| &peer.processes)));
    processes.flat_map(|process| &process.threads).map(|thread| thread.demand().min(1.0)).sum()
}

/// Returns how much of what limits an experiment is computed, 0 to 1.
fn computed(seen: &Observation) -> f64 {
    let Some(signals) = &seen.signals else { return 0.0 };
    let peers = signals.peers.iter().flat_map(|peer| &peer.processes);
    let threads = signals.processes.iter().chain(peers).flat_map(|process| &process.threads);
    let busiest = threads.map(|thread| thread.demand()).fold(seen.run.generator.busy_share.unwrap_or(0.0), f64::max);
    let is_full = signals.machine.is_some_and(|machine| machine.cpu_share >= 0.9);
    if is_full { 1.0 } else { busiest.min(1.0) }
}

/// Changes an observation to what it would have been beside neighbours.
fn slow(seen: &mut Observation, pressure: &Pressure, alone_s: f64) {
    let computed = computed(seen);
    let (longer, wake_s) = (pressure.slowdown - 1.0, pressure.wake_s);
    let factor = 1.0 + (computed * longer).max((1.0 - computed) * wake_s / alone_s.max(1e-6));
    let run = &mut seen.run;
    let rps = run.rps.max(1e-9);
    let server = seen.signals.as_ref().map_or(0.0, |signals| signals.server_cores() + signals.peer_cores());
    let is_closed = run.plan.rate.is_none() && run.plan.connections > 1;
    let added_us = (server / rps * longer + wake_s) * 1e6;
    let delayed = |spread: Spread| {
        let delayed = |us: f64| if is_closed { us * factor } else { us + added_us };
        let min_us = if is_closed { spread.min_us as f64 * factor } else { spread.min_us as f64 + added_us / 3.0 };
        Spread {
            min_us: min_us as u64,
            mean_us: delayed(spread.mean_us),
            median_us: delayed(spread.median_us),
            quartiles_us: spread.quartiles_us.map(|(low, high)| (delayed(low), delayed(high))),
            ..spread
        }
    };
    seen.times.answered = seen.times.answered.map(delayed);
    if let Some(latency) = run.latency_us.as_mut().filter(|_| is_closed) {
        latency.mean *= factor;
        latency.min = (latency.min as f64 + added_us / 3.0) as u64;
        latency.p50 = latency.p50.map(|us| (us as f64 * factor) as u64);
    }
    if run.plan.rate.is_some() || seen.times.answered.is_none() {
        return;
    }
    run.duration_s *= factor;
    run.rps /= factor;
    let generator = run.generator_cores().unwrap_or(0.0) / factor;
    run.generator.cpu_share = run.generator.cpu_share.map(|share| share / factor);
    let waits = run.generator.queued_share.unwrap_or(0.0) + generator * longer;
    run.generator.queued_share = run.generator.queued_share.map(|_| waits.min(1.0));
    let Some(signals) = &mut seen.signals else { return };
    signals.seconds *= factor;
    for peer in &mut signals.peers {
        peer.sends_per_s = peer.sends_per_s.map(|sends| sends / factor);
        peer.bytes_per_s = peer.bytes_per_s.map(|bytes| bytes / factor);
        peer.processes.iter_mut().for_each(|process| wait(process, pressure, factor));
    }
    signals.processes.iter_mut().for_each(|process| wait(process, pressure, factor));
    let ours = signals.server_cores() + signals.peer_cores() + generator;
    if let Some(machine) = &mut signals.machine {
        let all = machine.cores as f64;
        let used = (machine.cpu_share * all / factor).max(ours);
        machine.cpu_share = ((used + pressure.taken(machine.cores, used)) / all).min(1.0);
    }
}

/// Gives the threads of a process less CPU, and lets them wait for it.
fn wait(process: &mut ProcessUse, pressure: &Pressure, factor: f64) {
    process.cores /= factor;
    for thread in &mut process.threads {
        thread.cores /= factor;
        thread.waits_per_s = thread.waits_per_s.map(|waits| waits / factor);
        let woken = thread.waits_per_s.unwrap_or(0.0) * pressure.wake_s;
        let more = thread.cores * (pressure.slowdown - 1.0) + woken;
        thread.queued = thread.queued.map(|queued| (queued / factor + more).min(1.0 - thread.cores));
    }
}

/// Diagnoses a recorded service beside neighbours. `None` if that would take an experiment that was not recorded.
fn diagnose(recording: &Recording, seed: u64) -> Option<Diagnosis> {
    let mut random = fastrand::Rng::with_seed(seed);
    let alone = recording.trail.iter().find(|seen| seen.id == Id::Alone);
    let mut runner = Disturbed {
        replay: Replay {
            left: recording.trail.iter().cloned().collect(),
            unreached: &recording.unreached,
            located: None,
            elapsed: Duration::ZERO,
        },
        neighbours: Neighbours::random(&mut random, 2),
        random,
        clock: Duration::ZERO,
        taken: vec![],
        alone_s: alone.and_then(Observation::median_s).unwrap_or(1e-3),
    };
    let outcome = driver::diagnose(recording.setting.clone(), &mut runner, &AtomicBool::new(false), &mut |_| {});
    match outcome {
        Ok(outcome) => Some(Diagnosis::of(outcome, runner.clock.as_secs_f64())),
        Err(Halt::NotRecorded(_)) => None,
        Err(halt) => panic!("{halt}"),
    }
}

/// Returns the best hypothesis of a plain run of the user's load, if other programs disturbed it.
fn hypothesis_of_a_plain_run(seen: &Observation) -> Option<Factor> {
    let host = Host::of(seen.signals.as_ref()?);
    let finding = passive(&RunResult { host, signals: seen.signals.clone(), ..seen.run.clone() });
    finding.hypotheses.first().map(|best| best.factor)
}

#[test]
fn no_recorded_service_is_wrong_and_certain_beside_neighbours() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let mut files: Vec<_> =
        folder.read_dir().expect("the recordings are there").flatten().map(|file| file.path()).collect();
    files.sort();
    let (mut judged, mut certain, mut likely, mut best, mut wrong) = (0, 0, (0, 0), (0, 0), vec![]);
    let mut plain = (0, 0);
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "gz")) {
        let recording = Recording::read(file).expect("it is a recording");
        if !recording.setting.same_machine || recording.expected == Factor::Unknown {
            continue;
        }
        for found in (0..WEATHERS).filter_map(|seed| diagnose(&recording, seed)) {
            let hypothesis = found.trail.iter().find(|seen| seen.id == Id::Full).and_then(hypothesis_of_a_plain_run);
            if let Some(factor) = hypothesis {
                plain = (plain.0 + 1, plain.1 + usize::from(factor == recording.expected));
            }
            let finding = found.finding;
            judged += 1;
            let is_right = finding.factor == recording.expected;
            match finding.confidence {
                Confidence::Certain if is_right => certain += 1,
                Confidence::Certain => wrong.push(format!("{}: {finding:#?}", file.display())),
                Confidence::Likely => likely = (likely.0 + 1, likely.1 + usize::from(is_right)),
                Confidence::Unknown => {
                    let is_best = finding.hypotheses.first().is_some_and(|best| best.factor == recording.expected);
                    best = (best.0 + 1, best.1 + usize::from(is_best));
                }
            }
        }
    }
    println!(
        "recordings beside neighbours: {judged}; {certain} certain; likely {likely:?}, best {best:?}, of plain runs {plain:?} \
         (all, right)"
    );
    assert!(wrong.is_empty(), "{} wrong and certain:\n{}", wrong.len(), wrong.join("\n"));
    assert!(judged > 200 && certain > 80, "{judged} judged, {certain} certain");
}
