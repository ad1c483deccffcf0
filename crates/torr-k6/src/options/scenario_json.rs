//! Scenarios read from JSON: all keys are known to their executor, and all values make sense together.

use super::error::OptionError;
use super::reader;
use super::scenario::{ArrivalRate, DEFAULT_GRACEFUL_STOP, Executor, Scenario, ScenarioPart};
use super::stage::Stage;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// The largest number of virtual users of a scenario.
pub(super) const MAX_VUS: u64 = 1_000_000;
/// The largest number of iterations in a time unit.
const MAX_RATE: u64 = 1_000_000_000;
/// The time limit of executors that count iterations, unless the scenario says otherwise.
pub(super) const DEFAULT_MAX_DURATION: Duration = Duration::from_secs(600);
/// The time for which an iteration may go on whose virtual user is no longer wanted, unless the scenario says otherwise.
pub(super) const DEFAULT_RAMP_DOWN: Duration = Duration::from_secs(30);
/// The shortest regular duration of executors that go by time.
const MIN_DURATION: Duration = Duration::from_secs(1);

/// The keys that all scenarios have.
const COMMON: [&str; 7] = ["executor", "exec", "startTime", "gracefulStop", "env", "tags", "options"];

/// Reads all scenarios; `null` is unset.
pub(super) fn scenarios(value: &Value) -> Result<Option<Vec<Scenario>>, OptionError> {
    let Some(fields) = reader::object("scenarios", value)? else { return Ok(None) };
    let mut scenarios: Vec<_> = fields.iter().map(|(name, value)| scenario(name, value)).collect::<Result<_, _>>()?;
    scenarios.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Some(scenarios))
}

/// The keys of one scenario while it is read.
struct Keys<'v> {
    path: String,
    fields: &'v Map<String, Value>,
    written: Map<String, Value>,
}

impl<'v> Keys<'v> {
    fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    fn error(&self, key: &str, message: impl Into<String>) -> OptionError {
        OptionError::new(self.path(key), message)
    }

    fn value(&mut self, key: &str) -> &'v Value {
        let value = self.fields.get(key).unwrap_or(&Value::Null);
        self.written.insert(key.to_owned(), value.clone());
        value
    }

    fn integer(&mut self, key: &str, most: u64) -> Result<Option<u64>, OptionError> {
        let value = self.value(key);
        let read = reader::integer(&self.path(key), value)?;
        if let Some(number) = read {
            if number > most {
                return Err(self.error(key, format!("must be at most {most}, found {number}")));
            }
            self.written.insert(key.to_owned(), number.into());
        }
        Ok(read)
    }

    /// Reads an integer of 1 or more.
    fn positive(&mut self, key: &str, most: u64) -> Result<Option<u64>, OptionError> {
        match self.integer(key, most)? {
            Some(0) => Err(self.error(key, "must be at least 1, found 0")),
            read => Ok(read),
        }
    }

    fn duration(&mut self, key: &str) -> Result<Option<Duration>, OptionError> {
        let value = self.value(key);
        let read = reader::duration(&self.path(key), value)?;
        if let Some(duration) = read {
            self.written.insert(key.to_owned(), super::duration::format(duration).into());
        }
        Ok(read)
    }

    /// Reads a duration of a second or more.
    fn at_least_a_second(&mut self, key: &str) -> Result<Option<Duration>, OptionError> {
        match self.duration(key)? {
            Some(duration) if duration < MIN_DURATION => Err(self.error(key, "must be at least 1s")),
            read => Ok(read),
        }
    }

    fn needed<T>(&self, key: &str, value: Option<T>) -> Result<T, OptionError> {
        value.ok_or_else(|| self.error(key, "is missing: the executor needs it"))
    }

    fn stages(&mut self, most: u64) -> Result<Vec<Stage>, OptionError> {
        let value = self.value("stages");
        let stages = Stage::list(&self.path("stages"), value, most)?;
        if let Some(stages) = &stages {
            let written = stages.iter().copied().map(Stage::to_json).collect();
            self.written.insert("stages".to_owned(), Value::Array(written));
        }
        let stages = self.needed("stages", stages)?;
        if stages.is_empty() {
            return Err(self.error("stages", "must have at least one stage"));
        }
        Ok(stages)
    }

    fn strings(&mut self, key: &str) -> Result<BTreeMap<String, String>, OptionError> {
        let value = self.value(key);
        Ok(reader::string_map(&self.path(key), value)?.unwrap_or_default())
    }

    fn arrival(&mut self) -> Result<ArrivalRate, OptionError> {
        let time_unit = self.duration("timeUnit")?.unwrap_or(Duration::from_secs(1));
        if time_unit.is_zero() {
            return Err(self.error("timeUnit", "must be more than 0s"));
        }
        let pre_allocated = self.integer("preAllocatedVUs", MAX_VUS)?;
        let pre_allocated_vus = self.needed("preAllocatedVUs", pre_allocated)?;
        let max_vus = self.integer("maxVUs", MAX_VUS)?.unwrap_or(pre_allocated_vus);
        if max_vus < pre_allocated_vus {
            let message = format!("must be at least preAllocatedVUs ({pre_allocated_vus}), found {max_vus}");
            return Err(self.error("maxVUs", message));
        }
        if max_vus == 0 {
            return Err(self.error("maxVUs", "must be at least 1, found 0"));
        }
        Ok(ArrivalRate { time_unit, pre_allocated_vus, max_vus })
    }
}

