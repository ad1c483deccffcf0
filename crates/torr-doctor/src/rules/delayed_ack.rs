//! Nagle's algorithm against delayed acknowledgements, where that limits the user's load and not only single requests.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::thresholds::{ACKNOWLEDGED_COSTS, ACKS_BIND, ACKS_MATTER};
use crate::turns::Ratio;
use torr_gauge::verdict::{Advice, Change, ExperimentId, Fact, Finding, Headline, Promise};
use torr_gauge::{Confidence, Factor};

pub fn rule(evidence: &Evidence) -> Step {
    let Some(acks) = evidence.acks else { return Ok(None) };
    let way = |id, quick_ack| evidence.setting.user(id, 0.7).with(|load| load.quick_ack = Some(quick_ack));
    let ways = [way(ExperimentId::LoadAckedAsUsual, false), way(ExperimentId::LoadAckedAtOnce, true)];
    let contrast = evidence.in_turns(ways)?;
    let at_once = evidence.last(ExperimentId::LoadAckedAtOnce);
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
