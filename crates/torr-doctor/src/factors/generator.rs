//! The load generator itself.

use crate::contrast::Contrast;
use crate::figures::SERVED;
use crate::laboratory::Halt;
use crate::ward::Ward;
use crate::words::{percent, rate};
use torr_gauge::generator::SATURATED;
use torr_gauge::{Confidence, Factor, Gain, Verdict};
use torr_press::Plan;

/// The share of the time without a CPU from which the generator was kept from its work.
const STARVED: f64 = 0.25;
/// A service that does nothing and reaches no more than this times the target shows what the generator can do.
const NO_BETTER: f64 = 1.25;
/// A service that does nothing and reaches less than this times the target was slower than it, and so was its own limit: throughput
/// varies by as much from run to run.
const AS_GOOD: f64 = 0.9;

/// Why the generator's being the limit promises nothing of the service.
const NOT_AT_ITS_LIMIT: &str = "the service was not at its limit";

/// Returns the gain where the generator is the limit.
pub fn not_at_its_limit() -> Gain {
    Gain::unknown("more throughput from a generator with more CPU", NOT_AT_ITS_LIMIT)
}

pub fn rule(ward: &mut Ward<'_>) -> Result<Option<Verdict>, Halt> {
    let generator = ward.full_observation().run.generator;
    let starved = generator.queued_share.filter(|&share| share >= STARVED);
    let busy = generator.busy_share >= SATURATED;
    let quota = ward.figures.own_quota.clone().filter(|quota| quota.throttled_share() >= 0.2);
    // A server that is full as well is told of by another rule, and one whose machine is full shares it.
    let is_shared = ward.figures.same_machine && ward.figures.machine_share().is_some_and(|share| share > 0.93);
    let alone_starved = starved.is_some() && ward.figures.server_waits_for_cpu().is_none_or(|share| share < SERVED);
    let is_limit = quota.is_some() || ward.figures.full_threads() == 0 && (alone_starved || busy && !is_shared);
    if !is_limit {
        return Ok(None);
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let again = &ward.lab.assignment.again;
    let verdict = Verdict::new(
        Factor::Generator,
        Confidence::Likely,
        "The load generator is the limit: the service may take more than it can send from here.",
    )
    .because(format!(
        "its busiest thread had work {} of the time, and used {:.2} CPUs in all",
        percent(generator.busy_share),
        ward.figures.generator_cores
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
        ward.figures
            .server_cores()
            .map(|cores| format!("the server used {cores:.2} CPUs, and none of its threads was full")),
    )
    .advice(match ward.figures.generator_threads < cpus {
        true => "give it more threads with -t, more CPU, or a machine of its own",
        false => "give it more CPU, or a machine of its own",
    });
    // Where it was slower than the target, it was itself the limit, and shows nothing of the generator.
    let alike = AS_GOOD * ward.figures.rps()..NO_BETTER * ward.figures.rps();
    let null = ward.figures.null_rps.filter(|null| alike.contains(null));
    if let Some(null) = null {
        let verdict = verdict
            .because(format!(
                "a service that does nothing reached {} here, the target {}",
                rate(null),
                rate(ward.figures.rps())
            ))
            .gain(not_at_its_limit())
            .advice("run the command below on another machine, or where the generator has more CPU")
            .verify(again.press(&[("-c", &ward.figures.connections)]));
        return Ok(Some(Verdict { confidence: Confidence::Certain, ..verdict }));
    }
    let threads = ward.figures.generator_threads;
    if quota.is_some() || threads >= cpus || threads >= ward.figures.connections {
        return Ok(Some(verdict.gain(not_at_its_limit())));
    }
    let (one, more) = (ward.user_plan(0.7), Plan { threads: threads + 1, ..ward.user_plan(0.7) });
    let names = (crate::words::counted(threads, "thread"), crate::words::counted(threads + 1, "thread"));
    let contrast = Contrast::of(
        &mut ward.lab,
        (&names.0, &one),
        (&names.1, &more),
        "whether another thread of the generator brings more",
    )?;
    if !contrast.is_above(1.05) {
        return Ok(None);
    }
    let verdict = verdict
        .because(format!("with another thread {contrast}"))
        .gain(Gain::at_least(contrast.of.low, "with another thread", NOT_AT_ITS_LIMIT))
        .verify(again.press(&[("-c", &ward.figures.connections), ("-t", &(threads + 1))]));
    Ok(Some(Verdict { confidence: Confidence::Certain, ..verdict }))
}
