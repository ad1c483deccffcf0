//! The folders of a collection and the order in which their requests run.

use super::item::{Folder, Item, Level};
use super::{bru, yaml};
use crate::draft::{ImportError, LeftOut};
use crate::node::Node;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The levels of folders.
const DEEPEST: usize = 64;

/// The format of a collection's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Bru,
    Yaml,
}

impl Format {
    /// Returns the end of the names of its files.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Bru => ".bru",
            Self::Yaml => ".yml",
        }
    }

    /// Returns the name of the file with what the whole collection says.
    fn root(self) -> &'static str {
        match self {
            Self::Bru => "collection.bru",
            Self::Yaml => "opencollection.yml",
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Self::Bru => "folder.bru",
            Self::Yaml => "folder.yml",
        }
    }
}

/// Reads the files of a collection. `files` are paths from its folder, with slashes, and texts; `bundle` is what a collection in YAML has
/// in its first file. `only` names a request or a folder that is imported alone.
///
/// # Errors
/// If the file of the whole collection is wrong.
pub(super) fn read(
    files: &BTreeMap<String, String>,
    format: Format,
    bundle: Option<&Node>,
    only: Option<&str>,
    left_out: &mut Vec<LeftOut>,
) -> Result<Folder, ImportError> {
    let mut root = match (bundle, files.get(format.root())) {
        (Some(bundle), _) => yaml::bundle(bundle, 0),
        (None, Some(text)) => {
            let wrong = |reason: String| ImportError(format!("not a valid {}: {reason}", format.root()));
            Folder { level: bru::folder(text).map_err(wrong)?.0, ..Folder::default() }
        }
        (None, None) => Folder::default(),
    };
    fill(&mut root, files, "", format, only, left_out, 0);
    sort(&mut root);
    Ok(root)
}

/// Returns the requests in the order in which they run, each with what it inherits, from outside in.
pub(super) fn in_order(root: &Folder) -> Vec<(Vec<&Level>, &Item)> {
    let mut found = Vec::new();
    walk(root, &[], &mut found);
    found
}

fn walk<'f>(folder: &'f Folder, above: &[&'f Level], found: &mut Vec<(Vec<&'f Level>, &'f Item)>) {
    let levels = [above, &[&folder.level]].concat();
    folder.folders.iter().for_each(|inner| walk(inner, &levels, found));
    found.extend(folder.items.iter().map(|item| (levels.clone(), item)));
}

/// Adds the files and folders of the folder `path`, which is empty or ends with a slash.
fn fill(
    folder: &mut Folder,
    files: &BTreeMap<String, String>,
    path: &str,
    format: Format,
    only: Option<&str>,
    left_out: &mut Vec<LeftOut>,
    depth: usize,
) {
    let mut names: Vec<&str> = Vec::new();
    for name in files.range(path.to_owned()..).map_while(|(name, _)| name.strip_prefix(path)) {
        match name.split_once('/') {
            Some((inner, _)) if names.last() != Some(&inner) => names.push(inner),
            Some(_) => {}
            None => file(folder, &format!("{path}{name}"), files, format, only, left_out),
        }
    }
    for name in names {
        let is_other = matches!(name, "node_modules" | ".git") || (path.is_empty() && name == "environments");
        let inner_path = format!("{path}{name}/");
        let has_requests = is_within(&inner_path, only);
        if is_other || !has_requests {
            continue;
        }
        if depth >= DEEPEST {
            left_out.push(LeftOut::new("folder", inner_path, "nested too deeply"));
            continue;
        }
        let mut inner = Folder::default();
        if let Some(text) = files.get(&format!("{inner_path}{}", format.folder())) {
            match level(text, format) {
                Ok((level, sequence)) => inner = Folder { level, sequence, ..inner },
                Err(reason) => left_out.push(LeftOut::new("file", format!("{inner_path}{}", format.folder()), reason)),
            }
        }
        // Folders are sorted by the name of the directory, whatever the name that is shown.
        inner.level.name = name.to_owned();
        fill(&mut inner, files, &inner_path, format, only, left_out, depth + 1);
        folder.folders.push(inner);
    }
}

/// Whether a folder has something of what is imported: it is part of it, or above it.
fn is_within(path: &str, only: Option<&str>) -> bool {
    only.is_none_or(|only| path.starts_with(&format!("{only}/")) || only.starts_with(path))
}

fn level(text: &str, format: Format) -> Result<(Level, Option<i64>), String> {
    match format {
        Format::Bru => bru::folder(text),
        Format::Yaml => Ok(yaml::folder(&Node::read(text, "folder.yml", true).map_err(|error| error.to_string())?)),
    }
}

fn file(
    folder: &mut Folder,
    path: &str,
    files: &BTreeMap<String, String>,
    format: Format,
    only: Option<&str>,
    left_out: &mut Vec<LeftOut>,
) {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_request = name.ends_with(format.extension()) && name != format.root() && name != format.folder();
    let is_chosen = only.is_none_or(|only| path == only || path.starts_with(&format!("{only}/")));
    let Some(text) = files.get(path).filter(|_| is_request && is_chosen) else { return };
    let read = match format {
        Format::Bru => bru::item(text),
        Format::Yaml => match Node::read(text, "request", true) {
            Ok(root) if root.get("info").is_null() => Err("not a request: 'info' is missing".to_owned()),
            Ok(root) => Ok(yaml::item(&root)),
            Err(error) => Err(error.to_string()),
        },
    };
    match read {
        Ok(mut item) => {
            if item.level.name.is_empty() {
                item.level.name = name.trim_end_matches(format.extension()).to_owned();
            }
            folder.items.push(item);
        }
        Err(reason) => left_out.push(LeftOut::new("file", path, reason)),
    }
}

/// Sorts folders by name, those with a place at their place, and requests by their place.
fn sort(folder: &mut Folder) {
    folder.items.sort_by_key(|item| item.sequence);
    let mut folders = std::mem::take(&mut folder.folders);
    folders.iter_mut().for_each(sort);
    folders.sort_by(|one, other| by_name(&one.level.name, &other.level.name));
    let (mut placed, others): (Vec<Folder>, Vec<Folder>) =
        folders.into_iter().partition(|folder| folder.sequence.is_some());
    placed.sort_by_key(|folder| folder.sequence);
    // Folders of one place are one group.
    let mut groups: Vec<Vec<Folder>> = others.into_iter().map(|folder| vec![folder]).collect();
    for inner in placed {
        let at = inner.sequence.and_then(|sequence| usize::try_from(sequence - 1).ok()).unwrap_or(0).min(groups.len());
        match groups.get_mut(at) {
            Some(group) if group[0].sequence == inner.sequence => group.push(inner),
            _ => groups.insert(at, vec![inner]),
        }
    }
    folder.folders = groups.into_iter().flatten().collect();
}

/// Compares names as people sort them: capital letters count second.
fn by_name(one: &str, other: &str) -> Ordering {
    one.to_lowercase().cmp(&other.to_lowercase()).then_with(|| other.cmp(one))
}
