//! Rounds: in each, every candidate takes one short turn, and is compared with the reference's turn in the same round.
//!
//! A noisy machine so disturbs all alike, and what it does to one round leaves the median of the rounds alone.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::candidates::{FLOOR, NGINX};
use crate::cli::Options;
use crate::error::Error;
use crate::interrupt;
use crate::limits::{Limit, limits, rivals};
use crate::scenario::{Scenario, Side};

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
    /// The same up to the program's end, with all connections closed.
    pub whole_cpu_seconds: f64,
}

impl Turn {
    /// CPU time per request in microseconds.
    fn cost(&self) -> f64 {
        self.cpu_seconds / self.requests as f64 * 1e6
    }

    /// The same up to the program's end.
    fn whole_cost(&self) -> f64 {
        self.whole_cpu_seconds / self.requests as f64 * 1e6
    }
}

/// One row of the raw figures.
#[derive(Serialize)]
pub struct Row {
    /// Number of the round, from 1.
    pub round: u32,
    /// Who took the turn.
    pub candidate: &'static str,
    /// What came of it.
    #[serde(flatten)]
    pub turn: Turn,
}

/// A candidate that could not be measured.
#[derive(Serialize)]
pub struct Skipped {
    /// Who.
    pub candidate: &'static str,
    /// Why, in one line.
    pub reason: String,
}

impl Skipped {
    /// Paths in the reason are cut to their last part: where things are on one machine is no business of an archive.
    pub fn new(candidate: &'static str, reason: &str) -> Self {
        let without_folders =
            |word: &str| match word.find('/').filter(|start| *start <= 1 && word.matches('/').count() > 1) {
                Some(start) => format!("{}{}", &word[..start], &word[word.rfind('/').unwrap_or(start) + 1..]),
                None => word.to_owned(),
            };
        Skipped { candidate, reason: reason.split(' ').map(without_folders).collect::<Vec<_>>().join(" ") }
    }
}

/// Median and range of one ratio over the rounds.
#[derive(Clone, Copy, Serialize)]
pub struct Ratio {
    /// Median over the rounds.
    pub median: f64,
    /// Least of the rounds.
    pub min: f64,
    /// Most of the rounds.
    pub max: f64,
}

impl Ratio {
    fn of(rounds: Vec<f64>) -> Self {
        let (min, max) = rounds.iter().fold((f64::MAX, f64::MIN), |(min, max), r| (min.min(*r), max.max(*r)));
        Ratio { median: median(rounds), min, max }
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
    pub rows: Vec<Row>,
}

impl Measured {
    /// What comes of a scenario in which nobody takes part.
    pub fn nobody(scenario: Scenario) -> Self {
        Measured { scenario, summary: Vec::new(), skipped: Vec::new(), rows: Vec::new() }
    }
}

/// Runs the rounds. A candidate that fails drops out of them, except the floor, without which there is no comparison.
pub fn rounds(
    scenario: Scenario,
    options: &Options,
    mut candidates: Vec<&'static str>,
    mut skipped: Vec<Skipped>,
    mut turn: impl FnMut(&'static str) -> Result<Turn, Error>,
) -> Result<Measured, Error> {
    let mut rows = Vec::new();
    for round in 1..=options.rounds() {
        let mut order = candidates.clone();
        if round % 2 == 0 {
            order.reverse();
        }
        for candidate in order {
            interrupt::check()?;
            let place = format!("{scenario}: round {round}/{}, {candidate}", options.rounds());
            match turn(candidate) {
                Ok(turn) => {
                    let (cost, rate) = (turn.cost(), turn.requests as f64 / turn.wall_seconds);
                    eprintln!("{place}: {cost:.3} CPU us/request, {rate:.0} requests/s");
                    rows.push(Row { round, candidate, turn });
                }
                Err(Error::Failed(reason)) if candidate != FLOOR => {
                    eprintln!("{place}: skipped: {reason}");
                    candidates.retain(|c| *c != candidate);
                    skipped.push(Skipped::new(candidate, &reason));
                }
                Err(Error::Failed(reason)) => return Err(Error::failed(format!("{place}: {reason}"))),
                Err(e) => return Err(e),
            }
        }
    }
    let summary = candidates.iter().map(|candidate| summarise(scenario, candidate, &candidates, &rows)).collect();
    Ok(Measured { scenario, summary, skipped, rows })
}

fn summarise(scenario: Scenario, candidate: &'static str, all: &[&'static str], rows: &[Row]) -> Summary {
    let turns = |of: &str| rows.iter().filter(|row| row.candidate == of).map(|row| row.turn).collect::<Vec<_>>();
    let own = turns(candidate);
    let over = |figure: fn(&Turn) -> f64| median(own.iter().map(figure).collect());
    // Both took part in every round, so the turns pair up.
    let ratio = |other: &str, cost: fn(&Turn) -> f64| {
        Ratio::of(own.iter().zip(turns(other)).map(|(own, other)| cost(own) / cost(&other)).collect())
    };
    let rivals = rivals(scenario, all);
    let others = all.iter().filter(|other| [FLOOR, NGINX].contains(other) || rivals.contains(other));
    let cost_ratio: BTreeMap<_, _> = others.map(|&other| (other, ratio(other, Turn::cost))).collect();
    let whole_cost_ratio = (scenario.side == Side::Press).then(|| ratio(FLOOR, Turn::whole_cost));
    let judge = |limit: Limit| Judged {
        limit,
        reached: cost_ratio.get(limit.against).map(|ratio| ratio.median <= limit.at_most),
    };
    let limits = limits(scenario, candidate).into_iter().map(judge).collect();
    Summary {
        candidate,
        cost_ratio,
        whole_cost_ratio,
        cpu_us_per_request: over(Turn::cost),
        requests_per_s: over(|turn| turn.requests as f64 / turn.wall_seconds),
        cpu_share: over(|turn| turn.cpu_seconds / turn.wall_seconds),
        failed: own.iter().map(|turn| turn.failed).sum(),
        limits,
    }
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::{Row, Skipped, Turn, median, summarise};
    use crate::candidates::{OHA, TORR, WRK};
    use crate::scenario::{Scenario, Side, Style};

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(vec![7.0]), 7.0);
    }

    #[test]
    fn each_rival_that_was_measured_is_compared_with() {
        let row = |round, candidate, cpu_seconds| {
            let turn =
                Turn { requests: 1000, failed: 0, wall_seconds: 1.0, cpu_seconds, whole_cpu_seconds: cpu_seconds };
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

    #[test]
    fn reasons_name_no_folders() {
        let reason = |text| Skipped::new("torr", text).reason;
        assert_eq!(reason("cannot start /home/me/torr: gone"), "cannot start torr: gone");
        assert_eq!(reason("in \"/tmp/x/y.conf\":3 GET / 1/2"), "in \"y.conf\":3 GET / 1/2");
    }
}
