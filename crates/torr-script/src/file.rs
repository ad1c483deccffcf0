//! A script as it is read from its file, before anything of it runs.

use crate::error::ScriptError;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The source of a script.
#[derive(Debug, Clone)]
pub struct ScriptFile {
    /// The file.
    pub path: PathBuf,
    /// The file's name as given, for messages.
    pub name: String,
    source: Vec<u8>,
}

impl ScriptFile {
    /// Reads a script.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let name = path.display().to_string();
        let source = fs::read(path).map_err(|error| {
            let why = match error.kind() {
                ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => format!("cannot be read: {error}"),
            };
            ScriptError::of_file(&name, None, why)
        })?;
        Ok(Self { path: path.to_owned(), name, source })
    }

    /// Returns the source without a first line that is for the shell (`#!`), whose line end stays, so that lines keep their
    /// numbers.
    pub(crate) fn source(&self) -> &[u8] {
        if !self.source.starts_with(b"#") {
            return &self.source;
        }
        let end = memchr::memchr(b'\n', &self.source).unwrap_or(self.source.len());
        &self.source[end..]
    }
}
