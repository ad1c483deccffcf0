//! Stacks and waits of programs whose places are known.

mod support;

use support::{Program, compiled};
use torr_where::native::cpu::CpuSampler;
use torr_where::native::process::NativeProcess;
use torr_where::{StackSample, WaitKind};

/// Samples a program until a condition holds, for a minute at most.
fn sampled(process: &mut NativeProcess, mut until: impl FnMut(&[StackSample]) -> bool) -> Vec<StackSample> {
    for _ in 0..1200 {
        let samples = process.sample().expect("the process is visible");
        if until(&samples) {
            return samples;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("it was never seen: {:#?}", process.sample());
}

fn lock_of(sample: &StackSample) -> Option<&str> {
    sample.wait.as_ref()?.lock()?.name.as_deref()
}

fn own(sample: &StackSample) -> Option<&str> {
    sample.stack.own().map(|frame| frame.function.as_str())
}

#[test]
fn threads_that_wait_for_a_static_mutex_are_seen_with_its_name_and_holder() {
    for options in [["-O2", "-fomit-frame-pointer"], ["-O0", "-fno-omit-frame-pointer"], ["-O2", "-static"]] {
        let program = Program::start(&compiled("lock.c", &options), &[]);
        let mut process = NativeProcess::open(program.process()).expect("the process is visible");
        let samples = sampled(&mut process, |samples| {
            let waiting = samples.iter().filter(|sample| lock_of(sample) == Some("cache_lock")).count();
            let of_holder = |sample: &&StackSample| !sample.holds.is_empty() && sample.wait == Some(WaitKind::Sleep);
            let holders = samples.iter().filter(of_holder).count();
            let idle = samples.iter().filter(|sample| sample.wait == Some(WaitKind::Condition)).count();
            waiting == 7 && holders == 1 && idle == 4
        });
        for waiting in samples.iter().filter(|sample| lock_of(sample).is_some()) {
            assert_eq!(own(waiting), Some("serve_page"), "{options:?}: {waiting:#?}");
        }
        let holder = samples.iter().find(|sample| !sample.holds.is_empty()).expect("there is one");
        assert_eq!(
            (own(holder), &holder.wait),
            (Some("refresh_cache"), &Some(WaitKind::Sleep)),
            "{options:?}: {holder:#?}"
        );
        let idle = samples.iter().find(|sample| sample.wait == Some(WaitKind::Condition)).expect("there are four");
        assert_eq!(own(idle), Some("take_job"), "{options:?}: {idle:#?}");
        assert!(process.complete_share() > 0.9, "{options:?}: {}", process.complete_share());
    }
}

#[test]
fn computing_threads_have_stacks_without_frame_pointers() {
    let program = Program::start(&compiled("compute.rs", &["-Cforce-frame-pointers=no"]), &[]);
    let mut process = NativeProcess::open(program.process()).expect("the process is visible");
    let mut sampler = CpuSampler::of(program.process());
    let mut own = Vec::new();
    for _ in 0..600 {
        process.sample().expect("the process is visible");
        sampler.refresh(&process).expect("events are permitted");
        std::thread::sleep(std::time::Duration::from_millis(50));
        let taken = sampler.take(&mut process);
        own.extend(taken.iter().map(|sample| process.name_stack(&sample.addresses)));
        if own.len() > 200 {
            break;
        }
    }
    let of = |name: &str| own.iter().filter(|stack| stack.own().is_some_and(|frame| frame.function == name)).count();
    assert!(of("compute::render_page") * 10 > own.len() * 4, "{} of {}", of("compute::render_page"), own.len());
    let complete = own.iter().filter(|stack| stack.0.iter().any(|frame| frame.function == "compute::main")).count();
    assert!(complete * 10 > own.len() * 9, "{complete} of {}: {:#?}", own.len(), own.last());
}
