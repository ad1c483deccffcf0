//! Whether a limiter counts each client's address apart: a second one then has as much again.

use crate::evidence::Evidence;
use crate::experiment::Ask;
use crate::thresholds::{SOURCES_APART, SOURCES_TOGETHER};

/// Loads the service from two addresses at once, where there are two, and returns the outcome. `accepted` is the rate of one.
pub fn second(evidence: &Evidence, accepted: f64) -> Result<Option<String>, Box<Ask>> {
    if !evidence.setting.has_second_source {
        return Ok(None);
    }
    let why = "whether the limiter counts each client's address apart";
    let both = evidence.setting.user("the same from two addresses", why, 1.2).with(|load| load.two_sources = true);
    let Some(seen) = evidence.observe_if_reached(both)? else { return Ok(None) };
    Ok(match seen.good_rps() / accepted.max(1e-9) {
        times if times >= SOURCES_APART => Some(format!(
            "from two addresses {times:.1} times as many pass: each client's address has a limit of its own"
        )),
        times if times <= SOURCES_TOGETHER => Some("from two addresses no more pass: the limit is one for all".into()),
        _ => None,
    })
}
