use super::service::{Fault, Service};
use super::{Simulation, setting};
use crate::diagnosis::Diagnosis;
use crate::driver;
use crate::setting::Setting;
use std::sync::atomic::{AtomicBool, Ordering};
use torr_gauge::verdict::{ExperimentId, Fact, Headline};
use torr_gauge::{Confidence, Factor};

/// The ratio of bounds up to which two resources limit together: throughput near a knee is below both.
const TOGETHER: f64 = 1.6;
/// How many random services are diagnosed.
const SERVICES: u64 = 1_000;

fn diagnose(service: &Service, seed: u64) -> Diagnosis {
    let mut runner = Simulation::new(service.clone(), seed);
    let finding = driver::diagnose(setting(service), &mut runner, &AtomicBool::new(false), &mut |_| {});
    Diagnosis::of(finding.expect("a simulated service is reached"), runner.elapsed.as_secs_f64())
}

/// A stop during the experiment of this number leaves what the experiments before it found.
#[test]
fn an_interrupted_diagnosis_reports_what_was_found_until_then() {
    for (number, fault) in (1..60).zip([Fault::None, Fault::Cpu, Fault::Fails].into_iter().cycle()) {
        let service = Service { failing: 0.3, ..service(fault) };
        let (stop, mut begun) = (AtomicBool::new(false), 0);
        let mut runner = Simulation::new(service.clone(), 1);
        let finding = driver::diagnose(setting(&service), &mut runner, &stop, &mut |_| {
            begun += 1;
            stop.store(begun == number, Ordering::Relaxed);
        });
        let found = Diagnosis::of(finding.expect("an interruption is no error"), runner.elapsed.as_secs_f64());
        assert_eq!(found.interrupted, begun == number, "{number}: {:?}", found.finding);
        if begun < number || found.finding.factor != Factor::Unknown {
            continue;
        }
        assert_eq!(found.trail.is_empty(), number == 1, "what did not end is not in it: {number}");
        assert_eq!(found.finding.headline, Headline::Interrupted);
        let Fact::Experiments { made } = &found.finding.because[0] else { panic!("{:?}", found.finding) };
        assert!(found.trail.iter().all(|seen| made.contains(&seen.label())), "{number}: {made:?}");
    }
}

/// However little it is: what does not fit is left out.
#[test]
fn no_diagnosis_takes_more_than_its_budget() {
    for budget_s in [1.0, 2.0, 3.0, 5.0, 8.0, 13.0] {
        for fault in [Fault::None, Fault::Cpu, Fault::SingleThread, Fault::Fails, Fault::Acks, Fault::Quota(0.5)] {
            let service = Service { failing: 0.3, ..service(fault) };
            let mut runner = Simulation::new(service.clone(), 1);
            let setting = Setting { budget_s, ..setting(&service) };
            let finding = driver::diagnose(setting, &mut runner, &AtomicBool::new(false), &mut |_| {});
            let spent_s = runner.elapsed.as_secs_f64();
            let verdict = Diagnosis::of(finding.expect("a simulated service is reached"), spent_s).finding;
            assert!(spent_s <= budget_s, "{spent_s} s of {budget_s} s: {verdict:?}");
        }
    }
}

/// Returns the factors that may be named of a service, disturbed or not: those that limit it on a machine of its own.
pub(super) fn truths(service: &Service) -> Vec<Factor> {
    service.truths(&setting(service).user(ExperimentId::Full, 1.0).load, TOGETHER)
}

