//! Files that a hurl file names, read before the run.

use crate::hurl::{ParseError, Position, ast};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Where files come from.
pub trait Files {
    /// Returns a file's content.
    ///
    /// # Errors
    /// In words, if the file cannot be read or must not be.
    fn read(&self, name: &str) -> Result<Vec<u8>, String>;

    /// Returns the content of the user's own file of credentials, `.netrc` in the home folder.
    ///
    /// # Errors
    /// In words, if it cannot be read or must not be.
    fn netrc(&self) -> Result<Vec<u8>, String> {
        Err("there is no file of the user's own here: use netrc-file".to_owned())
    }

    /// Returns why the environment of this process means nothing to the sessions, if it does not.
    fn refuses_environment(&self) -> Option<&'static str> {
        None
    }
}

/// Reads a file of a hurl file and returns its name and content.
///
/// # Errors
/// If the name is not known before the run, or the file cannot be read.
pub fn read(name: &ast::Template, at: Position, files: &dyn Files) -> Result<(String, Vec<u8>), ParseError> {
    let error = |message: String| ParseError { at, message };
    let literal = name.literal();
    let name = literal.ok_or_else(|| {
        error("a file's name must not have placeholders, as files are read before the run".to_owned())
    })?;
    files.read(name).map(|content| (name.to_owned(), content)).map_err(error)
}

/// Returns the content of the user's own file of credentials.
///
/// # Errors
/// That of the system; without a home folder, [`io::ErrorKind::NotFound`].
pub fn own_netrc() -> io::Result<Vec<u8>> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "there is no home folder");
    std::fs::read(std::env::home_dir().ok_or_else(missing)?.join(".netrc"))
}

/// The files below a folder.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    /// Returns the files of the folder that a hurl file is in.
    pub fn of(file: &Path) -> Self {
        Self(file.parent().map_or_else(PathBuf::new, Path::to_path_buf))
    }

    /// Returns the path of a file that a hurl file of the folder names.
    ///
    /// # Errors
    /// In words, if it leads out of the folder.
    pub fn path(&self, name: &str) -> Result<PathBuf, String> {
        let outside = |part: Component<'_>| !matches!(part, Component::Normal(_) | Component::CurDir);
        match Path::new(name).components().any(outside) {
            true => Err(format!("'{name}' is outside the hurl file's folder")),
            false => Ok(self.0.join(name)),
        }
    }
}

impl Files for Folder {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.path(name)?;
        std::fs::read(&path).map_err(|error| format!("cannot read '{}': {error}", path.display()))
    }

    fn netrc(&self) -> Result<Vec<u8>, String> {
        own_netrc().map_err(|error| format!("cannot read ~/.netrc: {error}"))
    }
}
