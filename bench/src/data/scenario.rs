//! The measured ways to a database, and the requests.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;
use torr_test_support::databases::Make;

/// A database, and how it is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// SQLite in the server's memory, which no other process can read.
    SqliteMemory,
    /// SQLite in a file.
    SqliteFile,
    /// MariaDB, with pools of connections.
    Mariadb,
    /// PostgreSQL, with pools of connections.
    Postgres,
    /// PostgreSQL, one pipelined connection beside a pool.
    PostgresPipelined,
    /// PostgreSQL with a driver that blocks its worker: how many workers that takes.
    Workers,
}

impl Group {
    /// The server that the database is on; SQLite has none.
    pub fn make(self) -> Option<Make> {
        match self {
            Group::SqliteMemory | Group::SqliteFile => None,
            Group::Mariadb => Some(Make::MariaDb),
            Group::Postgres | Group::PostgresPipelined | Group::Workers => Some(Make::Postgres),
        }
    }

    /// The title of its part of a report.
    pub fn title(self) -> &'static str {
        match self {
            Group::SqliteMemory => "SQLite in memory",
            Group::SqliteFile => "SQLite in a file",
            Group::Mariadb => "MariaDB",
            Group::Postgres => "PostgreSQL",
            Group::PostgresPipelined => "PostgreSQL, pipelined",
            Group::Workers => "PostgreSQL, a driver that blocks its worker",
        }
    }
}

/// The operation of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// One row of 100,000.
    Item,
    /// 20 rows, each by a query of its own.
    Queries20,
    /// 20 rows, each by a query of its own, and all written back with new numbers.
    Updates20,
    /// All rows of a small table, as an HTML page.
    Fortunes,
}

impl Operation {
    /// The path of one way.
    pub fn path(self, way: &str) -> String {
        match self {
            Operation::Item => format!("/db/{way}"),
            Operation::Queries20 => format!("/queries/{way}?queries=20"),
            Operation::Updates20 => format!("/updates/{way}?queries=20"),
            Operation::Fortunes => format!("/fortunes/{way}"),
        }
    }

    /// As a table's head has it.
    pub fn short(self) -> &'static str {
        match self {
            Operation::Item => "one row",
            Operation::Queries20 => "queries at 20",
            Operation::Updates20 => "updates at 20",
            Operation::Fortunes => "fortunes",
        }
    }
}

/// One table of the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Scenario {
    /// The database.
    pub group: Group,
    /// The operation.
    pub operation: Operation,
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.group.title(), self.operation.short())
    }
}

/// All scenarios in the order they are run, or only those of some groups and operations.
pub fn all(groups: &[Group], operations: &[Operation]) -> Vec<Scenario> {
    let wanted = |group: &&Group| groups.is_empty() || groups.contains(group);
    let of = |&group: &Group| {
        let selected = move |operation: &&Operation| {
            (operations.is_empty() || operations.contains(operation))
                && (group != Group::Workers || **operation == Operation::Item)
        };
        Operation::value_variants().iter().filter(selected).map(move |&operation| Scenario { group, operation })
    };
    Group::value_variants().iter().filter(wanted).flat_map(|group| of(group).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_operations_choose_together() {
        assert_eq!(all(&[], &[]).len(), 5 * 4 + 1);
        let chosen = all(&[Group::Workers, Group::Mariadb], &[Operation::Item, Operation::Updates20]);
        let names: Vec<_> = chosen.iter().map(Scenario::to_string).collect();
        assert_eq!(
            names,
            ["MariaDB, one row", "MariaDB, updates at 20", "PostgreSQL, a driver that blocks its worker, one row"]
        );
    }
}
