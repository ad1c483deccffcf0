//! Stages of a load that changes linearly.

use super::duration;
use super::error::OptionError;
use super::reader;
use serde_json::{Value, json};
use std::time::Duration;

/// The largest number of stages of a scenario.
const MAX_STAGES: usize = 10_000;
/// The longest time that the stages of a scenario take together: 100 years.
const MAX_LENGTH: Duration = Duration::from_secs(100 * 365 * 86_400);

/// A stage: the load changes linearly from what it was to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// How long the stage lasts; 0 for a jump.
    pub duration: Duration,
    /// The number of virtual users, or the iterations in a time unit, at the end of the stage.
    pub target: u64,
}

impl Stage {
    /// Reads the stages of a load; `null` is unset.
    pub(super) fn list(path: &str, value: &Value, most: u64) -> Result<Option<Vec<Self>>, OptionError> {
        let items = match value {
            Value::Null => return Ok(None),
            Value::Array(items) => items,
            other => {
                return Err(OptionError::new(
                    path,
                    format!("expected an array of stages, found {}", reader::kind(other)),
                ));
            }
        };
        if items.len() > MAX_STAGES {
            return Err(OptionError::new(
                path,
                format!("must have at most {MAX_STAGES} stages, found {}", items.len()),
            ));
        }
        let read = |(at, item): (usize, &Value)| Self::read(&format!("{path}[{at}]"), item, most);
        let stages: Vec<Self> = items.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        if stages.iter().map(|stage| stage.duration).sum::<Duration>() > MAX_LENGTH {
            return Err(OptionError::new(path, "stages must take at most 100 years together"));
        }
        Ok(Some(stages))
    }

    fn read(path: &str, value: &Value, most: u64) -> Result<Self, OptionError> {
        let fields =
            reader::object(path, value)?.ok_or_else(|| OptionError::new(path, "expected an object, found null"))?;
        let (mut duration, mut target) = (None, None);
        for (key, value) in fields {
            let path = format!("{path}.{key}");
            match key.as_str() {
                "duration" => duration = reader::duration(&path, value)?,
                "target" => target = reader::integer(&path, value)?,
                _ => return Err(OptionError::new(path, "unknown key of a stage: use duration and target")),
            }
        }
        let missing =
            |key: &str| OptionError::new(format!("{path}.{key}"), "is missing: a stage needs duration and target");
        let stage = Self {
            duration: duration.ok_or_else(|| missing("duration"))?,
            target: target.ok_or_else(|| missing("target"))?,
        };
        if stage.target > most {
            return Err(OptionError::new(
                format!("{path}.target"),
                format!("must be at most {most}, found {}", stage.target),
            ));
        }
        Ok(stage)
    }

    /// Returns the stage in the form that scripts see it in.
    pub(super) fn to_json(self) -> Value {
        json!({"duration": duration::format(self.duration), "target": self.target})
    }
}
