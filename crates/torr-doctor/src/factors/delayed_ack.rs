//! Nagle's algorithm against delayed acknowledgements, where that limits the user's load and not only single requests.

use crate::contrast::Contrast;
use crate::gain;
use crate::laboratory::Halt;
use crate::ward::Ward;
use crate::words::time;
use torr_gauge::{Confidence, Factor, Verdict};
use torr_press::Plan;

/// How many times as many answers acknowledging at once must bring under the user's load to be a limit, and to be the one that
/// matters most.
const BINDS: f64 = 1.1;
const MATTERS: f64 = 1.3;

pub fn rule(ward: &mut Ward<'_>) -> Result<Option<Verdict>, Halt> {
    let Some(acks) = ward.acks else { return Ok(None) };
    let at_once = ward.user_plan(0.7);
    let usual = Plan { quick_ack: false, ..at_once.clone() };
    let contrast = Contrast::of(
        &mut ward.lab,
        ("your load, acknowledged as usual", &usual),
        ("your load, acknowledged at once", &at_once),
        "whether your load waits for acknowledgements",
    )?;
    let (before, after) = acks.medians_s;
    // The first answers of each run come later by the delay, whatever limits the others.
    let length = at_once.duration.map_or(1.0, |length| length.as_secs_f64());
    let begins_late = length / (length - (before - after)).max(length / 2.0);
    if !contrast.is_above(BINDS * begins_late) {
        return Ok(None);
    }
    let confidence = if contrast.is_above(MATTERS * begins_late) { Confidence::Certain } else { Confidence::Likely };
    Ok(Some(
        Verdict::new(
            Factor::DelayedAck,
            confidence,
            "Each answer waits until the client acknowledges its first piece, which clients hold back for 40 ms.",
        )
        .because(format!(
            "with acknowledgements sent at once a single request's answer took {} instead of {}: {}",
            time(after),
            time(before),
            acks.alone
        ))
        .because(format!("of your load {contrast}"))
        .advice("write head and body with one call (writev, or a buffer), or set TCP_NODELAY on the server's sockets")
        .gain(gain::measured(&contrast.of, "with the same connections")),
    ))
}
