//! Throughput that grows with connections: no requests queue. The time of a single request is the limit.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::gain::{self, Bounds};
use crate::thresholds::{
    ALL_AT_WORK, GAIN_SPREAD, HARDLY_NETWORK, LEAST_REST, MOSTLY_NETWORK, PACED, STILL_GROWS, UNSURE_NETWORK,
    UNSURE_REST,
};
use torr_gauge::verdict::{Advice, Change, Fact, Finding, Headline, Promise, UnknownGain};
use torr_gauge::{Confidence, Factor};

pub fn rule(evidence: &Evidence) -> Step {
    let (figures, planned) = (&evidence.figures, evidence.figures.connections);
    let double = figures.ladder.0.iter().find(|rung| rung.connections > planned).map(|rung| {
        let doublings = (rung.connections as f64 / planned as f64).log2();
        (rung.rps / figures.rps()).powf(1.0 / doublings)
    });
    if figures.utilisation() < ALL_AT_WORK || double.is_some_and(|growth| growth < STILL_GROWS) {
        return Ok(None);
    }
    let confidence = if double.is_some() { Confidence::Certain } else { Confidence::Likely };
    let up_to = figures.ladder.0.iter().map(|rung| rung.connections).max().unwrap_or(planned);
    let growth = figures.ladder.growth_per_doubling(1, planned).filter(|_| planned > 1);
    let way = figures.round_trip_s.unwrap_or(0.0);
    let share = way / figures.alone_median_s.max(1e-9);
    let growth = [
        Some(Fact::Utilisation { connections: planned, rps: figures.rps(), share: figures.utilisation().min(1.0) }),
        growth.map(|factor| Fact::GrowthPerDoubling { factor, up_to: planned }),
        double.map(|factor| Fact::ThroughputGrew { factor, from: planned, to: up_to }),
        figures.server_cpu(),
    ];
    let growth = growth.into_iter().flatten();
    let more = 4 * planned;
    let verify = evidence.setting.commands.press(&[("-c", &more)]);
    // A time alone that is a little longer than usual moves a share near one half to the other side.
    let confidence =
        if (UNSURE_NETWORK.0..UNSURE_NETWORK.1).contains(&share) { Confidence::Likely } else { confidence };
    if share >= MOSTLY_NETWORK {
        // With enough requests in flight for the round-trip time, throughput is what the service can do.
        return Ok(Some(
            Finding::new(Factor::NetworkDelay, confidence, Headline::NetworkTime)
                .because(Fact::RoundTrip { rtt_s: way, response_s: figures.alone_median_s })
                .because(growth)
                .advice(Advice::LoadFromNearer)
                .advice(Advice::ServeFromNearer)
                .gain(without_the_network(evidence))
                .verify(verify),
        ));
    }
    let alone = evidence.alone();
    let sending = alone.times.sending_s / figures.alone_mean_s.max(1e-9);
    if sending >= PACED && share < HARDLY_NETWORK {
        let bytes_per_s = alone.bytes_per_request() / figures.alone_mean_s;
        return Ok(Some(
            Finding::new(Factor::RateLimit, Confidence::Likely, Headline::PacedResponses)
                .because(Fact::PacedResponses { share: sending })
                .because(Fact::ConnectionRate { bytes_per_s, rtt_s: way })
                .because(growth)
                .advice(Advice::RaiseConnectionRate)
                .verify(verify),
        ));
    }
    Ok(Some(
        Finding::new(Factor::Connections, confidence, Headline::MoreConnections)
            .because(growth)
            .because((share > 0.05).then_some(Fact::RoundTripShare { share }))
            .advice(Advice::TestConnections { connections: more })
            .gain(match figures.ladder.at(up_to).filter(|_| double.is_some()) {
                Some(more) => gain::measured_once(more / figures.rps(), Change::Connections(up_to)),
                None => Promise::unknown(Change::MoreConnections, UnknownGain::NoMoreTried),
            })
            .verify(verify),
    ))
}

/// Returns the gain without the network's delay. The remaining response time is uncertain where it is a small part of the whole.
fn without_the_network(evidence: &Evidence) -> Promise {
    let (median, way) = (evidence.figures.alone_median_s, evidence.figures.round_trip_s.unwrap_or(0.0));
    let rest = (median - way).max(LEAST_REST * median);
    let bounds = evidence.bounds();
    let change = Change::NoNetworkDelay;
    if bounds.cpu.is_err() {
        // What more connections brought, as many more would do as well that wait for shorter.
        let figures = &evidence.figures;
        return gain::promised(figures.ladder.most() / figures.rps() / GAIN_SPREAD, bounds.null_at_most(), change);
    }
    let low = bounds.connections * median / rest;
    let high = if rest > UNSURE_REST * median { low } else { f64::INFINITY };
    Bounds { connections: f64::INFINITY, ..bounds }.gain((low, high), change)
}
