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
mod failures;
mod front;
mod generator;
mod held_back;
mod hidden_quota;
mod pooler;
mod proxy;
mod relay;
mod rising;
mod serialised;
mod waiting;
mod waits_for;

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::figures::Before;
use crate::thresholds::STOLEN_DOUBTFUL;
use crate::{acks, keep_alive, survey};
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Confidence, Factor};

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
pub const RULES: [Rule; 13] = [
    failing::ports,
    delayed_ack::rule,
    failing::backlog,
    failing::refusals,
    failures::rule,
    generator::rule,
    connecting::rule,
    rising,
    held_back::rule,
    proxy::rule,
    disturbed,
    busy,
    failing::slow_connections,
];

/// The rules that tell something when there is no time for another experiment.
pub const WITHOUT_EXPERIMENT: [fn(&Evidence) -> Option<Finding>; 2] =
    [|evidence| allowed::rule(evidence).ok().flatten(), failures];

pub use failing::out_of_ports;
pub use failures::failures;
pub use proxy::seen_through;

/// Throughput still grows with connections.
fn rising(evidence: &Evidence) -> Step {
    let finding = rising::rule(evidence)?;
    Ok(finding.map(|finding| doubted(finding, evidence.figures.stolen_share())))
}

/// Other programs use the machine of the server that limits.
fn disturbed(evidence: &Evidence) -> Step {
    disturbed::rule(&seen_through(evidence))
}

/// The service is saturated, and nothing outside it is the reason: it is busy, or it waits.
fn busy(evidence: &Evidence) -> Step {
    let evidence = seen_through(evidence);
    let finding = match cpu::rule(&evidence)? {
        Some(finding) => Some(finding),
        None => waiting::rule(&evidence)?,
    };
    let behind = &evidence.figures.behind;
    let about = (!behind.is_empty()).then(|| Fact::BehindProxy { services: behind.clone() });
    let queues = evidence.figures.queues_behind.clone();
    Ok(finding.map(|finding| {
        let finding = with_proxy(finding, evidence.figures.before.as_ref()).because(about).because(queues);
        doubted(finding, evidence.figures.stolen_share())
    }))
}

/// Names whose CPU it is, where a proxy and what is behind it share the machine.
fn with_proxy(finding: Finding, before: Option<&Before>) -> Finding {
    let Some(before) = before.filter(|_| [Factor::ServerCpu, Factor::Generator].contains(&finding.factor)) else {
        return finding;
    };
    let proxy = Some(before.proxy.clone());
    let mut finding = finding
        .because(Fact::ProxyCpu { proxy, cores: before.proxy_cores, saturated_threads: None })
        .because(Fact::BehindCpu { service: before.behind.clone(), cores: before.behind_cores })
        .because(Fact::WithoutProxy { service: None, addresses: vec![], speedup: before.contrast });
    if finding.factor == Factor::ServerCpu {
        let is_proxy = before.proxy_cores >= before.behind_cores;
        let server = if is_proxy { &before.proxy } else { &before.behind };
        finding.headline = Headline::MachineFullWith { server: server.clone(), is_proxy };
        finding = finding.advice(Advice::CheaperProxy);
    }
    finding
}

/// Lowers the confidence of a finding if the hypervisor took much CPU, so that the use of CPU is uncertain.
fn doubted(finding: Finding, stolen: f64) -> Finding {
    if stolen <= STOLEN_DOUBTFUL {
        return finding;
    }
    let confidence = match finding.confidence {
        Confidence::Certain => Confidence::Likely,
        other => other,
    };
    Finding { confidence, ..finding }.because(Fact::Steal { share: stolen })
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::verdict::Speedup;

    const SPEEDUP: Speedup =
        Speedup { before_rps: 100.0, after_rps: 360.0, ratio: 3.6, interval: Some((3.5, 3.7)), pairs: 3 };

    #[test]
    fn a_full_machine_with_a_proxy_says_whose_cpu_it_is() {
        let before = |proxy_cores, behind_cores| Before {
            proxy: "nginx".into(),
            proxy_cores,
            behind: "torr at 127.0.0.1:8080".into(),
            behind_cores,
            contrast: SPEEDUP,
        };
        let finding = || Finding::new(Factor::ServerCpu, Confidence::Likely, Headline::AllCpu);
        let shared = with_proxy(finding(), Some(&before(1.2, 0.3)));
        assert_eq!(shared.headline, Headline::MachineFullWith { server: "nginx".into(), is_proxy: true });
        let behind = Fact::BehindCpu { service: "torr at 127.0.0.1:8080".into(), cores: 0.3 };
        let without = Fact::WithoutProxy { service: None, addresses: vec![], speedup: SPEEDUP };
        assert!(shared.because.contains(&behind) && shared.because.contains(&without), "{shared:?}");
        let served = with_proxy(finding(), Some(&before(0.3, 1.2)));
        let headline = Headline::MachineFullWith { server: "torr at 127.0.0.1:8080".into(), is_proxy: false };
        assert_eq!(served.headline, headline);
        let lock = Finding::new(Factor::Lock, Confidence::Likely, Headline::Lock);
        assert_eq!(with_proxy(lock.clone(), Some(&before(1.0, 1.0))), lock);
        assert_eq!(with_proxy(finding(), None), finding());
    }

    #[test]
    fn who_is_busy_is_not_certain_where_the_hypervisor_takes_much() {
        for (before, after) in [
            (Confidence::Certain, Confidence::Likely),
            (Confidence::Likely, Confidence::Likely),
            (Confidence::Unknown, Confidence::Unknown),
        ] {
            let finding = || Finding::new(Factor::Lock, before, Headline::Lock);
            assert_eq!(doubted(finding(), 0.02).confidence, before);
            let doubted = doubted(finding(), 0.25);
            assert_eq!((doubted.confidence, doubted.because), (after, vec![Fact::Steal { share: 0.25 }]));
        }
    }
}
