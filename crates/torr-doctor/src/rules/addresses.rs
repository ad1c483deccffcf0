//! Whether a limiter counts each client's address apart: a second one then has as much again.

use crate::evidence::Evidence;
use crate::experiment::Ask;
use crate::thresholds::{SOURCES_APART, SOURCES_TOGETHER};
use torr_gauge::verdict::{ExperimentId, Fact};

/// Loads the service from two addresses at once, where there are two, and returns the outcome. `accepted` is the rate of one.
pub fn second(evidence: &Evidence, accepted: f64) -> Result<Option<Fact>, Box<Ask>> {
    if !evidence.setting.has_second_source {
        return Ok(None);
    }
    let both = evidence.setting.user(ExperimentId::TwoAddresses, 1.2).with(|load| load.two_sources = true);
    let Some(seen) = evidence.observe_if_reached(both)? else { return Ok(None) };
    let factor = seen.good_rps() / accepted.max(1e-9);
    let apart = factor >= SOURCES_APART;
    Ok((apart || factor <= SOURCES_TOGETHER).then_some(Fact::TwoAddresses { factor, apart }))
}
