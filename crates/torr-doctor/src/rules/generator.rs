//! The load generator itself.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::observation::Observation;
use crate::survey;
use crate::thresholds::{
    GENERATOR_EASY, GENERATOR_STARVED, GENERATOR_THROTTLED, GENERATOR_WORKS, MACHINE_FULL, MORE_AGENTS_BETTER,
    MORE_THREADS_BETTER, NULL_AS_GOOD, NULL_FAR_BETTER, NULL_NO_BETTER, SERVED,
};
use torr_gauge::generator::{Generator, SATURATED};
use torr_gauge::verdict::{Advice, Change, ExperimentId, Fact, Finding, Headline, Promise, UnknownGain};
use torr_gauge::{Confidence, Factor};

/// Returns the gain where the generator is the limit.
pub fn not_at_its_limit() -> Promise {
    Promise::unknown(Change::GeneratorCpu, UnknownGain::ServiceNotAtLimit)
}

pub fn rule(evidence: &Evidence) -> Step {
    let generator = evidence.full().run.generator;
    let starved = generator.queued_share.filter(|&share| share >= GENERATOR_STARVED);
    let busy = generator.busy_share.is_some_and(|share| share >= SATURATED);
    let quota = evidence.figures.own_quota.clone().filter(|quota| quota.throttled_share() >= GENERATOR_THROTTLED);
    // A server that is saturated as well is examined by another rule, and one on a saturated machine shares that.
    let is_shared =
        evidence.figures.same_machine && evidence.figures.machine_share().is_some_and(|share| share >= MACHINE_FULL);
    let alone_starved = starved.is_some() && evidence.figures.server_waits_for_cpu().is_none_or(|share| share < SERVED);
    // Waiting for a CPU is no limit of threads that have little to do.
    let works = wanted(&generator, evidence.figures.generator_threads).is_none_or(|wanted| wanted >= GENERATOR_WORKS);
    let is_limit =
        quota.is_some() || evidence.figures.full_threads() == 0 && works && (alone_starved || busy && !is_shared);
    if !is_limit || quota.is_none() && did_as_much_with_ease(evidence) {
        return Ok(None);
    }
    let cpus = evidence.setting.generator_cpus;
    let again = &evidence.setting.commands;
    let threads = evidence.figures.generator_threads;
    let (headline, advice) = match evidence.setting.agents {
        Some(_) => (Headline::Agents, Advice::MoreAgents),
        None if threads < cpus => (Headline::GeneratorHere, Advice::MoreThreads),
        None => (Headline::GeneratorHere, Advice::MoreCpu),
    };
    let server = evidence.figures.server_cpu();
    let idle_server = server.map(|server| [server, Fact::SaturatedThreads { threads: 0, cores: None }]);
    let cores = evidence.figures.generator_cores;
    let finding = Finding::new(Factor::Generator, Confidence::Likely, headline)
        .because(generator.busy_share.map(|share| Fact::GeneratorBusy { share, cores }))
        .because(starved.map(|share| Fact::GeneratorStarved { share }))
        .because(
            quota
                .as_ref()
                .map(|quota| Fact::GeneratorThrottled { quota_cores: quota.cores, share: quota.throttled_share() }),
        )
        .because(idle_server.into_iter().flatten())
        .advice(advice);
    if let Some(agents) = evidence.setting.agents {
        return by_agents(evidence, finding, agents);
    }
    // Where it was slower than the target, it was itself the limit, and shows nothing of the generator.
    let alike = NULL_AS_GOOD * evidence.figures.rps()..NULL_NO_BETTER * evidence.figures.rps();
    let null = evidence.figures.null_rps.filter(|null| alike.contains(null));
    if let Some(null) = null {
        let finding = finding
            .because(Fact::NullService { null_rps: null, rps: evidence.figures.rps() })
            .gain(not_at_its_limit())
            .advice(Advice::RunBelowElsewhere)
            .verify(again.press(&[("-c", &evidence.setting.connections)]));
        return Ok(Some(Finding { confidence: Confidence::Certain, ..finding }));
    }
    if quota.is_some() || threads >= cpus || threads >= evidence.figures.connections {
        // There is no other thread to try. The same threads brought far more from a service that does nothing if they are no limit.
        let far_better = evidence.figures.null_rps.is_some_and(|null| null >= NULL_FAR_BETTER * evidence.figures.rps());
        let is_limit = quota.is_some() || !far_better;
        return Ok(is_limit.then(|| finding.gain(not_at_its_limit())));
    }
    let way = |threads| evidence.setting.user(ExperimentId::Threads(threads), 0.7).with(|load| load.threads = threads);
    let contrast = evidence.in_turns([way(threads), way(threads + 1)])?;
    if !contrast.is_above(MORE_THREADS_BETTER) {
        return Ok(None);
    }
    let finding = finding
        .because(Fact::AnotherThread { speedup: contrast.speedup() })
        .gain(Promise::at_least(contrast.of.low, Change::AnotherThread, UnknownGain::ServiceNotAtLimit))
        .verify(again.press(&[("-c", &evidence.setting.connections), ("-t", &(threads + 1))]));
    Ok(Some(Finding { confidence: Confidence::Certain, ..finding }))
}

/// Returns the CPU time that the generator wanted, in CPUs: what it used, and what its threads waited for. `None` if it is not known.
fn wanted(generator: &Generator, threads: usize) -> Option<f64> {
    Some((generator.cpu_share? + generator.queued_share.unwrap_or(0.0)) * threads as f64)
}

/// Returns whether fewer connections brought as much while the generator's threads had time left: then it is not the limit.
fn did_as_much_with_ease(evidence: &Evidence) -> bool {
    let full = evidence.full();
    let has_time = |seen: &&Observation| {
        let generator = &seen.run.generator;
        let is_idle = generator.busy_share.is_some_and(|busy| busy < GENERATOR_EASY);
        is_idle && wanted(generator, threads_of(seen)).is_some_and(|wanted| wanted < GENERATOR_EASY)
    };
    let as_much = |seen: &&Observation| seen.good_rps() >= NULL_AS_GOOD * full.good_rps();
    survey::rungs_of(evidence).filter(as_much).any(|seen| has_time(&seen))
}

fn threads_of(seen: &Observation) -> usize {
    seen.run.plan.threads.unwrap_or(1)
}

/// Examines whether twice as many agents bring more, which is certain proof. With one agent there is nothing to compare with.
fn by_agents(evidence: &Evidence, finding: Finding, agents: usize) -> Step {
    let agents = agents.min(evidence.setting.connections);
    if agents < 2 {
        return Ok(Some(finding.gain(not_at_its_limit())));
    }
    let way = |agents| evidence.setting.user(ExperimentId::Agents(agents), 0.7).with(|load| load.agents = Some(agents));
    let half = agents.div_ceil(2);
    let contrast = evidence.in_turns([way(half), way(agents)])?;
    if !contrast.is_above(MORE_AGENTS_BETTER) {
        return Ok(None);
    }
    let finding = finding
        .because(Fact::MoreAgents { from: half, to: agents, speedup: contrast.speedup() })
        .gain(not_at_its_limit())
        .verify(evidence.setting.commands.doctor(&[("-c", &evidence.setting.connections)]));
    Ok(Some(Finding { confidence: Confidence::Certain, ..finding }))
}
