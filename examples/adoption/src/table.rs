//! The table of what was compared.

use crate::listed::Program;
use std::collections::BTreeMap;

/// A program's row.
pub struct Row {
    pub name: String,
    pub source: String,
    pub lines_changed: usize,
    pub outcome: Result,
}

/// What came of a program's comparison.
pub enum Result {
    /// The number of requests, and what differs.
    Compared { requests: usize, found: Vec<String> },
    /// The reason why a variant was not run.
    NotRun(String),
}

impl Row {
    /// Whether both variants responded alike to all requests.
    pub fn is_same(&self) -> bool {
        matches!(&self.outcome, Result::Compared { found, .. } if found.is_empty())
    }
}

/// Prints the rows as a table of Markdown, and behind it what differs.
pub fn print(rows: &[Row]) {
    println!("| program | source | lines changed | requests | result |");
    println!("|---|---|---|---|---|");
    for Row { name, source, lines_changed, outcome } in rows {
        let (requests, result) = match outcome {
            Result::Compared { requests, found } if found.is_empty() => (requests.to_string(), "same".to_owned()),
            Result::Compared { requests, found } => (requests.to_string(), format!("{} differences", found.len())),
            Result::NotRun(why) => ("-".to_owned(), format!("not run: {why}")),
        };
        println!("| {name} | {source} | {lines_changed} | {requests} | {result} |");
    }
    let same = rows.iter().filter(|row| row.is_same()).count();
    println!("\n{same} of {} programs respond the same.", rows.len());
    for row in rows {
        let Result::Compared { found, .. } = &row.outcome else { continue };
        let mut counts = BTreeMap::<&str, usize>::new();
        found.iter().for_each(|what| *counts.entry(what).or_default() += 1);
        for (what, count) in counts {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            println!("{}: {what}{times}", row.name);
        }
    }
}

/// Prints the programs and the lines that move them.
pub fn print_programs(programs: &[Program]) {
    for program in programs {
        println!("{} ({})", program.name, program.source);
        for [before, after] in &program.change {
            println!("  - {}\n  + {}", before.trim(), after.trim());
        }
    }
}
