//! What a survey costs: its CPU time while a load would run. What a load loses is for `examples/loss.rs` to measure.

mod support;

use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use support::{Program, compiled};
use torr_where::native::observe::observe;
use torr_where::{Resource, Survey};

/// Returns the right to measure: all tests are one process, whose CPU time is counted.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A test that failed has left nothing half done here.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn own_cpu_time() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

#[test]
fn a_hundred_threads_cost_a_twentieth_of_a_cpu() {
    let _alone = alone();
    let program = Program::start(&compiled("many.c", &["-O2"]), &[]);
    let before = own_cpu_time();
    let time = Duration::from_secs(4);
    let observed = observe(program.process(), time, &AtomicBool::new(false));
    let cost = (own_cpu_time() - before).as_secs_f64() / time.as_secs_f64();
    let rounds = observed.rounds.len();
    println!("{rounds} rounds of {} threads for {:.1}% of a CPU", observed.used.len(), cost * 100.0);
    // Opening and naming come on top of the rounds, whose cost is bounded. Without optimisation both take several times as long, and
    // twice that where other programs have the machine's caches.
    let bound = if cfg!(debug_assertions) { 0.25 } else { 0.05 };
    assert!(cost <= bound, "{rounds} rounds for {:.1}% of a CPU", cost * 100.0);
    assert!(rounds >= 10, "{rounds} rounds, and {:?} unseen", observed.unseen);
    let named = observed.rounds.iter().flat_map(|round| &round.samples).filter(|sample| {
        sample.stack.0.iter().filter(|frame| frame.is_own && frame.function.starts_with("step_")).count() == 4
    });
    let named = named.count();
    assert!(named >= rounds * 30, "{named} whole stacks in {rounds} rounds, and {:?} unseen", observed.unseen);
}

#[test]
fn sampling_costs_a_fiftieth_of_the_machine_while_a_load_runs() {
    let _alone = alone();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let time = Duration::from_secs(3);
    let program = compiled("shop.go", &[]);
    for (mode, resource) in [("inlined", Resource::Thread), ("receipt", Resource::Lock), ("cache", Resource::Peer)] {
        let program = Program::start(&program, &[mode]);
        let mut survey = Survey::of(vec![program.process()], resource, time).prepare();
        let before = own_cpu_time();
        survey.sample(&AtomicBool::new(false));
        let cost = (own_cpu_time() - before).as_secs_f64() / time.as_secs_f64() / cpus;
        let found = survey.localise();
        println!("{mode}: {:.2}% of the machine", cost * 100.0);
        // Without optimisation following a stack takes ten times as long.
        let bound = if cfg!(debug_assertions) { 0.1 } else { 0.02 };
        assert!(cost <= bound, "{mode}: {:.2}% of the machine", cost * 100.0);
        assert!(found.stacks.is_some(), "{mode}: {found:?}");
    }
}
