//! Files of requests that another one imports: their variables, and the requests to which it refers.

use super::block::{self, Block};
use super::files::Files;
use crate::draft::LeftOut;
use std::collections::{HashMap, HashSet};

/// The levels of files that import others.
const DEEPEST: usize = 16;

/// The requests of a file, and those of the files that it imports.
pub(super) struct Requests {
    /// The blocks of the file, with the definitions of imported files.
    pub(super) blocks: Vec<Block>,
    /// The blocks of imported files that are requests.
    pub(super) imported: Vec<Block>,
}

/// Reads the files that a file imports by comments such as `# @import ./other.http`.
pub(super) fn read(mut blocks: Vec<Block>, files: &Files<'_>) -> Requests {
    let (mut imported, mut seen) = (Vec::new(), HashSet::new());
    for block in &mut blocks {
        let found = define(block, "", files, &mut seen, 0);
        imported.extend(found);
    }
    Requests { blocks, imported }
}

/// Puts the definitions of imported files before those of a block, and returns the requests of these files.
fn define(block: &mut Block, folder: &str, files: &Files<'_>, seen: &mut HashSet<String>, depth: usize) -> Vec<Block> {
    let (mut definitions, mut requests) = (Vec::new(), Vec::new());
    let names: Vec<String> =
        block.directives.iter().filter(|(name, _)| name == "import").map(|(_, value)| value.clone()).collect();
    for name in names {
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        // Each file is read once.
        if !seen.insert(path.clone()) {
            continue;
        }
        let text = if depth < DEEPEST { files.text(&path) } else { Err("imported too deeply".to_owned()) };
        let text = match text {
            Ok(text) => text,
            Err(reason) => {
                block.left_out.push(LeftOut::new("requests of another file", path, reason));
                continue;
            }
        };
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        for mut other in block::blocks(text.trim_start_matches('\u{feff}')) {
            // A file that is imported by an imported one has variables only.
            let _ = define(&mut other, folder, files, seen, depth + 1);
            if other.line.is_empty() {
                definitions.append(&mut other.definitions);
                block.left_out.append(&mut other.left_out);
            } else {
                requests.push(other);
            }
        }
    }
    block.definitions.splice(0..0, definitions);
    requests
}

/// Returns requests by their names; of those with one name, the first.
pub(super) fn by_name<'b>(
    blocks: impl Iterator<Item = &'b Block>,
    names: impl Fn(&str) -> Vec<String>,
) -> HashMap<String, &'b Block> {
    let mut found = HashMap::new();
    for block in blocks.filter(|block| !block.line.is_empty()) {
        for name in names(block.name()) {
            found.entry(name).or_insert(block);
        }
    }
    found
}
