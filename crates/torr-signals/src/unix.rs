//! Unix stream sockets of this network namespace, as the kernel lists them (`unix_diag`).

use super::namespaces::Namespace;
use super::netlink::{BY_FAMILY, Netlink, attributes, number32};
use crate::printable::printable;
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const FAMILY: u8 = 1;
const STREAM: u8 = 1;
const ESTABLISHED: u8 = 1;
const LISTEN: u8 = 10;

/// Attributes, and the bits that ask for them.
const NAME: u16 = 0;
const WANT_NAME: u32 = 1;
/// The file of a bound socket: inode and device.
const FILE: u16 = 1;
const WANT_FILE: u32 = 2;
const PEER: u16 = 2;
const WANT_PEER: u32 = 4;
const QUEUES: u16 = 4;
const WANT_QUEUES: u32 = 16;
/// The length of a record without its attributes.
const RECORD: usize = 16;

/// One socket that listens or is connected.
#[derive(Debug, Clone)]
pub(super) struct UnixSocket {
    pub listens: bool,
    /// 0 as long as no process has it.
    pub inode: u64,
    /// The path to which the socket, or the listener that it was accepted from, is bound; an abstract name begins with `@`.
    /// `None` for a socket without a name.
    pub path: Option<String>,
    /// The other end, by inode.
    pub peer: u64,
    /// Bytes that were not read; of a listener, connections that wait to be accepted.
    pub unread: u32,
    /// Bytes that the other side has not read; of a listener, how many may wait.
    pub unsent: u32,
}

/// The listening and connected stream sockets of a moment, with where the connections lead.
#[derive(Debug, Default)]
pub(super) struct UnixSockets {
    all: Vec<UnixSocket>,
    /// The connections that any process has opened, by inode, each with the position of a socket that has the path of its listener.
    opened: Vec<(usize, u64)>,
}

impl UnixSockets {
    /// Lists the sockets.
    ///
    /// # Errors
    /// If the kernel does not list them.
    pub fn list(netlink: &mut Netlink) -> io::Result<Self> {
        Ok(Self::of(sockets(netlink)?))
    }

    fn of(all: Vec<UnixSocket>) -> Self {
        let opened = opened(&all);
        Self { all, opened }
    }

    /// Returns all sockets.
    pub fn all(&self) -> &[UnixSocket] {
        &self.all
    }

    /// Returns the connections that any process has opened: the path of the listener, and the inode of the connection.
    pub fn opened(&self) -> impl Iterator<Item = (&str, u64)> {
        self.opened.iter().filter_map(|&(at, inode)| Some((self.all[at].path.as_deref()?, inode)))
    }
}

/// Returns the connections that any process has opened, by inode, each with the position of a socket that has the path of its listener.
fn opened(sockets: &[UnixSocket]) -> Vec<(usize, u64)> {
    let with_path = || sockets.iter().enumerate().filter(|(_, socket)| socket.path.is_some());
    // An accepted connection has its listener's path, so the other end of one that was opened tells where to.
    let accepted = with_path().filter(|(_, socket)| !socket.listens && socket.inode != 0);
    let accepted: HashMap<u64, usize> = accepted.map(|(at, socket)| (socket.inode, at)).collect();
    // One in an accept queue has no other end yet. Where only one listener has a queue, it is there.
    let mut queues = sockets.iter().enumerate().filter(|(_, socket)| socket.listens && socket.unread > 0);
    let queue = queues.next().filter(|_| queues.next().is_none()).map(|(at, _)| at);
    let opened = sockets.iter().filter(|socket| !socket.listens && socket.path.is_none() && socket.inode != 0);
    let to_path = opened.filter_map(|socket| {
        let at = if socket.peer == 0 { queue } else { accepted.get(&socket.peer).copied() };
        Some((at?, socket.inode))
    });
    to_path.collect()
}

fn sockets(netlink: &mut Netlink) -> io::Result<Vec<UnixSocket>> {
    let request = request(1 << ESTABLISHED | 1 << LISTEN, WANT_NAME | WANT_PEER | WANT_QUEUES);
    let mut found = vec![];
    netlink.dump(BY_FAMILY, &request, |record| found.extend(socket(record)))?;
    Ok(found)
}

/// Returns a request for sockets in some states with some attributes.
fn request(states: u32, attributes: u32) -> Vec<u8> {
    let mut request = vec![FAMILY, 0, 0, 0];
    request.extend(states.to_ne_bytes());
    request.extend([0; 4]);
    request.extend(attributes.to_ne_bytes());
    request.extend([0; 8]);
    request
}

