//! The archive of a suite's runs: one line of JSON for each, written as soon as it has ended, so that a suite that was
//! killed goes on where it was.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use torr_gauge::{Machine, RunResult};

/// The version of the archive.
pub const SCHEMA: &str = "torr.lab/1";

/// The first line: what all runs have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of Torr.
    pub torr: String,
    /// The name of the suite.
    pub suite: String,
    /// What it measures.
    pub about: String,
    /// When it began (RFC 3339, UTC).
    pub started_at: String,
    /// The machine.
    pub machine: Machine,
    /// The subjects, in the order of the table.
    pub subjects: Vec<String>,
    /// The number of runs of each cell.
    pub rounds: usize,
    /// The factor of all lengths.
    pub scale: f64,
    /// The seed of the order.
    pub seed: u64,
    /// The command line that began the suite, without outputs; a shell's variable stands for each secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The names of the levels, in the order of the table.
    pub levels: Vec<String>,
    /// The reference figures of a level, by whose they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub references: BTreeMap<String, BTreeMap<String, String>>,
}

impl Header {
    /// Returns what differs from another suite's, if their runs do not belong into one table.
    pub fn differs(&self, other: &Self) -> Option<&'static str> {
        let parts = [
            (self.suite != other.suite, "suite"),
            (self.torr != other.torr, "version of torr"),
            (self.machine != other.machine, "machine"),
            (self.subjects != other.subjects, "list of subjects"),
            (self.levels != other.levels, "list of rows"),
            (self.rounds != other.rounds, "number of rounds"),
            (self.scale.to_bits() != other.scale.to_bits(), "scale"),
        ];
        parts.into_iter().find_map(|(differs, what)| differs.then_some(what))
    }
}

/// A further line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A run.
    Run(Box<Run>),
    /// A subject as a whole cannot take part.
    Absent {
        /// The subject.
        subject: String,
        /// Why, and how to get it.
        why: String,
    },
    /// A subject does not have what the level requests.
    NotOffered {
        /// The subject.
        subject: String,
        /// The name of the level.
        level: String,
    },
    /// A subject failed at a level: it did not start, or a check failed.
    Failed {
        /// The subject.
        subject: String,
        /// The name of the level.
        level: String,
        /// Why.
        why: String,
    },
    /// The version of a subject, as its own program prints it.
    Version {
        /// The subject.
        subject: String,
        /// The line.
        version: String,
    },
}

/// A run of one subject at one level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The subject.
    pub subject: String,
    /// The name of the level.
    pub level: String,
    /// The number of the round, from 0.
    pub round: usize,
    /// The command of the load.
    pub command: String,
    /// The result.
    pub result: RunResult,
}

/// An archive.
#[derive(Debug, Clone, PartialEq)]
pub struct Archive {
    /// The first line.
    pub header: Header,
    /// The others.
    pub entries: Vec<Entry>,
}

impl Archive {
    /// Reads an archive. A last line without its end was being written when the suite was killed, and does not count.
    ///
    /// # Errors
    /// One line: the file, the line, and what is wrong.
    pub fn read(path: &Path) -> Result<Self, String> {
        let file = path.display();
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read {file}: {error}"))?;
        let mut lines = whole_lines(&text).lines();
        let header = lines.next().and_then(|line| serde_json::from_str::<Header>(line).ok());
        let Some(header) = header.filter(|header| header.schema == SCHEMA) else {
            return Err(format!(
                "{file} is not an archive of 'torr lab run': expected schema {SCHEMA} in the first line"
            ));
        };
        let entry = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| format!("{file}:{}: {error}", number + 2))
        };
        let entries = lines.enumerate().map(entry).collect::<Result<_, _>>()?;
        Ok(Self { header, entries })
    }

    /// Returns whether there is a run.
    pub fn has(&self, subject: &str, level: &str, round: usize) -> bool {
        self.runs(subject, level).any(|run| run.round == round)
    }

    /// Returns the runs of a cell.
    pub fn runs<'a>(&'a self, subject: &'a str, level: &'a str) -> impl Iterator<Item = &'a Run> {
        self.entries.iter().filter_map(move |entry| match entry {
            Entry::Run(run) if run.subject == subject && run.level == level => Some(&**run),
            _ => None,
        })
    }
}

/// The end of an archive that is written.
#[derive(Debug)]
pub struct Writer(File);

impl Writer {
    /// Begins an archive. There must be no such file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let mut writer = Self(OpenOptions::new().write(true).create_new(true).open(path)?);
        writer.line(header)?;
        Ok(writer)
    }

    /// Goes on with an archive that [`Archive::read`] has read.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn resume(path: &Path) -> io::Result<Self> {
        let length = whole_lines(&fs::read_to_string(path)?).len();
        let file = OpenOptions::new().append(true).open(path)?;
        file.set_len(length as u64)?;
        Ok(Self(file))
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&mut self, entry: &Entry) -> io::Result<()> {
        self.line(entry)
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.0.write_all(&line)
    }
}

/// Returns the text up to the end of its last whole line.
fn whole_lines(text: &str) -> &str {
    &text[..text.rfind('\n').map_or(0, |newline| newline + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            schema: SCHEMA.into(),
            torr: "1".into(),
            suite: "s".into(),
            about: "x".into(),
            started_at: "2026-01-01T00:00:00Z".into(),
            machine: Machine::this(),
            subjects: vec!["a".into()],
            rounds: 3,
            scale: 0.1,
            command: None,
            seed: 1,
            levels: vec!["hello".into()],
            references: BTreeMap::new(),
        }
    }

    fn absent(why: &str) -> Entry {
        Entry::Absent { subject: "a".into(), why: why.into() }
    }

    #[test]
    fn an_archive_that_was_cut_within_a_line_goes_on_behind_the_last_whole_one() {
        let folder = std::env::temp_dir().join(format!("torr-lab-runs-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("s.jsonl");
        let mut writer = Writer::create(&path, &header()).unwrap();
        writer.put(&absent("first")).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        writer.put(&absent("second")).unwrap();
        // The second line loses its end.
        let both = fs::read_to_string(&path).unwrap();
        fs::write(&path, &both[..both.len() - 3]).unwrap();
        assert_eq!(Archive::read(&path).unwrap().entries, [absent("first")]);
        Writer::resume(&path).unwrap().put(&absent("third")).unwrap();
        let read = Archive::read(&path).unwrap();
        assert_eq!((read.header, read.entries), (header(), vec![absent("first"), absent("third")]));
        assert!(fs::read_to_string(&path).unwrap().starts_with(&whole));
        assert!(Writer::create(&path, &header()).is_err(), "an archive is never overwritten");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn only_runs_of_one_kind_stand_in_one_archive() {
        assert_eq!(header().differs(&Header { seed: 2, started_at: "later".into(), ..header() }), None);
        assert_eq!(header().differs(&Header { scale: 1.0, ..header() }), Some("scale"));
    }
}
