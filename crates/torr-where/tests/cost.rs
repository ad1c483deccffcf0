//! What a survey costs: the CPU time of a program with a hundred threads under observation.

mod support;

use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use support::{Program, compiled};
use torr_where::native::observe::observe;

fn own_cpu_time() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

#[test]
fn a_hundred_threads_cost_a_twentieth_of_a_cpu() {
    let program = Program::start(&compiled("many.c", &["-O2"]), &[]);
    let before = own_cpu_time();
    let time = Duration::from_secs(4);
    let observed = observe(program.process(), time, &AtomicBool::new(false));
    let cost = (own_cpu_time() - before).as_secs_f64() / time.as_secs_f64();
    let rounds = observed.rounds.len();
    println!("{rounds} rounds of {} threads for {:.1}% of a CPU", observed.used.len(), cost * 100.0);
    // Opening and naming come on top of the rounds, whose cost is bounded. Without optimisation both take several times as long.
    let bound = if cfg!(debug_assertions) { 0.15 } else { 0.05 };
    assert!(cost <= bound, "{:.1}% of a CPU", cost * 100.0);
    assert!(rounds >= 10, "{rounds} rounds");
    let named = observed.rounds.iter().flat_map(|round| &round.samples).filter(|sample| {
        sample.stack.0.iter().filter(|frame| frame.is_own && frame.function.starts_with("step_")).count() == 4
    });
    assert!(named.count() >= rounds * 30, "most stacks are whole");
}
