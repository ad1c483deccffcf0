//! Nagle's algorithm against delayed acknowledgements: a server that writes an answer in small pieces waits for the
//! acknowledgement of the first, which the client holds back for 40 ms (RFC 896; RFC 1122, section 4.2.3.2).

use crate::contrast::Contrast;
use crate::laboratory::Halt;
use crate::trail::Trial;
use crate::ward::Ward;
use crate::words::{percent, time};
use torr_gauge::{Confidence, Factor, Verdict};
use torr_press::Plan;

/// Linux holds an acknowledgement back for 40 ms, and at most for 200.
const DELAYS: [(f64, f64); 2] = [(0.036, 0.052), (0.19, 0.215)];
/// The share of answers that must show such a delay.
const SHARE: f64 = 0.2;

pub fn rule(ward: &mut Ward<'_>) -> Result<Option<Verdict>, Halt> {
    let round_trip = ward.case.round_trip_s.unwrap_or(0.0);
    // A single request meets it as well. Under load, queues may happen to take as long.
    let share = delayed(ward.alone_trial(), round_trip);
    if share < SHARE {
        return Ok(None);
    }
    let slow = Plan { threads: 1, depth: 1, ..ward.plan_with(1, 0.5) };
    let quick = Plan { quick_ack: true, ..slow.clone() };
    let contrast = Contrast::of(
        &mut ward.lab,
        ("acknowledging as usual", &slow),
        ("acknowledging at once", &quick),
        "whether answers wait for acknowledgements",
    )?;
    let [.., usual, at_once] = &ward.lab.trail[..] else { return Ok(None) };
    if !contrast.is_above(2.0) || delayed(at_once, round_trip) > share / 4.0 {
        return Ok(None);
    }
    let median = |trial: &Trial| time(trial.median().unwrap_or_default().as_secs_f64());
    let verdict = Verdict::new(
        Factor::DelayedAck,
        Confidence::Certain,
        "Each answer waits until the client acknowledges its first piece, which clients hold back for 40 ms.",
    )
    .because(format!("{} of the answers to single requests took 40 or 200 ms and hardly more", percent(share)))
    .because(format!(
        "with acknowledgements sent at once the median fell from {} to {}: {contrast}",
        median(usual),
        median(at_once)
    ))
    .advice("write head and body with one call (writev, or a buffer), or set TCP_NODELAY on the server's sockets")
    .gain(format!("{:.0} times the throughput with the same connections", contrast.of.ratio));
    Ok(Some(verdict))
}

/// The share of answers that took as long as an acknowledgement is held back.
fn delayed(trial: &Trial, round_trip: f64) -> f64 {
    let answered = &trial.sample.answered;
    let within = DELAYS.iter().map(|(from, to)| {
        let us = |s: f64| ((s + round_trip) * 1e6) as u64;
        answered.up_to(us(*to)) - answered.up_to(us(*from))
    });
    within.sum::<u64>() as f64 / answered.count().max(1) as f64
}
