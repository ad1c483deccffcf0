//! Files and standard input that requests are made from.

use crate::error::PlanError;
use std::path::Path;
use torr_load::FileSource;
use torr_net::errors::describe;
use torr_press::request::Feeder;

/// A reader of files, and of standard input once.
#[derive(Debug, Default)]
pub struct Input {
    source: FileSource,
    stdin_is_read: bool,
}

impl Input {
    /// Returns a reader of the files of a source.
    pub(crate) fn of(source: &FileSource) -> Self {
        Self { source: source.clone(), stdin_is_read: false }
    }

    /// Reads a file, or standard input for `-`.
    pub fn read(&mut self, path: &str, what: &str) -> Result<Vec<u8>, PlanError> {
        if path == "-" && std::mem::replace(&mut self.stdin_is_read, true) {
            return Err(PlanError::Usage(format!("cannot read {what} from standard input: it was already read")));
        }
        self.source
            .read(path)
            .map_err(|error| PlanError::Usage(format!("cannot read {what} from '{path}': {}", describe(&error))))
    }

    /// Reads a file, or standard input for `-`, as text.
    pub fn read_text(&mut self, path: &str, what: &str) -> Result<String, PlanError> {
        let not_text = |_| PlanError::Usage(format!("{what} from '{path}' is not UTF-8 text"));
        String::from_utf8(self.read(path, what)?).map_err(not_text)
    }

    /// Returns a value, or after `@` the contents of a file.
    pub(crate) fn value(&mut self, value: &str, what: &str) -> Result<Vec<u8>, PlanError> {
        match value.strip_prefix('@') {
            Some(path) => self.read(path, what),
            None => Ok(value.as_bytes().to_vec()),
        }
    }
}

/// Returns the records of a file.
///
/// # Errors
/// If the file cannot be read, or has no records.
pub fn feeder(path: &Path, source: &FileSource) -> Result<Feeder, PlanError> {
    let content = Input::of(source).read(&path.to_string_lossy(), "records")?;
    Feeder::parse(path, &content).map_err(PlanError::usage)
}

/// Returns the last component of a path.
pub(crate) fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}
