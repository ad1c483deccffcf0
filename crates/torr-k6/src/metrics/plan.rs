//! What is kept of samples beside the metrics themselves: sub-metrics of thresholds and of the summary, figures by scenario
//! and group. Settled after the script's first pass and the same for all threads.

use super::builtin;
use super::kind::MetricId;
use super::registry::Registry;
use super::selector::{Selector, split_name};

/// The sub-metric that every summary shows.
const EXPECTED_RESPONSES: &str = "expected_response:true";

/// What is kept of samples.
#[derive(Debug, Default)]
pub struct MetricsPlan {
    registry: Registry,
    /// The distinct selectors.
    selectors: Vec<Selector>,
    /// The metric and the selector of each sub-metric.
    sub_metrics: Vec<(MetricId, u32)>,
    /// Whether figures are kept by scenario and group.
    by_scope: bool,
}

impl MetricsPlan {
    /// Returns the plan of a run. `names` are those of metrics and sub-metrics with thresholds.
    ///
    /// # Errors
    /// If there is no metric of a name, or a selector cannot be read.
    pub fn new<'n>(
        registry: &Registry,
        names: impl IntoIterator<Item = &'n str>,
        by_scope: bool,
    ) -> Result<Self, String> {
        let mut plan = Self { registry: registry.clone(), by_scope, ..Self::default() };
        let expected = Selector::parse(EXPECTED_RESPONSES)?;
        plan.add(builtin::HTTP_REQ_DURATION, expected);
        for name in names {
            let (metric, selector) = split_name(name)?;
            let id = registry.find(metric).ok_or_else(|| format!("no metric named '{metric}'"))?;
            if let Some(selector) = selector {
                plan.add(id, selector);
            }
        }
        Ok(plan)
    }

    fn add(&mut self, metric: MetricId, selector: Selector) {
        let known = self.selectors.iter().position(|known| known.text == selector.text);
        let number = known.unwrap_or_else(|| {
            self.selectors.push(selector);
            self.selectors.len() - 1
        }) as u32;
        if !self.sub_metrics.contains(&(metric, number)) {
            self.sub_metrics.push((metric, number));
        }
    }

    /// Returns the metrics.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns whether figures are kept by scenario and group.
    #[must_use]
    pub fn is_by_scope(&self) -> bool {
        self.by_scope
    }

    /// Returns the selectors of a metric's sub-metrics by their numbers.
    pub fn selectors(&self, metric: MetricId) -> impl Iterator<Item = (u32, &Selector)> {
        let of_metric = self.sub_metrics.iter().filter(move |(of, _)| *of == metric);
        of_metric.map(|(_, number)| (*number, &self.selectors[*number as usize]))
    }

    /// Returns the numbers of the selectors that tags match. The tags are sorted by name.
    pub(super) fn matches(&self, tags: &[(&str, &str)]) -> Vec<u32> {
        let matching = self.selectors.iter().enumerate().filter(|(_, selector)| selector.matches(tags));
        matching.map(|(number, _)| number as u32).collect()
    }
}