fn scenario(name: &str, value: &Value) -> Result<Scenario, OptionError> {
    let path = format!("scenarios.{name}");
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(is_word) {
        let message = "a scenario's name must consist of letters, digits, '_' and '-'";
        return Err(OptionError::new(path, message));
    }
    let fields =
        reader::object(&path, value)?.ok_or_else(|| OptionError::new(&path, "expected an object, found null"))?;
    let mut keys = Keys { path, fields, written: Map::new() };
    let value = keys.value("executor");
    let executor = reader::string(&keys.path("executor"), value)?;
    let start_time = keys.duration("startTime")?.unwrap_or_default();
    let graceful_stop = keys.duration("gracefulStop")?;
    let env = keys.strings("env")?;
    let value = keys.value("exec");
    let exec = reader::string(&keys.path("exec"), value)?.filter(|exec| !exec.is_empty());
    let tags = keys.strings("tags")?;
    let executor = self::executor(&mut keys, executor.as_deref())?;
    if let Some(unknown) = fields.keys().find(|key| !is_known(&keys, key)) {
        return Err(keys.error(unknown, format!("unknown key of a scenario with the executor '{}'", executor.name())));
    }
    Ok(Scenario {
        name: name.to_owned(),
        exec,
        start_time,
        graceful_stop: graceful_stop.unwrap_or(DEFAULT_GRACEFUL_STOP),
        env,
        tags,
        executor,
        written: ScenarioPart(keys.written),
    })
}

fn is_known(keys: &Keys<'_>, key: &str) -> bool {
    COMMON.contains(&key) || keys.written.contains_key(key)
}

fn executor(keys: &mut Keys<'_>, name: Option<&str>) -> Result<Executor, OptionError> {
    match name {
        Some("shared-iterations") => {
            let (vus, iterations) = (keys.positive("vus", MAX_VUS)?, keys.positive("iterations", u64::MAX)?);
            let (vus, iterations) = (vus.unwrap_or(1), iterations.unwrap_or(1));
            if iterations < vus {
                let message = format!("must be at least vus ({vus}), found {iterations}");
                return Err(keys.error("iterations", message));
            }
            let max_duration = keys.at_least_a_second("maxDuration")?.unwrap_or(DEFAULT_MAX_DURATION);
            Ok(Executor::SharedIterations { vus, iterations, max_duration })
        }
        Some("per-vu-iterations") => {
            let vus = keys.positive("vus", MAX_VUS)?.unwrap_or(1);
            let iterations = keys.positive("iterations", u64::MAX)?.unwrap_or(1);
            let max_duration = keys.at_least_a_second("maxDuration")?.unwrap_or(DEFAULT_MAX_DURATION);
            Ok(Executor::PerVuIterations { vus, iterations, max_duration })
        }
        Some("constant-vus") => {
            let vus = keys.positive("vus", MAX_VUS)?.unwrap_or(1);
            let duration = keys.at_least_a_second("duration")?;
            Ok(Executor::ConstantVus { vus, duration: keys.needed("duration", duration)? })
        }
        Some("ramping-vus") => {
            let start_vus = keys.integer("startVUs", MAX_VUS)?.unwrap_or(1);
            let stages = keys.stages(MAX_VUS)?;
            let graceful_ramp_down = keys.duration("gracefulRampDown")?.unwrap_or(DEFAULT_RAMP_DOWN);
            let executor = Executor::RampingVus { start_vus, stages, graceful_ramp_down };
            if executor.max_vus() == 0 {
                return Err(keys.error("stages", "must have a target of at least 1, or startVUs must be at least 1"));
            }
            Ok(executor)
        }
        Some("constant-arrival-rate") => {
            let rate = keys.positive("rate", MAX_RATE)?;
            let rate = keys.needed("rate", rate)?;
            let duration = keys.at_least_a_second("duration")?;
            let duration = keys.needed("duration", duration)?;
            Ok(Executor::ConstantArrivalRate { rate, duration, arrival: keys.arrival()? })
        }
        Some("ramping-arrival-rate") => {
            let start_rate = keys.integer("startRate", MAX_RATE)?.unwrap_or(0);
            let stages = keys.stages(MAX_RATE)?;
            Ok(Executor::RampingArrivalRate { start_rate, stages, arrival: keys.arrival()? })
        }
        Some("externally-controlled") => {
            let message = "'externally-controlled' is not supported: use 'constant-vus' or 'ramping-vus' instead";
            Err(keys.error("executor", message))
        }
        Some(other) => Err(keys.error("executor", format!("unknown executor '{other}'"))),
        None => Err(keys.error("executor", "is missing: a scenario needs an executor")),
    }
}
