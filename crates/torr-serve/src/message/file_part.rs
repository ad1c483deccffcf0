//! A part of a file as content.

use rustix::buffer::spare_capacity;
use rustix::io::pread;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use torr_net::socket;

/// A part of a file, read as the client takes it.
#[derive(Debug)]
pub struct FilePart {
    file: File,
    left: Range<u64>,
}

impl FilePart {
    pub(crate) fn new(file: File, range: Range<u64>) -> Self {
        Self { file, left: range }
    }

    /// Returns the number of bytes that are left.
    pub(crate) fn length(&self) -> u64 {
        self.left.end - self.left.start
    }

    /// Returns how many bytes come next, at most so many.
    fn next(&self, most: usize) -> usize {
        usize::try_from(self.length()).unwrap_or(most).min(most)
    }

    /// Appends the next bytes to a buffer, at most so many and none at the end.
    ///
    /// # Errors
    /// If the file cannot be read, or has become shorter.
    pub(crate) fn read(&mut self, buffer: &mut Vec<u8>, most: usize) -> io::Result<()> {
        let end = buffer.len() + self.next(most);
        buffer.reserve_exact(end - buffer.len());
        while buffer.len() < end {
            let room = end - buffer.len();
            // A buffer may have more room than was reserved.
            let got = pread(&self.file, spare_capacity(buffer), self.left.start)?.min(room);
            if got == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buffer.truncate(end - room + got);
            self.left.start += got as u64;
        }
        Ok(())
    }

    /// Sends the next bytes, at most so many, without reading them into memory. Returns how many the socket has taken; 0 if it is full.
    ///
    /// # Errors
    /// As [`FilePart::read`], and those of the socket.
    pub(crate) fn send(&mut self, to: impl AsFd, most: usize) -> io::Result<usize> {
        let sent = socket::send_file(to, &self.file, self.left.start, self.next(most))?;
        self.left.start += sent as u64;
        Ok(sent)
    }
}
