//! Suites: tables of runs over subjects, described by TOML files.

use crate::toml_file;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest body of requests, in bytes.
const LONGEST_BODY: usize = 1 << 30;

/// A table of runs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// The name, which is that of the file.
    #[serde(skip)]
    pub name: String,
    /// What it measures, in one line.
    pub about: String,
    /// Where its rows and its reference figures come from.
    pub source: Option<String>,
    /// The subjects that are loaded if the user names none.
    pub subjects: Vec<String>,
    /// The number of runs of each cell.
    #[serde(default = "three")]
    pub rounds: usize,
    /// The length of each run, in seconds.
    #[serde(default = "five")]
    pub seconds: f64,
    /// The load before each run that is not measured, in seconds.
    #[serde(default = "one")]
    pub warmup: f64,
    /// Checks of responses before anything is timed: hurl files, whose variable `url` is the URL of the row.
    #[serde(default)]
    pub checks: BTreeMap<String, String>,
    /// Rows.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
}

fn three() -> usize {
    3
}
fn five() -> f64 {
    5.0
}
fn one() -> f64 {
    1.0
}

/// A row: one load of one path, at one or more levels.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The name in tables.
    pub name: String,
    /// The name of a path of the subjects.
    pub path: String,
    /// What is put behind the path, with `{n}` for the level's number.
    #[serde(default)]
    pub suffix: String,
    /// The name of the check.
    pub check: String,
    /// Further flags of `torr URL`.
    #[serde(default)]
    pub flags: String,
    /// Further requests beside that of the path, as `torr URL --urls FILE` takes them.
    pub urls: Option<String>,
    /// The length of the body in bytes of requests that are POST then.
    pub body_bytes: Option<usize>,
    /// The number of requests, instead of a time.
    pub requests: Option<u64>,
    /// The levels of connections.
    #[serde(default)]
    pub connections: Vec<usize>,
    /// The levels of `{n}`.
    #[serde(default)]
    pub n: Vec<u64>,
    /// The levels of the number of workers, in multiples of the number of CPUs.
    #[serde(default)]
    pub workers: Vec<usize>,
    /// The databases, by the names of their subjects.
    #[serde(default)]
    pub databases: Vec<String>,
    /// Whether the subjects speak TLS.
    #[serde(default)]
    pub tls: bool,
    /// Figures to stand beside, by whose they are.
    #[serde(default)]
    pub reference: BTreeMap<String, String>,
}

/// A cell of a suite's table but for the subject: a row at one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// The number of the row in the suite.
    pub row: usize,
    /// The number of connections, if the row says so.
    pub connections: Option<usize>,
    /// The value of `{n}`.
    pub n: Option<u64>,
    /// Workers for each CPU.
    pub workers: usize,
    /// The database.
    pub database: Option<String>,
    /// The name in tables and archives, which differs from those of all other levels.
    pub name: String,
}

impl Suite {
    /// Reads a suite from the text of its file.
    ///
    /// # Errors
    /// One line: the file, and what is wrong.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Self, String> {
        let suite: Self = toml_file::parse(file, text)?;
        let suite = Self { name: name.to_owned(), ..suite };
        for row in &suite.rows {
            if !suite.checks.contains_key(&row.check) {
                let what = format!("row '{}': unknown check '{}'; add it to [checks]", row.name, row.check);
                return Err(format!("{file}: {what}"));
            }
            if row.body_bytes.is_some_and(|length| length > LONGEST_BODY) {
                return Err(format!("{file}: row '{}': the body must have at most {LONGEST_BODY} bytes", row.name));
            }
            let wants_number = row.suffix.contains("{n}");
            if wants_number == row.n.is_empty() {
                let what = if wants_number { "has {n}, but no levels 'n'" } else { "has levels 'n', but no {n}" };
                return Err(format!("{file}: row '{}' {what}", row.name));
            }
        }
        let bounded = |value: f64| (0.0..=86_400.0).contains(&value);
        if suite.rows.is_empty() || suite.rounds == 0 || !bounded(suite.seconds) || !bounded(suite.warmup) {
            return Err(format!("{file}: a suite needs rows, at least one round, and seconds from 0 to 86400"));
        }
        let mut names: Vec<_> = suite.levels().into_iter().map(|level| level.name).collect();
        names.sort();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("{file}: duplicate row '{}'", pair[0])),
            None => Ok(suite),
        }
    }

    /// Returns all rows at all of their levels, in the order of the table.
    pub fn levels(&self) -> Vec<Level> {
        self.rows.iter().enumerate().flat_map(|(number, row)| row.levels(number)).collect()
    }

    /// Returns the length of a run at a scale, at least half a second.
    pub fn length(&self, scale: f64) -> Duration {
        Duration::from_secs_f64((self.seconds * scale).max(0.5))
    }

    /// Returns the length of the warm-up at a scale.
    pub fn warmup(&self, scale: f64) -> Duration {
        Duration::from_secs_f64(self.warmup * scale.min(1.0))
    }
}

