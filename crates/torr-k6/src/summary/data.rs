//! The data of a summary, as plain values by name.

pub use crate::metrics::Contains;
use std::collections::BTreeMap;

/// The data of a summary.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Metrics and sub-metrics by name, those that had samples or have thresholds.
    pub metrics: BTreeMap<String, Metric>,
    /// The groups and checks of the run.
    pub root: Group,
    /// The checks of all groups, those of one name as one, in the order in which they first ran.
    pub checks: Vec<Check>,
    /// The groups outside of such scenarios, with their measured figures, for the text of mode `full`.
    pub groups: Group,
    /// The measured figures of each scenario but `default`, for the text of mode `full`.
    pub scenarios: BTreeMap<String, Part>,
    /// The options that the summary is made by.
    pub options: SummaryOptions,
    /// Facts of the process.
    pub state: State,
    /// The value that `setup` returned, as JSON text.
    pub setup_data: Option<String>,
}

/// The options that a summary is made by.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryOptions {
    /// The columns of a trend, such as `avg` and `p(95)`.
    pub trend_stats: Vec<String>,
    /// The unit of all times: `s`, `ms`, `us`, or empty for one that fits.
    pub time_unit: String,
    /// Whether the text has no colours.
    pub no_color: bool,
}

impl Default for SummaryOptions {
    fn default() -> Self {
        let trend_stats = ["avg", "min", "med", "max", "p(90)", "p(95)"].map(str::to_owned).to_vec();
        Self { trend_stats, time_unit: String::new(), no_color: true }
    }
}

/// Facts of the process that made the run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct State {
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// The duration of the run with setup and teardown, in milliseconds.
    pub duration_ms: f64,
}

/// A metric at the end of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// The unit of the values.
    pub contains: Contains,
    /// The values, by the metric's type.
    pub values: Values,
    /// The thresholds in the order of the script.
    pub thresholds: Vec<Threshold>,
}

/// The values of a metric, by its type.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// A sum, and its rate per second.
    Counter {
        /// The sum of all values.
        count: f64,
        /// The sum per second.
        rate: f64,
    },
    /// The last value, with the extremes.
    Gauge {
        /// The last value.
        value: f64,
        /// The smallest value.
        min: f64,
        /// The largest value.
        max: f64,
    },
    /// A share of values that are not zero.
    Rate {
        /// The share from 0 to 1.
        rate: f64,
        /// The number of values that are not zero.
        passes: u64,
        /// The number of zeros.
        fails: u64,
    },
    /// The requested statistics of all values, each with its name.
    Trend(Vec<(String, f64)>),
}

impl Values {
    /// Returns the name of the metric's type.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Counter { .. } => "counter",
            Self::Gauge { .. } => "gauge",
            Self::Rate { .. } => "rate",
            Self::Trend(_) => "trend",
        }
    }

    /// Returns the values, each with its name in the data of `handleSummary`.
    pub fn named(&self) -> Vec<(&str, f64)> {
        match self {
            Self::Counter { count, rate } => vec![("count", *count), ("rate", *rate)],
            Self::Gauge { value, min, max } => vec![("value", *value), ("min", *min), ("max", *max)],
            Self::Rate { rate, passes, fails } => {
                vec![("rate", *rate), ("passes", *passes as f64), ("fails", *fails as f64)]
            }
            Self::Trend(stats) => stats.iter().map(|(name, value)| (name.as_str(), *value)).collect(),
        }
    }
}

/// A threshold at the end of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The expression as the script has it, such as `p(95)<500`.
    pub source: String,
    /// The aggregate of the expression, such as `p(95)`.
    pub aggregate: String,
    /// The value of the aggregate.
    pub value: f64,
    /// Whether the expression holds.
    pub ok: bool,
}

/// A group with its checks and the groups in it, each in the order in which the run first met it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// The name, empty for the root.
    pub name: String,
    /// The names from the root on, each with `::` before it; empty for the root.
    pub path: String,
    /// The groups in this group.
    pub groups: Vec<Group>,
    /// The checks of this group.
    pub checks: Vec<Check>,
    /// The metrics of samples with this group's tag, for the text of mode `full`.
    pub metrics: BTreeMap<String, Metric>,
}

/// A check of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Check {
    /// The name.
    pub name: String,
    /// The path of the group, `::`, and the name.
    pub path: String,
    /// How often the check held.
    pub passes: u64,
    /// How often the check failed.
    pub fails: u64,
}

/// The figures of a part of a run, such as a scenario.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Part {
    /// The checks and groups.
    pub root: Group,
}

impl Group {
    /// Returns the group at a path below this group, and adds it if it is new. An empty path is this group's own.
    pub fn at(&mut self, path: &str) -> &mut Self {
        let mut group = self;
        for name in path.split("::").skip(1) {
            let position = group.groups.iter().position(|known| known.name == name);
            let position = position.unwrap_or_else(|| {
                let path = format!("{}::{name}", group.path);
                group.groups.push(Self { name: name.to_owned(), path, ..Self::default() });
                group.groups.len() - 1
            });
            group = &mut group.groups[position];
        }
        group
    }

    /// Counts results of the check of this name in this group.
    pub fn count(&mut self, check: &str, passes: u64, fails: u64) {
        let position = self.checks.iter().position(|known| known.name == check);
        let position = position.unwrap_or_else(|| {
            let path = format!("{}::{check}", self.path);
            self.checks.push(Check { name: check.to_owned(), path, ..Check::default() });
            self.checks.len() - 1
        });
        let known = &mut self.checks[position];
        known.passes += passes;
        known.fails += fails;
    }
}

impl Check {
    /// Counts results of a check among checks of any group, of which those of one name are one.
    pub fn count(checks: &mut Vec<Self>, name: &str, passes: u64, fails: u64) {
        match checks.iter_mut().find(|known| known.name == name) {
            Some(known) => {
                known.passes += passes;
                known.fails += fails;
            }
            None => checks.push(Self { name: name.to_owned(), path: format!("::{name}"), passes, fails }),
        }
    }
}

/// Returns the name of a sub-metric's parent and the selector, if a name is that of a sub-metric.
pub fn selector(name: &str) -> Option<(&str, &str)> {
    let (parent, rest) = name.split_once('{')?;
    Some((parent, rest.strip_suffix('}').unwrap_or(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_their_path_and_checks_are_merged_by_name() {
        let mut root = Group::default();
        root.at("").count("up", 1, 0);
        root.at("::shop::basket").count("up", 0, 2);
        root.at("::shop").count("found", 3, 0);
        root.at("::shop::basket").count("up", 1, 0);
        assert_eq!(root.groups[0].groups[0].checks[0].path, "::shop::basket::up");
        assert_eq!(root.groups[0].groups[0].checks[0].fails, 2);
        let mut merged = Vec::new();
        for (name, passes, fails) in [("up", 1, 0), ("found", 3, 0), ("up", 1, 2)] {
            Check::count(&mut merged, name, passes, fails);
        }
        let counts: Vec<_> = merged.iter().map(|check| (check.name.as_str(), check.passes, check.fails)).collect();
        assert_eq!(counts, [("up", 2, 2), ("found", 3, 0)]);
        assert_eq!(selector("http_reqs{group:::a}"), Some(("http_reqs", "group:::a")));
        assert_eq!(selector("http_reqs"), None);
    }
}
