//! Thresholds as options: an expression, and what happens when it does not hold.

use super::duration;
use super::error::OptionError;
use super::reader;
use serde_json::{Value, json};
use std::time::Duration;

/// A threshold as a script writes it. Its expression is read where the metrics are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThresholdOption {
    /// The expression, such as `p(95)<500`.
    pub expression: String,
    /// Whether the test stops when the expression does not hold.
    pub abort_on_fail: bool,
    /// The time from the start of the test before which the test does not stop.
    pub delay_abort: Duration,
}

impl ThresholdOption {
    /// Reads the thresholds of one metric.
    pub(super) fn list(path: &str, value: &Value) -> Result<Vec<Self>, OptionError> {
        let Value::Array(items) = value else {
            return Err(OptionError::new(
                path,
                format!("expected an array of thresholds, found {}", reader::kind(value)),
            ));
        };
        items.iter().map(|item| Self::read(path, item)).collect()
    }

    fn read(path: &str, value: &Value) -> Result<Self, OptionError> {
        match value {
            Value::String(expression) => {
                Ok(Self { expression: expression.clone(), abort_on_fail: false, delay_abort: Duration::ZERO })
            }
            Value::Object(fields) => {
                let expression = match fields.get("threshold") {
                    Some(Value::String(expression)) => expression.clone(),
                    _ => {
                        return Err(OptionError::new(
                            path,
                            "expected a string 'threshold' in the object of a threshold",
                        ));
                    }
                };
                let abort_on_fail = match fields.get("abortOnFail") {
                    Some(value) => reader::boolean(&format!("{path}.abortOnFail"), value)?.unwrap_or(false),
                    None => false,
                };
                let delay_abort = match fields.get("delayAbortEval") {
                    Some(value) => reader::duration(&format!("{path}.delayAbortEval"), value)?.unwrap_or_default(),
                    None => Duration::ZERO,
                };
                Ok(Self { expression, abort_on_fail, delay_abort })
            }
            other => {
                let found = reader::kind(other);
                Err(OptionError::new(path, format!("expected a threshold as a string or an object, found {found}")))
            }
        }
    }

    /// Returns the threshold in the form that scripts see it in.
    #[must_use]
    pub fn to_json(&self) -> Value {
        if !self.abort_on_fail && self.delay_abort.is_zero() {
            return json!(self.expression);
        }
        let delay = if self.delay_abort.is_zero() { Value::Null } else { json!(duration::format(self.delay_abort)) };
        json!({"threshold": self.expression, "abortOnFail": self.abort_on_fail, "delayAbortEval": delay})
    }
}
