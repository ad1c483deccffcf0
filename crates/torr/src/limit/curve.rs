//! Response times over load, as rows with bars.

use torr_doctor::limit::{Purpose, Reading};
use torr_gauge::latency::Summary;
use torr_gauge::verdict::LoadUnit;
use torr_report::human;
use torr_report::style::{BAD, FAINT, GOOD, paint};
use torr_report::table;

/// Characters of the longest bar, where there is room for them.
const WIDTH: usize = 28;
/// Characters of the longest bar that can still be read.
const LEAST_WIDTH: usize = 8;

/// All rates that were tried, ascending, with what came of them. The bars are as long as the logarithm of the 99th
/// percentile; in less than `columns` there may be no room for them.
pub fn rows(steps: &[Reading], unit: LoadUnit, columns: usize) -> String {
    let mut tried: Vec<_> =
        steps.iter().filter(|step| step.offered().is_some() && step.purpose != Purpose::Base).collect();
    tried.sort_by(|one, other| one.offered().unwrap_or(0.0).total_cmp(&other.offered().unwrap_or(0.0)));
    if tried.is_empty() {
        return String::new();
    }
    let scale = Scale::of(tried.iter().filter_map(|step| tail(step)));
    let names = match unit {
        LoadUnit::Requests => ["requests/s", "answered", "p50", "p99", "errors", ""],
        LoadUnit::Streams => ["streams", "events/s", "gap p50", "gap p99", "errors", ""],
    };
    let heading = names.map(|cell| paint(FAINT, cell)).to_vec();
    let row = |step: &&Reading| {
        let micros = |us: Option<u64>| us.map_or("-".into(), |us| human::micros(us as f64));
        let outcome = if step.kept { paint(GOOD, "kept") } else { paint(BAD, "failed") };
        vec![
            match unit {
                LoadUnit::Requests => human::rate(step.offered().unwrap_or(0.0)),
                LoadUnit::Streams => human::count(step.offered().unwrap_or(0.0) as u64),
            },
            human::rate(step.streams.map_or(step.answered_per_s, |streams| streams.events_per_s)),
            micros(judged(step).and_then(|times| times.p50)),
            micros(judged(step).and_then(|times| times.p99)),
            human::percent(step.error_share),
            outcome,
        ]
    };
    let mut rows: Vec<_> = std::iter::once(heading).chain(tried.iter().map(row)).collect();
    let width = columns.saturating_sub(table::width(&rows) + 2).min(WIDTH);
    // If no step had enough responses, there is nothing to draw.
    if width >= LEAST_WIDTH && tried.iter().any(|step| tail(step).is_some()) {
        let name = if width < NAME.len() { "p99" } else { NAME };
        rows[0].push(paint(FAINT, format!("{name:<width$}")));
        for (row, step) in rows[1..].iter_mut().zip(&tried) {
            let length = tail(step).map_or(0, |us| scale.length(us, width));
            row.push(format!("{:<width$}", "━".repeat(length)));
        }
    }
    table::align_within(&rows, columns)
}

/// The name of the bars, where there is room for it.
const NAME: &str = "p99, by its logarithm";

/// Returns the response times of a step, or the gaps of its streams.
fn judged(step: &Reading) -> Option<Summary> {
    step.streams.map_or(step.latency_us, |streams| streams.gap_us)
}

fn tail(step: &Reading) -> Option<f64> {
    judged(step)?.p99.map(|us| us.max(1) as f64)
}

/// From the least to the most that there is to show.
struct Scale {
    least: f64,
    most: f64,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        Self { least: values.clone().fold(f64::INFINITY, f64::min), most: values.fold(1.0, f64::max) }
    }

    /// From one character up to so many.
    fn length(&self, value: f64, width: usize) -> usize {
        let whole = (self.most / self.least).ln();
        let part = if whole > 0.0 { (value / self.least).ln() / whole } else { 0.0 };
        1 + (part * (width - 1) as f64).round() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_with_the_logarithm() {
        let scale = Scale::of([1e3, 1e4, 1e5].into_iter());
        assert_eq!([1e3, 1e4, 1e5].map(|us| scale.length(us, WIDTH)), [1, 15, WIDTH]);
        assert_eq!(Scale::of([5.0].into_iter()).length(5.0, WIDTH), 1);
    }
}
