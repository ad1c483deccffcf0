//! The highest rate that the user allows.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::thresholds::MAX_RATE_REACHED;
use crate::words::{rate, time};
use torr_gauge::{Confidence, Factor, Verdict};

/// Examines whether the highest permitted rate was reached.
pub fn rule(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    let (Some(allowed), most) = (evidence.setting.max_rate, figures.ladder.most()) else { return Ok(None) };
    Ok((most >= MAX_RATE_REACHED * allowed).then(|| {
        Verdict::new(Factor::None, Confidence::Likely, "The service does all that --max-rate allows to ask for.")
            .because(format!("{} were answered of the {} that are allowed", rate(most), rate(allowed)))
            .because(format!("a request on its own takes {}", time(figures.service_s())))
            .because_if(figures.server_cores().map(|cores| format!("the server used {cores:.2} CPUs meanwhile")))
            .advice("its headroom is unknown: raise --max-rate, if the service may be pressed harder")
    }))
}
