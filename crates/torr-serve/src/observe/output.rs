//! An output of lines, in which no line is interleaved with those of other workers or processes.
//!
//! - A file: one `write(2)` with `O_APPEND`, which the kernel does atomically.
//! - A pipe: whole lines of up to `PIPE_BUF` bytes together, which pipe(7) guarantees to be atomic; no line is longer. The
//!   write does not block, nor does one to a terminal.
//! - A socket, as systemd passes one: whole lines as well, without blocking (`MSG_DONTWAIT`).
//!
//! After a partial write of a line, its rest is written before anything else.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fstat};
use rustix::io::Errno;
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
    /// Whether a write would block where there is no room.
    blocks: bool,
    /// The rest of a line that was written in part.
    rest: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pipe,
    Socket,
    /// A file, or another device.
    File,
}

/// The most bytes that a pipe takes atomically, on Linux.
const PIPE_BUF: usize = 4096;

impl Output {
    /// Opens a file to append to, not readable for other users, since requests are personal data.
    pub fn append(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o640);
        // A named pipe blocks neither without a reader here nor with a slow one later.
        Self::of(options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?)
    }

    /// Returns the output of a shared descriptor, such as standard output, without a change of the flags that others see.
    pub fn shared(from: impl AsFd) -> io::Result<Self> {
        let from = from.as_fd();
        if !matches!(kind(from)?, FileType::Fifo | FileType::CharacterDevice) {
            return Self::of(from.try_clone_to_owned()?.into());
        }
        // O_NONBLOCK would be set for all processes that share the description, so it is opened again. The pipe of another user
        // cannot be opened again.
        let mut again = OpenOptions::new();
        again.write(true).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
        match again.open(format!("/proc/self/fd/{}", from.as_raw_fd())) {
            Ok(file) => Self::of(file),
            Err(_) => Ok(Self { blocks: true, ..Self::of(from.try_clone_to_owned()?.into())? }),
        }
    }

    pub fn of(file: File) -> io::Result<Self> {
        let kind = match kind(&file)? {
            FileType::Fifo => Kind::Pipe,
            FileType::Socket => Kind::Socket,
            _ => Kind::File,
        };
        Ok(Self { file, kind, blocks: false, rest: Vec::new() })
    }

    /// Writes lines, and removes those that were written.
    ///
    /// # Errors
    /// The system's error; `lines` then has what was not written. `WouldBlock` means that the reader does not keep up.
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

    /// Returns as many whole lines as may be written together.
    fn piece<'l>(&self, lines: &'l [u8]) -> &'l [u8] {
        if self.kind == Kind::File || lines.len() <= PIPE_BUF {
            return lines;
        }
        let end_of_line = |byte: &u8| *byte == b'\n';
        let end = lines[..PIPE_BUF].iter().rposition(end_of_line).or_else(|| lines.iter().position(end_of_line));
        &lines[..end.map_or(lines.len(), |at| at + 1)]
    }

    /// Writes with one system call, repeated if a signal interrupts it.
    fn write(&self, mut bytes: &[u8]) -> io::Result<usize> {
        if self.blocks {
            let mut room = [PollFd::new(&self.file, PollFlags::OUT)];
            // Another process may take the room before the write. A signal interrupts only where there is no room.
            match poll(&mut room, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
                Ok(0) | Err(Errno::INTR) => return Err(ErrorKind::WouldBlock.into()),
                polled => polled?,
            };
            // A pipe that is ready has room for so many bytes at least; a longer write would wait for more.
            bytes = &bytes[..bytes.len().min(PIPE_BUF)];
        }
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

/// Returns the number of lines.
pub(super) fn count(lines: &[u8]) -> u64 {
    lines.iter().filter(|&&byte| byte == b'\n').count() as u64
}

fn kind(file: impl AsFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(file)?.st_mode))
}
