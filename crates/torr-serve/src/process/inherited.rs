//! The descriptors that a worker process inherits from its supervisor: a channel, the metrics table and listeners.
//!
//! An environment variable names the descriptors. Programs that a worker starts inherit the variable, too, but not the
//! descriptors: so the variable also has the inode of the channel, which is verified.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use torr_net::inherited;

/// The name of the environment variable.
pub(crate) const VARIABLE: &str = "TORR_WORKER_PROCESS";

/// The message of a worker that accepts connections.
pub(crate) const READY: u8 = b'r';
/// The supervisor's message to stop after all requests in flight, since a new worker serves.
pub(crate) const DRAIN: u8 = b'd';
/// The supervisor's message to stop within `stop_timeout`.
pub(crate) const STOP: u8 = b's';

/// The inherited descriptors.
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
    /// The worker's number, from 1.
    pub number: usize,
    /// The number of the worker's row among those of its slot, below `GENERATIONS`.
    pub generation: usize,
}

/// The parsed value of the variable.
#[derive(Debug, PartialEq, Eq)]
struct Variable {
    number: usize,
    generation: usize,
    inode: u64,
    channel: RawFd,
    table: RawFd,
    listeners: Vec<RawFd>,
}

/// Returns the variable's value for a worker that inherits a channel and `others`: the table, then listeners.
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

/// Returns the descriptors that this process has inherited, `None` if it is not a worker. The first call sets close-on-exec on
/// all of them.
fn ours() -> Option<&'static Variable> {
    static NOTE: OnceLock<Option<Variable>> = OnceLock::new();
    let read = || {
        let note = parse(&std::env::var(VARIABLE).ok()?)?;
        let is_ours = inherited::inode(note.channel) == Some(note.inode);
        if is_ours {
            // A program that this process starts would otherwise keep the channel and the listeners open. A missing descriptor
            // is reported by `take`.
            let all = [note.channel, note.table].into_iter().chain(note.listeners.iter().copied());
            all.for_each(|number| drop(inherited::set_close_on_exec(number)));
        }
        is_ours.then_some(note)
    };
    NOTE.get_or_init(read).as_ref()
}

/// Returns this worker process's number, from 1; `None` in the supervisor and in a server of a single process.
///
/// A program that serves with `Settings::processes` runs from its start in the supervisor and in each worker, and can tell them
/// apart by this number. A worker may start other programs only after a call of this function or of
/// [`Server::bind`](crate::Server::bind): before, they would inherit its listeners.
pub fn worker_number() -> Option<usize> {
    ours().map(|note| note.number)
}

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Returns this worker process's number as long as no server has taken the inherited descriptors.
pub(crate) fn number_of_idle_worker() -> Option<usize> {
    worker_number().filter(|_| !TAKEN.load(Ordering::Relaxed))
}

/// Takes the inherited descriptors, once. `None` if this process is not a worker.
///
/// # Errors
/// If they were taken before, or do not match the variable.
#[allow(unsafe_code)]
pub(crate) fn take() -> io::Result<Option<Inheritance>> {
    let Some(note) = ours() else { return Ok(None) };
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(io::Error::other("a worker process has one server"));
    }
    // SAFETY: the descriptors belong to this process, as the channel's inode is the one in the variable, and this line is
    // reached once for each of them.
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
