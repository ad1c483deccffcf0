//! The archived run before the one that a page shows.

use crate::fields::{field, number, text};
use serde_json::Value;

/// The parts of a plan that say what load it is, and not how long it is or what it ran on.
const LOAD: [&str; 13] = [
    "connections",
    "rate",
    "max_rate",
    "think_s",
    "arrivals",
    "coalesce_s",
    "patience_s",
    "keep_alive",
    "protocol",
    "method",
    "stages",
    "depth",
    "requests_per_connection",
];

/// An earlier run with the same target, whose result lies beside the page.
#[derive(Debug, Clone)]
pub struct RunBefore {
    pub(crate) started_at: String,
    /// The name of the file to link to.
    pub(crate) linked: String,
    /// The difference of the throughput and of p99, as shares; `None` where the loads are not the same.
    pub(crate) rps: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) is_same_load: bool,
}

impl RunBefore {
    /// Takes `before` as the run before `run`, both JSON of `torr.run/1`. `result` and `page` are the names of the files of `before`
    /// in the directory of the page that links to them.
    ///
    /// Returns `None` if it is no run of the same target, or did not begin before.
    pub fn of(run: &Value, before: &Value, result: String, page: Option<String>) -> Option<Self> {
        let same = |name: &str| text(run, name).is_some() && text(run, name) == text(before, name);
        let (started_at, own) = (text(before, "started_at")?, text(run, "started_at")?);
        if !same("schema") || !same("target") || started_at >= own {
            return None;
        }
        let of_plan = |value, name| field(value, &format!("plan.{name}")).cloned();
        let is_same_load = LOAD.iter().all(|name| of_plan(run, name) == of_plan(before, name));
        let by = |path| {
            let (own, other) = (number(run, path)?, number(before, path)?);
            (is_same_load && other > 0.0).then_some(own / other - 1.0)
        };
        let (rps, p99) = (by("rps"), by("latency_us.p99"));
        let linked = page.unwrap_or(result);
        Some(Self { started_at: started_at.to_owned(), linked, rps, p99, is_same_load })
    }

    /// Returns when the run began (RFC 3339).
    pub fn started_at(&self) -> &str {
        &self.started_at
    }
}
