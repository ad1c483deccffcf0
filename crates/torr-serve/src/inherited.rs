//! What a worker process has from its supervisor: its number, a channel, and its listeners.
//!
//! A variable in the environment names the descriptors. It reaches programs too that a worker itself starts, for which it
//! is not meant: so it also tells which file the channel is.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use torr_net::inherited;

/// The variable.
pub(crate) const VARIABLE: &str = "TORR_WORKER_PROCESS";

/// What a worker tells its supervisor once it accepts connections.
pub(crate) const READY: u8 = b'r';
/// What a supervisor tells its worker: to leave in its own time, since others have taken its place,
pub(crate) const DRAIN: u8 = b'd';
/// or to leave soon.
pub(crate) const STOP: u8 = b's';

/// All of it but the number.
#[derive(Debug)]
pub(crate) struct Inheritance {
    pub channel: UnixStream,
    pub listeners: Vec<OwnedFd>,
}

/// What the variable says.
#[derive(Debug, PartialEq, Eq)]
struct Note {
    number: usize,
    inode: u64,
    channel: RawFd,
    listeners: Vec<RawFd>,
}

/// The value of the variable for a worker that is to have these.
pub(crate) fn note(number: usize, channel: &OwnedFd, listeners: &[OwnedFd]) -> OsString {
    let inode = inherited::inode(channel.as_raw_fd()).unwrap_or_default();
    let numbers: Vec<_> = [channel].into_iter().chain(listeners).map(|fd| fd.as_raw_fd().to_string()).collect();
    format!("{number}:{inode}:{}", numbers.join(",")).into()
}

fn parse(text: &str) -> Option<Note> {
    let mut parts = text.splitn(3, ':');
    let (number, inode) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let mut numbers = parts.next()?.split(',').map(|number| number.parse().ok());
    let channel = numbers.next()??;
    Some(Note { number, inode, channel, listeners: numbers.collect::<Option<_>>()? })
}

/// What was left to this process, if it is a worker.
fn ours() -> Option<&'static Note> {
    static NOTE: OnceLock<Option<Note>> = OnceLock::new();
    let read = || {
        let note = parse(&std::env::var(VARIABLE).ok()?)?;
        (inherited::inode(note.channel) == Some(note.inode)).then_some(note)
    };
    NOTE.get_or_init(read).as_ref()
}

/// Which worker process of a supervisor this is, from 1; `None` if it is none, but the supervisor or a process alone.
///
/// A program that serves with `Settings::processes` runs from its start in the supervisor, and again in each worker:
/// this tells it what to do where.
pub fn worker_number() -> Option<usize> {
    ours().map(|note| note.number)
}

/// Takes all of it, once. `None` if this is no worker.
///
/// # Errors
/// If it was taken before, or is not what the variable says.
pub(crate) fn take() -> io::Result<Option<Inheritance>> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let Some(note) = ours() else { return Ok(None) };
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(io::Error::other("a worker process has one server"));
    }
    let channel = UnixStream::from(inherited::take(note.channel)?);
    let listeners = note.listeners.iter().map(|number| inherited::take(*number)).collect::<io::Result<_>>()?;
    Ok(Some(Inheritance { channel, listeners }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read_again() {
        let (channel, listener) = UnixStream::pair().expect("there is room for descriptors");
        let (channel, listeners) = (OwnedFd::from(channel), [OwnedFd::from(listener)]);
        let inode = inherited::inode(channel.as_raw_fd()).expect("it is open");
        let expected = Note {
            number: 7,
            inode,
            channel: channel.as_raw_fd(),
            listeners: listeners.iter().map(AsRawFd::as_raw_fd).collect(),
        };
        let text = note(7, &channel, &listeners);
        assert_eq!(parse(text.to_str().expect("it is ASCII")), Some(expected));
        for nonsense in ["", "1", "1:2", "1:2:", "1:2:3,", "1:2:3,x", "x:2:3", "1:2:3:4"] {
            assert_eq!(parse(nonsense), None, "{nonsense}");
        }
    }
}
