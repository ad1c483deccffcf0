//! The system call that a thread waits in, as `/proc/PID/task/TID/syscall` shows it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// What a thread does, seen by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// The thread computes, or could compute if a CPU were free.
    Runs,
    /// The thread waits outside of a system call, as for a page of memory.
    Blocked,
    /// The thread waits in a system call.
    Waits(Call),
}

/// A system call of a waiting thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Call {
    /// The call's number.
    pub number: i64,
    /// The arguments.
    pub arguments: [u64; 6],
    /// The stack pointer.
    pub sp: u64,
    /// The program counter.
    pub pc: u64,
}

/// The file of a thread, kept open: a thread is read many times.
#[derive(Debug)]
pub struct ThreadFile(File);

impl ThreadFile {
    /// Opens the file of a thread.
    ///
    /// # Errors
    /// Those of `open(2)`: `ENOENT` of a thread that has ended, `EACCES` without the right.
    pub fn open(process: i32, thread: i32) -> io::Result<Self> {
        File::open(format!("/proc/{process}/task/{thread}/syscall")).map(Self)
    }

    /// Reads what the thread does now.
    ///
    /// # Errors
    /// `EPERM` without the right to trace the process, `ESRCH` of a thread that has ended.
    pub fn read(&self) -> io::Result<Doing> {
        let mut bytes = [0; 256];
        let read = self.0.read_at(&mut bytes, 0)?;
        let text = std::str::from_utf8(&bytes[..read]).unwrap_or_default();
        parse(text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }
}

fn parse(text: &str) -> Option<Doing> {
    let text = text.trim_end();
    if text == "running" {
        return Some(Doing::Runs);
    }
    let mut words = text.split(' ');
    let number: i64 = words.next()?.parse().ok()?;
    if number < 0 {
        return Some(Doing::Blocked);
    }
    let mut hex = || u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok();
    let mut arguments = [0; 6];
    for argument in &mut arguments {
        *argument = hex()?;
    }
    Some(Doing::Waits(Call { number, arguments, sp: hex()?, pc: hex()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_parsed() {
        assert_eq!(parse("running\n"), Some(Doing::Runs));
        assert_eq!(parse("-1 0x7ffd 0x7f00\n"), Some(Doing::Blocked));
        let call = Call { number: 202, arguments: [0x55, 0x80, 2, 0, 0, 0], sp: 0x7ffe, pc: 0x7f01 };
        assert_eq!(parse("202 0x55 0x80 0x2 0x0 0x0 0x0 0x7ffe 0x7f01\n"), Some(Doing::Waits(call)));
        assert_eq!(parse("202 0x55"), None);
        assert_eq!(parse(""), None);
    }
}
