//! The folder whose files are served: what is opened lies below it.

use super::form::{Coding, Form, Identity};
use super::resource::Resource;
use bytes::Bytes;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, statat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    folder: OwnedFd,
    number: u64,
}

/// What a path names.
pub(super) enum Found {
    File(Resource),
    /// A folder, by a path without the slash at its end.
    Folder,
}

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// If it cannot be opened, or nothing can be opened below it.
    pub fn open(path: &Path) -> io::Result<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let folder = openat(CWD, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        // A kernel or a sandbox without it is noticed here, not at each request.
        openat2(&folder, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), BELOW)?;
        Ok(Self { folder, number: NUMBERS.fetch_add(1, Ordering::Relaxed) })
    }

    /// Returns the number by which the caches of workers know it.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Finds the file at a path and its ready-compressed forms, or the index file of the folder there. `None` if there is no file.
    ///
    /// # Errors
    /// If the system has no file descriptors or memory left, or the disk fails.
    pub fn find(&self, path: &[u8], index: &str) -> io::Result<Option<Found>> {
        let is_folder = path.is_empty() || path.ends_with(b"/");
        let mut path = path.to_owned();
        if is_folder {
            path.extend_from_slice(index.as_bytes());
        }
        let Some((_, stat)) = self.open_below(&path)? else { return Ok(None) };
        let Some(identity) = Identity::of(&stat) else {
            let leads_on = !is_folder && rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
            return Ok(leads_on.then_some(Found::Folder));
        };
        let content_type = content_type(&path);
        let mut forms = Vec::with_capacity(1);
        for coding in Coding::ALL {
            let beside = [&path, coding.suffix()].concat();
            if let Some(identity) = self.open_below(&beside)?.and_then(|(_, stat)| Identity::of(&stat)) {
                forms.push(Form::new(beside, identity, content_type, Some(coding)));
            }
        }
        forms.insert(0, Form::new(path, identity, content_type, None));
        Ok(Some(Found::File(Resource::new(forms))))
    }

    /// Whether the file of a form is still what it was.
    pub fn has(&self, form: &Form) -> bool {
        // A link that was followed leads to the same file only if it did when it was opened below the folder.
        let stat = statat(&self.folder, form.path.as_slice(), AtFlags::empty());
        stat.is_ok_and(|stat| Identity::of(&stat) == Some(form.identity))
    }

    /// Opens the file of a form; `None` if it is another one by now.
    ///
    /// # Errors
    /// As [`Folder::find`].
    pub fn reopen(&self, form: &Form) -> io::Result<Option<File>> {
        let opened = self.open_below(&form.path)?;
        Ok(opened.filter(|(_, stat)| Identity::of(stat) == Some(form.identity)).map(|(file, _)| file))
    }

    /// Reads the file of a form; `None` if it is another one by now.
    ///
    /// # Errors
    /// As [`Folder::find`].
    pub fn read(&self, form: &Form) -> io::Result<Option<Bytes>> {
        let Some(file) = self.reopen(form)? else { return Ok(None) };
        let mut content = Vec::with_capacity(form.length() as usize + 1);
        file.take(form.length() + 1).read_to_end(&mut content)?;
        Ok((content.len() as u64 == form.length()).then(|| content.into()))
    }

    /// Opens what lies at a path; `None` if nothing does below the folder that may be read.
    fn open_below(&self, path: &[u8]) -> io::Result<Option<(File, Stat)>> {
        // The kernel could not make sure that a link with `..` stayed below where something was renamed meanwhile.
        let open = || openat2(&self.folder, path, HOW, Mode::empty(), BELOW);
        let opened = std::iter::repeat_with(open).take(TRIES).find(|opened| !matches!(opened, Err(Errno::AGAIN)));
        looked_at(opened.unwrap_or(Err(Errno::AGAIN)))
    }
}

/// Opens the file at a path of the application's; `None` if nothing is there that may be read.
///
/// # Errors
/// As [`Folder::find`].
pub(super) fn open(path: &Path) -> io::Result<Option<(File, Stat)>> {
    looked_at(openat(CWD, path, HOW, Mode::empty()))
}

/// Returns what was opened; `None` if an error is about the path, and not about the system.
fn looked_at(opened: rustix::io::Result<OwnedFd>) -> io::Result<Option<(File, Stat)>> {
    match opened {
        Ok(file) => {
            let stat = fstat(file.as_fd())?;
            Ok(Some((file.into(), stat)))
        }
        Err(error) if is_missing(error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// How a file is opened: a pipe without a writer would wait for one otherwise.
const HOW: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
/// How often it is tried to open a file where the kernel wants that.
const TRIES: usize = 6;

/// Whether an error is about the path, and not about the system.
fn is_missing(error: Errno) -> bool {
    use Errno as E;
    [E::NOENT, E::NOTDIR, E::LOOP, E::XDEV, E::ACCESS, E::PERM, E::NAMETOOLONG, E::NXIO, E::NODEV, E::INVAL]
        .contains(&error)
}

/// Neither `..` nor a link leads out.
const BELOW: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

/// Returns the content type of a file by the end of its name.
pub(super) fn content_type(path: &[u8]) -> &'static str {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let extension = name.iter().rposition(|byte| *byte == b'.').map(|dot| &name[dot + 1..]);
    let known = extension.and_then(|extension| std::str::from_utf8(extension).ok());
    known.and_then(|known| mime_guess::from_ext(known).first_raw()).unwrap_or("application/octet-stream")
}
