//! Files that become a part of a hurl file, within bounds.

use std::cell::Cell;

/// The most bytes of a file that becomes a part of a hurl file.
const LARGEST: usize = 1 << 20;

/// The most bytes of all files, and of what loops and references repeat.
const MOST: usize = 64 << 20;

/// Reads a file by its path relative to the file of requests.
type Read<'r> = &'r dyn Fn(&str) -> Result<Vec<u8>, String>;

/// The files beside a file of requests.
pub(super) struct Files<'r> {
    read: Read<'r>,
    /// The bytes that may still be added.
    left: Cell<usize>,
}

impl<'r> Files<'r> {
    pub(super) fn new(read: Read<'r>) -> Self {
        Self { read, left: Cell::new(MOST) }
    }

    /// Takes room for bytes; `false` where there is none.
    pub(super) fn take(&self, size: usize) -> bool {
        let left = self.left.get().checked_sub(size);
        left.inspect(|left| self.left.set(*left)).is_some()
    }

    /// Returns the bytes of a file.
    pub(super) fn bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        if name.starts_with(['/', '\\', '~']) || name.as_bytes().get(1) == Some(&b':') {
            return Err("only relative paths are read: put the file next to the file of requests".to_owned());
        }
        let bytes = (self.read)(name)?;
        if bytes.len() > LARGEST {
            return Err("files that are part of other content must not be larger than 1 MiB".to_owned());
        }
        if !self.take(bytes.len()) {
            return Err("files that are part of other content must not have more than 64 MiB together".to_owned());
        }
        Ok(bytes)
    }

    /// Returns the text of a file.
    pub(super) fn text(&self, name: &str) -> Result<String, String> {
        String::from_utf8(self.bytes(name)?).map_err(|_| "it is not UTF-8".to_owned())
    }
}
