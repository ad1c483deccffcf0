//! The metrics of a test by number and by name: the built-in ones, then those of the script.

use super::builtin::BUILTIN;
use super::kind::{Contains, MetricId, MetricKind};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The largest number of metrics of a script: each has memory on every load thread.
const MAX_METRICS: usize = 10_000;

/// A metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricInfo {
    /// The name.
    pub name: Arc<str>,
    /// The kind.
    pub kind: MetricKind,
    /// What the values are.
    pub contains: Contains,
}

/// The metrics of a test. Copies share their metrics.
#[derive(Debug, Clone)]
pub struct Registry(Arc<Mutex<Metrics>>);

#[derive(Debug)]
struct Metrics {
    by_id: Vec<MetricInfo>,
    by_name: HashMap<Arc<str>, MetricId>,
}

impl Default for Registry {
    fn default() -> Self {
        let mut metrics = Metrics { by_id: Vec::new(), by_name: HashMap::new() };
        for (name, kind, contains) in BUILTIN {
            metrics.add(name, kind, contains);
        }
        Self(Arc::new(Mutex::new(metrics)))
    }
}

impl Metrics {
    fn add(&mut self, name: &str, kind: MetricKind, contains: Contains) -> MetricId {
        let (id, name) = (MetricId(self.by_id.len() as u32), Arc::<str>::from(name));
        self.by_id.push(MetricInfo { name: name.clone(), kind, contains });
        self.by_name.insert(name, id);
        id
    }
}

impl Registry {
    /// Returns the number of the metric of this name, and adds the metric if it is new.
    ///
    /// # Errors
    /// If the name is not allowed, or is that of a metric of another kind.
    pub fn register(&self, name: &str, kind: MetricKind, is_time: bool) -> Result<MetricId, String> {
        if !is_name(name) {
            return Err(format!(
                "invalid metric name '{name}': use 2 to 128 letters, digits and '_', not beginning with a digit"
            ));
        }
        let contains = if is_time { Contains::Time } else { Contains::Default };
        let mut metrics = self.lock();
        if let Some(&id) = metrics.by_name.get(name) {
            let known = &metrics.by_id[id.index()];
            if known.kind == kind && known.contains == contains {
                return Ok(id);
            }
            let (kind, contains) = (known.kind.name(), known.contains.name());
            return Err(format!("metric '{name}' already exists as a {kind} with values of type '{contains}'"));
        }
        if metrics.by_id.len() >= MAX_METRICS {
            return Err(format!("cannot create metric '{name}': a script may have at most {MAX_METRICS} metrics"));
        }
        Ok(metrics.add(name, kind, contains))
    }

    /// Returns the number of the metric of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<MetricId> {
        self.lock().by_name.get(name).copied()
    }

    /// Returns the metric of a number.
    ///
    /// # Panics
    /// If the number is that of another registry.
    #[must_use]
    pub fn info(&self, id: MetricId) -> MetricInfo {
        self.lock().by_id[id.index()].clone()
    }

    /// Returns all metrics, in the order of their numbers.
    #[must_use]
    pub fn all(&self) -> Vec<MetricInfo> {
        self.lock().by_id.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Metrics> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a metric may have this name.
fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && (2..=128).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;

    #[test]
    fn built_in_metrics_have_their_numbers() {
        let registry = Registry::default();
        for (id, name) in [
            (builtin::HTTP_REQS, "http_reqs"),
            (builtin::CHECKS, "checks"),
            (builtin::DATA_SENT, "data_sent"),
            (builtin::ITERATION_DURATION, "iteration_duration"),
            (builtin::WS_PING, "ws_ping"),
            (builtin::GRPC_STREAMS_MSGS_RECEIVED, "grpc_streams_msgs_received"),
        ] {
            assert_eq!((registry.find(name), &*registry.info(id).name), (Some(id), name));
        }
    }

    #[test]
    fn a_name_has_one_kind() {
        let registry = Registry::default();
        let id = registry.register("my_trend", MetricKind::Trend, true).expect("the name is new");
        assert_eq!(registry.register("my_trend", MetricKind::Trend, true), Ok(id));
        assert!(registry.register("my_trend", MetricKind::Trend, false).is_err());
        assert!(registry.register("my_trend", MetricKind::Rate, true).is_err());
        assert!(registry.register("http_reqs", MetricKind::Trend, false).is_err());
        for name in ["", "a", "1ab", "a b", "a-b", "\u{e4}bc", &"x".repeat(129)] {
            assert!(registry.register(name, MetricKind::Counter, false).is_err(), "{name}");
        }
    }
}
