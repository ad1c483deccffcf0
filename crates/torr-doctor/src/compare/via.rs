//! The cost of a proxy: a service directly, and through the proxy.

use super::conclusion::{ComparisonAdvice, ComparisonFact, ComparisonHeadline, Conclusion};
use super::measuring::{Turns, Way};
use super::outcome::{Comparison, Kind, finish};
use super::row::{Row, cpu_us};
use crate::assignment::Assignment;
use crate::halt::Halt;
use crate::invocation::Invocation;
use crate::load_runner::LoadRunner;
use crate::observation::{ExperimentStart, Observation};
use crate::turns::{Ratio, median};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use torr_gauge::verdict::{Advice, ExperimentId, Headline};
use torr_net::Address;
use torr_press::Plan;
use torr_signals::PeerUse;

/// The share of the machine's CPU from which the machine is saturated.
const FULL: f64 = 0.93;
/// Connections to the service for each request from which the proxy has no keep-alive.
const CHURN: f64 = 0.3;
/// The share of connections that are open in two successive samples from which they are kept alive.
const KEPT: f64 = 0.9;
const NOT_KEPT: f64 = 0.6;

/// Compares two variants: a service directly, and through a proxy, in this order.
///
/// # Errors
/// [`Halt`].
pub fn via(
    assignment: &Assignment,
    ways: &[Way<'_>; 2],
    stop: &AtomicBool,
    tell: &mut dyn FnMut(ExperimentStart<'_>),
) -> Result<Comparison, Halt> {
    let mut runner = LoadRunner::open(assignment, None, stop, tell);
    let turns = Turns::of(&mut runner, ways, ExperimentId::ProxyTurn)?;
    let mut rows = turns.rows(&runner, ways.iter().map(|way| way.name.as_str()));
    let direct: Vec<SocketAddr> = ways[0].plan.addresses.iter().filter_map(Address::tcp).collect();
    look_behind(&mut rows[1], [&turns.observations(&runner, 0), &turns.observations(&runner, 1)], &direct);
    let whose = whose(&turns.observations(&runner, 1), &direct);
    let conclusion =
        conclude(&rows, turns.ratio(&runner, 0, 1), whose.as_ref(), verify(&assignment.again, &ways[1].plan));
    Ok(finish(Kind::Via, runner, &turns, rows, conclusion))
}

/// Splits the processes behind the URL: the proxy is the one that listens there, the service its peer.
fn look_behind(row: &mut Row, [directly, through]: [&[&Observation]; 2], direct: &[SocketAddr]) {
    row.proxy_us = row.server_us.take();
    let processes = |observation| service(observation, direct).map_or(&[][..], |peer: &PeerUse| &peer.processes);
    row.server_us = cpu_us(through, processes);
    row.upstream_opened_per_request = opened_by_others(directly).zip(opened_by_others(through)).map(|(usual, seen)| {
        let responses_per_s = seen.responses as f64 / seen.seconds;
        (seen.per_s() - usual.per_s()).max(0.0) / responses_per_s.max(0.01)
    });
    let kept: Vec<_> = through.iter().filter_map(|observation| service(observation, direct)?.kept).collect();
    row.upstream_kept = (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64);
}

/// Connections opened on the server's machine by programs other than the generator.
struct Others {
    opened: u64,
    responses: u64,
    seconds: f64,
}

impl Others {
    fn per_s(&self) -> f64 {
        self.opened as f64 / self.seconds
    }
}

/// Returns the connections of these experiments. Without the proxy they are those of unrelated programs.
fn opened_by_others(observations: &[&Observation]) -> Option<Others> {
    let mut all = Others { opened: 0, responses: 0, seconds: 0.0 };
    for observation in observations {
        all.opened += observation.opened_by_others()?;
        all.responses += observation.responses();
        all.seconds += observation.signals.as_ref()?.seconds;
    }
    (all.seconds > 0.0).then_some(all)
}

/// Returns the service among the proxy's peers.
fn service<'t>(observation: &'t Observation, direct: &[SocketAddr]) -> Option<&'t PeerUse> {
    let peers = &observation.signals.as_ref()?.peers;
    let is_it = |peer: &&PeerUse| peer.address.parse().is_ok_and(|address| direct.contains(&address));
    peers.iter().find(is_it)
}

