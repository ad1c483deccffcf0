//! The archive of comparisons: a line of JSON for each, written as soon as it is made, so that an interrupted run keeps what it has.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::calibration::Calibration;
use super::comparison::Entry;
use super::order::Task;
use super::planted::Kind;
use crate::archive;
use crate::machine::Machine;
use torr_test_support::error::Error;

/// The name and version of the first line's format.
const SCHEMA: &str = "torr.bench.power/1";
/// The file.
const FILE: &str = "power.jsonl";

/// The first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Header {
    schema: String,
    /// Start of the run, UTC.
    pub started_at: String,
    /// The budget of each comparison in seconds.
    pub budget_s: f64,
    /// Where it was run.
    pub machine: Value,
    /// The folder's name.
    folder: String,
}

/// Another line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Calibration(Calibration),
    Comparison(Box<Entry>),
}

/// An archive.
pub struct Archive {
    folder: PathBuf,
    file: File,
    /// The first line.
    pub header: Header,
    calibrations: Vec<Calibration>,
    entries: Vec<Entry>,
}

impl Header {
    /// Returns the header of a run that begins.
    pub fn new(started_at: String, budget: Duration, machine: Machine) -> Self {
        let folder = archive::folder(&started_at, &machine);
        let machine = serde_json::to_value(machine).expect("a machine is plain data");
        Self { schema: SCHEMA.into(), started_at, budget_s: budget.as_secs_f64(), machine, folder }
    }
}

impl Archive {
    /// Begins an archive under `bench/runs`.
    pub fn begin(header: Header) -> Result<Self, Error> {
        let folder = archive::runs().join(&header.folder);
        let path = folder.join(FILE);
        let at = || format!("cannot write {}", path.display());
        fs::create_dir_all(&folder).map_err(Error::at(at()))?;
        let mut file = File::create_new(&path).map_err(Error::at(at()))?;
        put(&mut file, &header).map_err(Error::at(at()))?;
        Ok(Self { folder, file, header, calibrations: Vec::new(), entries: Vec::new() })
    }

    /// Reads an archive that is to be continued by a run with this header. The line at which a run was killed may be incomplete, and is
    /// dropped.
    ///
    /// # Errors
    /// If the file cannot be read, or what is measured or where differs: its figures are not to be mixed with others.
    pub fn resume(folder: &Path, now: &Header) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let at = || format!("cannot resume {}", path.display());
        let text = fs::read_to_string(&path).map_err(Error::at(at()))?;
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = whole.lines();
        let header: Header = serde_json::from_str(lines.next().unwrap_or_default()).map_err(Error::at(at()))?;
        if header.schema != SCHEMA {
            return Err(Error::Usage(format!("{}: its schema is {}, not {SCHEMA}", at(), header.schema)));
        }
        for name in ["revision", "cpu", "cores", "torr_is_this_revision"] {
            let (then, now) = (&header.machine[name], &now.machine[name]);
            if then != now {
                return Err(Error::Usage(format!("{}: its '{name}' is {then}, here it is {now}", at())));
            }
        }
        if header.budget_s != now.budget_s {
            let budget = Duration::from_secs_f64(header.budget_s);
            let budget = humantime::format_duration(budget);
            return Err(Error::Usage(format!(
                "{}: its comparisons have a budget of {budget}: pass --budget {budget}",
                at()
            )));
        }
        let (mut calibrations, mut entries) = (Vec::new(), Vec::new());
        for line in lines {
            match serde_json::from_str(line).map_err(Error::at(at()))? {
                Line::Calibration(calibration) => calibrations.push(calibration),
                Line::Comparison(entry) => entries.push(*entry),
            }
        }
        let file = File::options().append(true).open(&path).map_err(Error::at(at()))?;
        file.set_len(whole.len() as u64)?;
        Ok(Self { folder: folder.to_owned(), file, header, calibrations, entries })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the comparisons that were made.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns what was measured about each kind.
    pub fn calibrations(&self) -> &[Calibration] {
        &self.calibrations
    }

