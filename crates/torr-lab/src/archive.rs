//! Archived results, read from files and directories.

use std::fs;
use std::path::{Path, PathBuf};
use torr_gauge::RunResult;
use torr_gauge::result::SCHEMA;

/// A result with the name of its file.
#[derive(Debug, Clone)]
pub struct Archived {
    /// The file.
    pub path: PathBuf,
    /// The result.
    pub run: RunResult,
}

/// Reads results in the order in which the runs began. A directory stands for the files in it that end in `.json`; those
/// of another schema are passed over there, as results of other commands may lie beside.
///
/// # Errors
/// With the file and what is wrong with it.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Archived>, String> {
    let mut results = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = fs::read_dir(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
            files.sort();
            for file in files {
                results.extend(read_file(&file)?);
            }
        } else {
            let found = read_file(path)?;
            results.push(
                found
                    .ok_or_else(|| format!("{} is not a result of a run: expected schema {SCHEMA}", path.display()))?,
            );
        }
    }
    // RFC 3339 in UTC is in order as text; the sort is stable.
    results.sort_by(|a, b| a.run.started_at.cmp(&b.run.started_at));
    Ok(results)
}

/// Reads a file; `None` if it has another schema.
fn read_file(path: &Path) -> Result<Option<Archived>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("{} is not JSON: {error}", path.display()))?;
    if value.get("schema").and_then(serde_json::Value::as_str) != Some(SCHEMA) {
        return Ok(None);
    }
    let run = serde_json::from_value(value)
        .map_err(|error| format!("{} is not a complete result of a run: {error}", path.display()))?;
    Ok(Some(Archived { path: path.into(), run }))
}