fn conclude(rows: &[Row], ratio: Ratio, whose: Option<&Whose>, verify: String) -> Conclusion {
    let (direct, through) = (&rows[0], &rows[1]);
    let failing: Vec<_> = rows.iter().filter(|row| row.mostly_fails()).map(Row::failing).collect();
    let costs = ratio.is_below(1.0) && failing.is_empty();
    let full = whose.filter(|whose| costs && whose.is_full());
    let headline = match () {
        () if !failing.is_empty() => ComparisonHeadline::ProxyUnknown { failing },
        () if costs => ComparisonHeadline::ProxyCosts { ratio, machine: full.map(Whose::headline) },
        () if ratio.is_above(1.0) => ComparisonHeadline::ProxyGains { ratio },
        () if ratio.is_vague() => ComparisonHeadline::ProxyVague { ratio },
        () => ComparisonHeadline::ProxyFree { ratio },
    };
    let (opened, kept) = (through.upstream_opened_per_request, through.upstream_kept);
    let churns = match (opened, kept) {
        // A proxy with keep-alive still replaces a connection after a number of requests, which at high rates is soon. And other
        // programs may have opened connections.
        (Some(opened), kept) => opened > CHURN && kept.is_none_or(|kept| kept < KEPT),
        (None, Some(kept)) => kept < NOT_KEPT,
        (None, None) => false,
    };
    let because = [
        Some(ComparisonFact::Throughputs { direct_rps: direct.rps, through_rps: through.rps }),
        direct.p50_us.zip(through.p50_us).map(|(direct, through)| ComparisonFact::Medians {
            direct_s: direct as f64 / 1e6,
            through_s: through as f64 / 1e6,
        }),
        through.proxy_us.map(|proxy_us| ComparisonFact::ResponseCost { proxy_us, service_us: through.server_us }),
        whose.map(Whose::fact),
        opened.map(|per_request| ComparisonFact::UpstreamOpened { per_request }),
        kept.filter(|_| opened.is_none()).map(|share| ComparisonFact::UpstreamKept { share }),
    ];
    let is_unseen = opened.is_none() && kept.is_none();
    let advice = [
        (is_unseen && costs).then_some(ComparisonAdvice::KeepUpstreamIfNot),
        costs.then_some(ComparisonAdvice::NoAccessLog),
        costs.then_some(ComparisonAdvice::ServeStatic),
        churns.then_some(ComparisonAdvice::Diagnosis(Advice::KeepUpstreamConnections)),
        full.filter(|whose| whose.is_proxys()).map(|_| ComparisonAdvice::Diagnosis(Advice::CheaperProxy)),
    ];
    let doubts = rows.iter().filter(|row| !row.mostly_fails()).flat_map(Row::doubts);
    Conclusion {
        headline,
        because: because.into_iter().flatten().chain(doubts).collect(),
        advice: advice.into_iter().flatten().collect(),
        verify: Some(verify),
    }
}

/// The use of the machine's CPU by a load through the proxy.
struct Whose {
    proxy: String,
    proxy_cores: f64,
    service: String,
    service_cores: f64,
    /// The share of the machine's CPU that all programs used.
    machine_share: f64,
}

impl Whose {
    fn is_full(&self) -> bool {
        self.machine_share >= FULL
    }

    fn is_proxys(&self) -> bool {
        self.proxy_cores >= self.service_cores
    }

    fn headline(&self) -> Headline {
        let is_proxy = self.is_proxys();
        let server = if is_proxy { &self.proxy } else { &self.service };
        Headline::MachineFullWith { server: server.clone(), is_proxy }
    }

    fn fact(&self) -> ComparisonFact {
        ComparisonFact::CpuUse {
            proxy: self.proxy.clone(),
            proxy_cores: self.proxy_cores,
            service: self.service.clone(),
            service_cores: self.service_cores,
            machine_share: self.machine_share,
        }
    }
}

