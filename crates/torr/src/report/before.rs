//! The archived run before: the newest earlier one with the same target, whose result lies beside a page.

use serde_json::Value;
use std::fs::{self, DirEntry};
use std::path::Path;
use std::time::SystemTime;
use torr_gauge::result::SCHEMA;
use torr_page::RunBefore;

/// The most files of a directory that are considered.
const LISTED: usize = 10_000;
/// The most results that are read, those that were written last before others.
const READ: usize = 30;
/// The length in bytes of the longest result that is read.
const LONGEST: u64 = 4 << 20;

/// Returns the newest run before `run` with its target, if its JSON lies in the directory of `page`. It has a link to its own page
/// if that lies there too, under the name of its JSON with `.html` in place of `.json`.
pub fn run_before(page: &Path, run: &Value) -> Option<RunBefore> {
    if run["schema"] != SCHEMA {
        return None;
    }
    let directory = page.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(directory).ok()?.take(LISTED).filter_map(Result::ok);
    let mut results: Vec<_> = entries.filter_map(|entry| Some((written(&entry)?, entry))).collect();
    results.sort_by_key(|(written, _)| std::cmp::Reverse(*written));
    let runs = results.iter().take(READ).filter_map(|(_, entry)| {
        let before: Value = serde_json::from_slice(&fs::read(entry.path()).ok()?).ok()?;
        let result = entry.file_name().into_string().ok()?;
        let page = entry.path().with_extension("html");
        let page = page.file_name().filter(|_| page.is_file()).and_then(|name| Some(name.to_str()?.to_owned()));
        RunBefore::of(run, &before, result, page)
    });
    runs.max_by(|one, other| one.started_at().cmp(other.started_at()))
}

/// Returns when a file was written that can be a result.
fn written(entry: &DirEntry) -> Option<SystemTime> {
    let path = entry.path();
    let metadata = path.extension().filter(|end| *end == "json").and_then(|_| fs::metadata(&path).ok())?;
    let can_be = metadata.is_file() && metadata.len() <= LONGEST;
    can_be.then(|| metadata.modified().ok())?
}
