//! A run as it is archived: as JSON, and as Markdown with a table per database to be read at a glance.

use serde::Serialize;

use super::candidates::POOL;
use super::compare::{Comparison, Measured, Summary};
use super::options::DataOptions;
use crate::archive;
use crate::machine::Machine;
use crate::report::{NONE, filled, spread, table};

/// A whole run.
#[derive(Serialize)]
pub struct Report {
    /// Name and version of this format.
    schema: &'static str,
    /// Start of the run, UTC.
    pub started_at: String,
    rounds: u32,
    turn_seconds: u32,
    /// Short turns, few rounds: not to be relied on.
    quick: bool,
    /// Connections of the load.
    connections: u32,
    /// Connections of each service to the database.
    pool: u32,
    /// Where it was run.
    pub machine: Machine,
    scenarios: Vec<Measured>,
}

impl Report {
    /// Puts a run together.
    pub fn new(started_at: String, options: &DataOptions, machine: Machine, scenarios: Vec<Measured>) -> Self {
        Report {
            schema: "torr.bench.data/1",
            started_at,
            rounds: options.size.rounds(),
            turn_seconds: options.size.seconds(),
            quick: options.size.quick,
            connections: options.connections,
            pool: POOL,
            machine,
            scenarios,
        }
    }

    /// For people.
    pub fn markdown(&self) -> String {
        let (started, revision) = (&self.started_at, &self.machine.revision);
        let mut text = format!("# The ways to a database, {started}, revision {revision}\n\n");
        text += &format!(
            "Measured by `torr-bench data`: the service with one worker on CPU 0; the load, `torr -t 1 -c {}`, and the database \
             on CPU 1; {POOL} connections to the database for each candidate, or a single one where it says pipelined; {} rounds \
             of {} s turns, the order reversed every other round. Each ratio is between turns of the same round; shown are the \
             median over the rounds and the range.\n\n",
            self.connections, self.rounds, self.turn_seconds
        );
        if self.quick {
            text += "**A quick run: it shows that all works, not what it costs.**\n\n";
        }
        text + &archive::on(&self.machine) + &tables(&self.scenarios)
    }
}

/// Per database a table at a glance, and then one per operation with all that was measured.
pub fn tables(measured: &[Measured]) -> String {
    let mut text = String::new();
    for of_group in measured.chunk_by(|a, b| a.scenario.group == b.scenario.group) {
        text += &format!("\n## {}\n", of_group[0].scenario.group.title());
        if of_group.iter().any(|m| !m.comparisons.is_empty()) {
            text += "\nRequests per second, the one's over the other's; in brackets per second of the service's CPU time.\n\n";
            text += &glance(of_group);
        }
        for one in of_group {
            text += &format!("\n### {}\n\n{}", one.scenario, detail(one));
        }
    }
    text
}

/// One row per comparison, one column per operation.
fn glance(measured: &[Measured]) -> String {
    let mut pairs = Vec::new();
    for comparison in measured.iter().flat_map(|m| &m.comparisons) {
        let pair = (comparison.figure.of, comparison.figure.against);
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let head = ["".to_owned(), "to reach".to_owned()].into_iter();
    let mut rows = vec![head.chain(measured.iter().map(|m| m.scenario.operation.short().to_owned())).collect()];
    for (of, against) in pairs {
        let compared =
            |m: &&Measured| m.comparisons.iter().find(|c| (c.figure.of, c.figure.against) == (of, against)).map(cell);
        let all = measured.iter().flat_map(|m| &m.comparisons);
        let to_reach = all.filter(|c| (c.figure.of, c.figure.against) == (of, against)).find_map(|c| c.figure.text());
        let cells = measured.iter().map(|m| compared(&m).unwrap_or(NONE.into()));
        rows.push([format!("{of} / {against}"), to_reach.unwrap_or(NONE.into())].into_iter().chain(cells).collect());
    }
    table(&rows)
}

/// Both ratios, and whether they reach the figure.
fn cell(comparison: &Comparison) -> String {
    let ratios = format!("{:.2} ({:.2})", comparison.throughput.median, comparison.per_cpu.median);
    match (comparison.reached, comparison.reached_per_cpu) {
        (Some(true), Some(true)) => format!("{ratios} met"),
        (Some(false), Some(false)) => format!("{ratios} missed"),
        (Some(true), Some(false)) => format!("{ratios} met (missed)"),
        (Some(false), Some(true)) => format!("{ratios} missed (met)"),
        _ => ratios,
    }
}

/// One row per candidate, then one per comparison with its range.
fn detail(measured: &Measured) -> String {
    let mut text = String::new();
    if !measured.summary.is_empty() {
        let header = [
            "",
            "requests/s",
            "service CPU us/request",
            "database CPU us/request",
            "service of CPU 0",
            "database of CPU 1",
            "load of CPU 1",
            "failed",
        ];
        text += &table(&filled(&with_header(header, measured.summary.iter().map(of_candidate))));
    }
    if !measured.comparisons.is_empty() {
        let header = ["", "throughput (range)", "per CPU second (range)", "to reach", "reached", "per CPU second"];
        text += "\n";
        text += &table(&filled(&with_header(header, measured.comparisons.iter().map(of_comparison))));
    }
    for skipped in &measured.skipped {
        text += &format!("\n{} was skipped: {}\n", skipped.candidate, skipped.reason);
    }
    text
}

fn of_candidate(s: &Summary) -> Vec<String> {
    let or_none = |figure: Option<f64>| figure.map_or(NONE.into(), |figure| format!("{figure:.2}"));
    vec![
        s.candidate.to_owned(),
        format!("{:.0}", s.requests_per_s),
        format!("{:.2}", s.service_us_per_request),
        or_none(s.database_us_per_request),
        format!("{:.2}", s.service_share),
        or_none(s.database_share),
        format!("{:.2}", s.load_share),
        s.failed.to_string(),
    ]
}

fn of_comparison(c: &Comparison) -> Vec<String> {
    let judged = |reached: Option<bool>| reached.map_or(NONE, |reached| if reached { "yes" } else { "no" }).to_owned();
    vec![
        format!("{} / {}", c.figure.of, c.figure.against),
        spread(&c.throughput),
        spread(&c.per_cpu),
        c.figure.text().unwrap_or(NONE.into()),
        judged(c.reached),
        judged(c.reached_per_cpu),
    ]
}

fn with_header<const N: usize>(header: [&str; N], rows: impl Iterator<Item = Vec<String>>) -> Vec<Vec<String>> {
    std::iter::once(header.map(str::to_owned).to_vec()).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::super::figures::Figure;
    use super::*;
    use crate::rounds::Ratio;

    #[test]
    fn a_cell_says_whether_a_figure_is_met_and_by_which_measure() {
        let ratio = |median| Ratio { median, min: median, max: median };
        let text = |at_least, reached, reached_per_cpu| {
            let figure = Figure { of: "a", against: "b", at_least };
            cell(&Comparison { figure, throughput: ratio(0.97), per_cpu: ratio(0.9), reached, reached_per_cpu })
        };
        assert_eq!(text(None, None, None), "0.97 (0.90)");
        assert_eq!(text(Some(0.95), Some(true), Some(false)), "0.97 (0.90) met (missed)");
        assert_eq!(text(Some(0.9), Some(true), Some(true)), "0.97 (0.90) met");
        assert_eq!(text(Some(1.8), Some(false), Some(false)), "0.97 (0.90) missed");
    }
}
