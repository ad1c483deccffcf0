//! Others use the machine, so that neither service nor generator can show what it can do.

use crate::laboratory::Halt;
use crate::ward::Ward;
use crate::words::percent;
use torr_gauge::{Confidence, Factor, Verdict};

/// The share of the machine's CPU in use from which somebody else may be in the way.
const FULL: f64 = 0.9;
/// The share that others may use before experiments mean nothing.
const OTHERS: f64 = 0.25;
/// The share that the hypervisor may give to others.
const STOLEN: f64 = 0.2;

pub fn rule(ward: &mut Ward<'_>) -> Result<Option<Verdict>, Halt> {
    let figures = &ward.figures;
    let Some(machine) = figures.signals.as_ref().and_then(|signals| signals.machine) else { return Ok(None) };
    let cores = machine.cores as f64;
    let known = figures.server_cores().unwrap_or(0.0) + figures.peer_cores() + figures.generator_there();
    let others = (machine.cpu_share - known / cores).max(0.0);
    let stolen = figures.stolen_share();
    if machine.cpu_share < FULL || !figures.wants_cpu() || others < OTHERS && stolen < STOLEN {
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