impl Row {
    fn levels(&self, row: usize) -> Vec<Level> {
        let first = Level { row, name: self.name.clone(), workers: 1, connections: None, n: None, database: None };
        let levels = spread(vec![first], &self.databases, |level, database| {
            level.database = Some(database.clone());
            database.clone()
        });
        let levels = spread(levels, &self.workers, |level, &workers| {
            level.workers = workers;
            format!("{workers}x workers")
        });
        let levels = spread(levels, &self.n, |level, &n| {
            level.n = Some(n);
            format!("n {n}")
        });
        spread(levels, &self.connections, |level, &connections| {
            level.connections = Some(connections);
            format!("c {connections}")
        })
    }
}

/// Replaces each level by one for each of the values, if there are any. `set` returns the addition to its name, which a
/// single value does not need.
fn spread<T>(levels: Vec<Level>, values: &[T], set: impl Fn(&mut Level, &T) -> String) -> Vec<Level> {
    if values.is_empty() {
        return levels;
    }
    let with = |level: Level, value: &T| {
        let mut level = level;
        let addition = set(&mut level, value);
        if values.len() > 1 {
            level.name += &format!(", {addition}");
        }
        level
    };
    levels
        .into_iter()
        .flat_map(|level| values.iter().map(move |value| (level.clone(), value)))
        .map(|(level, value)| with(level, value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "about = 'x'\nsubjects = ['a']\n[checks]\nok = 'GET {{url}}'\n";

    fn parse(rows: &str) -> Result<Suite, String> {
        Suite::parse("mine", "mine.toml", &format!("{TEXT}{rows}"))
    }

    #[test]
    fn a_row_has_all_combinations_of_its_levels() {
        let row = "[[row]]\nname='q'\npath='db'\ncheck='ok'\nsuffix='?q={n}'\nn=[1, 5]\nconnections=[16, 32]\n";
        let names: Vec<_> = parse(row).unwrap().levels().into_iter().map(|level| level.name).collect();
        assert_eq!(names, ["q, n 1, c 16", "q, n 1, c 32", "q, n 5, c 16", "q, n 5, c 32"]);
        let row = "[[row]]\nname='q'\npath='db'\ncheck='ok'\nconnections=[16]\n";
        assert_eq!(parse(row).unwrap().levels()[0].name, "q");
    }

    #[test]
    fn mistakes_are_found_before_anything_runs() {
        let wrong = |rows: &str| parse(rows).unwrap_err();
        assert!(
            wrong("[[row]]\nname='q'\npath='db'\ncheck='no'\n")
                .contains("row 'q': unknown check 'no'; add it to [checks]")
        );
        assert!(wrong("[[row]]\nname='q'\npath='db'\ncheck='ok'\nsuffix='{n}'\n").contains("no levels 'n'"));
        let twice = "[[row]]\nname='q'\npath='db'\ncheck='ok'\n";
        assert!(wrong(&twice.repeat(2)).contains("duplicate row 'q'"));
        assert!(wrong("[[row]]\nnam='q'\n").starts_with("mine.toml:6:1: unknown field `nam`"));
    }
}
