//! A row of results over builds: the runs at which a metric changed, the levels between them, and what changed beside the code.

mod beside;
mod level;
mod points;

pub use beside::Beside;
pub use level::Level;

use crate::archive::Archived;
use crate::bench::invalid;
use crate::groups::value;
use crate::metric::Metric;
use points::points;
use serde::Serialize;

/// The version of [`History`].
pub const SCHEMA: &str = "torr.history/1";
/// The relative change below which none is reported.
const SMALL: f64 = 0.01;

/// The changes in a row of results.
#[derive(Debug, Clone, Serialize)]
pub struct History {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The version of the program.
    pub torr: &'static str,
    /// The URL of the newest run.
    pub target: String,
    /// The number of runs.
    pub runs: usize,
    /// The number of runs that were left out, as they show something else than the service.
    pub left_out: usize,
    /// The seed of the permutations.
    pub seed: u64,
    /// The changes, in the order of metrics and runs.
    pub changes: Vec<Change>,
    /// What differs between a run and the one before it, beside the code.
    pub beside: Vec<Beside>,
    /// The runs that were not left out, in the order of time.
    pub builds: Vec<Build>,
    /// The metrics that any of them has.
    pub rows: Vec<Row>,
}

/// A run of a history.
#[derive(Debug, Clone, Serialize)]
pub struct Build {
    /// The file.
    pub run: String,
    /// When the run began.
    pub started_at: String,
}

/// A metric over the runs.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The metric.
    pub metric: Metric,
    /// Its value in each of [`History::builds`], if the run has it.
    pub values: Vec<Option<f64>>,
    /// The levels between changes, in the order of time.
    pub levels: Vec<Level>,
}

/// A run at which a metric changed.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    /// The metric.
    pub metric: Metric,
    /// The file of the first run after the change.
    pub run: String,
    /// When that run began.
    pub started_at: String,
    /// The file of the run before.
    pub after: String,
    /// The median until the change before this one.
    pub before: f64,
    /// The median from this run until the next change.
    pub since: f64,
    /// `since` as a ratio to `before`.
    pub ratio: f64,
    /// The probability of such a change by chance.
    pub p: f64,
}

/// Finds the changes of all metrics in results that are in the order of time.
pub fn changes(results: &[Archived], seed: u64) -> History {
    let valid: Vec<_> = results.iter().filter(|archived| invalid(&archived.run).is_empty()).collect();
    let (mut found, mut rows) = (Vec::new(), Vec::new());
    let name = |archived: &Archived| archived.path.display().to_string();
    for metric in Metric::ALL.into_iter().filter(|metric| *metric != Metric::Errors) {
        let all: Vec<Option<f64>> = valid.iter().map(|archived| value(metric, &archived.run)).collect();
        // The runs that have the metric, and its values in them.
        let (at, values): (Vec<usize>, Vec<f64>) =
            all.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).unzip();
        if values.is_empty() {
            continue;
        }
        let points = points(&values, &mut fastrand::Rng::with_seed(seed));
        let bounds: Vec<usize> =
            [0].into_iter().chain(points.iter().map(|point| point.0)).chain([values.len()]).collect();
        let levels: Vec<Level> =
            bounds.windows(2).map(|pair| Level::of(&at[pair[0]..pair[1]], &values[pair[0]..pair[1]])).collect();
        for (pair, &(point, p)) in levels.windows(2).zip(&points) {
            let (before, since) = (pair[0].median, pair[1].median);
            let ratio = since / before;
            if before > 0.0 && (ratio - 1.0).abs() >= SMALL {
                let (first, last) = (valid[at[point]], valid[at[point - 1]]);
                found.push(Change {
                    metric,
                    run: name(first),
                    started_at: first.run.started_at.clone(),
                    after: name(last),
                    before,
                    since,
                    ratio,
                    p,
                });
            }
        }
        rows.push(Row { metric, values: all, levels });
    }
    let build = |archived: &&Archived| Build { run: name(archived), started_at: archived.run.started_at.clone() };
    History {
        schema: SCHEMA,
        torr: env!("CARGO_PKG_VERSION"),
        target: valid.last().map_or_else(String::new, |archived| archived.run.target.clone()),
        runs: results.len(),
        left_out: results.len() - valid.len(),
        seed,
        changes: found,
        beside: beside::beside(&valid),
        builds: valid.iter().map(build).collect(),
        rows,
    }
}
