//! Connections that are opened over and over: keep-alive that is refused, and what TLS makes each of them cost.

use crate::evidence::Evidence;
use crate::experiment::{Request, Step};
use crate::thresholds::{
    ALL_AT_WORK, CLOSED_BY_SERVER, CONDITION_BETTER, CONNECTING_CERTAIN, CONNECTING_LIMITS, ESTIMATE_AGREES,
    HANDSHAKES_CERTAIN, HANDSHAKES_LIMIT, KEPT_BETTER, MACHINE_FULL, NO_DIFFERENCE, NOT_KEPT,
};
use crate::times::Spread;
use crate::witnesses::{advise_handshakes, resumed};
use crate::{gain, keep_alive};
use torr_gauge::verdict::{Advice, Change, ExperimentId, Fact, Finding, Headline, Promise, UnknownGain};
use torr_gauge::{Confidence, Factor};

pub fn rule(evidence: &Evidence) -> Step {
    let full = evidence.full();
    let opened = full.opened_per_request();
    if opened < NOT_KEPT {
        return Ok(None);
    }
    let times = evidence.alone().times;
    let all_s = |times: Option<Spread>| times.map_or(0.0, |times| times.sum_s());
    let all = all_s(times.answered).max(1e-9);
    let (connecting, securing) = (all_s(times.connect) / all, all_s(times.tls) / all);
    let by_cpu = evidence.figures.connecting_share(opened);
    let cost = Cost { opened, connecting, securing, by_cpu };
    let waits_on_the_way = evidence.figures.utilisation() > ALL_AT_WORK;
    let share = match by_cpu {
        // What a handshake of TLS costs, the service that does nothing does not show.
        Some(share) => share.max(if waits_on_the_way { connecting } else { 0.0 }).max(securing),
        None => connecting.max(securing),
    };
    if share < CONNECTING_LIMITS {
        return Ok(None);
    }
    if !evidence.setting.keep_alive {
        return offered(evidence, &cost);
    }
    let closed = full.run.connections.closed_by_server as f64 / full.run.connections.opened.max(1) as f64;
    if closed < CLOSED_BY_SERVER {
        return Ok(None);
    }
    if securing >= HANDSHAKES_LIMIT {
        return Ok(Some(handshakes(evidence, &cost)));
    }
    refused(evidence, &cost)
}

/// The cost of connections.
struct Cost {
    /// Connections opened for each response.
    opened: f64,
    /// Connecting's share of a single request's time.
    connecting: f64,
    /// The TLS handshakes' share of a single request's time.
    securing: f64,
    /// The share of this machine's throughput of connections.
    by_cpu: Option<f64>,
}

impl Cost {
    /// What connections cost, as evidence beside what was measured in turns. `ratio` is how many times the throughput kept connections
    /// brought. `None` where the estimate contradicts that: what was measured counts for more than what was estimated.
    fn fact(&self, ratio: Option<f64>) -> Option<Fact> {
        let share = self.by_cpu.unwrap_or(self.connecting);
        let expected = 1.0 / (1.0 - share).max(0.01);
        let agrees = ratio.is_none_or(|ratio| (1.0 / ESTIMATE_AGREES..=ESTIMATE_AGREES).contains(&(expected / ratio)));
        agrees.then_some(Fact::ConnectingCost { share, of_machine: self.by_cpu.is_some() })
    }

    /// Returns how many connections were opened, as evidence.
    fn opened(&self, offered: bool) -> Fact {
        Fact::ConnectionsOpened { per_response: self.opened, offered: Some(offered) }
    }
}

/// TLS handshakes are most of what is done.
fn handshakes(evidence: &Evidence, cost: &Cost) -> Finding {
    let tls = evidence.full().run.tls.clone().unwrap_or_default();
    let is_busy = evidence.figures.full_threads() > 0
        || evidence.figures.machine_share().is_some_and(|share| share >= MACHINE_FULL);
    let confidence =
        if is_busy && cost.securing > HANDSHAKES_CERTAIN { Confidence::Certain } else { Confidence::Likely };
    let finding = Finding::new(Factor::TlsHandshake, confidence, Headline::Handshakes)
        .because(cost.opened(true))
        .because(Fact::HandshakeShare { share: cost.securing, of_single: true })
        .because(resumed(&tls))
        .because(evidence.figures.server_cpu())
        // The rest of a request's time is needed with connections that are kept as well.
        .gain(gain::by_kept_connections(cost.securing, &evidence.bounds()));
    advise_handshakes(finding, &tls)
}

