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
mod in_service;
mod pooler;
mod proxy;
mod relay;
mod rising;
mod serialised;
mod streams;
mod waiting;
mod waits_for;

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::figures::Before;
use crate::setting::Setting;
use crate::thresholds::STOLEN_DOUBTFUL;
use crate::weather::Weather;
use crate::{acks, keep_alive, survey};
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Confidence, Factor};

/// A rule. It sees no socket, no clock and no other rule's state.
pub type Rule = fn(&Evidence) -> Step;

/// The rules that are applied without regard to the time left: those that only observe, and the user's limits.
const SURVEY: [Rule; 9] = [
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
const RULES: [Rule; 13] = [
    failing::ports,
    delayed_ack::rule,
    failing::backlog,
    failing::refusals,
    failures::rule,
    generator,
    connecting,
    rising,
    held_back,
    proxy,
    disturbed,
    busy,
    failing::slow_connections,
];

/// The rules about failures that have a cause of their own.
const FAILING: [Rule; 3] = [failing::ports, failing::backlog, failing::refusals];

/// The rules that name what limits a service that responds, without regard to other programs on its machine.
const READINGS: [Rule; 6] = [generator, connecting, rising, held_back, proxy, busy];

/// [`SURVEY`] of a service whose responses are streams of events. What is about single responses is left out: acknowledgements, keep-alive,
/// responses without content.
const SURVEY_OF_STREAMS: [Rule; 3] = [survey::streams::alone_rule, streams::few, survey::streams::ladder_rule];

/// [`RULES`] of such a service.
const RULES_OF_STREAMS: [Rule; 9] = [
    failing::ports,
    streams::refused,
    failures::rule,
    streams::capped,
    paced,
    generator_of_streams,
    held_back_streams,
    disturbed,
    busy_with_streams,
];

/// [`READINGS`] of such a service.
const READINGS_OF_STREAMS: [Rule; 4] = [paced, generator_of_streams, held_back_streams, busy_with_streams];

/// Returns the rules that are applied without regard to the time left.
pub fn survey_of(setting: &Setting) -> &'static [Rule] {
    if setting.streams.is_some() { &SURVEY_OF_STREAMS } else { &SURVEY }
}

/// Returns the rules that are applied while there is time.
pub fn rules_of(setting: &Setting) -> &'static [Rule] {
    if setting.streams.is_some() { &RULES_OF_STREAMS } else { &RULES }
}

/// Returns the rules that name what limits a service that responds.
pub fn readings_of(setting: &Setting) -> &'static [Rule] {
    if setting.streams.is_some() { &READINGS_OF_STREAMS } else { &READINGS }
}

/// Applies the rules without another experiment, as there is no time for one. A rule that needs one passes. Failures are counted; of all
/// other factors none is certain, since what a rule before would have found is not excluded.
pub fn without_experiment(evidence: &Evidence) -> Option<Finding> {
    let first_of = |rules: &[Rule]| rules.iter().find_map(|rule| rule(evidence).ok().flatten());
    let found = match evidence.setting.streams {
        None => first_of(&[allowed::rule]).or_else(|| first_of(&FAILING)),
        Some(_) => first_of(&[failing::ports, streams::refused]),
    };
    // The load of the user fails, and the service is not examined below that.
    let found = found.or_else(|| failures::failures(evidence)).or_else(|| first_of(rules_of(&evidence.setting)))?;
    let confidence = match found.factor {
        Factor::Errors => found.confidence,
        _ => at_most_likely(found.confidence),
    };
    Some(Finding { confidence, ..found })
}

pub use failing::out_of_ports;
pub use held_back::less_than_one;
pub use proxy::seen_through;

/// The load generator is the limit.
fn generator(evidence: &Evidence) -> Step {
    comparable(generator::rule, evidence)
}

/// Connections are opened over and over.
fn connecting(evidence: &Evidence) -> Step {
    comparable(connecting::rule, evidence)
}

/// Throughput still grows with connections.
fn rising(evidence: &Evidence) -> Step {
    let finding = comparable(rising::rule, evidence)?;
    Ok(finding.map(|finding| doubted(finding, evidence.figures.stolen_share())))
}

