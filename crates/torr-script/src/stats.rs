//! The statistics that `done` is called with.

use crate::native::unknown_name;
use mlua::{MetaMethod, UserData, UserDataFields, UserDataMethods, Value};
use torr_gauge::Latency;

/// A distribution: of response times in microseconds, or of the responses per second of threads.
#[derive(Debug)]
pub struct Stats {
    latency: Latency,
    /// Each recorded value and its count, in ascending order.
    values: Vec<(u64, u64)>,
}

impl Stats {
    /// Returns the statistics of a histogram.
    pub fn new(latency: Latency) -> Self {
        let values = latency.counts().collect();
        Self { latency, values }
    }

    /// Returns the value below which so many per cent of the samples are, 0 without samples.
    fn percentile(&self, percent: f64) -> u64 {
        // The rank is at least 1; wrk rounds it in the same way.
        let rank = (percent / 100.0 * self.latency.count() as f64 + 0.5).round().max(1.0) as u64;
        let mut below = 0;
        let reached = self.values.iter().find(|(_, count)| {
            below += count;
            below >= rank
        });
        reached.or(self.values.last()).map_or(0, |(value, _)| *value)
    }

    /// Returns the value at a position, counted from 1, and its count; zeros where there is none, as wrk does.
    fn at(&self, position: f64) -> (u64, u64) {
        let value = (position >= 1.0).then(|| self.values.get(position as usize - 1)).flatten();
        value.copied().unwrap_or_default()
    }
}

impl UserData for Stats {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        let samples = |this: &Self| this.latency.count() > 0;
        fields.add_field_method_get("min", move |_, this| {
            Ok(if samples(this) { this.latency.histogram().min() } else { 0 } as f64)
        });
        fields.add_field_method_get("max", |_, this| Ok(this.latency.histogram().max() as f64));
        fields.add_field_method_get("mean", |_, this| Ok(this.latency.histogram().mean()));
        fields.add_field_method_get("stdev", |_, this| Ok(this.latency.histogram().stdev()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, this, percent: f64| Ok(this.percentile(percent) as f64));
        methods.add_meta_method(MetaMethod::Index, |lua, _, name: Value| unknown_name(lua, name));
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.values.len()));
        methods.add_meta_method(MetaMethod::Call, |_, this, position: f64| {
            let (value, count) = this.at(position);
            Ok((value as f64, count as f64))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_value_that_was_recorded() {
        let mut latency = Latency::default();
        (1..=100).for_each(|us| latency.record(us * 1000));
        let stats = Stats::new(latency);
        assert_eq!([50.0, 99.0, 100.0].map(|percent| stats.percentile(percent)), [51, 100, 100]);
        assert_eq!([1.0, 0.0, 101.0].map(|position| stats.at(position)), [(1, 1), (0, 0), (0, 0)]);
        assert_eq!(Stats::new(Latency::default()).percentile(99.0), 0);
    }
}
