use super::service::{Fault, Service};
use super::{Simulation, setting};
use crate::diagnosis::Diagnosis;
use crate::driver;
use std::sync::atomic::AtomicBool;
use torr_gauge::{Confidence, Factor};

/// The ratio of bounds up to which two resources limit together: throughput near a knee is below both.
const TOGETHER: f64 = 1.6;
/// How many random services are diagnosed.
const SERVICES: u64 = 1_000;

fn diagnose(service: &Service, seed: u64) -> Diagnosis {
    let mut lab = Simulation::new(service.clone(), seed);
    let finding = driver::diagnose(setting(service), &mut lab, &AtomicBool::new(false), &mut |_| {});
    Diagnosis::of(finding.expect("a simulated service is reached"), lab.elapsed.as_secs_f64())
}

fn truths(service: &Service) -> Vec<Factor> {
    service.truths(&setting(service).user("your load", "", 1.0).load, TOGETHER)
}

#[test]
fn no_wrong_verdict_is_certain() {
    let (mut certain, mut right, mut wrong) = (0, 0, vec![]);
    for seed in 0..SERVICES {
        let service = Service::random(&mut fastrand::Rng::with_seed(seed));
        let verdict = diagnose(&service, seed).verdict;
        let truths = truths(&service);
        right += u64::from(truths.contains(&verdict.factor));
        if verdict.confidence == Confidence::Certain {
            certain += 1;
            if !truths.contains(&verdict.factor) {
                wrong.push(format!("{seed}: {} instead of {truths:?}\n{service:?}\n{verdict:#?}", verdict.factor));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {certain} certain verdicts are wrong, such as {}", wrong.len(), wrong[0]);
    println!("{certain} certain, {right} right of {SERVICES}");
    assert!(certain > SERVICES / 4 && right > SERVICES / 2, "{certain} certain, {right} right of {SERVICES}");
}