/// Examines whether keep-alive would help where the user's load has a connection for each request.
fn offered(evidence: &Evidence, cost: &Cost) -> Step {
    let way = |id, keep_alive| evidence.setting.user(id, 0.7).with(|load| load.keep_alive = keep_alive);
    let ways = [way(ExperimentId::EachConnects, false), way(ExperimentId::KeptAlive, true)];
    let contrast = evidence.in_turns(ways)?;
    if !contrast.is_above(KEPT_BETTER) {
        return Ok(None);
    }
    let secured = evidence.setting.tls && cost.securing > cost.connecting;
    let (factor, headline) = match secured {
        true => (Factor::TlsHandshake, Headline::HandshakeEach),
        false => (Factor::KeepAlive, Headline::ConnectionEach),
    };
    Ok(Some(
        Finding::new(factor, Confidence::Certain, headline)
            .because(cost.opened(false))
            .because(cost.fact(Some(contrast.of.ratio)))
            .because(Fact::KeepAliveOffered { speedup: contrast.speedup() })
            .advice(Advice::KeepInClients)
            .gain(gain::measured(&contrast.of, Change::KeptConnections))
            .verify(evidence.setting.commands.press_kept_alive(&[("-c", &evidence.setting.connections)])),
    ))
}

/// The server does not keep connections. Perhaps it does under another condition.
fn refused(evidence: &Evidence, cost: &Cost) -> Step {
    let connections = &evidence.full().run.connections;
    let finding =
        Finding::new(Factor::KeepAlive, Confidence::Likely, Headline::ServerCloses).because(Fact::ClosedByServer {
            closed: connections.closed_by_server,
            opened: connections.opened,
            responses_each: 1.0 / cost.opened,
        });
    let condition = keep_alive::found(evidence).and_then(|found| found.kept_if.first().copied());
    if let Some(condition) = condition {
        let way = |id, request| evidence.setting.user(id, 0.7).with(|load| load.request = request);
        let ways = [
            way(ExperimentId::AsRequested, Request::Target),
            way(ExperimentId::WithCondition(condition.is), condition.request),
        ];
        let contrast = evidence.in_turns(ways)?;
        let finding = finding
            .because(cost.fact(Some(contrast.of.ratio)))
            .because(Fact::KeptIf { condition: condition.is, speedup: contrast.speedup() })
            .advice(Advice::DropCondition { condition: condition.is })
            .gain(gain::measured(&contrast.of, Change::KeptConnections));
        let confidence = if contrast.is_above(CONDITION_BETTER) { Confidence::Certain } else { Confidence::Likely };
        return Ok(Some(Finding { confidence, ..finding }));
    }
    let way = |id, keep_alive| evidence.setting.user(id, 0.6).with(|load| load.keep_alive = keep_alive);
    let contrast = evidence
        .in_turns([way(ExperimentId::KeepAliveOffered, true), way(ExperimentId::KeepAliveNotOffered, false)])?;
    // One that does no more than the target, which opens a connection for each request, is no yardstick.
    let connecting = evidence.figures.null_rps_connecting.filter(|&connecting| connecting >= evidence.figures.rps());
    let null = evidence.figures.null_rps.zip(connecting).filter(|(null, connecting)| connecting <= null);
    let finding = finding
        .because(cost.fact(None))
        .because(Fact::KeepAliveNotOffered { speedup: contrast.speedup() })
        .because(null.map(|(kept_rps, connecting_rps)| Fact::NullConnecting { kept_rps, connecting_rps }))
        .advice(Advice::TurnKeepAliveOn)
        .gain(match cost.by_cpu {
            Some(share) => gain::by_kept_connections(share, &evidence.bounds()),
            None => Promise::unknown(Change::KeptConnections, UnknownGain::ConnectionCost),
        });
    let sure = contrast.of.low > NO_DIFFERENCE.0
        && contrast.of.high < NO_DIFFERENCE.1
        && cost.by_cpu.is_some_and(|share| share >= CONNECTING_CERTAIN);
    let confidence = if sure { Confidence::Certain } else { Confidence::Likely };
    Ok(Some(Finding { confidence, ..finding }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_that_contradicts_the_measurement_is_not_reported() {
        let cost = |by_cpu| Cost { opened: 1.0, connecting: 0.6, securing: 0.0, by_cpu };
        let fact = |by_cpu, ratio| cost(by_cpu).fact(ratio);
        // 15% of the work cannot become 27 times as many.
        assert_eq!(fact(Some(0.15), Some(26.97)), None);
        assert_eq!(fact(None, Some(26.97)), None);
        let of_machine = Some(Fact::ConnectingCost { share: 0.63, of_machine: true });
        assert_eq!(fact(Some(0.63), Some(4.02)), of_machine);
        assert_eq!(fact(Some(0.63), None), of_machine);
        assert_eq!(fact(None, Some(2.5)), Some(Fact::ConnectingCost { share: 0.6, of_machine: false }));
    }
}
