//! What a script measures by itself: its metrics with their thresholds, and its checks by group.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The metrics and checks of a script of k6.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScriptResult {
    /// The metrics by name, built-in ones and sub-metrics (`name{tag:value}`) included.
    pub metrics: BTreeMap<String, ScriptMetric>,
    /// The checks of all groups, in the order in which they first ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ScriptCheck>,
}

/// A metric of a script.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScriptMetric {
    /// `counter`, `gauge`, `rate` or `trend`.
    pub kind: String,
    /// What the values are: `time` (milliseconds), `data` (bytes) or `default`.
    pub contains: String,
    /// The values by their names in k6, such as `count`, `rate` or `p(95)`.
    pub values: BTreeMap<String, f64>,
    /// The thresholds, in the order of the script.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ScriptThreshold>,
}

/// A threshold of a script.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScriptThreshold {
    /// The expression, such as `p(95)<500`.
    pub expression: String,
    /// The value that the expression compares.
    pub value: f64,
    /// Whether the expression holds.
    pub ok: bool,
}

/// A check of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptCheck {
    /// The group's path, such as `::login`; empty outside of groups.
    pub group: String,
    /// The name.
    pub name: String,
    /// How often the check held.
    pub passes: u64,
    /// How often it failed.
    pub fails: u64,
}
