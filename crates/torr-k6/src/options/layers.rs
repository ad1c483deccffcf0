//! Layers of options: configuration file, script, variables, flags. A higher layer replaces what a lower one set.

use super::duration;
use super::error::{OptionError, Warning};
use super::options_type::{DEFAULT_TREND_STATS, Options};
use super::scenario::{Executor, Scenario};
use super::shortcuts;
use super::stage::Stage;
use super::system_tags::SystemTags;
use serde_json::{Map, Value};

/// A layer of options, from the lowest to the highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The configuration file.
    Config,
    /// The options that the script exports.
    Script,
    /// Variables such as `K6_VUS`.
    Env,
    /// Flags of the command line.
    Flags,
}

impl Layer {
    fn name(self) -> &'static str {
        match self {
            Self::Config => "the configuration file",
            Self::Script => "the script",
            Self::Env => "a K6_ variable",
            Self::Flags => "the command line",
        }
    }
}

/// The options of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consolidated {
    /// The options, those of higher layers first; defaults are filled in where scripts can see them.
    pub options: Options,
    /// The scenarios that run, sorted by name.
    pub scenarios: Vec<Scenario>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

impl Consolidated {
    /// Returns the options as `exec.test.options` shows them, with the scenarios that run, however they were given.
    #[must_use]
    pub fn shown(&self) -> Value {
        let mut all = self.options.to_json();
        if all["scenarios"].is_null() {
            let scenario = |scenario: &Scenario| (scenario.name.clone(), Value::Object(self.shown_scenario(scenario)));
            all["scenarios"] = Value::Object(self.scenarios.iter().map(scenario).collect());
        }
        all
    }

    /// Returns the keys of a scenario that shortcuts have become, `null` for those that are not set.
    fn shown_scenario(&self, scenario: &Scenario) -> Map<String, Value> {
        let options = &self.options;
        let vus = Value::from(options.vus);
        let given = Value::from(options.duration.map(duration::format));
        let own = match &scenario.executor {
            Executor::SharedIterations { iterations, .. } => {
                vec![("vus", vus), ("iterations", (*iterations).into()), ("maxDuration", given)]
            }
            Executor::ConstantVus { .. } => vec![("vus", vus), ("duration", given)],
            Executor::RampingVus { stages, .. } => {
                let stages = stages.iter().copied().map(Stage::to_json).collect();
                vec![("startVUs", vus), ("stages", Value::Array(stages)), ("gracefulRampDown", Value::Null)]
            }
            _ => ["vus", "iterations", "maxDuration"].map(|key| (key, Value::Null)).to_vec(),
        };
        let unset = ["startTime", "gracefulStop", "env", "exec", "tags"].map(|key| (key.to_owned(), Value::Null));
        let mut fields: Map<String, Value> = unset.into_iter().collect();
        fields.extend(own.into_iter().map(|(key, value)| (key.to_owned(), value)));
        fields.insert("executor".to_owned(), scenario.executor.name().into());
        fields.extend(scenario.written.0.iter().map(|(key, value)| (key.clone(), value.clone())));
        fields
    }
}

/// Makes the options of a run out of its layers.
///
/// # Errors
/// If a layer gives its load in two ways, or the load makes no sense.
pub fn layered(
    config: &Options,
    script: &Options,
    env: &Options,
    flags: &Options,
) -> Result<Consolidated, OptionError> {
    let layers = [(Layer::Config, config), (Layer::Script, script), (Layer::Env, env), (Layer::Flags, flags)];
    let mut options = Options::default();
    let mut warnings = Vec::new();
    for (layer, higher) in layers {
        conflicts(higher)?;
        if sets_load(higher) {
            if options.scenarios.as_ref().is_some_and(|scenarios| !scenarios.is_empty()) && higher.scenarios.is_none() {
                warnings.push(Warning(format!("{} replaces the scenarios of a lower layer", layer.name())));
            }
            options.duration = None;
            options.iterations = None;
            options.stages = None;
            options.scenarios = None;
        }
        if layer == Layer::Flags && higher.scenarios.is_some() {
            // Only Torr's own `-r` is such a flag, and it has its number of users in the scenario.
            options.vus = None;
        }
        options.overlay(higher);
    }
    conflicts(&options)?;
    options.summary_trend_stats.get_or_insert_with(|| DEFAULT_TREND_STATS.map(str::to_owned).to_vec());
    options.system_tags.get_or_insert_with(SystemTags::default);
    let scenarios = shortcuts::scenarios(&options, &mut warnings)?;
    Ok(Consolidated { options, scenarios, warnings })
}

/// Returns whether a layer gives a load, which replaces the loads of all layers below.
fn sets_load(options: &Options) -> bool {
    options.duration.is_some()
        || options.iterations.is_some()
        || options.stages.is_some()
        || options.scenarios.is_some()
}

/// Finds two ways of giving a load in one layer.
fn conflicts(options: &Options) -> Result<(), OptionError> {
    let given = [
        ("iterations", options.iterations.is_some()),
        ("duration", options.duration.is_some()),
        // An empty list of stages is no load.
        ("stages", options.stages.as_ref().is_some_and(|stages| !stages.is_empty())),
        ("scenarios", options.scenarios.is_some()),
    ];
    let set: Vec<_> = given.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| *name).collect();
    match set.as_slice() {
        [] | [_] | ["iterations", "duration"] => Ok(()),
        [.., first, second] => {
            Err(OptionError::new(*first, format!("cannot be used together with '{second}': use one of both")))
        }
    }
}