/// Returns the name, as the kernel lists it, of the socket that listens at a path: a program may have bound it by a relative path, or by
/// one with links. `None` if none listens there, if the path is not readable, or if the kernel lists a listener of another file by the same
/// name, as where programs bind the same relative path in their own folders.
pub(super) fn name_at(path: &Path) -> Option<String> {
    let file = std::fs::metadata(path).ok()?;
    let mut netlink = Netlink::open(Namespace::Own).ok()?;
    let mut listeners = vec![];
    // The kernel gives the low half of the file's inode. Devices of layered file systems have two numbers, so that they are not compared.
    let is_there = |value: &[u8]| number32(value, 0) == Some(file.ino() as u32);
    let see = |record: &[u8]| {
        let rest = record.get(RECORD..).unwrap_or_default();
        let of = |wanted| attributes(rest).find(|(kind, _)| *kind == wanted).map(|(_, value)| value);
        listeners.extend(of(NAME).and_then(name).map(|name| (name, of(FILE).is_some_and(is_there))));
    };
    netlink.dump(BY_FAMILY, &request(1 << LISTEN, WANT_NAME | WANT_FILE), see).ok()?;
    only_name(listeners, path)
}

/// Returns the name of the listener that is there, of those given with whether they are, unless another one has the same.
fn only_name(listeners: Vec<(String, bool)>, path: &Path) -> Option<String> {
    let (there, elsewhere): (Vec<_>, Vec<_>) = listeners.into_iter().partition(|(_, is_there)| *is_there);
    let is_called_so = |(name, _): &(String, bool)| Path::new(name).file_name() == path.file_name();
    let (found, _) = there.into_iter().find(is_called_so)?;
    (!elsewhere.iter().any(|(name, _)| *name == found)).then_some(found)
}

fn socket(record: &[u8]) -> Option<UnixSocket> {
    let (fixed, rest) = record.split_at_checked(RECORD)?;
    if fixed[1] != STREAM {
        return None;
    }
    let mut socket = UnixSocket {
        listens: fixed[2] == LISTEN,
        inode: number32(fixed, 4)?.into(),
        path: None,
        peer: 0,
        unread: 0,
        unsent: 0,
    };
    for (kind, value) in attributes(rest) {
        match kind {
            NAME => socket.path = name(value),
            PEER => socket.peer = number32(value, 0)?.into(),
            QUEUES => (socket.unread, socket.unsent) = (number32(value, 0)?, number32(value, 4)?),
            _ => {}
        }
    }
    Some(socket)
}

fn name(bytes: &[u8]) -> Option<String> {
    let (mark, bytes) = match bytes.split_first()? {
        (0, rest) => ("@", rest),
        _ => ("", bytes),
    };
    let text = String::from_utf8_lossy(bytes);
    Some(format!("{mark}{}", printable(text.trim_end_matches('\0')))).filter(|name| name.len() > mark.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    fn socket(inode: u64, path: Option<&str>, peer: u64) -> UnixSocket {
        UnixSocket { listens: false, inode, path: path.map(str::to_owned), peer, unread: 0, unsent: 0 }
    }

    #[test]
    fn a_connection_leads_to_the_listener_of_its_other_end_or_to_the_only_queue() {
        let listener = |inode, path, unread| UnixSocket { listens: true, unread, ..socket(inode, Some(path), 0) };
        let sockets = |other_queue| {
            let sockets = vec![
                listener(1, "/a", 1),
                listener(2, "/b", other_queue),
                socket(3, Some("/b"), 4),
                socket(4, None, 3),
                socket(5, None, 0),
                // Both ends of a pair have no path.
                socket(6, None, 7),
                socket(7, None, 6),
            ];
            UnixSockets::of(sockets)
        };
        assert_eq!(sockets(0).opened().collect::<Vec<_>>(), [("/b", 4), ("/a", 5)]);
        assert_eq!(sockets(1).opened().collect::<Vec<_>>(), [("/b", 4)], "it may be in either queue");
    }

    #[test]
    fn a_socket_is_found_by_its_file_whatever_name_it_was_bound_by() {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let (here, link) = (folder.path().join("here"), folder.path().join("link"));
        std::fs::create_dir(&here).expect("a folder can be made");
        std::os::unix::fs::symlink(&here, &link).expect("a link can be made");
        let bound = link.join("server.sock");
        let _listener = UnixListener::bind(&bound).expect("it can be bound");
        let _other = UnixListener::bind(here.join("other.sock")).expect("it can be bound");
        assert_eq!(name_at(&here.join("server.sock")).as_deref(), bound.to_str());
        assert_eq!(name_at(&here.join("none.sock")), None, "there is no such file");
    }

    #[test]
    fn a_name_that_listeners_of_two_files_have_is_none() {
        let only = |others: &[&str]| {
            let others = others.iter().map(|name| ((*name).to_owned(), false));
            only_name(others.chain([("app.sock".to_owned(), true)]).collect(), Path::new("/srv/shop/app.sock"))
        };
        assert_eq!(only(&["/run/app.sock"]).as_deref(), Some("app.sock"));
        assert_eq!(only(&["/run/app.sock", "app.sock"]), None);
    }
}
