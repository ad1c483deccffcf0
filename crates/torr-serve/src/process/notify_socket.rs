//! Messages to systemd's notification socket, which never block their sender.
//!
//! A datagram socket blocks when its reader has as many messages as it may have. A supervisor that waited there would neither stop on
//! a signal nor replace a worker. What the socket does not take at once is sent by a thread that waits instead, in the order of the
//! messages. The service manager takes a watchdog's message only for a sign of life, so one that has to wait is dropped.

use rustix::net::AddressFamily;
use rustix::net::{SendFlags, SocketAddrUnix, SocketFlags, SocketType, sendto, socket_with};
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The number of messages that wait at most; a server sends a few in each reload.
const MOST_WAITING: usize = 64;

/// The socket of the service manager.
#[derive(Debug)]
pub(crate) struct NotifySocket {
    address: SocketAddrUnix,
    socket: OwnedFd,
    waiting: Mutex<Waiting>,
}

/// Messages that the socket did not take.
#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<String>,
    /// Whether a thread sends them.
    is_sent: bool,
}

impl NotifySocket {
    /// Returns the socket of this address as `NOTIFY_SOCKET` has it: a path, or an abstract name after `@`.
    ///
    /// # Errors
    /// If the address is not one of a Unix socket, or the system has no descriptor left.
    pub fn new(address: &OsStr) -> io::Result<Arc<Self>> {
        let address = match address.as_bytes() {
            [b'@', name @ ..] => SocketAddrUnix::new_abstract_name(name)?,
            path => SocketAddrUnix::new(path)?,
        };
        let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        Ok(Arc::new(Self { address, socket, waiting: Mutex::default() }))
    }

    /// Sends a message, at once or, if it `matters`, when the reader has room for it.
    ///
    /// # Errors
    /// If nothing listens at the address, or no thread can be started.
    pub fn send(self: &Arc<Self>, message: String, matters: bool) -> io::Result<()> {
        let mut waiting = self.waiting();
        if waiting.messages.is_empty() && !waiting.is_sent {
            match self.put(&message, SendFlags::DONTWAIT) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
        if !matters || waiting.messages.len() >= MOST_WAITING {
            return Ok(());
        }
        waiting.messages.push_back(message);
        if !std::mem::replace(&mut waiting.is_sent, true) {
            let this = Arc::clone(self);
            let started = thread::Builder::new().name("notify".into()).spawn(move || this.send_waiting());
            if let Err(error) = started {
                *waiting = Waiting::default();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Sends what waits, until nothing does.
    fn send_waiting(&self) {
        loop {
            let mut waiting = self.waiting();
            let Some(message) = waiting.messages.pop_front() else {
                waiting.is_sent = false;
                return;
            };
            drop(waiting);
            // A service manager that has gone is no reason not to serve.
            let _ = self.put(&message, SendFlags::empty());
        }
    }

    fn put(&self, message: &str, flags: SendFlags) -> io::Result<()> {
        loop {
            match sendto(&self.socket, message.as_bytes(), flags | SendFlags::NOSIGNAL, &self.address) {
                Ok(_) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing panics while the lock is held.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;
    use std::time::Duration;

    /// Reads messages until `last` comes.
    fn read_to(reader: &UnixDatagram, last: &str) -> Vec<String> {
        let mut messages = Vec::new();
        let mut bytes = [0; 100];
        while messages.last().is_none_or(|message| message != last) {
            let length = reader.recv(&mut bytes).expect("another message comes");
            messages.push(String::from_utf8(bytes[..length].to_vec()).expect("text"));
        }
        messages
    }

    #[test]
    fn a_reader_that_stands_still_blocks_no_sender_and_misses_no_message_that_matters() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let path = folder.path().join("notify");
        let reader = UnixDatagram::bind(&path).expect("the folder takes a socket");
        reader.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket takes options");
        let socket = NotifySocket::new(path.as_os_str()).expect("it is a path");
        let send = |message: &str, matters| socket.send(message.into(), matters).expect("there is a reader");
        // More than any queue of datagrams has: each of these sends would block at last.
        for _ in 0..100_000 {
            send("WATCHDOG=1", false);
        }
        send("READY=1", true);
        send("WATCHDOG=1", false);
        send("STOPPING=1", true);
        let messages = read_to(&reader, "STOPPING=1");
        let matters: Vec<_> = messages.iter().filter(|message| *message != "WATCHDOG=1").collect();
        assert_eq!(matters, ["READY=1", "STOPPING=1"]);
        assert!(messages.len() < 100_000, "the queue was never full");
        assert_ne!(messages[messages.len() - 2], "WATCHDOG=1", "it came after what waited");
    }

    #[test]
    fn an_abstract_name_is_an_address_and_one_without_a_reader_is_an_error() {
        let name = format!("@torr-notify-{}", std::process::id());
        let socket = NotifySocket::new(OsStr::new(&name)).expect("it is a name");
        socket.send("READY=1".into(), true).expect_err("nothing listens there");
        use std::os::linux::net::SocketAddrExt;
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name[1..]).expect("it is a name");
        let reader = UnixDatagram::bind_addr(&address).expect("it is free");
        socket.send("READY=1".into(), true).expect("there is a reader");
        assert_eq!(read_to(&reader, "READY=1"), ["READY=1"]);
    }
}
