//! A script as it is read from its file, before anything of it runs, and the files beside it.

use crate::error::ScriptError;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use torr_net::errors::describe;

/// Reads the file of a script, and those of modules beside it.
#[derive(Clone)]
pub struct FileReader(Arc<Read>);

type Read = dyn Fn(&str) -> io::Result<Vec<u8>> + Send + Sync;

impl FileReader {
    /// Creates a reader by a function of a path.
    pub fn new(read: impl Fn(&str) -> io::Result<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }
}

impl Default for FileReader {
    /// Reads files of this machine.
    fn default() -> Self {
        Self::new(|path| std::fs::read(path))
    }
}

impl fmt::Debug for FileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileReader").finish_non_exhaustive()
    }
}

/// The source of a script.
#[derive(Debug, Clone)]
pub struct ScriptFile {
    /// The file.
    pub path: PathBuf,
    /// The file's name as given, for messages.
    pub name: String,
    source: Vec<u8>,
    reader: FileReader,
}

impl ScriptFile {
    /// Reads a script.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(path: &Path, reader: FileReader) -> Result<Self, ScriptError> {
        let name = path.display().to_string();
        let source = (reader.0)(&name).map_err(|error| {
            let why = match error.kind() {
                ErrorKind::NotFound => "no such file".to_owned(),
                _ => format!("cannot read it: {}", describe(&error)),
            };
            ScriptError::of_file(&name, None, why)
        })?;
        Ok(Self { path: path.to_owned(), name, source, reader })
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

    /// Returns a file beside the script, by its path; `None` if there is none.
    ///
    /// # Errors
    /// Why it cannot be read, in one line.
    pub(crate) fn beside(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        match (self.reader.0)(&path.display().to_string()) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot read '{}': {}", path.display(), describe(&error))),
        }
    }

    /// Returns path and source of a module beside the script: `a.b` is `a/b.lua` or `a/b/init.lua` there.
    ///
    /// # Errors
    /// The files that are not there, as Lua lists them; a file that cannot be read ends the search.
    pub(crate) fn module(&self, name: &str) -> Result<(String, Vec<u8>), String> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let (module, mut tried) = (name.replace('.', "/"), String::new());
        for file in [format!("{module}.lua"), format!("{module}/init.lua")] {
            let path = folder.join(file).display().to_string();
            match (self.reader.0)(&path) {
                Ok(source) => return Ok((path, source)),
                Err(error) if error.kind() == ErrorKind::NotFound => tried += &format!("\n\tno file '{path}'"),
                Err(error) => {
                    tried += &format!("\n\tcannot read '{path}': {}", describe(&error));
                    return Err(tried);
                }
            }
        }
        Err(tried)
    }
}
