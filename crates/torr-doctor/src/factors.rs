//! The rules, in the order in which they are asked. Each looks for witnesses of one group of factors in what is known, makes
//! the experiment that would tell them from what looks alike, and gives a verdict or passes.
//!
//! The order matters: requests that fail say nothing of a server's speed, a generator that cannot keep up says nothing of
//! anything else, and what holds all requests back for a time (a quota, a limiter, a link) has to be known before it can be
//! asked what a server is busy with.

mod addresses;
mod connecting;
mod cpu;
mod delayed_ack;
mod disturbed;
mod failing;
mod generator;
mod held_back;
mod proxy;
mod rising;
mod waiting;

use crate::laboratory::Halt;
use crate::ward::Ward;
use crate::words::percent;
use torr_gauge::{Confidence, Verdict};

/// A rule: a verdict, or nothing if it is not this.
pub type Rule = fn(&mut Ward<'_>) -> Result<Option<Verdict>, Halt>;

/// The share of the machine's CPU that the hypervisor may give to others before it is doubtful who was busy.
const MUCH_STOLEN: f64 = 0.1;

/// All rules in their order.
pub const RULES: [Rule; 12] = [
    failing::ports,
    delayed_ack::rule,
    failing::backlog,
    failing::refusals,
    failing::errors,
    generator::rule,
    connecting::rule,
    rising,
    held_back::rule,
    proxy::rule,
    disturbed::rule,
    busy,
];

pub use failing::{errors, out_of_ports};

/// Throughput still grows with connections.
fn rising(ward: &mut Ward<'_>) -> Result<Option<Verdict>, Halt> {
    let verdict = rising::rule(ward)?;
    Ok(verdict.map(|verdict| doubted(verdict, ward.case.stolen_share())))
}

/// The service is saturated, and nothing outside it is the reason: it is busy, or it waits.
fn busy(ward: &mut Ward<'_>) -> Result<Option<Verdict>, Halt> {
    let verdict = match cpu::rule(ward)? {
        Some(verdict) => Some(verdict),
        None => waiting::rule(ward)?,
    };
    let behind = &ward.case.behind;
    let told = || format!("this is said of {}, to which the server hands requests on", behind.join(", "));
    let verdict = verdict.map(|verdict| verdict.because_if((!behind.is_empty()).then(told)));
    Ok(verdict.map(|verdict| doubted(verdict, ward.case.stolen_share())))
}

/// Where the CPU comes and goes, nobody can be sure who was busy, nor what grew with the load.
fn doubted(verdict: Verdict, stolen: f64) -> Verdict {
    if stolen <= MUCH_STOLEN {
        return verdict;
    }
    let confidence = match verdict.confidence {
        Confidence::Certain => Confidence::Likely,
        other => other,
    };
    Verdict { confidence, ..verdict }.because(format!(
        "the hypervisor gave {} of this machine's CPU to others, which counts as used by those that it was taken from",
        percent(stolen)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::Factor;

    #[test]
    fn who_is_busy_is_not_certain_where_the_hypervisor_takes_much() {
        for (before, after) in [
            (Confidence::Certain, Confidence::Likely),
            (Confidence::Likely, Confidence::Likely),
            (Confidence::Unknown, Confidence::Unknown),
        ] {
            let verdict = || Verdict::new(Factor::Lock, before, "a lock");
            assert_eq!(doubted(verdict(), 0.02).confidence, before);
            let doubted = doubted(verdict(), 0.25);
            assert_eq!(doubted.confidence, after);
            assert!(doubted.because.iter().any(|told| told.contains("25%")), "{:?}", doubted.because);
        }
    }
}
