//! What the rounds say: CPU time per request of each candidate, as a ratio to the floor's and its rivals'.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::candidates::{FLOOR, NGINX};
use crate::limits::{Limit, limits, rivals};
use crate::options::Options;
use crate::rounds::{self, Ratio, Row, Skipped, Taken, median, turns};
use crate::scenario::{Scenario, Side};
use torr_test_support::error::Error;

/// What one candidate did in one turn.
#[derive(Clone, Copy, Serialize)]
pub struct Turn {
    /// Requests answered.
    pub requests: u64,
    /// Requests or connections that failed.
    pub failed: u64,
    /// Length of the turn, from the load generator's start to its end.
    pub wall_seconds: f64,
    /// CPU time of the side that is measured; the floor's client counts up to the end of its loop only.
    pub cpu_seconds: f64,
    /// CPU time of the side that is measured, up to the program's end, with all connections closed.
    pub whole_cpu_seconds: f64,
    /// 99th percentile of the time by which requests were sent after they were due, in microseconds, where the tool tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_lag_p99_us: Option<f64>,
}

impl Turn {
    /// Returns the CPU time per request in microseconds.
    fn cost(&self) -> f64 {
        self.cpu_seconds / self.requests as f64 * 1e6
    }

    /// Returns the CPU time per request in microseconds, up to the program's end.
    fn whole_cost(&self) -> f64 {
        self.whole_cpu_seconds / self.requests as f64 * 1e6
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.requests as f64 / self.wall_seconds;
        write!(f, "{:.3} CPU us/request, {rate:.0} requests/s", self.cost())
    }
}

/// What the rounds say of one candidate.
#[derive(Serialize)]
pub struct Summary {
    /// Who.
    pub candidate: &'static str,
    /// CPU time per request over that of another candidate in the same round, by the other's name.
    pub cost_ratio: BTreeMap<&'static str, Ratio>,
    /// Press only: the same over the floor's, both up to the program's end.
    pub whole_cost_ratio: Option<Ratio>,
    /// CPU time per request in microseconds, median.
    pub cpu_us_per_request: f64,
    /// Requests per second of wall time, median.
    pub requests_per_s: f64,
    /// Share of its CPU that the measured side was busy, median; 1 is all of it.
    pub cpu_share: f64,
    /// Requests or connections that failed, in all rounds.
    pub failed: u64,
    /// Open loops only, where the tool tells: 99th percentile of the time by which requests were sent after they were due, in
    /// microseconds, median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_lag_p99_us: Option<f64>,
    /// The figures to reach, where the design has any.
    pub limits: Vec<Judged>,
}

/// A figure to reach, and whether it was.
#[derive(Serialize)]
pub struct Judged {
    /// The figure.
    #[serde(flatten)]
    pub limit: Limit,
    /// Whether the median is within it, where who it is compared with was measured.
    pub reached: Option<bool>,
}

/// One scenario, measured.
#[derive(Serialize)]
pub struct Measured {
    /// Which.
    pub scenario: Scenario,
    /// Medians.
    pub summary: Vec<Summary>,
    /// Candidates that dropped out.
    pub skipped: Vec<Skipped>,
    /// Every turn.
    pub rows: Vec<Row<Turn>>,
}

impl Measured {
    /// Returns the outcome of a scenario without candidates.
    pub fn without_candidates(scenario: Scenario) -> Self {
        Measured { scenario, summary: Vec::new(), skipped: Vec::new(), rows: Vec::new() }
    }
}

/// Runs the rounds, and sums them up.
pub fn rounds(
    scenario: Scenario,
    options: &Options,
    candidates: Vec<&'static str>,
    skipped: Vec<Skipped>,
    turn: impl FnMut(&'static str) -> Result<Turn, Error>,
) -> Result<Measured, Error> {
    let Taken { candidates, skipped, rows } = rounds::take(scenario, options.size.rounds(), candidates, skipped, turn)?;
    let summary = candidates.iter().map(|candidate| summarise(scenario, candidate, &candidates, &rows)).collect();
    Ok(Measured { scenario, summary, skipped, rows })
}

fn summarise(scenario: Scenario, candidate: &'static str, all: &[&'static str], rows: &[Row<Turn>]) -> Summary {
    let over = |figure: fn(&Turn) -> f64| median(turns(rows, candidate).map(figure).collect());
    let ratio = |other: &str, cost: fn(&Turn) -> f64| Ratio::between(rows, candidate, other, cost);
    let rivals = rivals(scenario, all);
    let others = all.iter().filter(|other| [FLOOR, NGINX].contains(other) || rivals.contains(other));
    let cost_ratio: BTreeMap<_, _> = others.map(|&other| (other, ratio(other, Turn::cost))).collect();
    let whole_cost_ratio = (scenario.side == Side::Press).then(|| ratio(FLOOR, Turn::whole_cost));
    let judge = |limit: Limit| Judged {
        limit,
        reached: cost_ratio.get(limit.against).map(|ratio| ratio.median <= limit.at_most),
    };
    let limits = limits(scenario, candidate).into_iter().map(judge).collect();
    let lags: Option<Vec<f64>> = turns(rows, candidate).map(|turn| turn.send_lag_p99_us).collect();
    let lags = lags.filter(|lags| scenario.style.open_loop() && !lags.is_empty()).map(median);
    Summary {
        candidate,
        cost_ratio,
        whole_cost_ratio,
        cpu_us_per_request: over(Turn::cost),
        requests_per_s: over(|turn| turn.requests as f64 / turn.wall_seconds),
        cpu_share: over(|turn| turn.cpu_seconds / turn.wall_seconds),
        failed: turns(rows, candidate).map(|turn| turn.failed).sum(),
        send_lag_p99_us: lags,
        limits,
    }
}

#[cfg(test)]
mod tests {
    use super::{Turn, summarise};
    use crate::candidates::{OHA, TORR, WRK};
    use crate::rounds::Row;
    use crate::scenario::{Scenario, Side, Style};

    #[test]
    fn each_rival_that_was_measured_is_compared_with() {
        let row = |round, candidate, cpu_seconds| {
            let turn = Turn {
                requests: 1000,
                failed: 0,
                wall_seconds: 1.0,
                cpu_seconds,
                whole_cpu_seconds: cpu_seconds,
                send_lag_p99_us: None,
            };
            Row { round, candidate, turn }
        };
        let rows = [row(1, TORR, 0.2), row(1, WRK, 0.4), row(2, WRK, 0.5), row(2, TORR, 0.3)];
        let scenario = Scenario { side: Side::Transport, style: Style::Tls, connections: 100 };
        let summary = summarise(scenario, TORR, &[TORR, WRK], &rows);
        assert_eq!(summary.cost_ratio.keys().collect::<Vec<_>>(), [&WRK]);
        let ratio = summary.cost_ratio[WRK];
        assert!((ratio.median - 0.55).abs() < 1e-9 && ratio.min == 0.5 && ratio.max == 0.6);
        let judged: Vec<_> = summary.limits.iter().map(|judged| (judged.limit.against, judged.reached)).collect();
        assert_eq!(judged, [(WRK, Some(true)), (OHA, None)]);
        assert!(summarise(scenario, WRK, &[TORR, WRK], &rows).limits.is_empty());
    }
}
