//! What is busy in a single run: other programs, the whole machine, the generator, threads of the server.

use super::seen::{generator_cores, likely, ours, undecided};
use crate::figures::server_fills;
use crate::thresholds::{FULL_THREAD, MACHINE_FULL, OTHERS_DISTURB, WORTH_TELLING};
use crate::words::percent;
use torr_gauge::{Factor, RunResult, Verdict};
use torr_signals::Signals;

/// Others use so much of the machine that neither side could show what it can do.
pub fn disturbed(run: &RunResult) -> Option<Verdict> {
    let host = run.host.as_ref().filter(|host| host.cpu_share >= MACHINE_FULL)?;
    let ours = ours(run, host);
    let behind = run.signals.as_ref().map_or(0.0, Signals::peer_cores);
    let others = host.cpu_share - ours - behind / host.cores as f64;
    (others >= OTHERS_DISTURB).then(|| {
        let summary =
            "Other programs use this machine's CPU, so neither server nor generator could show what it can do.";
        let named = run.signals.as_ref().and_then(|signals| signals.busiest_others(WORTH_TELLING));
        let named = named.map_or(String::new(), |named| format!(": {named}"));
        undecided(summary)
            .because(format!("the machine's CPU was used to {}", percent(host.cpu_share)))
            .because(format!(
                "server and generator together used {} of it, others {}{named}",
                percent(ours),
                percent(others)
            ))
            .advice("press again when nothing else runs here")
    })
}

/// The server runs here, and all CPU of the machine is used: the process that uses most of it is the limit.
pub fn full_machine(run: &RunResult) -> Option<Verdict> {
    let host = run.host.as_ref().filter(|host| host.cpu_share >= MACHINE_FULL)?;
    let generator = generator_cores(run);
    let cores = host.cores as f64;
    let part = |cores_used: f64| percent(cores_used / cores);
    // What works behind the server works for it.
    let behind = run.signals.as_ref().map_or(0.0, Signals::peer_cores);
    let (factor, advice) = match server_fills(host.server_cores + behind, generator) {
        true => (Factor::ServerCpu, "make requests cheaper or give the server more CPU"),
        false => (Factor::Generator, "the service can take more than this: the generator needs CPU of its own"),
    };
    let behind = if behind < WORTH_TELLING { String::new() } else { format!("{} by what it talks to, ", part(behind)) };
    let shares = format!("{} by the server, {behind}{} by the generator", part(host.server_cores), part(generator));
    let verdict = likely(factor, format!("The machine's CPU is used up: {shares}."))
        .because(format!("the machine's {} CPUs were used to {}", host.cores, percent(host.cpu_share)))
        .because(format!("a request cost the generator {:.2} us of CPU", run.generator.cpu_us_per_request))
        .advice(advice);
    let verdict = if run.plan.keep_alive {
        verdict
    } else {
        verdict.because("each request opens a connection of its own, which costs both sides a multiple of the request")
    };
    Some(verdict.advice("run the generator on another machine, where it takes no CPU from the server"))
}

/// There is CPU to spare, but one side has no more to give.
pub fn one_side(run: &RunResult) -> Option<Verdict> {
    let busy = format!("the generator's busiest thread had work {} of the time", percent(run.generator.busy_share));
    let Some(host) = &run.host else {
        return run.generator.saturated.then(|| {
            likely(Factor::Generator, "The load generator itself was the limit: the service may take more.")
                .because(busy)
                .because(format!("it used {} of the CPU that its threads can use", percent(run.generator.cpu_share)))
                .advice("give it more threads with -t, or a machine with more cores")
        });
    };
    let full = host.server_threads.iter().filter(|&&share| share >= FULL_THREAD).count();
    let spare = format!("the machine's CPU was used to {} only", percent(host.cpu_share));
    match (full, run.generator.saturated) {
        (0, true) => Some(
            likely(Factor::Generator, "The load generator itself was the limit: the service may take more.")
                .because(busy)
                .because(format!("no thread of the server was full, and {spare}"))
                .advice("give it more threads with -t, or a machine of its own"),
        ),
        (1.., false) => Some(server_threads(full, host.cores, host.server_cores, spare)),
        _ => None,
    }
}

fn server_threads(full: usize, cores: usize, used: f64, spare: String) -> Verdict {
    if full >= cores || used >= MACHINE_FULL * cores as f64 {
        return likely(Factor::ServerCpu, "The server uses all CPU that this machine has.")
            .because(format!("{full} of its threads were full and it used {used:.2} of {cores} CPUs"))
            .advice("make requests cheaper or give the server more CPU");
    }
    let verdict = if full == 1 {
        likely(Factor::SingleCore, "One thread of the server does all the work and is full, while CPU is free.")
            .because("1 thread of the server was full, and no other")
    } else {
        likely(Factor::Workers, "All busy threads of the server are full, while CPU is free.")
            .because(format!("{full} threads of the server were full, on {cores} CPUs"))
    };
    verdict.because(spare).advice(format!("run more workers: one per core would be {cores}"))
}
