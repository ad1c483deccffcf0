//! The programs of `programs.toml`: where their sources are, what is changed, and which requests they get.

use crate::request::Request;
use serde::Deserialize;

const TABLE: &str = include_str!("../programs.toml");

/// A program and its comparison.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub name: String,
    /// Package, version and file, such as `tower-cookies 0.11.0 examples/counter.rs`. A file alone is one of ours.
    pub source: String,
    /// The dependencies besides the package itself and torr-serve, as lines of a manifest.
    pub dependencies: String,
    /// Features of the package itself, and whether its default features are on.
    #[serde(default)]
    pub features: Vec<String>,
    /// Whether the program needs the package that it comes from.
    #[serde(default = "yes")]
    pub needs_package: bool,
    /// The lines that move the program: each the text before and after.
    #[serde(default = "the_line")]
    pub change: Vec<[String; 2]>,
    /// What is replaced in both variants, so that they run beside others: ports and folders.
    #[serde(default)]
    pub both: Vec<[String; 2]>,
    /// Variables of both variants' environment.
    #[serde(default)]
    pub environment: Vec<[String; 2]>,
    /// Fields whose values differ from one run to the next.
    #[serde(default)]
    pub varying_fields: Vec<String>,
    /// What stands around parts of values and bodies that differ from one run to the next: the text before, and the text behind.
    #[serde(default)]
    pub varying: Vec<[String; 2]>,
    /// One request a line, as [`Request::parse`] reads it.
    requests: String,
}

fn yes() -> bool {
    true
}

fn the_line() -> Vec<[String; 2]> {
    vec![["axum::serve(".to_owned(), "torr_serve::serve(".to_owned()]]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    program: Vec<Program>,
}

impl Program {
    /// Returns the package and its version, and the file in it. `None` for a program of ours.
    pub fn package(&self) -> Option<(&str, &str)> {
        let mut words = self.source.split(' ');
        let package = (words.next()?, words.next()?);
        words.next().map(|_| package)
    }

    /// Returns the file's path in its package, or in this folder.
    pub fn file(&self) -> &str {
        self.source.rsplit(' ').next().unwrap_or(&self.source)
    }

    /// Returns the requests, and behind them those that any program gets: to its first path with another method, and to none.
    pub fn requests(&self) -> Result<Vec<Request>, String> {
        let lines = self.requests.lines().filter(|line| !line.trim().is_empty());
        let mut requests = Vec::new();
        for line in lines {
            requests.push(Request::parse(line).map_err(|fault| format!("{}: {fault}: {line}", self.name))?);
        }
        let first = requests.first().ok_or_else(|| format!("{} has no requests", self.name))?.path.clone();
        for line in [
            format!("HEAD {first}"),
            format!("DELETE {first}"),
            "GET /no/such/path?at=all".to_owned(),
            format!("OPTIONS {first} | origin: http://localhost | access-control-request-method: GET"),
            format!("GET {first} | connection: close"),
        ] {
            requests.push(Request::parse(&line)?);
        }
        Ok(requests)
    }

    /// Returns the changed variant of a source.
    ///
    /// # Errors
    /// If the source lacks a text that is to be replaced, or has it more than once.
    pub fn changed(&self, source: &str) -> Result<String, String> {
        let mut changed = source.to_owned();
        for [before, after] in &self.change {
            match changed.matches(before.as_str()).count() {
                1 => changed = changed.replacen(before, after, 1),
                count => return Err(format!("{}: {before:?} stands {count} times in the source", self.name)),
            }
        }
        Ok(changed)
    }

    /// Returns the number of lines that differ between two sources, and one for the dependency.
    pub fn lines_changed(&self, source: &str, changed: &str) -> usize {
        let differing = source.lines().zip(changed.lines()).filter(|(before, after)| before != after).count();
        differing + source.lines().count().abs_diff(changed.lines().count()) + 1
    }
}

/// Returns the programs in the order of the table.
pub fn programs() -> Result<Vec<Program>, String> {
    let table: Table = toml::from_str(TABLE).map_err(|error| format!("programs.toml: {error}"))?;
    for program in &table.program {
        program.requests()?;
    }
    Ok(table.program)
}
