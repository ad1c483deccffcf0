//! A quota of CPU time that no cgroup shows from here, as that of a container or a virtual machine: the kernel stops the server at the same
//! point of each period, whatever is requested. A limiter counts requests, and lets cheap ones pass no more often.

use crate::evidence::Evidence;
use crate::experiment::{Ask, Experiment, Request, Step, Warmup};
use crate::observation::Observation;
use crate::stops::Stops;
use crate::thresholds::{ALL_AT_WORK, CHEAPER_STOPS, SAMPLED_S};
use std::time::Duration;
use torr_gauge::verdict::{Advice, Change, CheapRequest, ExperimentId, Fact, Finding, Headline, Promise, UnknownGain};
use torr_gauge::{Confidence, Factor};

pub fn rule(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    // Of processes that are visible the cgroup is, too. What agents report has seconds, not hundredths.
    let is_visible = figures.server_cores().is_some();
    if is_visible || evidence.setting.agents.is_some() || figures.utilisation() >= ALL_AT_WORK {
        return Ok(None);
    }
    let Some(cheap) = &figures.cheap else { return Ok(None) };
    let request = cheap.what;
    let target = evidence.observe(sampled(evidence, ExperimentId::Stops, Request::Target))?;
    let Some(stops) = target.times.stops else { return Ok(None) };
    let Some(light) = light(evidence, request)? else { return Ok(None) };
    let (rps, target_rps) = (light.run.rps, target.run.rps);
    // Both stop in the same way, though far more of the cheap requests pass: it is not requests that are counted.
    if light.times.stops.is_none_or(|light| !light.is_like(&stops)) || rps < CHEAPER_STOPS * target_rps {
        return Ok(None);
    }
    let Stops { period_s, stopped_s } = stops;
    Ok(Some(
        Finding::new(Factor::CpuQuota, Confidence::Likely, Headline::HiddenQuota)
            .because(Fact::StopsEachPeriod { period_s, stopped_s })
            .because(Fact::LightLoadStops { request, rps, target_rps })
            .because(Fact::ServerNotVisible)
            .advice(Advice::FindQuota)
            .gain(Promise::unknown(Change::WholeMachine, UnknownGain::CpuNotVisible)),
    ))
}

fn light(evidence: &Evidence, request: CheapRequest) -> Result<Option<&Observation>, Box<Ask>> {
    let cheap = match request {
        CheapRequest::AbsentPath => Request::Absent,
        CheapRequest::WithoutHost => Request::WithoutHost,
    };
    evidence.observe_if_reached(sampled(evidence, ExperimentId::LightStops(request), cheap))
}

/// Returns the load of the user, sampled so often that stops within a period show.
fn sampled(evidence: &Evidence, id: ExperimentId, request: Request) -> Experiment {
    let load = evidence.setting.user(id, 1.2).with(|load| {
        load.request = request;
        load.interval = Some(Duration::from_secs_f64(SAMPLED_S));
    });
    Experiment { warmup: Warmup::Short, ..load }
}
