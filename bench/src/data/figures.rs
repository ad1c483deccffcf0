//! The figures that the ways to a database are to reach, and what else is compared.

use serde::Serialize;

use super::candidates::{
    BLOCKING, BUILDER, BUILDER_PIPELINED, CANDIDATES, HELLO, MODEL, MODEL_PIPELINED, RAW, RAW_PIPELINED, SEAORM,
};
use super::scenario::{Group, Operation, Scenario};
use crate::candidates::{GIN, PHP, SQLX};

/// One candidate's throughput as a ratio to another's.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Figure {
    /// Whose.
    pub of: &'static str,
    /// To whose.
    pub against: &'static str,
    /// What it is to reach, if anything.
    pub at_least: Option<f64>,
}

impl Figure {
    /// What it is to reach, in words.
    pub fn text(&self) -> Option<String> {
        self.at_least.map(|at_least| format!("at least {at_least:.2}"))
    }
}

/// What is compared in a scenario. To be ahead of another candidate is to reach 1.
pub fn figures(scenario: Scenario) -> Vec<Figure> {
    let Scenario { group, operation } = scenario;
    // With 20 queries a request, HTTP hardly counts: that is shown, not judged.
    let of_one_row = |at_least: f64| (operation == Operation::Item).then_some(at_least);
    let ahead = (operation != Operation::Fortunes).then_some(1.0);
    let figures: &[(&str, &str, Option<f64>)] = match group {
        Group::SqliteMemory => {
            &[(BUILDER, RAW, of_one_row(0.93)), (MODEL, RAW, of_one_row(0.95)), (RAW, HELLO, of_one_row(0.60))]
        }
        Group::SqliteFile => &[
            (BUILDER, RAW, of_one_row(0.93)),
            (MODEL, RAW, of_one_row(0.95)),
            (RAW, HELLO, of_one_row(0.60)),
            (RAW, SQLX, None),
            (MODEL, SEAORM, None),
        ],
        Group::Mariadb | Group::Postgres => &[
            (BUILDER, RAW, of_one_row(0.93)),
            (MODEL, RAW, of_one_row(0.95)),
            (RAW, SQLX, ahead),
            (RAW, GIN, ahead),
            (RAW, PHP, ahead),
            (MODEL, SEAORM, None),
        ],
        Group::PostgresPipelined => &[
            (BUILDER_PIPELINED, RAW_PIPELINED, of_one_row(0.93)),
            (MODEL_PIPELINED, RAW_PIPELINED, of_one_row(0.95)),
            (RAW_PIPELINED, RAW, of_one_row(1.8)),
            (BUILDER_PIPELINED, BUILDER, None),
            (MODEL_PIPELINED, MODEL, of_one_row(1.8)),
        ],
        Group::Workers => {
            let others = CANDIDATES.iter().filter(|c| c.takes_part(scenario) && c.name != BLOCKING);
            return others.map(|c| Figure { of: c.name, against: BLOCKING, at_least: None }).collect();
        }
    };
    let takes_part = |name: &str| super::candidates::candidate(name).takes_part(scenario);
    figures
        .iter()
        .filter(|(of, against, _)| takes_part(of) && takes_part(against))
        .map(|&(of, against, at_least)| Figure { of, against, at_least })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(group: Group, operation: Operation) -> Vec<String> {
        let text =
            |figure: &Figure| format!("{} / {} {}", figure.of, figure.against, figure.text().unwrap_or("told".into()));
        figures(Scenario { group, operation }).iter().map(text).collect()
    }

    #[test]
    fn figures_are_those_of_the_issue() {
        assert_eq!(
            texts(Group::SqliteMemory, Operation::Item),
            [
                "torr builder / torr raw at least 0.93",
                "torr model / torr raw at least 0.95",
                "torr raw / torr hello at least 0.60"
            ]
        );
        assert_eq!(
            texts(Group::Mariadb, Operation::Updates20),
            [
                "torr builder / torr raw told",
                "torr model / torr raw told",
                "torr raw / sqlx at least 1.00",
                "torr raw / gin at least 1.00",
                "torr raw / php at least 1.00",
                "torr model / SeaORM told"
            ]
        );
        assert_eq!(
            texts(Group::PostgresPipelined, Operation::Item)[2..],
            [
                "torr raw, pipelined / torr raw at least 1.80",
                "torr builder, pipelined / torr builder told",
                "torr model, pipelined / torr model at least 1.80"
            ]
        );
        assert_eq!(
            texts(Group::Postgres, Operation::Fortunes),
            ["torr builder / torr raw told", "torr model / torr raw told"]
        );
        assert_eq!(texts(Group::Workers, Operation::Item).len(), 7);
    }
}
