//! The descriptors that a worker process inherits from its supervisor: a channel, the metrics table and listeners.
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

/// The worker's message that it accepts connections.
pub(crate) const READY: u8 = b'r';
/// The supervisor's message to stop without haste, since a new worker serves.
pub(crate) const DRAIN: u8 = b'd';
/// The supervisor's message to stop within `stop_timeout`.
pub(crate) const STOP: u8 = b's';

/// The descriptors, once they are taken.
#[derive(Debug)]
pub(crate) struct Inheritance {
    pub member: Member,
    pub listeners: Vec<OwnedFd>,
}

/// The identity of a worker process among all workers.
#[derive(Debug)]
pub(crate) struct Member {
    pub channel: UnixStream,
    /// The metrics table.
    pub table: OwnedFd,
    /// The number of the worker, from 1.
    pub number: usize,
    /// Which of its rows of the table the worker has.
    pub generation: usize,
}

/// The value of the variable.
#[derive(Debug, PartialEq, Eq)]
struct Variable {
    number: usize,
    generation: usize,
    inode: u64,
    channel: RawFd,
    table: RawFd,
    listeners: Vec<RawFd>,
}

/// The value of the variable for a worker that is to have these: the table first, then listeners.
pub(crate) fn note(number: usize, generation: usize, channel: &OwnedFd, others: &[OwnedFd]) -> OsString {
    let inode = inherited::inode(channel.as_raw_fd()).unwrap_or_default();
    let numbers: Vec<_> = [channel].into_iter().chain(others).map(|fd| fd.as_raw_fd().to_string()).collect();
    format!("{number}:{generation}:{inode}:{}", numbers.join(",")).into()
}

fn parse(text: &str) -> Option<Variable> {
    let mut parts = text.splitn(4, ':');
    let (number, generation) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let inode = parts.next()?.parse().ok()?;
    let mut numbers = parts.next()?.split(',').map(|number| number.parse().ok());
    let (channel, table) = (numbers.next()??, numbers.next()??);
    Some(Variable { number, generation, inode, channel, table, listeners: numbers.collect::<Option<_>>()? })
}

/// What was left to this process, if it is a worker. From the first look on no other program gets it.
fn ours() -> Option<&'static Variable> {
    static NOTE: OnceLock<Option<Variable>> = OnceLock::new();
    let read = || {
        let note = parse(&std::env::var(VARIABLE).ok()?)?;
        let is_ours = inherited::inode(note.channel) == Some(note.inode);
        if is_ours {
            // A program that is started before they are taken would keep the channel open, and the listeners. One that is
            // missing is told of where it is taken.
            let all = [note.channel, note.table].into_iter().chain(note.listeners.iter().copied());
            all.for_each(|number| drop(inherited::set_close_on_exec(number)));
        }
        is_ours.then_some(note)
    };
    NOTE.get_or_init(read).as_ref()
}

/// Which worker process of a supervisor this is, from 1; `None` if it is none, but the supervisor or a process alone.
///
/// A program that serves with `Settings::processes` runs from its start in the supervisor, and again in each worker:
/// this tells it what to do where. A worker may start other programs only after it has called this or
/// [`Server::bind`](crate::Server::bind): until then they would inherit its listeners.
pub fn worker_number() -> Option<usize> {
    ours().map(|note| note.number)
}

/// Takes all of it, once. `None` if this is no worker.
///
/// # Errors
/// If it was taken before, or is not what the variable says.
#[allow(unsafe_code)]
pub(crate) fn take() -> io::Result<Option<Inheritance>> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let Some(note) = ours() else { return Ok(None) };
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(io::Error::other("a worker process has one server"));
    }
    // SAFETY: the supervisor has left them open for this process: the channel's inode is the one that the supervisor has noted. This
    // line is reached once for each of them.
    let own = |number: RawFd| unsafe { inherited::take(number) };
    let channel = UnixStream::from(own(note.channel)?);
    let listeners = note.listeners.iter().map(|number| own(*number)).collect::<io::Result<_>>()?;
    let member = Member { channel, table: own(note.table)?, number: note.number, generation: note.generation };
    Ok(Some(Inheritance { member, listeners }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read_again() {
        let (channel, listener) = UnixStream::pair().expect("there is room for descriptors");
        let (channel, table) = (OwnedFd::from(channel), listener.try_clone().expect("there is room for descriptors"));
        let others = [OwnedFd::from(table), OwnedFd::from(listener)];
        let inode = inherited::inode(channel.as_raw_fd()).expect("it is open");
        let expected = Variable {
            number: 7,
            generation: 3,
            inode,
            channel: channel.as_raw_fd(),
            table: others[0].as_raw_fd(),
            listeners: vec![others[1].as_raw_fd()],
        };
        let text = note(7, 3, &channel, &others);
        assert_eq!(parse(text.to_str().expect("it is ASCII")), Some(expected));
        for nonsense in ["", "1", "1:2", "1:2:3:", "1:2:3:4", "1:2:3:4,", "1:2:3:x,5", "x:2:3:4,5", "1:2:3:4:5"] {
            assert_eq!(parse(nonsense), None, "{nonsense}");
        }
    }
}
