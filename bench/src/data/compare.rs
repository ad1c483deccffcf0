//! What the rounds say of the ways to a database: medians of each, and how they compare.

use std::fmt;

use serde::Serialize;

use super::figures::{Figure, figures};
use super::scenario::Scenario;
use crate::rounds::{Ratio, Row, Skipped, Taken, median, turns};

/// A candidate's requests in one turn, and the CPU time that each program used.
#[derive(Clone, Copy, Serialize)]
pub struct Turn {
    /// Requests answered.
    pub requests: u64,
    /// Requests or connections that failed.
    pub failed: u64,
    /// Length of the turn, from the load generator's start to its end.
    pub wall_seconds: f64,
    /// CPU time of the service with all its workers.
    pub service_cpu_seconds: f64,
    /// CPU time of the database server, if there is one.
    pub database_cpu_seconds: Option<f64>,
    /// CPU time of the load generator.
    pub load_cpu_seconds: f64,
}

impl Turn {
    /// Requests per second of wall time.
    fn rate(&self) -> f64 {
        self.requests as f64 / self.wall_seconds
    }

    /// Requests per second of the service's CPU time: what it would reach if nothing else were the limit.
    fn rate_of_cpu(&self) -> f64 {
        self.requests as f64 / self.service_cpu_seconds
    }

    /// CPU time of the database per request in microseconds.
    fn database_us(&self) -> Option<f64> {
        Some(self.database_cpu_seconds? / self.requests as f64 * 1e6)
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} requests/s, {:.2} CPU us/request", self.rate(), 1e6 / self.rate_of_cpu())?;
        self.database_us().map_or(Ok(()), |us| write!(f, ", {us:.2} of the database"))
    }
}

/// What the rounds say of one candidate.
#[derive(Serialize)]
pub struct Summary {
    /// The candidate's name.
    pub candidate: &'static str,
    /// Requests per second of wall time, median.
    pub requests_per_s: f64,
    /// CPU time of the service per request in microseconds, median.
    pub service_us_per_request: f64,
    /// CPU time of the database server per request in microseconds, median.
    pub database_us_per_request: Option<f64>,
    /// Share of the service's CPU that the service took, median; 1 is all of it.
    pub service_share: f64,
    /// Share of the other CPU that the database took.
    pub database_share: Option<f64>,
    /// Share of the other CPU that the load generator took.
    pub load_share: f64,
    /// Requests or connections that failed, in all rounds.
    pub failed: u64,
}

/// How two candidates compare.
#[derive(Serialize)]
pub struct Comparison {
    /// Who is compared, and what it is to reach.
    #[serde(flatten)]
    pub figure: Figure,
    /// Requests per second, the one's over the other's in the same round.
    pub throughput: Ratio,
    /// Requests per second of the service's CPU time, in the same way.
    pub per_cpu: Ratio,
    /// Whether the median of the throughput reaches the figure.
    pub reached: Option<bool>,
    /// Whether that per second of CPU time does.
    pub reached_per_cpu: Option<bool>,
}

/// One scenario, measured.
#[derive(Serialize)]
pub struct Measured {
    /// Which.
    #[serde(flatten)]
    pub scenario: Scenario,
    /// Medians.
    pub summary: Vec<Summary>,
    /// Ratios.
    pub comparisons: Vec<Comparison>,
    /// Candidates that dropped out.
    pub skipped: Vec<Skipped>,
    /// Every turn.
    pub rows: Vec<Row<Turn>>,
}

impl Measured {
    /// Sums the rounds up.
    pub fn new(scenario: Scenario, taken: Taken<Turn>) -> Self {
        let Taken { candidates, skipped, rows } = taken;
        let measured = |name: &str| candidates.contains(&name);
        let compared = figures(scenario).into_iter().filter(|figure| measured(figure.of) && measured(figure.against));
        let comparisons = compared.map(|figure| compare(figure, &rows)).collect();
        let summary = candidates.iter().map(|candidate| summarise(candidate, &rows)).collect();
        Measured { scenario, summary, comparisons, skipped, rows }
    }
}

fn compare(figure: Figure, rows: &[Row<Turn>]) -> Comparison {
    let between = |rate: fn(&Turn) -> f64| Ratio::between(rows, figure.of, figure.against, rate);
    let (throughput, per_cpu) = (between(Turn::rate), between(Turn::rate_of_cpu));
    let reaches = |ratio: Ratio| figure.at_least.map(|at_least| ratio.median >= at_least);
    Comparison { figure, throughput, per_cpu, reached: reaches(throughput), reached_per_cpu: reaches(per_cpu) }
}

fn summarise(candidate: &'static str, rows: &[Row<Turn>]) -> Summary {
    let over = |figure: fn(&Turn) -> f64| median(turns(rows, candidate).map(figure).collect());
    let of_database = |figure: fn(&Turn) -> Option<f64>| {
        let figures: Option<Vec<f64>> = turns(rows, candidate).map(figure).collect();
        figures.map(median)
    };
    Summary {
        candidate,
        requests_per_s: over(Turn::rate),
        service_us_per_request: over(|turn| 1e6 / turn.rate_of_cpu()),
        database_us_per_request: of_database(Turn::database_us),
        service_share: over(|turn| turn.service_cpu_seconds / turn.wall_seconds),
        database_share: of_database(|turn| Some(turn.database_cpu_seconds? / turn.wall_seconds)),
        load_share: over(|turn| turn.load_cpu_seconds / turn.wall_seconds),
        failed: turns(rows, candidate).map(|turn| turn.failed).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidates::{BUILDER, MODEL, RAW};
    use super::super::scenario::{Group, Operation};
    use super::*;

    #[test]
    fn figures_are_judged_by_medians_of_the_rounds() {
        let row = |round, candidate, requests, service_cpu_seconds| {
            let (failed, wall_seconds, database_cpu_seconds, load_cpu_seconds) = (0, 1.0, Some(0.5), 0.25);
            let turn =
                Turn { requests, failed, wall_seconds, service_cpu_seconds, database_cpu_seconds, load_cpu_seconds };
            Row { round, candidate, turn }
        };
        let rows = vec![
            row(1, RAW, 1000, 0.5),
            row(1, MODEL, 960, 0.6),
            row(2, MODEL, 1000, 0.5),
            row(2, RAW, 1000, 0.5),
            row(3, RAW, 2000, 1.0),
            row(3, MODEL, 1900, 1.0),
        ];
        let taken = Taken { candidates: vec![RAW, MODEL], skipped: vec![Skipped::new(BUILDER, "gone")], rows };
        let measured = Measured::new(Scenario { group: Group::Mariadb, operation: Operation::Item }, taken);
        let [comparison] = &measured.comparisons[..] else { panic!("only one can be compared") };
        assert_eq!((comparison.figure.of, comparison.figure.against), (MODEL, RAW));
        assert!((comparison.throughput.median - 0.96).abs() < 1e-9, "of 0.96, 1.00 and 0.95");
        assert!((comparison.per_cpu.min - 0.8).abs() < 1e-9, "of 0.80, 1.00 and 0.95");
        assert_eq!((comparison.reached, comparison.reached_per_cpu), (Some(true), Some(true)));
        assert_eq!(measured.summary[0].database_us_per_request, Some(500.0));
    }
}
