//! A proxy before the service: the service behind it is loaded directly, where it can be found.

use crate::contrast::Contrast;
use crate::evidence::Evidence;
use crate::experiment::{Ask, Experiment, Step};
use crate::figures::{Before, Figures};
use crate::gain;
use crate::invocation::Flag;
use crate::observation::Observation;
use crate::permission::is_ours;
use crate::rules::{front, relay};
use crate::thresholds::{DIRECT_BETTER, MACHINE_FULL, QUERIED_BY_EACH, UPSTREAM_KEPT, UPSTREAM_OPENS};
use crate::witnesses::peer_connections;
use std::net::SocketAddr;
use torr_gauge::verdict::{Advice, Change, ExperimentId, Fact, Finding, Headline, Promise, UnknownGain};
use torr_gauge::{Confidence, Factor};
use torr_signals::{PeerUse, Role};

/// The most upstream services that are tried.
const MOST_UPSTREAMS: usize = 8;

pub fn rule(evidence: &Evidence) -> Step {
    let behind = behind(evidence)?;
    let Some((first, _)) = behind.first() else { return Ok(None) };
    let addresses: Vec<_> = behind.iter().map(|(_, address)| *address).collect();
    let contrast = evidence.in_turns(ways(evidence, &addresses))?;
    let direct_s = evidence.last(ExperimentId::Upstream(addresses[0])).and_then(Observation::median_s);
    if contrast.is_above(DIRECT_BETTER)
        && let Some(direct_s) = direct_s
        && let Some(finding) = relay::few_workers(evidence, first, direct_s, &contrast)
    {
        return Ok(Some(finding));
    }
    let opened = evidence.full().upstream_opens(evidence.alone());
    let churns = churns(evidence, first);
    if !contrast.is_above(DIRECT_BETTER) || is_full(evidence) && !churns {
        // What is behind it is the limit, or the CPU of the machine that both share: the rules after this one tell.
        return Ok(None);
    }
    let service = first.processes.first().map_or("the service", |process| &process.name).to_owned();
    let (upstream, advice) = match (churns, opened) {
        (true, Some(per_request)) => {
            let peer = Some(first.address.clone());
            (Fact::UpstreamOpens { peer, per_request }, Advice::KeepUpstreamConnections)
        }
        (true, None) => (Fact::UpstreamKept { share: first.kept.unwrap_or(0.0) }, Advice::KeepUpstreamConnections),
        (false, _) => (peer_connections(first), Advice::ProxyLimits),
    };
    let used = evidence.figures.server_cores().map(|cores| Fact::ProxyCpu {
        proxy: None,
        cores,
        saturated_threads: Some(evidence.figures.full_threads()),
    });
    let addresses: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
    let direct = &addresses[0];
    // With all of its workers taken, their number may bind rather than what a request costs.
    let is_taken = relay::waits_before(evidence, first);
    let confidence = if is_taken { Confidence::Likely } else { Confidence::Certain };
    let finding = Finding::new(Factor::Proxy, confidence, Headline::Proxy)
        .because(Fact::WithoutProxy {
            service: Some(service),
            addresses: addresses.clone(),
            speedup: contrast.speedup(),
        })
        .because(upstream)
        .because(used)
        .advice(advice)
        .gain(gain_of(&contrast, evidence.figures.yardstick()));
    let setting = &evidence.setting;
    let commands = setting.is_plain.then_some(&setting.commands);
    let urls = commands.and_then(|commands| Some((commands, commands.url.as_ref()?, commands.url_at(direct)?)));
    Ok(Some(match urls {
        Some((commands, through, direct)) => {
            let flags: &[Flag<'_>] = &[("--via", through), ("-c", &setting.connections)];
            finding.verify(commands.doctor_at(&direct, flags))
        }
        None => finding,
    }))
}

/// Returns the evidence with the figures of the server that the rules after this one look at: that behind a proxy, if the proxy is not
/// the limit.
pub fn seen_through(evidence: &Evidence) -> Evidence {
    let behind = behind(evidence).unwrap_or_default();
    let mut figures = evidence.figures.clone();
    if let Some((first, _)) = behind.first() {
        let addresses: Vec<_> = behind.iter().map(|(_, address)| *address).collect();
        let peers: Vec<_> = behind.iter().map(|(peer, _)| peer.clone()).collect();
        match evidence.contrast(&ways(evidence, &addresses)) {
            Some(contrast) if !contrast.is_above(DIRECT_BETTER) => figures.look_behind(&peers),
            Some(contrast) if is_full(evidence) && !churns(evidence, first) => {
                figures.before = Some(before(&figures, &peers, &contrast));
            }
            _ => {}
        }
    } else if let Some(peer) = front::behind(&figures) {
        figures.look_behind(&[peer]);
    }
    evidence.with_figures(figures)
}

/// The load through the proxy, and on what is behind it.
fn ways(evidence: &Evidence, addresses: &[SocketAddr]) -> [Experiment; 2] {
    let way = |id, direct: &[SocketAddr]| evidence.setting.user(id, 0.7).with(|load| load.direct = direct.into());
    [way(ExperimentId::ThroughProxy, &[]), way(ExperimentId::Direct, addresses)]
}

/// Whether the proxy opens a connection to what is behind it for each request. One that keeps connections changes them after so many
/// requests (nginx: 1,000), which at high rates is soon: what it opens for each request tells more than whether a connection is still
/// there.
fn churns(evidence: &Evidence, first: &PeerUse) -> bool {
    let opened = evidence.full().upstream_opens(evidence.alone());
    opened.map_or(first.kept.is_some_and(|kept| kept < UPSTREAM_KEPT), |opened| opened > UPSTREAM_OPENS)
}

fn is_full(evidence: &Evidence) -> bool {
    evidence.figures.machine_share().is_some_and(|share| share >= MACHINE_FULL)
}

/// Returns the gain of a proxy that costs as little as one can: at least what two services that do nothing cost. `null` is the
/// throughput of such a service.
fn gain_of(contrast: &Contrast, null: Option<f64>) -> Promise {
    let (through, direct) = contrast.rates;
    let change = Change::CheaperProxy;
    match null {
        Some(null) => gain::promised(1.0 / (through / direct + 2.0 * through / null), contrast.of.high, change),
        None => Promise::unknown(change, UnknownGain::ProxyCost),
    }
}

/// Returns the server's peers that give the same responses as the server: those that a proxy forwards to, not services that it uses.
/// Only safe requests are sent to them, and only on this machine, where addresses are known to be right.
fn behind(evidence: &Evidence) -> Result<Vec<(PeerUse, SocketAddr)>, Box<Ask>> {
    let may_go_there = evidence.setting.same_machine && evidence.setting.agents.is_none();
    // In another network namespace the same address is another service's.
    let is_apart = evidence.figures.signals.as_ref().is_some_and(|signals| signals.other_namespace);
    // What queries a database for each request does more than to pass it on, even if a service that it calls responds alike.
    let queries = |peer| evidence.figures.trips_per_request(peer).is_some_and(|trips| trips > QUERIED_BY_EACH);
    let works = evidence.figures.databases().any(queries);
    if !may_go_there || is_apart || works || !evidence.setting.is_read_only {
        return Ok(vec![]);
    }
    let peers = evidence.figures.peers().filter(|peer| peer.role == Role::Other && !peer.processes.is_empty());
    let candidates = peers.filter_map(|peer| Some((peer.clone(), peer.address.parse::<SocketAddr>().ok()?)));
    let candidates: Vec<_> = candidates.filter(|(_, address)| is_ours(address.ip())).take(MOST_UPSTREAMS).collect();
    let mut found = vec![];
    for (peer, address) in candidates {
        let once = evidence.setting.with_connections(1, ExperimentId::Upstream(address), 0.7).with(|load| {
            load.single = true;
            load.requests = Some(3);
            load.direct = vec![address];
        });
        let Some(responses) = evidence.observe_if_reached(once)?.map(Responses::of) else { continue };
        if responses.is_like(&Responses::of(evidence.alone()), evidence.setting.accepts_compressed) {
            found.push((peer, address));
        }
    }
    Ok(found)
}

/// Returns the CPU of proxy and service on a machine that they share.
fn before(figures: &Figures, behind: &[PeerUse], contrast: &Contrast) -> Before {
    let mut names: Vec<_> = figures.processes().map(|process| process.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    Before {
        proxy: names.join(", "),
        proxy_cores: figures.server_cores().unwrap_or(0.0),
        behind: behind.iter().map(PeerUse::label).collect::<Vec<_>>().join(", "),
        behind_cores: behind.iter().map(PeerUse::cores).sum(),
        contrast: contrast.speedup(),
    }
}

/// The statuses and sizes of responses, by which services are compared.
struct Responses {
    statuses: Vec<u16>,
    /// The mean size of the content in bytes.
    body: f64,
}

impl Responses {
    fn of(observation: &Observation) -> Self {
        let body = observation.run.bytes.body as f64 / observation.run.requests.max(1) as f64;
        Self { statuses: observation.run.status.keys().copied().collect(), body }
    }

    /// Returns whether these responses may be the same as those `through` a proxy, which may compress content.
    fn is_like(&self, through: &Self, compressed: bool) -> bool {
        let known = self.statuses.iter().all(|status| through.statuses.contains(status));
        let least = 0.9 * through.body - 1.0;
        let most = if compressed { f64::INFINITY } else { 1.1 * through.body + 1.0 };
        !self.statuses.is_empty() && known && (least..=most).contains(&self.body)
    }
}