/// Returns the use of the machine's CPU, as medians of all turns. `None` if the proxy or the service is not visible.
fn whose(through: &[&Observation], direct: &[SocketAddr]) -> Option<Whose> {
    let seen: Vec<_> = through
        .iter()
        .filter_map(|observation| {
            let signals = observation.signals.as_ref()?;
            let service = service(observation, direct).filter(|service| !service.processes.is_empty())?;
            Some((signals, service, signals.machine?.cpu_share))
        })
        .collect();
    let (signals, service, _) = seen.last()?;
    let mut names: Vec<_> = signals.processes.iter().map(|process| process.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    Some(Whose {
        proxy: names.join(", "),
        proxy_cores: median(seen.iter().map(|(signals, ..)| signals.server_cores()).collect()),
        service: service.label(),
        service_cores: median(seen.iter().map(|(_, service, _)| service.cores()).collect()),
        machine_share: median(seen.iter().map(|(.., share)| *share).collect()),
    })
}

/// Returns the command that repeats the comparison after a change.
fn verify(again: &Invocation, through: &Plan) -> String {
    again.doctor(&[("--via", &through.target.as_given()), ("-c", &through.connections)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Failing;
    use torr_press::{Requests, Target};

    fn rows(failed: f64) -> Vec<Row> {
        let row = |name: &str, rps: f64, failed_share| Row { rps, failed_share, ..Row::over(name, &[], None) };
        vec![row("directly", 100.0, 0.0), row("through the proxy", 28.0, failed)]
    }

    fn costly() -> Ratio {
        Ratio::over(&[(100.0, 28.0), (101.0, 28.0), (99.0, 28.0)])
    }

    fn concluded(failed: f64, whose: Option<&Whose>) -> Conclusion {
        conclude(&rows(failed), costly(), whose, "verify".into())
    }

    #[test]
    fn whose_cpu_it_is_is_named() {
        let whose = |machine_share| Whose {
            proxy: "nginx".into(),
            proxy_cores: 1.1,
            service: "torr at 127.0.0.1:8080".into(),
            service_cores: 0.4,
            machine_share,
        };
        let saturated = whose(0.98);
        let full = concluded(0.0, Some(&saturated));
        let machine = Headline::MachineFullWith { server: "nginx".into(), is_proxy: true };
        assert!(
            matches!(&full.headline, ComparisonHeadline::ProxyCosts { machine: Some(found), .. } if *found == machine),
            "{full:?}"
        );
        assert!(full.because.contains(&saturated.fact()), "{full:?}");
        let free = concluded(0.0, Some(&whose(0.5)));
        assert!(matches!(free.headline, ComparisonHeadline::ProxyCosts { machine: None, .. }), "{free:?}");
    }

    #[test]
    fn nothing_is_advised_that_may_have_been_done() {
        use ComparisonAdvice::{KeepUpstreamIfNot, NoAccessLog, ServeStatic};
        let advice = concluded(0.0, None).advice;
        assert_eq!(advice, [KeepUpstreamIfNot, NoAccessLog, ServeStatic], "the connections were not seen");
        let seen = |kept| {
            let mut rows = rows(0.0);
            rows[1].upstream_kept = Some(kept);
            conclude(&rows, costly(), None, "verify".into()).advice
        };
        assert_eq!(seen(0.95), [NoAccessLog, ServeStatic], "the proxy keeps its connections");
        let keep = ComparisonAdvice::Diagnosis(Advice::KeepUpstreamConnections);
        assert_eq!(seen(0.1), [NoAccessLog, ServeStatic, keep], "it does not");
    }

    #[test]
    fn the_secrets_of_the_proxys_url_are_variables_of_the_command() {
        let proxy = Target::parse("u:p@proxy:8080/").expect("it is a URL");
        let request = Requests::get(&proxy, true).expect("the request is valid");
        let through = Plan { connections: 4, ..Plan::new(proxy, vec![], request) };
        let again = Invocation { url: Some("http://h/".into()), ..Invocation::default() };
        assert_eq!(verify(&again, &through), "torr doctor http://h/ --via \"http://$TORR_URL_USER@proxy:8080/\" -c 4");
        let variables = vec![("TORR_URL_USER".to_owned(), "user and password of --via".to_owned())];
        assert_eq!(again.before_running(), [Advice::ExportSecrets { variables }]);
    }

    #[test]
    fn a_proxy_that_responds_with_errors_has_no_known_cost() {
        let failing = concluded(1.0, None);
        let proxy = Failing { name: "through the proxy".into(), share: 1.0, failure: None };
        assert_eq!(failing.headline, ComparisonHeadline::ProxyUnknown { failing: vec![proxy] });
        assert_eq!(failing.advice, []);
    }
}
