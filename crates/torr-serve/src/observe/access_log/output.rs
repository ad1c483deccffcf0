//! Where lines are written, so that none is torn: neither by another worker nor by another process.
//!
//! - A file: one `write(2)` at its end (`O_APPEND`), which the kernel does as a whole.
//! - A pipe: whole lines of up to `PIPE_BUF` bytes together, which pipe(7) says are not mixed with others' bytes; no line is
//!   longer. Nobody waits for its reader.
//! - A socket, as systemd gives one: the same without waiting, by `MSG_DONTWAIT`.
//!
//! If only a part of a line could be written, its rest is the first thing that is written later.

use super::settings::LogTarget;
use rustix::fs::{FileType, OFlags, fstat};
use rustix::net::{SendFlags, send};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

#[derive(Debug)]
pub(super) struct Output {
    file: File,
    kind: Kind,
    /// The rest of a line that is written in part.
    rest: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pipe,
    Socket,
    /// Files, and all else.
    File,
}

/// What a pipe takes as a whole, on Linux.
const PIPE_BUF: usize = 4096;

impl Output {
    pub fn open(target: &LogTarget) -> io::Result<Self> {
        let file = match target {
            LogTarget::File(path) => append(path)?,
            LogTarget::Stdout => borrowed(io::stdout())?,
        };
        Self::of(file)
    }

    pub fn of(file: File) -> io::Result<Self> {
        let kind = match kind(&file)? {
            FileType::Fifo => Kind::Pipe,
            FileType::Socket => Kind::Socket,
            _ => Kind::File,
        };
        Ok(Self { file, kind, rest: Vec::new() })
    }

    /// Writes lines, and takes away those that are written.
    ///
    /// # Errors
    /// Of the system; what is left is what could not be written. `WouldBlock` is a reader that does not keep up.
    pub fn put(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        self.put_rest()?;
        let mut done = 0;
        let result = loop {
            if done == lines.len() {
                break Ok(());
            }
            let piece = self.piece(&lines[done..]);
            match self.write(piece) {
                Ok(written) if written == piece.len() => done += written,
                Ok(written) => {
                    done += written;
                    let begun = done > 0 && lines[done - 1] != b'\n';
                    if begun {
                        let end = lines[done..]
                            .iter()
                            .position(|&byte| byte == b'\n')
                            .map_or(lines.len(), |at| done + at + 1);
                        self.rest.extend_from_slice(&lines[done..end]);
                        done = end;
                    }
                    if let Err(error) = self.put_rest() {
                        break Err(error);
                    }
                }
                Err(error) => break Err(error),
            }
        };
        lines.drain(..done);
        result
    }

    fn put_rest(&mut self) -> io::Result<()> {
        while !self.rest.is_empty() {
            let written = self.write(&self.rest)?;
            self.rest.drain(..written);
        }
        Ok(())
    }

    /// As many whole lines as may be written together.
    fn piece<'l>(&self, lines: &'l [u8]) -> &'l [u8] {
        if self.kind == Kind::File || lines.len() <= PIPE_BUF {
            return lines;
        }
        let end_of_line = |byte: &u8| *byte == b'\n';
        let end = lines[..PIPE_BUF].iter().rposition(end_of_line).or_else(|| lines.iter().position(end_of_line));
        &lines[..end.map_or(lines.len(), |at| at + 1)]
    }

    /// One system call, again if a signal came between.
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let written = match self.kind {
                Kind::Socket => Ok(send(&self.file, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?),
                Kind::Pipe | Kind::File => (&self.file).write(bytes),
            };
            match written {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                written => return written,
            }
        }
    }
}

/// Not readable for everyone: who asked for what is nobody else's business.
fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o640);
    // For a named pipe: neither to wait for a reader now, nor for a slow one later.
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// A descriptor of somebody else's, standard output for one, to be written to without changing what it is for others.
pub(super) fn borrowed(from: impl AsFd) -> io::Result<File> {
    let from = from.as_fd();
    if kind(from)? == FileType::Fifo {
        // To make this one non-blocking would make it so for everyone who has it. A pipe that belongs to somebody else cannot
        // be opened again: then its reader is waited for.
        let mut again = OpenOptions::new();
        again.write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        if let Ok(file) = again.open(format!("/proc/self/fd/{}", from.as_raw_fd())) {
            return Ok(file);
        }
    }
    Ok(from.try_clone_to_owned()?.into())
}

fn kind(file: impl AsFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(file)?.st_mode))
}
