//! Others use the machine, so that neither service nor generator can show what it can do.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::thresholds::{MACHINE_FULL, OTHERS_DISTURB, STOLEN_DISTURBS};
use crate::witnesses::other_programs;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Confidence, Factor};

pub fn rule(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    let generator = figures.generator_there();
    let seen = figures.signals.as_ref().and_then(|signals| Some((signals.machine?, signals.others_share(generator)?)));
    let Some((machine, others)) = seen else { return Ok(None) };
    let known = figures.server_cores().unwrap_or(0.0) + figures.peer_cores() + generator;
    let stolen = figures.stolen_share();
    if machine.cpu_share < MACHINE_FULL || !figures.wants_cpu() || others < OTHERS_DISTURB && stolen < STOLEN_DISTURBS {
        return Ok(None);
    }
    Ok(Some(
        Finding::new(Factor::Unknown, Confidence::Unknown, Headline::OthersUseCpu)
            .because(figures.machine_cpu())
            .because(Fact::CpuShares { share: known / machine.cores as f64, others_share: others })
            .because(figures.signals.as_ref().and_then(other_programs))
            .because((stolen > 0.01).then_some(Fact::Steal { share: stolen }))
            .advice(Advice::StopOthers),
    ))
}
