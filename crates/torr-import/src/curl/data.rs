//! Data that flags of curl give: text, files, standard input.

use super::shell;
use super::words::Stdin;
use crate::draft::ImportError;

/// Reads a file that a command names, by its path from where the command runs, or says why it cannot be read.
pub type ReadFile<'r> = &'r dyn Fn(&str) -> Result<Vec<u8>, String>;

/// The most bytes of files that are written into a hurl file.
pub(super) const MOST_BYTES: usize = 1024 * 1024;

/// What to do where a command reads a standard input of which nothing is known.
pub(super) const STDIN_AS_FILE: &str = "save its content in a file named stdin";

/// Where data comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// Text, in which variables of the shell may stand.
    Text(String),
    /// A file.
    File(String),
    /// The standard input of the command.
    Stdin,
}

/// A piece of the data of a request.
#[derive(Debug, Clone)]
pub(super) struct Data {
    pub(super) source: Source,
    /// Whether curl removes line ends and zeros from what it reads.
    pub(super) is_stripped: bool,
    /// Whether an ampersand stands between this and what comes before.
    pub(super) is_joined: bool,
    /// What stands before the content of a file that is to be percent-encoded, such as `name=`; `None` for other data.
    pub(super) encoded: Option<String>,
}

impl Source {
    /// Returns the source that a name behind `@` stands for.
    ///
    /// # Errors
    /// If there is no name.
    pub(super) fn named(word: &str, name: &str) -> Result<Self, ImportError> {
        match name {
            "" => Err(ImportError(format!("missing file name after '@' in {word}"))),
            "-" => Ok(Self::Stdin),
            name => Ok(Self::File(name.to_owned())),
        }
    }

    /// Returns where the bytes are, once it is known what the command reads.
    pub(super) fn of_command(&self, stdin: Option<&Stdin>) -> Result<Self, String> {
        match self {
            Self::Stdin => match stdin {
                Some(Stdin::Text(text)) => Ok(Self::Text(text.clone())),
                Some(Stdin::File(name)) => Ok(Self::File(name.clone())),
                Some(Stdin::Unknown(what)) => Err(format!("{what} is known to the shell only")),
                None => Err(STDIN_AS_FILE.to_owned()),
            },
            known => Ok(known.clone()),
        }
    }

    /// Returns the bytes: text with the marks of variables, or what a file has.
    ///
    /// # Errors
    /// In words, if they are not known.
    pub(super) fn bytes(&self, stdin: Option<&Stdin>, read: ReadFile<'_>) -> Result<Vec<u8>, String> {
        match self.of_command(stdin)? {
            Self::Text(text) => Ok(text.into_bytes()),
            Self::File(name) if shell::has(&name) => Err("its name is known to the shell only".to_owned()),
            Self::File(name) => {
                let bytes = read(&name)?;
                if bytes.len() > MOST_BYTES {
                    return Err("larger than 1 MiB, too large for the hurl file".to_owned());
                }
                Ok(bytes)
            }
            Self::Stdin => Err("its content is unknown".to_owned()),
        }
    }

    /// Returns the source as a command line shows it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(_) => "text".to_owned(),
            Self::File(name) => format!("'{}'", shell::shown(name)),
            Self::Stdin => "standard input".to_owned(),
        }
    }
}

/// Removes what curl removes from data that it reads: line ends and zeros.
pub(super) fn stripped(bytes: &mut Vec<u8>) {
    bytes.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
}

/// Percent-encodes as curl does, a space as a plus.
pub(super) fn encoded(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &byte in bytes {
        match byte {
            b' ' => out.push('+'),
            byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
