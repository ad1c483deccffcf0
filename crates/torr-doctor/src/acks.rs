//! Whether answers wait for acknowledgements, by Nagle's algorithm: a server that writes an answer in small pieces waits for the
//! acknowledgement of the first, which the client holds back for 40 ms (RFC 896; RFC 1122, section 4.2.3.2).
//!
//! Every further figure would be one of that delay, whatever else limits the service. So this is looked at right after the first
//! experiment, and where it is so, all others acknowledge at once.

use crate::contrast::Contrast;
use crate::laboratory::Halt;
use crate::observation::Observation;
use crate::ward::Ward;
use torr_press::Plan;

/// Linux holds an acknowledgement back for 40 ms, and at most for 200.
const DELAYS_S: [(f64, f64); 2] = [(0.036, 0.052), (0.19, 0.215)];
/// The share of answers that must take as long as such a delay.
const SHARE: f64 = 0.2;
/// Acknowledgements that were held back, for each answer, where answers take longer than that.
const HELD_BACK: f64 = 0.5;
/// How many times as many answers acknowledging at once must bring.
const FASTER: f64 = 1.2;

/// What came of acknowledging at once.
#[derive(Debug, Clone, Copy)]
pub struct Acks {
    /// The medians of single requests' response times in seconds, before and after.
    pub medians_s: (f64, f64),
    /// What it brought one connection.
    pub alone: Contrast,
}

/// Looks whether single requests are answered sooner if acknowledgements are not held back. Under load, queues may happen to take
/// as long as a delay.
pub fn look(ward: &mut Ward<'_>) -> Result<Option<Acks>, Halt> {
    let observation = ward.alone_observation();
    let round_trip = ward.figures.round_trip_s.unwrap_or(0.0);
    let share = delayed(observation, round_trip);
    if share < SHARE && !held_back(observation) {
        return Ok(None);
    }
    let slow = Plan { threads: 1, depth: 1, ..ward.plan_with(1, 0.4) };
    let quick = Plan { quick_ack: true, ..slow.clone() };
    let alone = Contrast::of(
        &mut ward.lab,
        ("acknowledging as usual", &slow),
        ("acknowledging at once", &quick),
        "whether answers wait for acknowledgements",
    )?;
    let [.., usual, at_once] = &ward.lab.trail[..] else { return Ok(None) };
    let median = |observation: &Observation| observation.median().unwrap_or_default().as_secs_f64();
    let medians_s = (median(usual), median(at_once));
    let is_gone = share >= SHARE && delayed(at_once, round_trip) <= share / 4.0;
    let fell = medians_s.0 - medians_s.1;
    let is_a_delay = DELAYS_S.iter().any(|(from, to)| (0.8 * from..1.1 * to).contains(&fell));
    Ok((alone.is_above(FASTER) && (is_gone || is_a_delay)).then_some(Acks { medians_s, alone }))
}

/// The share of answers that took as long as an acknowledgement is held back.
fn delayed(observation: &Observation, round_trip: f64) -> f64 {
    let answered = &observation.sample.answered;
    let within = DELAYS_S.iter().map(|(from, to)| {
        let us = |s: f64| ((s + round_trip) * 1e6) as u64;
        answered.up_to(us(*to)) - answered.up_to(us(*from))
    });
    within.sum::<u64>() as f64 / answered.count().max(1) as f64
}

/// Whether answers take longer than a delay, and the kernel counted one for each.
fn held_back(observation: &Observation) -> bool {
    let long = observation.sample.answered.summary().is_some_and(|answered| answered.mean / 1e6 > DELAYS_S[0].0);
    let counted = observation.signals.as_ref().and_then(|signals| signals.network?.delayed_acks);
    long && counted.is_some_and(|count| count as f64 > HELD_BACK * observation.run.requests as f64)
}
