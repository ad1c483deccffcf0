//! Where the files come from that a load names: this machine, or the message of a coordinator.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// Files by the paths that the load has for them; `-` is standard input.
pub type FilesByPath = BTreeMap<String, Arc<[u8]>>;

/// Where files come from.
#[derive(Debug, Clone, Default)]
pub enum FileSource {
    /// This machine.
    #[default]
    Here,
    /// This machine; each file that is read is kept, to be sent to the agents of a fleet.
    Kept(Arc<Mutex<FilesByPath>>),
    /// A coordinator has sent them. Nothing of this machine is read.
    Sent(Arc<FilesByPath>),
}

impl FileSource {
    /// Reads a file, or standard input for `-`.
    ///
    /// # Errors
    /// That of the system; for a file that was not sent, [`io::ErrorKind::NotFound`].
    pub fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self {
            Self::Here => here(path),
            Self::Kept(kept) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                // A setup and the load may name one file, and standard input can be read once.
                if let Some(known) = kept.get(path) {
                    return Ok(known.to_vec());
                }
                let content = here(path)?;
                kept.insert(path.to_owned(), content.as_slice().into());
                Ok(content)
            }
            Self::Sent(files) => {
                let missing = || io::Error::new(io::ErrorKind::NotFound, "the coordinator did not send this file");
                files.get(path).map(|content| content.to_vec()).ok_or_else(missing)
            }
        }
    }

    /// Reads a file of a load of several machines; `None` if it cannot be read, and for the load of one machine.
    pub fn read_for_fleet(&self, path: &str) -> Option<Arc<[u8]>> {
        self.is_of_fleet().then(|| self.read(path).ok()).flatten().map(Arc::from)
    }

    /// Returns whether the load is one of several machines.
    pub fn is_of_fleet(&self) -> bool {
        !matches!(self, Self::Here)
    }
}

/// A source is no setting: loads from two sources can be equal.
impl PartialEq for FileSource {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

fn here(path: &str) -> io::Result<Vec<u8>> {
    if path != "-" {
        return std::fs::read(path);
    }
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).map(|_| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_can_be_sent_and_nothing_else_is_read() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("a").display().to_string();
        std::fs::write(&path, "x").expect("there is room");
        let kept = Arc::default();
        let source = FileSource::Kept(Arc::clone(&kept));
        assert_eq!(source.read(&path).expect("it is there"), b"x");
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(source.read(&path).expect("it was kept"), b"x");
        assert!(source.read("/etc/hostname").is_ok());
        let sent = kept.lock().expect("nothing has panicked").clone();
        let sent = FileSource::Sent(Arc::new(sent.into_iter().filter(|(name, _)| *name == path).collect()));
        assert_eq!(sent.read(&path).expect("it was sent"), b"x");
        assert_eq!(sent.read("/etc/hostname").expect_err("it was not sent").kind(), io::ErrorKind::NotFound);
        assert!(sent.is_of_fleet() && !FileSource::Here.is_of_fleet());
    }
}
