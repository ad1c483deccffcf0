//! The highest rate that the user allows.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::thresholds::MAX_RATE_REACHED;
use crate::witnesses;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline, Unit};
use torr_gauge::{Confidence, Factor};

/// Examines whether the highest permitted rate was reached.
pub fn rule(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    let (Some(cap_rps), rps) = (evidence.setting.max_rate, figures.ladder.most()) else { return Ok(None) };
    // A rate that is kept may have a tail, and the signals its cause.
    let full = evidence.full();
    let signals = full.signals.as_ref();
    Ok((rps >= MAX_RATE_REACHED * cap_rps).then(|| {
        Finding::new(Factor::None, Confidence::Likely, Headline::AllAllowed)
            .because(Fact::RateCapped { unit: Unit::Request, rps, cap_rps })
            .because(Fact::RequestAlone { seconds: figures.service_s() })
            .because(witnesses::tail(&full.run))
            .because(witnesses::stalls(&full.run))
            .because(figures.server_cpu())
            .because(signals.and_then(witnesses::ever_throttled))
            .because(signals.and_then(witnesses::stopped))
            .advice(Advice::RaiseMaxRate)
    }))
}
