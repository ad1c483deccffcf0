//! The files of a collection of Bruno, which is a folder.

use std::collections::BTreeMap;
use std::path::Path;
use torr_import::bruno::{ROOTS, is_part};
use torr_net::errors::describe;

/// The bytes that the files of a collection may have together: as many as a description in one file.
const LARGEST: u64 = 64 * 1024 * 1024;
/// The files and folders that are looked at: several times those of the largest collection that is published.
const MOST: usize = 100_000;
/// The levels of folders.
const DEEPEST: usize = 64;

/// A collection, or a part of one.
#[derive(Debug)]
pub struct Collection {
    /// The files by their paths from the collection's folder on, with slashes.
    pub files: BTreeMap<String, String>,
    /// The path of the folder or the request that is imported alone; `None` for the whole collection.
    pub only: Option<String>,
}

/// Reads the collection that a folder or a file is, or is part of.
///
/// # Errors
/// If the path is neither, or if files cannot be read or are too many.
pub fn read(path: &str) -> Result<Collection, String> {
    let wrong = |error: std::io::Error| format!("cannot read '{path}': {}", describe(&error));
    let whole = Path::new(path).canonicalize().map_err(wrong)?;
    let is_file = whole.is_file();
    let is_root = |folder: &&Path| ROOTS.iter().any(|name| folder.join(name).is_file());
    let Some(root) = whole.ancestors().skip(usize::from(is_file)).find(is_root) else {
        return match is_file {
            true => bundle(path, &whole),
            false => Err(format!("'{path}' is not a Bruno collection: it has no bruno.json and no opencollection.yml")),
        };
    };
    let within = whole.strip_prefix(root).map_err(|_| format!("'{path}' is not within its own folder"))?;
    let is_of_whole = is_file && within.components().count() == 1 && is_settings(within);
    let only = within.to_str().map(|within| within.replace('\\', "/"));
    let only = only.filter(|only| !only.is_empty() && !is_of_whole);
    let is_yaml = root.join("opencollection.yml").is_file();
    let mut found = Found { files: BTreeMap::new(), is_yaml, bytes: 0, seen: 0 };
    found.folder(root, "", 0)?;
    Ok(Collection { files: found.files, only })
}

/// Whether a file is about a whole collection or a folder, not a request.
fn is_settings(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ROOTS.contains(&name) || name == "collection.bru"
}

/// Reads a whole collection that is one file of OpenCollection.
fn bundle(path: &str, whole: &Path) -> Result<Collection, String> {
    let text = text(whole, path, LARGEST)?;
    let beginning = text.trim_start_matches('\u{feff}').trim_start();
    if !beginning.starts_with("opencollection") && !beginning.starts_with('{') {
        return Err(format!(
            "'{path}' is not part of a Bruno collection: no folder above it has a bruno.json or an opencollection.yml"
        ));
    }
    Ok(Collection { files: BTreeMap::from([("opencollection.yml".to_owned(), text)]), only: None })
}

struct Found {
    files: BTreeMap<String, String>,
    is_yaml: bool,
    bytes: u64,
    seen: usize,
}

impl Found {
    /// Adds the files of a folder, whose path from the collection's folder on is empty or ends with a slash.
    fn folder(&mut self, folder: &Path, path: &str, depth: usize) -> Result<(), String> {
        let shown = folder.display();
        let wrong = |error: std::io::Error| format!("cannot read '{shown}': {}", describe(&error));
        if depth > DEEPEST {
            return Err(format!("'{shown}' is nested too deeply: at most {DEEPEST} levels are supported"));
        }
        for entry in std::fs::read_dir(folder).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            self.seen += 1;
            if self.seen > MOST {
                return Err(format!("the collection has more than {MOST} files: give the folder of one collection"));
            }
            // A name that is no text is none of Bruno's.
            let Ok(name) = entry.file_name().into_string() else { continue };
            // As in Bruno, links to folders are not followed.
            if entry.file_type().map_err(wrong)?.is_dir() {
                if !matches!(name.as_str(), ".git" | "node_modules") {
                    self.folder(&entry.path(), &format!("{path}{name}/"), depth + 1)?;
                }
            } else if is_part(&name, self.is_yaml) {
                let text = text(&entry.path(), &entry.path().display().to_string(), LARGEST - self.bytes)?;
                self.bytes += text.len() as u64;
                self.files.insert(format!("{path}{name}"), text);
            }
        }
        Ok(())
    }
}

/// Reads a file of at most this size.
fn text(path: &Path, shown: &str, largest: u64) -> Result<String, String> {
    let wrong = |error: std::io::Error| format!("cannot read '{shown}': {}", describe(&error));
    let metadata = std::fs::metadata(path).map_err(wrong)?;
    if !metadata.is_file() || metadata.len() > largest {
        return Err(format!("'{shown}' is not a file, or the collection has more than 64 MiB"));
    }
    std::fs::read_to_string(path).map_err(wrong)
}