#[test]
fn no_wrong_verdict_is_certain() {
    let (mut certain, mut right, mut wrong) = (0, 0, vec![]);
    for seed in 0..SERVICES {
        let service = Service::random(&mut fastrand::Rng::with_seed(seed));
        let verdict = diagnose(&service, seed).finding;
        let truths = truths(&service);
        right += u64::from(truths.contains(&verdict.factor));
        if verdict.confidence == Confidence::Certain {
            certain += 1;
            if !truths.contains(&verdict.factor) {
                wrong.push(format!(
                    "{seed}: {} instead of {truths:?}: {:?}\n{service:?}",
                    verdict.factor, verdict.because
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "of {certain} certain verdicts are wrong:\n{}", wrong.join("\n"));
    println!("{certain} certain, {right} right of {SERVICES}");
    assert!(certain > SERVICES / 4 && right > SERVICES / 2, "{certain} certain, {right} right of {SERVICES}");
}

/// A service on four CPUs of which a request takes 0.2 ms of CPU and 5 ms of waiting, with one fault.
pub(super) fn service(fault: Fault) -> Service {
    Service {
        fault,
        is_seen: true,
        cores: 4,
        connections: 64,
        generator_threads: 2,
        rtt_s: 50e-6,
        cpu_s: 200e-6,
        wait_s: 5e-3,
        generator_s: 4e-6,
        connect_cpu_s: 30e-6,
        body: 2000.0,
        failing: 0.0,
        noise: 0.01,
        opens_per_s: f64::INFINITY,
        slowdown: 1.0,
        wake_s: 0.0,
    }
}

#[test]
fn each_fault_is_named_and_its_look_alike_is_not_taken_for_it() {
    let busy = |fault| Service { cpu_s: 2e-3, wait_s: 1e-5, ..service(fault) };
    for (what, service, factor) in [
        ("more connections bring more", service(Fault::None), Factor::Connections),
        ("the network takes most", Service { rtt_s: 0.02, ..service(Fault::None) }, Factor::NetworkDelay),
        ("all CPUs", busy(Fault::Cpu), Factor::ServerCpu),
        ("one thread", busy(Fault::SingleThread), Factor::SingleCore),
        ("four workers that wait", service(Fault::Workers(4)), Factor::Workers),
        ("a lock of which threads take turns", service(Fault::Lock(5e-3, 16)), Factor::Lock),
        ("a pool of four", service(Fault::Pool(4, 5e-3)), Factor::Database),
        ("a semaphore of four", service(Fault::Semaphore(4, 5e-3)), Factor::Pool),
        ("a limiter that refuses", service(Fault::Refuses { per_second: 200.0 }), Factor::RateLimit),
        ("a limiter that delays", service(Fault::Delays { per_second: 50.0, bucket: 50.0 }), Factor::RateLimit),
        ("a quota", busy(Fault::Quota(0.5)), Factor::CpuQuota),
        ("a full link", Service { wait_s: 1e-5, body: 50_000.0, ..service(Fault::Link(1e6)) }, Factor::Bandwidth),
        ("delayed acknowledgements", service(Fault::Acks), Factor::DelayedAck),
        (
            "an accept queue that overflows",
            service(Fault::Accepts { backlog: 4, every_s: 10e-3, left: 1.0, lucky: 0.1 }),
            Factor::AcceptBacklog,
        ),
        (
            "a few connections for the same queue",
            Service { connections: 4, ..service(Fault::Accepts { backlog: 4, every_s: 10e-3, left: 1.0, lucky: 0.1 }) },
            Factor::RateLimit,
        ),
        (
            "failures beyond four workers and their queue",
            service(Fault::Overflows { workers: 4, queue: 32 }),
            Factor::Workers,
        ),
        (
            "failures beyond four workers without a queue",
            service(Fault::Overflows { workers: 4, queue: 0 }),
            Factor::Errors,
        ),
        ("failures", Service { failing: 0.3, ..service(Fault::Fails) }, Factor::Errors),
    ] {
        let verdict = diagnose(&service, 1).finding;
        assert_eq!(verdict.factor, factor, "{what}: {verdict:#?}");
    }
}

/// A service that accepts connections slowly shows at each step what it does once they are open.
#[test]
fn a_step_is_measured_once_its_connections_are_open_and_the_first_responses_are_in() {
    for (what, opens_per_s, wait_s, connections) in [
        ("connections come about slowly", 500.0, 10e-3, 200),
        ("responses take long", f64::INFINITY, 0.5, 200),
        ("both", 500.0, 0.3, 128),
    ] {
        let service = Service { opens_per_s, wait_s, connections, cpu_s: 10e-6, noise: 0.0, ..service(Fault::None) };
        let found = diagnose(&service, 1);
        let expected = connections as f64 / (wait_s + 10e-6 + service.rtt_s);
        let ladder = &found.figures.ladder;
        let (step, double) = (ladder.at(connections), ladder.at(2 * connections));
        let is_near =
            |rps: Option<f64>, factor: f64| rps.is_some_and(|rps| (rps / (factor * expected) - 1.0).abs() < 0.07);
        assert!(is_near(step, 1.0) && is_near(double, 2.0), "{what}: {expected} {ladder:?}");
        assert_eq!(found.finding.factor, Factor::Connections, "{what}: {:?}", found.finding);
    }
}
