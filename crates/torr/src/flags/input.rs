//! Files and standard input that requests are made from.

use crate::exit::CliError;
use std::path::Path;
use torr_load::FileSource;
use torr_net::errors::describe;
use torr_press::request::Feeder;
use torr_script::FileReader;

/// A reader of files, and of standard input once.
#[derive(Debug, Default)]
pub struct Input {
    source: FileSource,
    stdin_is_read: bool,
}

impl Input {
    /// Returns a reader of the files of a source.
    pub fn of(source: &FileSource) -> Self {
        Self { source: source.clone(), stdin_is_read: false }
    }

    /// Reads a file, or standard input for `-`.
    pub fn read(&mut self, path: &str, what: &str) -> Result<Vec<u8>, CliError> {
        if path == "-" && std::mem::replace(&mut self.stdin_is_read, true) {
            return Err(CliError::Usage(format!("cannot read {what} from standard input: it was already read")));
        }
        self.source
            .read(path)
            .map_err(|error| CliError::Usage(format!("cannot read {what} from '{path}': {}", describe(&error))))
    }

    /// Reads a file, or standard input for `-`, as text.
    pub fn read_text(&mut self, path: &str, what: &str) -> Result<String, CliError> {
        let not_text = |_| CliError::Usage(format!("{what} from '{path}' is not UTF-8 text"));
        String::from_utf8(self.read(path, what)?).map_err(not_text)
    }

    /// Returns a value, or after `@` the contents of a file.
    pub fn value(&mut self, value: &str, what: &str) -> Result<Vec<u8>, CliError> {
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
pub fn feeder(path: &Path, source: &FileSource) -> Result<Feeder, CliError> {
    let content = Input::of(source).read(&path.to_string_lossy(), "records")?;
    Feeder::parse(path, &content).map_err(CliError::usage)
}

/// Returns the last component of a path.
pub fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns what reads the modules of a script.
pub fn module_reader(source: &FileSource) -> FileReader {
    let source = source.clone();
    FileReader::new(move |path| source.read(path))
}