    /// Returns what was measured about a kind.
    pub fn calibration(&self, kind: Kind) -> Option<&Calibration> {
        self.calibrations.iter().find(|calibration| calibration.kind == kind)
    }

    /// Returns whether a comparison was made beside so many neighbours.
    pub fn has(&self, task: &Task, neighbours: usize) -> bool {
        let is_it = |entry: &Entry| {
            (entry.round, entry.difference, entry.neighbours) == (task.round, task.difference, neighbours)
        };
        self.entries.iter().any(is_it)
    }

    /// Adds what was measured about a kind.
    pub fn add_calibration(&mut self, calibration: Calibration) -> Result<(), Error> {
        put(&mut self.file, &Line::Calibration(calibration.clone()))?;
        self.calibrations.push(calibration);
        Ok(())
    }

    /// Adds a comparison.
    pub fn add(&mut self, entry: Entry) -> Result<(), Error> {
        put(&mut self.file, &Line::Comparison(Box::new(entry.clone())))?;
        self.entries.push(entry);
        Ok(())
    }
}

/// Writes a line at once.
fn put(file: &mut File, line: &impl Serialize) -> std::io::Result<()> {
    let text = serde_json::to_string(line)? + "\n";
    file.write_all(text.as_bytes())?;
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::order::order;
    use crate::power::tally::tests::entry;
    use serde_json::json;

    fn header() -> Header {
        Header {
            schema: SCHEMA.into(),
            started_at: "2026-11-26T16:00:00Z".into(),
            budget_s: 30.0,
            machine: json!({"revision": "27a2ee9", "cpu": "a CPU", "cores": 2, "torr_is_this_revision": true}),
            folder: String::new(),
        }
    }

    fn archive(folder: &Path) -> Archive {
        let header = header();
        let mut file = File::create_new(folder.join(FILE)).expect("the folder is ours");
        put(&mut file, &header).expect("it can be written");
        Archive { folder: folder.to_owned(), file, header, calibrations: Vec::new(), entries: Vec::new() }
    }

    #[test]
    fn an_interrupted_run_goes_on_where_it_stopped() {
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        let mut begun = archive(folder.path());
        let tasks = order(&[0, 2], 2);
        let calibration = Calibration { kind: Kind::Work, base_us: 200.0, units: 500, ratios: vec![1.2] };
        begun.add_calibration(calibration.clone()).expect("it can be written");
        let made = Entry { round: tasks[0].round, difference: tasks[0].difference, ..entry(2, 1.02, [1.01, 1.03]) };
        begun.add(made.clone()).expect("it can be written");
        // It was killed within a line.
        begun.file.write_all(b"{\"comparison\":{\"rou").expect("it can be written");
        drop(begun);

        let mut resumed = Archive::resume(folder.path(), &header()).expect("it is an archive");
        assert_eq!((resumed.entries(), resumed.calibration(Kind::Work)), (&[made][..], Some(&calibration)));
        assert!(resumed.has(&tasks[0], 0) && !resumed.has(&tasks[0], 1) && !resumed.has(&tasks[1], 0));
        resumed.add(entry(0, 1.0, [0.99, 1.01])).expect("it can be written");
        drop(resumed);
        let again = Archive::resume(folder.path(), &header()).expect("it is an archive");
        assert_eq!(again.entries().len(), 2);
        assert!(Archive::resume(folder.path(), &Header { budget_s: 60.0, ..header() }).is_err(), "another budget");
        let mut elsewhere = header();
        elsewhere.machine["revision"] = json!("2b84300");
        let error = Archive::resume(folder.path(), &elsewhere).err().expect("another revision").to_string();
        assert!(error.ends_with(r#"its 'revision' is "27a2ee9", here it is "2b84300""#), "{error}");
    }
}
