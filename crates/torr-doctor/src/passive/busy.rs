//! What is busy in a single run: other programs, the whole machine, the generator, threads of the server.

use super::seen::{busy_generator, likely, machine_cpu, other_programs, ours, undecided};
use crate::figures::server_fills;
use crate::thresholds::{FULL_THREAD, GENERATOR_WORKS, MACHINE_FULL, OTHERS_DISTURB, WORTH_TELLING};
use torr_gauge::host::Host;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Factor, RunResult};
use torr_signals::Signals;

/// Others use so much of the machine that neither side could show what it can do.
pub fn disturbed(run: &RunResult) -> Option<Finding> {
    let host = run.host.as_ref().filter(|host| host.cpu_share >= MACHINE_FULL)?;
    let ours = ours(run, host)?;
    let behind = run.signals.as_ref().map_or(0.0, Signals::peer_cores) / host.cores as f64;
    let others = run.others_share()?;
    (others >= OTHERS_DISTURB).then(|| {
        undecided(Headline::OthersUseCpu)
            .because(machine_cpu(host))
            .because(Fact::CpuShares { share: ours + behind, others_share: others })
            .because(other_programs(run))
            .advice(Advice::StopOthers)
    })
}

/// The server runs here, and all CPU of the machine is used: the process that uses most of it is the limit.
pub fn full_machine(run: &RunResult) -> Option<Finding> {
    let host = run.host.as_ref().filter(|host| host.cpu_share >= MACHINE_FULL)?;
    let generator = run.generator_cores()?;
    let share = |cores_used: f64| cores_used / host.cores as f64;
    // What works behind the server works for it.
    let behind = run.signals.as_ref().map_or(0.0, Signals::peer_cores);
    let (factor, advice) = match server_fills(host.server_cores + behind, generator) {
        true => (Factor::ServerCpu, Advice::CheaperRequests),
        false => (Factor::Generator, Advice::MoreCpu),
    };
    let headline = Headline::MachineFull {
        server_share: share(host.server_cores),
        peers_share: if behind < WORTH_TELLING { 0.0 } else { share(behind) },
        generator_share: share(generator),
    };
    Some(
        likely(factor, headline)
            .because(machine_cpu(host))
            .because(run.generator.cpu_us_per_request.map(|us| Fact::GeneratorCost { us }))
            .because((!run.plan.keep_alive).then_some(Fact::ConnectionEach))
            .advice(advice)
            .advice(Advice::OtherMachine),
    )
}

/// There is CPU to spare, but one side has no more to give.
pub fn one_side(run: &RunResult) -> Option<Finding> {
    let limited_by_generator = || likely(Factor::Generator, Headline::Generator).because(busy_generator(run));
    // A thread that is never idle may wait for a CPU, or be woken for little: a limit is one that works.
    let works = run.generator_cores().is_none_or(|cores| cores >= GENERATOR_WORKS);
    let saturated = run.generator.saturated && works;
    let Some(host) = &run.host else {
        return saturated.then(|| {
            limited_by_generator()
                .because(run.generator.cpu_share.map(|share| Fact::GeneratorCpu { share }))
                .advice(Advice::MoreThreads)
        });
    };
    let full = host.server_threads.iter().filter(|&&share| share >= FULL_THREAD).count();
    match (full, saturated) {
        (0, true) => Some(
            limited_by_generator()
                .because(Fact::SaturatedThreads { threads: 0, cores: None })
                .because(machine_cpu(host))
                .advice(Advice::MoreThreads),
        ),
        (1.., false) => Some(server_threads(full, host)),
        _ => None,
    }
}

fn server_threads(full: usize, host: &Host) -> Finding {
    let cores = host.cores;
    let threads = Fact::SaturatedThreads { threads: full, cores: Some(cores) };
    if full >= cores || host.server_cores >= MACHINE_FULL * cores as f64 {
        let used = Fact::ServerCpu { used_cores: host.server_cores, cores: Some(cores), busiest_thread: None };
        return likely(Factor::ServerCpu, Headline::AllCpu)
            .because(threads)
            .because(used)
            .advice(Advice::CheaperRequests);
    }
    let (factor, headline) = match full {
        1 => (Factor::SingleCore, Headline::OneThread { cpu_is_free: true }),
        _ => (Factor::Workers, Headline::ThreadsSaturated),
    };
    likely(factor, headline).because(threads).because(machine_cpu(host)).advice(Advice::MoreWorkers { workers: cores })
}
