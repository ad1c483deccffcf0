//! Diagnoses of simulated services beside programs that come and go: no verdict is certain and wrong, and the others are right mostly.

use super::neighbours::Neighbours;
use super::service::{Fault, Service};
use super::tests::{service, truths};
use super::{Simulation, setting};
use crate::diagnosis::Diagnosis;
use crate::driver;
use std::sync::atomic::AtomicBool;
use torr_gauge::verdict::Finding;
use torr_gauge::{Confidence, Factor};

/// How many random services are diagnosed, each beside neighbours of its own.
const SERVICES: u64 = 800;
/// The share of verdicts that are likely, and of best hypotheses of unknown ones, that are right at least.
const RIGHT: f64 = 0.8;

fn diagnose(service: &Service, neighbours: Neighbours, seed: u64) -> Finding {
    let mut runner = Simulation::new(service.clone(), seed).beside(neighbours);
    let found = driver::diagnose(setting(service), &mut runner, &AtomicBool::new(false), &mut |_| {});
    Diagnosis::of(found.expect("a simulated service is reached"), runner.elapsed.as_secs_f64()).finding
}

/// What became of verdicts of one kind.
#[derive(Debug, Default)]
struct Count {
    all: usize,
    right: usize,
    wrong: Vec<String>,
}

impl Count {
    fn add(&mut self, named: Factor, truths: &[Factor], what: impl FnOnce() -> String) {
        self.all += 1;
        match truths.contains(&named) {
            true => self.right += 1,
            false => self.wrong.push(format!("{named} instead of {truths:?}: {}", what())),
        }
    }

    fn share(&self) -> f64 {
        self.right as f64 / self.all.max(1) as f64
    }

    /// Returns how often each pair of what was named and of what is true occurred, the most frequent first.
    fn confusion(&self) -> Vec<(usize, &str)> {
        let kinds = self.wrong.iter().map(|wrong| wrong.split(": ").next().unwrap_or_default());
        let mut counts = std::collections::BTreeMap::<&str, usize>::new();
        kinds.for_each(|kind| *counts.entry(kind).or_default() += 1);
        let mut counts: Vec<_> = counts.into_iter().map(|(kind, count)| (count, kind)).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }
}

#[test]
fn beside_neighbours_nothing_wrong_is_certain_and_four_of_five_others_are_right() {
    let (mut certain, mut likely, mut best) = (Count::default(), Count::default(), Count::default());
    let mut nothing = 0;
    for seed in 0..SERVICES {
        let mut random = fastrand::Rng::with_seed(seed);
        let service = Service { is_seen: true, ..Service::random(&mut random) };
        let finding = diagnose(&service, Neighbours::random(&mut random, service.cores), seed);
        let truths = truths(&service);
        let what =
            || format!("{seed}, {:?}, {:?} {:?}\n{service:?}", finding.headline, finding.because, finding.hypotheses);
        match (finding.confidence, finding.hypotheses.first()) {
            (Confidence::Certain, _) => certain.add(finding.factor, &truths, what),
            (Confidence::Likely, _) => likely.add(finding.factor, &truths, what),
            (Confidence::Unknown, Some(hypothesis)) => best.add(hypothesis.factor, &truths, what),
            (Confidence::Unknown, None) => nothing += 1,
        }
    }
    println!(
        "beside neighbours: {} certain, {} right; {} likely, {:.0}% right; {} unknown with a best hypothesis, {:.0}% right; \
         {nothing} without",
        certain.all,
        certain.right,
        likely.all,
        100.0 * likely.share(),
        best.all,
        100.0 * best.share()
    );
    assert!(certain.wrong.is_empty(), "certain and wrong:\n{}", certain.wrong.join("\n"));
    assert!(likely.share() >= RIGHT, "likely: {} {:#?}", likely.share(), likely.confusion());
    assert!(best.share() >= RIGHT, "best hypotheses: {} {:#?}", best.share(), best.confusion());
    assert!(nothing < SERVICES as usize / 10, "{nothing} without a hypothesis");
}

/// The case that was met: an event loop beside programs that end while the diagnosis runs, so that a single request took longer before
/// than under load, and several seemed to be in service at a time.
#[test]
fn an_event_loop_beside_programs_that_end_is_not_called_workers() {
    for (wake_s, ends_s) in [(1e-3, 1.0), (2e-3, 1.5), (4e-3, 2.0), (8e-3, 3.0), (2e-3, 8.0)] {
        let node =
            Service { cores: 2, cpu_s: 1e-3, wait_s: 1e-5, generator_threads: 1, ..service(Fault::SingleThread) };
        let finding = diagnose(&node, Neighbours::until(ends_s, 2.0, wake_s), 1);
        let named = finding.hypotheses.first().map_or(finding.factor, |best| best.factor);
        assert_eq!(named, Factor::SingleCore, "{wake_s} {ends_s}: {finding:#?}");
    }
}
