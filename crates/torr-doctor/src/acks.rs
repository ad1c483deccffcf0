//! Whether responses wait for acknowledgements, by Nagle's algorithm: a server that writes a response in small pieces waits for the
//! acknowledgement of the first, which the client holds back for 40 ms (RFC 896; RFC 1122, section 4.2.3.2).
//!
//! Every further figure would be one of that delay, whatever else limits the service. So this is looked at right after the first
//! experiment, and where it is so, all others acknowledge at once.

use crate::evidence::{Acks, Evidence};
use crate::experiment::{Experiment, Length, Step, Warmup};
use crate::observation::Observation;
use crate::survey;
use crate::thresholds::{ACK_DELAYED, ACK_DELAYS_S, ACKED_FASTER, ACKS_HELD_BACK, DELAYS_GONE, FELL_BY_DELAY};
use crate::witnesses::acks_held_back;
use std::time::Duration;
use torr_gauge::verdict::ExperimentId;

/// The longest pause after which a request should meet no limiter, as a multiple of the time that each takes without pauses; half of it is
/// the shortest. A limiter that delays each request to its turn has the next turn free by then.
const PAUSES: f64 = 4.0;
/// The longest such time in seconds: with a longer one, too few requests would show anything.
const LONGEST_PAUSE_S: f64 = 0.1;

/// Looks whether single requests are answered sooner if acknowledgements are not held back. Under load, queues may happen to take
/// as long as a delay.
pub fn rule(evidence: &Evidence) -> Step {
    let Some(alone) = survey::alone_as_usual(evidence) else { return Ok(None) };
    let is_delayed = delayed(alone) >= ACK_DELAYED;
    if is_delayed || held_back(alone) {
        evidence.in_turns(ways(evidence))?;
    }
    if is_delayed && found(evidence).is_none() {
        // A limiter may allow one connection no more, however soon it is answered. After longer pauses that does not matter.
        let at_once = evidence.last(ExperimentId::AckedAtOnce).and_then(Observation::median_s).unwrap_or(0.0);
        let pause = Duration::from_secs_f64(at_once.min(LONGEST_PAUSE_S) * PAUSES);
        survey::look_acked(evidence, pause)?;
    }
    Ok(None)
}

/// Returns what acknowledging at once brought, where it was tried and responses came sooner.
pub fn found(evidence: &Evidence) -> Option<Acks> {
    let ways = ways(evidence);
    let alone = evidence.contrast(&ways)?;
    let share = delayed(survey::alone_as_usual(evidence)?);
    let [usual, at_once] = ways.map(|way| evidence.last(way.id));
    let (usual, at_once) = (usual?, at_once?);
    let medians_s = (usual.median_s().unwrap_or(0.0), at_once.median_s().unwrap_or(0.0));
    let is_gone = |seen: &Observation| share >= ACK_DELAYED && delayed(seen) <= share / DELAYS_GONE;
    if alone.is_above(ACKED_FASTER) && (is_gone(at_once) || is_a_delay(medians_s)) {
        return Some(Acks { medians_s, alone });
    }
    let paced = evidence.last(ExperimentId::AloneAckedLonger).or_else(|| evidence.last(ExperimentId::AloneAcked))?;
    let medians_s = (survey::alone_as_usual(evidence)?.median_s()?, paced.median_s()?);
    (is_gone(paced) && is_a_delay(medians_s)).then_some(Acks { medians_s, alone })
}

/// Returns whether the second response time is less than the first by as much as an acknowledgement is held back.
fn is_a_delay((usual_s, at_once_s): (f64, f64)) -> bool {
    let fell = usual_s - at_once_s;
    ACK_DELAYS_S.iter().any(|(from, to)| (FELL_BY_DELAY.0 * from..FELL_BY_DELAY.1 * to).contains(&fell))
}

fn ways(evidence: &Evidence) -> [Experiment; 2] {
    let way = |id, quick_ack| {
        let one = evidence.setting.single(id, Length::Responses(0.4)).with(|load| {
            load.quick_ack = Some(quick_ack);
        });
        Experiment { warmup: Warmup::Settled, ..one }
    };
    [way(ExperimentId::AckedAsUsual, false), way(ExperimentId::AckedAtOnce, true)]
}

/// Returns the share of responses that took as long as a delayed acknowledgement.
fn delayed(seen: &Observation) -> f64 {
    let answered = seen.times.answered.map_or(0, |answered| answered.count);
    seen.times.ack_delayed as f64 / answered.max(1) as f64
}

/// Returns whether responses take longer than a delay, and the kernel counted a delayed acknowledgement for each.
fn held_back(seen: &Observation) -> bool {
    let long = seen.times.answered.is_some_and(|answered| answered.mean_us / 1e6 > ACK_DELAYS_S[0].0);
    long && acks_held_back(seen.signals.as_ref(), seen.run.requests).is_some_and(|each| each > ACKS_HELD_BACK)
}
