//! Throughput that grows with connections: no requests queue. The time of a single request is the limit.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::gain::{self, Bounds};
use crate::thresholds::{
    ALL_AT_WORK, GAIN_SPREAD, HARDLY_NETWORK, LEAST_REST, MOSTLY_NETWORK, PACED, STILL_GROWS, UNSURE_REST,
};
use crate::words::{counted, percent, rate, time};
use torr_gauge::{Confidence, Factor, Gain, Verdict};

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
    let with_evidence = |verdict: Verdict| {
        verdict
            .because(format!(
                "{} reach {}, which is {} of what they would reach if no request waited for another",
                counted(planned, "connection"),
                rate(figures.rps()),
                percent(figures.utilisation().min(1.0))
            ))
            .because_if(growth.map(|growth| {
                format!("throughput grew {growth:.2} times with each doubling up to {planned} connections")
            }))
            .because_if(double.map(|growth| format!("it grew {growth:.2} times from {planned} to {up_to}")))
            .because_if(
                figures
                    .server_cores()
                    .zip(figures.cores())
                    .map(|(used, cores)| format!("the server used {used:.2} of {cores} CPUs")),
            )
    };
    let verify = evidence.setting.commands.press(&[("-c", &(4 * planned))]);
    if share >= MOSTLY_NETWORK {
        // With enough requests in flight for the round-trip time, throughput is what the service can do.
        let verdict = Verdict::new(Factor::NetworkDelay, confidence, "The network takes most of each request's time.")
            .because(format!(
                "the round trip takes {}, {} of the {} that a request takes on its own",
                time(way),
                percent(share),
                time(figures.alone_median_s)
            ));
        return Ok(Some(
            with_evidence(verdict)
                .advice("load it from nearer, or raise connections until throughput stops to grow")
                .advice("serve users from nearer: a cache or a replica at their end")
                .gain(without_the_network(evidence))
                .verify(verify),
        ));
    }
    let alone = evidence.alone();
    let sending = alone.times.sending_s / figures.alone_mean_s.max(1e-9);
    if sending >= PACED && share < HARDLY_NETWORK {
        let per_connection = alone.bytes_per_request() / figures.alone_mean_s;
        let verdict = Verdict::new(
            Factor::RateLimit,
            Confidence::Likely,
            "The responses of each connection are sent at a limited rate.",
        )
        .because(format!("{} of a single request's time pass between its first byte and its last", percent(sending)))
        .because(format!(
            "that makes {:.0} KiB/s for a connection, over a round-trip time of {}",
            per_connection / 1024.0,
            time(way)
        ));
        return Ok(Some(
            with_evidence(verdict).advice("raise the limit per connection (limit_rate and the like)").verify(verify),
        ));
    }
    let verdict = Verdict::new(
        Factor::Connections,
        confidence,
        "More connections bring more: nothing is full, and no request waits for another.",
    );
    Ok(Some(
        with_evidence(verdict)
            .because_if((share > 0.05).then(|| format!("the round trip is {} of a request's time", percent(share))))
            .advice(format!("press with more connections, {} to begin with", 4 * planned))
            .gain(match figures.ladder.at(up_to).filter(|_| double.is_some()) {
                Some(more) => gain::measured_once(more / figures.rps(), &format!("with {up_to} connections")),
                None => Gain::unknown("more throughput with more connections", "no more were tried"),
            })
            .verify(verify),
    ))
}

/// Returns the gain without the network's delay. The remaining response time is uncertain where it is a small part of the whole.
fn without_the_network(evidence: &Evidence) -> Gain {
    let (median, way) = (evidence.figures.alone_median_s, evidence.figures.round_trip_s.unwrap_or(0.0));
    let rest = (median - way).max(LEAST_REST * median);
    let bounds = evidence.bounds();
    let change = "of the same connections without the network's delay";
    if bounds.cpu.is_err() {
        // What more connections brought, as many more would do as well that wait for shorter.
        let figures = &evidence.figures;
        return gain::promised(figures.ladder.most() / figures.rps() / GAIN_SPREAD, bounds.null_at_most(), change);
    }
    let low = bounds.connections * median / rest;
    let high = if rest > UNSURE_REST * median { low } else { f64::INFINITY };
    Bounds { connections: f64::INFINITY, ..bounds }.gain((low, high), change)
}
