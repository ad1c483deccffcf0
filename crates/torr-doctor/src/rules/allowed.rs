//! The highest rate that the user allows.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::thresholds::MAX_RATE_REACHED;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline, Unit};
use torr_gauge::{Confidence, Factor};

/// Examines whether the highest permitted rate was reached.
pub fn rule(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    let (Some(cap_rps), rps) = (evidence.setting.max_rate, figures.ladder.most()) else { return Ok(None) };
    Ok((rps >= MAX_RATE_REACHED * cap_rps).then(|| {
        Finding::new(Factor::None, Confidence::Likely, Headline::AllAllowed)
            .because(Fact::RateCapped { unit: Unit::Request, rps, cap_rps })
            .because(Fact::RequestAlone { seconds: figures.service_s() })
            .because(figures.server_cpu())
            .advice(Advice::RaiseMaxRate)
    }))
}
