//! Nagle's algorithm against delayed acknowledgements, where that limits the user's load and not only single requests.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::thresholds::{ACKNOWLEDGED_COSTS, ACKS_BIND, ACKS_MATTER};
use crate::turns::Ratio;
use torr_gauge::verdict::{Advice, Change, Fact, Finding, Headline, Promise};
use torr_gauge::{Confidence, Factor};

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
    let speedup = Some(acks.alone.speedup());
    Ok(Some(
        Finding::new(Factor::DelayedAck, confidence, Headline::DelayedAck)
            .because(Fact::AckedAtOnce { before_s: before, after_s: after, speedup })
            .because(Fact::LoadAckedAtOnce { speedup: contrast.speedup() })
            .advice(Advice::WriteOnce)
            .gain(Promise::between(low, high * ACKNOWLEDGED_COSTS, Change::SameConnections)),
    ))
}
