//! Unix stream sockets of this network namespace, as the kernel lists them (`unix_diag`).

use super::netlink::{BY_FAMILY, Netlink, attributes, number32};
use crate::printable::printable;
use std::io;

const FAMILY: u8 = 1;
const STREAM: u8 = 1;
const ESTABLISHED: u8 = 1;
const LISTEN: u8 = 10;

/// Attributes, and the bits that ask for them.
const NAME: u16 = 0;
const WANT_NAME: u32 = 1;
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

/// All listening and connected stream sockets.
pub(super) fn sockets(netlink: &mut Netlink) -> io::Result<Vec<UnixSocket>> {
    let mut request = vec![FAMILY, 0, 0, 0];
    request.extend((1u32 << ESTABLISHED | 1 << LISTEN).to_ne_bytes());
    request.extend([0; 4]);
    request.extend((WANT_NAME | WANT_PEER | WANT_QUEUES).to_ne_bytes());
    request.extend([0; 8]);
    let mut found = vec![];
    netlink.dump(BY_FAMILY, &request, |record| found.extend(socket(record)))?;
    Ok(found)
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
