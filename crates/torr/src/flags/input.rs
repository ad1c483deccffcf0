//! Files and standard input that requests are made from.

use crate::exit::Stop;
use std::io::Read;
use std::path::Path;

/// Reads files; standard input only once, since there is nothing left of it afterwards.
#[derive(Debug, Default)]
pub struct Input {
    stdin_is_read: bool,
}

impl Input {
    /// All of a file, or of standard input for `-`.
    pub fn read(&mut self, path: &str, what: &str) -> Result<Vec<u8>, Stop> {
        let read = if path == "-" {
            if std::mem::replace(&mut self.stdin_is_read, true) {
                return Err(Stop::Usage(format!("{what} cannot come from standard input: it was read already")));
            }
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            std::fs::read(path)
        };
        read.map_err(|error| Stop::Usage(format!("cannot read {what} from '{path}': {error}")))
    }

    /// The same, as text.
    pub fn read_text(&mut self, path: &str, what: &str) -> Result<String, Stop> {
        let not_text = |_| Stop::Usage(format!("{what} from '{path}' is not UTF-8 text"));
        String::from_utf8(self.read(path, what)?).map_err(not_text)
    }

    /// What a value stands for: itself, or behind an `@` the contents of a file.
    pub fn value(&mut self, value: &str, what: &str) -> Result<Vec<u8>, Stop> {
        match value.strip_prefix('@') {
            Some(path) => self.read(path, what),
            None => Ok(value.as_bytes().to_vec()),
        }
    }
}

/// The last part of a path.
pub fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}
