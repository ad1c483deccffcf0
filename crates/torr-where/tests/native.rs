//! Stacks and waits of programs whose places are known.

mod support;

use support::{Program, compiled};
use torr_where::native::cpu::CpuSampler;
use torr_where::native::go::LineTable;
use torr_where::native::names::Names;
use torr_where::native::process::NativeProcess;
use torr_where::native::tidy::tidy;
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

#[test]
fn the_table_of_functions_of_go_says_what_the_debug_information_says() {
    let program = Program::start(&compiled("shop.go", &[]), &["inlined"]);
    let process = NativeProcess::open(program.process()).expect("the process is visible");
    let object = process.program().expect("it has a program");
    let table = LineTable::of(object, process.memory).expect("the program has a table of functions");
    let mut names = Names::of(program.process());
    let code = object.code.first().expect("it has code").addresses.clone();
    // Addresses of instructions are not known: most of these are within one, and belong to the same line.
    let addresses = (code.start..code.end).step_by((code.end - code.start) as usize / 400);
    let (mut same, mut all) = (0, 0);
    for address in addresses {
        let Some(positions) = table.positions(address) else { continue };
        let by_table: Vec<_> = positions.iter().map(|position| (tidy(&position.function), position.line)).collect();
        let frames = names.frames(address, &process.objects, &[]);
        let by_debug: Vec<_> = frames.iter().map(|frame| (frame.function.clone(), frame.line)).collect();
        all += 1;
        same += usize::from(by_table == by_debug);
        if by_table != by_debug {
            println!("{address:#x}: {by_table:?}, {by_debug:?}");
        }
    }
    assert!(all >= 300, "{all} addresses are in a function");
    assert!(same * 100 >= all * 95, "{same} of {all}");
}

#[test]
fn stacks_of_a_program_of_go_without_tables_are_followed_to_their_begin() {
    let program = Program::start(&compiled("shop.go", &["-ldflags=-s -w"]), &["cpu"]);
    let mut process = NativeProcess::open(program.process()).expect("the process is visible");
    let mut sampler = CpuSampler::of(program.process());
    let mut stacks = Vec::new();
    for _ in 0..600 {
        process.check_alive().expect("the process runs");
        sampler.refresh(&process).expect("events are permitted");
        std::thread::sleep(std::time::Duration::from_millis(50));
        let taken = sampler.take(&mut process);
        stacks.extend(taken.iter().map(|sample| process.name_stack(&sample.addresses)));
        if stacks.len() > 200 {
            break;
        }
    }
    let has = |name: &str| stacks.iter().filter(|stack| stack.0.iter().any(|frame| frame.function == name)).count();
    let computing = has("main.computeReceipt");
    assert!(computing * 10 > stacks.len() * 8, "{computing} of {}", stacks.len());
    for outer in ["main.render", "runtime.goexit"] {
        assert!(has(outer) * 10 > computing * 9, "{} of {computing} in {outer}: {:#?}", has(outer), stacks.last());
    }
}
