//! The load generator itself.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::thresholds::{
    GENERATOR_STARVED, GENERATOR_THROTTLED, MACHINE_FULL, MORE_AGENTS_BETTER, MORE_THREADS_BETTER, NULL_AS_GOOD,
    NULL_NO_BETTER, SERVED,
};
use crate::words::counted;
use crate::words::{percent, rate};
use torr_gauge::generator::SATURATED;
use torr_gauge::{Confidence, Factor, Gain, Verdict};

/// Why the generator's being the limit promises nothing of the service.
const NOT_AT_ITS_LIMIT: &str = "the service was not at its limit";

/// Returns the gain where the generator is the limit.
pub fn not_at_its_limit() -> Gain {
    Gain::unknown("more throughput from a generator with more CPU", NOT_AT_ITS_LIMIT)
}

pub fn rule(evidence: &Evidence) -> Step {
    let generator = evidence.full().run.generator;
    let starved = generator.queued_share.filter(|&share| share >= GENERATOR_STARVED);
    let busy = generator.busy_share >= SATURATED;
    let quota = evidence.figures.own_quota.clone().filter(|quota| quota.throttled_share() >= GENERATOR_THROTTLED);
    // A server that is saturated as well is examined by another rule, and one on a saturated machine shares that.
    let is_shared =
        evidence.figures.same_machine && evidence.figures.machine_share().is_some_and(|share| share >= MACHINE_FULL);
    let alone_starved = starved.is_some() && evidence.figures.server_waits_for_cpu().is_none_or(|share| share < SERVED);
    let is_limit = quota.is_some() || evidence.figures.full_threads() == 0 && (alone_starved || busy && !is_shared);
    if !is_limit {
        return Ok(None);
    }
    let cpus = evidence.setting.generator_cpus;
    let again = &evidence.setting.commands;
    let verdict = Verdict::new(
        Factor::Generator,
        Confidence::Likely,
        match evidence.setting.agents {
            None => "The load generator is the limit: the service may take more than it can send from here.",
            Some(_) => "The agents are the limit: the service may take more than they can send.",
        },
    )
    .because(format!(
        "its busiest thread had work {} of the time, and used {:.2} CPUs in all",
        percent(generator.busy_share),
        evidence.figures.generator_cores
    ))
    .because_if(
        starved.map(|share| format!("its threads were ready to run but without a CPU {} of the time", percent(share))),
    )
    .because_if(quota.as_ref().map(|quota| {
        format!(
            "its own CPU quota of {:.2} CPUs throttled it in {} of the periods",
            quota.cores,
            percent(quota.throttled_share())
        )
    }))
    .because_if(
        evidence
            .figures
            .server_cores()
            .map(|cores| format!("the server used {cores:.2} CPUs, and none of its threads was full")),
    )
    .advice(match evidence.figures.generator_threads < cpus {
        _ if evidence.setting.agents.is_some() => "start agents on more machines, or on machines with more CPU",
        true => "give it more threads with -t, more CPU, or a machine of its own",
        false => "give it more CPU, or a machine of its own",
    });
    if let Some(agents) = evidence.setting.agents {
        return by_agents(evidence, verdict, agents);
    }
    // Where it was slower than the target, it was itself the limit, and shows nothing of the generator.
    let alike = NULL_AS_GOOD * evidence.figures.rps()..NULL_NO_BETTER * evidence.figures.rps();
    let null = evidence.figures.null_rps.filter(|null| alike.contains(null));
    if let Some(null) = null {
        let verdict = verdict
            .because(format!(
                "a service that does nothing reached {} here, the target {}",
                rate(null),
                rate(evidence.figures.rps())
            ))
            .gain(not_at_its_limit())
            .advice("run the command below on another machine, or where the generator has more CPU")
            .verify(again.press(&[("-c", &evidence.setting.connections)]));
        return Ok(Some(Verdict { confidence: Confidence::Certain, ..verdict }));
    }
    let threads = evidence.figures.generator_threads;
    if quota.is_some() || threads >= cpus || threads >= evidence.figures.connections {
        return Ok(Some(verdict.gain(not_at_its_limit())));
    }
    let way = |threads| {
        let why = "whether another thread of the generator brings more";
        evidence.setting.user(counted(threads, "thread"), why, 0.7).with(|load| load.threads = threads)
    };
    let contrast = evidence.in_turns([way(threads), way(threads + 1)])?;
    if !contrast.is_above(MORE_THREADS_BETTER) {
        return Ok(None);
    }
    let verdict = verdict
        .because(format!("with another thread {contrast}"))
        .gain(Gain::at_least(contrast.of.low, "with another thread", NOT_AT_ITS_LIMIT))
        .verify(again.press(&[("-c", &evidence.setting.connections), ("-t", &(threads + 1))]));
    Ok(Some(Verdict { confidence: Confidence::Certain, ..verdict }))
}

/// Examines whether twice as many agents bring more, which is certain proof. With one agent there is nothing to compare with.
fn by_agents(evidence: &Evidence, verdict: Verdict, agents: usize) -> Step {
    let agents = agents.min(evidence.setting.connections);
    if agents < 2 {
        return Ok(Some(verdict.gain(not_at_its_limit())));
    }
    let way = |agents| {
        let why = "whether more agents bring more";
        evidence.setting.user(counted(agents, "agent"), why, 0.7).with(|load| load.agents = Some(agents))
    };
    let half = agents.div_ceil(2);
    let contrast = evidence.in_turns([way(half), way(agents)])?;
    if !contrast.is_above(MORE_AGENTS_BETTER) {
        return Ok(None);
    }
    let verdict = verdict
        .because(format!("with {} instead of {half} {contrast}", counted(agents, "agent")))
        .gain(not_at_its_limit())
        .verify(evidence.setting.commands.doctor(&[("-c", &evidence.setting.connections)]));
    Ok(Some(Verdict { confidence: Confidence::Certain, ..verdict }))
}