/// A quota, a link or a limiter holds requests back.
fn held_back(evidence: &Evidence) -> Step {
    match held_back::rule(evidence)? {
        // The kernel counts how often it throttles, whatever other programs do.
        Some(finding) if finding.factor == Factor::CpuQuota => Ok(Some(finding)),
        finding => Ok(finding.map(|finding| in_weather(finding, evidence.figures.weather))),
    }
}

/// The proxy before the service is the limit.
fn proxy(evidence: &Evidence) -> Step {
    comparable(proxy::rule, evidence)
}

/// Other programs use the machine of the server that limits.
fn disturbed(evidence: &Evidence) -> Step {
    disturbed::rule(&seen_through(evidence))
}

/// Streams have the pace of one alone.
fn paced(evidence: &Evidence) -> Step {
    comparable(streams::paced, evidence)
}

/// The load generator cannot receive more events.
fn generator_of_streams(evidence: &Evidence) -> Step {
    comparable(streams::generator, evidence)
}

/// A quota or a link holds events back.
fn held_back_streams(evidence: &Evidence) -> Step {
    match streams::quota(evidence)? {
        Some(finding) => Ok(Some(finding)),
        None => comparable(streams::link, evidence),
    }
}

/// The service is saturated with events, and nothing outside it is the reason.
fn busy_with_streams(evidence: &Evidence) -> Step {
    in_server(streams::busy, evidence)
}

/// The service is saturated, and nothing outside it is the reason: it is busy, or it waits.
fn busy(evidence: &Evidence) -> Step {
    in_server(busy_or_waits, evidence)
}

fn busy_or_waits(evidence: &Evidence) -> Step {
    match cpu::rule(evidence)? {
        Some(finding) => Ok(Some(finding)),
        None => waiting::rule(evidence),
    }
}

/// Applies a rule about what goes on in the server, or in the service behind a proxy.
fn in_server(rule: Rule, evidence: &Evidence) -> Step {
    let evidence = seen_through(evidence);
    let finding = rule(&evidence)?;
    let behind = &evidence.figures.behind;
    let about = (!behind.is_empty()).then(|| Fact::BehindProxy { services: behind.clone() });
    let queues = evidence.figures.queues_behind.clone();
    Ok(finding.map(|finding| {
        let finding = with_proxy(finding, evidence.figures.before.as_ref()).because(about).because(queues);
        doubted(in_weather(finding, evidence.figures.weather), evidence.figures.stolen_share())
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

/// Applies a rule that compares experiments with each other.
fn comparable(rule: Rule, evidence: &Evidence) -> Step {
    Ok(rule(evidence)?.map(|finding| in_weather(finding, evidence.figures.weather)))
}

/// Lowers the confidence of a finding if the disturbance changed during the experiments that it compares.
fn in_weather(finding: Finding, weather: Option<Weather>) -> Finding {
    match weather.filter(Weather::has_changed) {
        Some(weather) => Finding { confidence: at_most_likely(finding.confidence), ..finding }.because(weather.fact()),
        None => finding,
    }
}

/// Lowers the confidence of a finding if the hypervisor took much CPU, so that the use of CPU is uncertain.
fn doubted(finding: Finding, stolen: f64) -> Finding {
    if stolen <= STOLEN_DOUBTFUL {
        return finding;
    }
    Finding { confidence: at_most_likely(finding.confidence), ..finding }.because(Fact::Steal { share: stolen })
}

fn at_most_likely(confidence: Confidence) -> Confidence {
    match confidence {
        Confidence::Certain => Confidence::Likely,
        other => other,
    }
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
    fn nothing_is_certain_that_was_compared_while_the_disturbance_changed() {
        let weather = |least_share, most_share, is_short| Some(Weather { least_share, most_share, is_short });
        let lock = || Finding::new(Factor::Lock, Confidence::Certain, Headline::Lock);
        for calm in [None, weather(0.4, 0.45, true), weather(0.0, 0.3, false)] {
            assert_eq!(in_weather(lock(), calm), lock(), "{calm:?}");
        }
        let found = in_weather(lock(), weather(0.05, 0.6, true));
        let change = Fact::OthersChanged { least_share: 0.05, most_share: 0.6 };
        assert_eq!((found.confidence, found.because), (Confidence::Likely, vec![change]));
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
