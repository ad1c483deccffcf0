//! The rules in their order. Each is a pure function of the evidence: it looks for witnesses of one group of factors, requests the
//! experiment that distinguishes these from look-alikes, and gives a verdict or passes.
//!
//! The order matters: failed requests are no measure of a server's speed, a saturated generator is no measure of anything, and what
//! delays all requests (a quota, a limiter, a link) has to be known before the server's own work is examined.

mod addresses;
mod allowed;
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

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::figures::Before;
use crate::thresholds::STOLEN_DOUBTFUL;
use crate::words::percent;
use crate::{acks, keep_alive, survey};
use torr_gauge::{Confidence, Factor, Verdict};

/// A rule. It sees no socket, no clock and no other rule's state.
pub type Rule = fn(&Evidence) -> Step;

/// The rules that are applied without regard to the time left: those that only observe, and the user's limits.
pub const SURVEY: [Rule; 9] = [
    survey::alone_rule,
    acks::rule,
    survey::alone_acked,
    survey::cheap_rule,
    survey::ladder_rule,
    survey::null_rule,
    survey::beside_rule,
    keep_alive::rule,
    allowed::rule,
];

/// The rules that are applied while there is time.
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
    disturbed,
    busy,
];

/// The rules that tell something when there is no time for another experiment.
pub const WITHOUT_EXPERIMENT: [Rule; 2] = [allowed::rule, errors];

pub use connecting::ECDSA;
pub use failing::{errors, out_of_ports};
pub use proxy::seen_through;

/// Throughput still grows with connections.
fn rising(evidence: &Evidence) -> Step {
    let verdict = rising::rule(evidence)?;
    Ok(verdict.map(|verdict| doubted(verdict, evidence.figures.stolen_share())))
}

/// Other programs use the machine of the server that limits.
fn disturbed(evidence: &Evidence) -> Step {
    disturbed::rule(&seen_through(evidence))
}

/// The service is saturated, and nothing outside it is the reason: it is busy, or it waits.
fn busy(evidence: &Evidence) -> Step {
    let evidence = seen_through(evidence);
    let verdict = match cpu::rule(&evidence)? {
        Some(verdict) => Some(verdict),
        None => waiting::rule(&evidence)?,
    };
    let verdict = verdict.map(|verdict| with_proxy(verdict, evidence.figures.before.as_ref()));
    let behind = &evidence.figures.behind;
    let because = || format!("this verdict is about {}, to which the server forwards requests", behind.join(", "));
    let verdict = verdict.map(|verdict| verdict.because_if((!behind.is_empty()).then(because)));
    Ok(verdict.map(|verdict| doubted(verdict, evidence.figures.stolen_share())))
}

/// Names whose CPU it is, where a proxy and what is behind it share the machine.
fn with_proxy(verdict: Verdict, before: Option<&Before>) -> Verdict {
    let Some(before) = before.filter(|_| [Factor::ServerCpu, Factor::Generator].contains(&verdict.factor)) else {
        return verdict;
    };
    let mut verdict = verdict
        .because(format!(
            "the proxy, {}, used {:.2} CPUs, and {} behind it {:.2}",
            before.proxy, before.proxy_cores, before.behind, before.behind_cores
        ))
        .because(format!("directly, without the proxy, {}", before.contrast));
    if verdict.factor == Factor::ServerCpu {
        verdict.summary = whose_cpu(&before.proxy, before.proxy_cores, &before.behind, before.behind_cores);
        verdict = verdict.advice(PROXY_CPU);
    }
    verdict
}

/// The advice for a proxy that takes much CPU.
pub const PROXY_CPU: &str = "make the proxy's part cheaper: compression, rules and a log line for each request, as far as these are on, \
                             and fewer copies of bodies; or give it CPU of its own";

/// Whose CPU it is that is used up: the proxy's, or that of what is behind it.
pub fn whose_cpu(proxy: &str, proxy_cores: f64, behind: &str, behind_cores: f64) -> String {
    match proxy_cores >= behind_cores {
        true => format!("The machine's CPU is used up, and of the two servers the proxy, {proxy}, takes the most."),
        false => {
            format!("The machine's CPU is used up, and of the two servers {behind}, behind the proxy, takes the most.")
        }
    }
}

/// Lowers the confidence of a verdict if the hypervisor took much CPU, so that the use of CPU is uncertain.
fn doubted(verdict: Verdict, stolen: f64) -> Verdict {
    if stolen <= STOLEN_DOUBTFUL {
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

    #[test]
    fn a_full_machine_with_a_proxy_says_whose_cpu_it_is() {
        let before = |proxy_cores, behind_cores| Before {
            proxy: "nginx".into(),
            proxy_cores,
            behind: "torr at 127.0.0.1:8080".into(),
            behind_cores,
            contrast: "100/s became 360/s".into(),
        };
        let verdict = || Verdict::new(Factor::ServerCpu, Confidence::Likely, "The server uses all CPU.");
        let shared = with_proxy(verdict(), Some(&before(1.2, 0.3)));
        assert!(shared.summary.contains("the proxy, nginx, takes the most"), "{}", shared.summary);
        assert!(
            shared
                .because
                .iter()
                .any(|because| because.contains("nginx, used 1.20 CPUs, and torr at 127.0.0.1:8080 behind it 0.30"))
        );
        assert!(shared.because.iter().any(|because| because.contains("100/s became 360/s")));
        assert!(with_proxy(verdict(), Some(&before(0.3, 1.2))).summary.contains("torr at 127.0.0.1:8080, behind"));
        let lock = Verdict::new(Factor::Lock, Confidence::Likely, "a lock");
        assert_eq!(with_proxy(lock.clone(), Some(&before(1.0, 1.0))), lock);
        assert_eq!(with_proxy(verdict(), None), verdict());
    }

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
            assert!(doubted.because.iter().any(|because| because.contains("25%")), "{:?}", doubted.because);
        }
    }
}
