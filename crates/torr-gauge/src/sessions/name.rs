//! The names of an entry of a session in results.

use super::entry::MAX_ASSERTS;
use crate::bounds::{Bounded, OutOfBounds, text, texts, within};
use serde::{Deserialize, Serialize};

/// The names of an entry in results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryName {
    /// The name, from the file or made of method and path. Several entries may have one name.
    pub name: String,
    /// The file.
    pub file: String,
    /// The line of the request in the file, from 1.
    pub line: usize,
    /// The texts of its asserts, such as `status == 200`.
    pub asserts: Vec<String>,
}

impl Bounded for EntryName {
    fn bound(&mut self, _: u64) -> Result<(), OutOfBounds> {
        let Self { name, file, line, asserts } = self;
        [name, file].into_iter().for_each(text);
        within("line", *line, 0..=u32::MAX as usize)?;
        texts("asserts", asserts, MAX_ASSERTS)
    }
}
