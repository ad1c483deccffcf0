//! Nagle's algorithm against delayed acknowledgements, where that limits the user's load and not only single requests.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::thresholds::{ACKNOWLEDGED_COSTS, ACKS_BIND, ACKS_MATTER};
use crate::turns::Ratio;
use crate::words::time;
use torr_gauge::{Confidence, Factor, Gain, Verdict};

pub fn rule(evidence: &Evidence) -> Step {
    let Some(acks) = evidence.acks else { return Ok(None) };
    let way = |name, quick_ack| {
        let why = "whether your load waits for acknowledgements";
        evidence.setting.user(name, why, 0.7).with(|load| load.quick_ack = Some(quick_ack))
    };
    let ways = [way("your load, acknowledged as usual", false), way("your load, acknowledged at once", true)];
    let contrast = evidence.in_turns(ways.clone())?;
    let at_once = evidence.last(&ways[1].name, ways[1].why);
    let (before, after) = acks.medians_s;
    // The first responses of each run are delayed, whatever limits the others.
    let length = at_once.and_then(|seen| seen.run.plan.duration_s).unwrap_or(1.0);
    let begins_late = length / (length - (before - after)).max(length / 2.0);
    if !contrast.is_above(ACKS_BIND * begins_late) {
        return Ok(None);
    }
    let confidence =
        if contrast.is_above(ACKS_MATTER * begins_late) { Confidence::Certain } else { Confidence::Likely };
    let Ratio { low, high, .. } = contrast.of;
    let gain = Gain::between(low, high * ACKNOWLEDGED_COSTS, "with the same connections");
    Ok(Some(
        Verdict::new(
            Factor::DelayedAck,
            confidence,
            "Each response waits until the client acknowledges its first piece, which clients delay by 40 ms.",
        )
        .because(format!(
            "with acknowledgements sent at once a single response took {} instead of {}: {}",
            time(after),
            time(before),
            acks.alone
        ))
        .because(format!("of your load {contrast}"))
        .advice("write head and body with one call (writev, or a buffer), or set TCP_NODELAY on the server's sockets")
        .gain(gain),
    ))
}
