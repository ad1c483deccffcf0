//! Others use the machine, so that neither service nor generator can show what it can do.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::thresholds::{MACHINE_FULL, OTHERS_DISTURB, STOLEN_DISTURBS};
use crate::words::percent;
use torr_gauge::{Confidence, Factor, Verdict};

pub fn rule(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    let Some(machine) = figures.signals.as_ref().and_then(|signals| signals.machine) else { return Ok(None) };
    let cores = machine.cores as f64;
    let known = figures.server_cores().unwrap_or(0.0) + figures.peer_cores() + figures.generator_there();
    let others = (machine.cpu_share - known / cores).max(0.0);
    let stolen = figures.stolen_share();
    if machine.cpu_share < MACHINE_FULL || !figures.wants_cpu() || others < OTHERS_DISTURB && stolen < STOLEN_DISTURBS {
        return Ok(None);
    }
    let summary = "Other programs use this machine's CPU, so neither server nor generator can show what it can do.";
    Ok(Some(
        Verdict::new(Factor::Unknown, Confidence::Unknown, summary)
            .because(format!("the machine's CPUs were used to {}", percent(machine.cpu_share)))
            .because(format!("the server, what it talks to and the generator used {} of them", percent(known / cores)))
            .because_counted((others * 100.0).round() as u64, |others| format!("other programs used {others}%"))
            .because_if(figures.busiest_others())
            .because_if((stolen > 0.01).then(|| format!("the hypervisor gave {} to other machines", percent(stolen))))
            .advice("examine it again when nothing else runs here"),
    ))
}
