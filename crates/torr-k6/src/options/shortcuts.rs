//! Shortcuts: a load that is given by `vus`, `duration`, `iterations` and `stages` becomes one scenario named `default`.

use super::error::{OptionError, Warning};
use super::options_type::Options;
use super::scenario::{Executor, Scenario};
use super::scenario_json::{DEFAULT_MAX_DURATION, DEFAULT_RAMP_DOWN};

/// The name of the scenario that shortcuts become.
const NAME: &str = "default";

/// Returns the scenarios of a run, sorted by name.
///
/// # Errors
/// If the shortcuts do not make sense together.
pub(super) fn scenarios(options: &Options, warnings: &mut Vec<Warning>) -> Result<Vec<Scenario>, OptionError> {
    if let Some(stages) = options.stages.as_ref().filter(|stages| !stages.is_empty()) {
        let (start_vus, stages) = (options.vus.unwrap_or(1), stages.clone());
        let executor = Executor::RampingVus { start_vus, stages, graceful_ramp_down: DEFAULT_RAMP_DOWN };
        if executor.max_vus() == 0 {
            return Err(OptionError::new("stages", "must have a target of at least 1, or vus must be at least 1"));
        }
        return Ok(vec![Scenario::plain(NAME, executor)]);
    }
    if let Some(iterations) = options.iterations {
        let vus = at_least_one(options.vus)?;
        if iterations == 0 {
            return Err(OptionError::new("iterations", "must be at least 1, found 0"));
        }
        if iterations < vus {
            return Err(OptionError::new("iterations", format!("must be at least vus ({vus}), found {iterations}")));
        }
        let max_duration = options.duration.unwrap_or(DEFAULT_MAX_DURATION);
        if max_duration.as_secs() == 0 {
            return Err(OptionError::new("duration", "must be at least 1s"));
        }
        return Ok(vec![Scenario::plain(NAME, Executor::SharedIterations { vus, iterations, max_duration })]);
    }
    if let Some(duration) = options.duration {
        if duration.as_secs() == 0 {
            return Err(OptionError::new("duration", "must be at least 1s"));
        }
        let vus = at_least_one(options.vus)?;
        return Ok(vec![Scenario::plain(NAME, Executor::ConstantVus { vus, duration })]);
    }
    if options.vus.is_some() {
        if options.scenarios.as_ref().is_some_and(|scenarios| !scenarios.is_empty()) {
            let text = "option 'vus' replaces the scenarios: remove 'vus', or set it inside a scenario";
            warnings.push(Warning(text.into()));
        }
        let vus = at_least_one(options.vus)?;
        let executor = Executor::SharedIterations { vus, iterations: vus, max_duration: DEFAULT_MAX_DURATION };
        return Ok(vec![Scenario::plain(NAME, executor)]);
    }
    match &options.scenarios {
        Some(scenarios) if scenarios.is_empty() => {
            warnings.push(Warning("option 'scenarios' has no scenarios: 1 iteration runs with 1 VU".into()));
            Ok(vec![single()])
        }
        Some(scenarios) => Ok(scenarios.clone()),
        None => {
            if options.stages.is_some() {
                warnings.push(Warning("option 'stages' has no stages: 1 iteration runs with 1 VU".into()));
            }
            Ok(vec![single()])
        }
    }
}

fn at_least_one(vus: Option<u64>) -> Result<u64, OptionError> {
    match vus.unwrap_or(1) {
        0 => Err(OptionError::new("vus", "must be at least 1, found 0")),
        vus => Ok(vus),
    }
}

fn single() -> Scenario {
    Scenario::plain(NAME, Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: DEFAULT_MAX_DURATION })
}
