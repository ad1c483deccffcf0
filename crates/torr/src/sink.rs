//! Files and standard output that results are written to.

use crate::exit::CliError;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use torr_net::errors::describe;

/// Where something is to be written, opened before the work so that a mistake shows before and not after it.
#[derive(Debug)]
pub struct Sink {
    /// `None` is standard output.
    file: Option<OnDisk>,
    name: String,
}

/// A file whose former content is kept until there is new content.
#[derive(Debug)]
struct OnDisk {
    file: File,
    path: PathBuf,
    is_new: bool,
    is_begun: bool,
}

impl Sink {
    /// `-` is standard output.
    pub fn open(path: &Path) -> Result<Self, CliError> {
        if is_stdout(path) {
            return Ok(Self { file: None, name: "standard output".into() });
        }
        let name = path.display().to_string();
        let opened = match File::create_new(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                OpenOptions::new().write(true).create(true).truncate(false).open(path).map(|file| (file, false))
            }
            created => created.map(|file| (file, true)),
        };
        let (file, is_new) =
            opened.map_err(|error| CliError::Usage(format!("cannot write {name}: {}", describe(&error))))?;
        Ok(Self { file: Some(OnDisk { file, path: path.into(), is_new, is_begun: false }), name })
    }

    /// The path as it was given, or "standard output".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the path of a file; `None` for standard output.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|file| file.path.as_path())
    }

    /// Whether standard output belongs to this alone.
    pub fn takes_stdout(&self) -> bool {
        self.file.is_none()
    }

    /// Whether there is former content, which is kept until there is new content.
    pub fn keeps_former(&self) -> bool {
        self.identity().is_some()
    }

    /// What tells a file on disk from all others, however it was named.
    fn identity(&self) -> Option<(u64, u64)> {
        identity(&self.file.as_ref()?.file.metadata().ok()?)
    }

    /// Writes the whole text, and ends its last line. An error is a line that says what could not be written.
    pub fn put(mut self, text: &str) -> Result<(), String> {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let written = self.write_all(text.as_bytes()).and_then(|()| self.write_all(end.as_bytes()));
        written.and_then(|()| self.flush()).map_err(|error| self.failed(&error))
    }

    /// A line that says what could not be written, and why.
    pub fn failed(&self, error: &dyn std::fmt::Display) -> String {
        format!("cannot write {}: {error}", self.name)
    }
}

impl OnDisk {
    /// The file, without what was in it before. What is no file on a disk has nothing that could be taken away.
    fn begun(&mut self) -> io::Result<&mut File> {
        if !self.is_begun {
            self.is_begun = true;
            if self.file.metadata()?.is_file() {
                self.file.set_len(0)?;
            }
        }
        Ok(&mut self.file)
    }
}

impl Drop for OnDisk {
    /// Where nothing came about, nothing is left behind.
    fn drop(&mut self) {
        if self.is_new && !self.is_begun {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            None => unless_gone(io::stdout().write(bytes), bytes.len()),
            Some(disk) => disk.begun()?.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.file {
            None => unless_gone(io::stdout().flush(), ()),
            Some(disk) => disk.file.flush(),
        }
    }
}

/// A reader of standard output that has gone away is none of our business.
fn unless_gone<T>(written: io::Result<T>, all: T) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(all),
        written => written,
    }
}

/// What tells a file on disk from all others.
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
}

/// Refuses outputs that would overwrite files that the command reads. Either is named by its flag, or by what else it is.
pub fn check_inputs<'a>(
    outputs: impl Iterator<Item = (&'static str, &'a Path)>,
    inputs: &[(String, PathBuf)],
) -> Result<(), CliError> {
    let on_disk = |path: &Path| fs::metadata(path).ok().as_ref().and_then(identity);
    for (flag, output) in outputs.filter(|(_, output)| !is_stdout(output)) {
        let Some(file) = on_disk(output) else { continue };
        if let Some((input, _)) = inputs.iter().find(|(_, input)| on_disk(input) == Some(file)) {
            let name = output.display();
            return Err(CliError::Usage(format!(
                "{flag} would overwrite {name}, the file of {input}: use another file for {flag}"
            )));
        }
    }
    Ok(())
}

/// Opens the outputs of a command by their flags, before its work. An error says which two of them would go to one file, or both to
/// standard output.
pub fn open_all<const N: usize>(outputs: [(&'static str, Option<&Path>); N]) -> Result<[Option<Sink>; N], CliError> {
    let mut sinks = [const { None }; N];
    let requested = outputs.iter().enumerate().filter_map(|(at, (flag, path))| Some((at, *flag, (*path)?)));
    for (at, sink) in open_each(requested.collect())? {
        sinks[at] = Some(sink);
    }
    Ok(sinks)
}

/// Opens outputs, each with a key and its flag. An error is that of [`open_all`].
pub fn open_each<K>(outputs: Vec<(K, &'static str, &Path)>) -> Result<Vec<(K, Sink)>, CliError> {
    let mut on_stdout = outputs.iter().filter(|(_, _, path)| is_stdout(path));
    if let (Some((_, one, _)), Some((_, other, _))) = (on_stdout.next(), on_stdout.next()) {
        return Err(CliError::Usage(format!("{one} and {other} cannot both go to standard output: pass a file")));
    }
    let mut sinks: Vec<(K, Sink)> = Vec::new();
    let mut files: Vec<(&str, (u64, u64))> = Vec::new();
    for (key, flag, path) in outputs {
        let sink = Sink::open(path)?;
        if let Some(file) = sink.identity() {
            if let Some((other, _)) = files.iter().find(|(_, known)| *known == file) {
                return Err(CliError::Usage(format!("{other} and {flag} cannot both go to {}", path.display())));
            }
            files.push((flag, file));
        }
        sinks.push((key, sink));
    }
    Ok(sinks)
}

/// Whether a path means standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}
