//! The kernel's sockets over netlink (`sock_diag`): one request, and all records of the reply to it.

use super::namespaces::Namespace;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A request by address family.
pub(super) const BY_FAMILY: u16 = 20;
/// A request for TCP of all families at once. It is older, and walks the kernel's table once for IPv4 and IPv6 rather than
/// twice.
pub(super) const ALL_TCP: u16 = 18;

/// The flags of a request for all records rather than for one.
const REQUEST_DUMP: u16 = 0x301;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const HEADER: usize = 16;
/// The kernel replies in pieces of at most 32 KiB, unless a reader takes more.
const PIECE: usize = 128 * 1024;

/// A conversation with the kernel.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: OwnedFd,
    piece: Vec<u8>,
    sequence: u32,
}

impl Netlink {
    /// Opens a conversation about the sockets of a network namespace.
    ///
    /// # Errors
    /// Those of the kernel, such as a lack of rights to enter another namespace.
    pub fn open(namespace: Namespace) -> io::Result<Self> {
        if namespace == Namespace::Own {
            return Self::here();
        }
        // A socket stays in the namespace that its thread was in when it was made.
        namespace.enter(Self::here)
    }

    fn here() -> io::Result<Self> {
        let protocol = Some(netlink::SOCK_DIAG);
        let socket = net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?;
        // The kernel replies at once. Should it ever not, a watcher must still come to its end.
        set_socket_timeout(&socket, Timeout::Recv, Some(Duration::from_secs(1)))?;
        Ok(Self { socket, piece: vec![0; PIECE], sequence: 0 })
    }

    /// Sends a request, and gives each record of the reply to `each`.
    pub fn dump(&mut self, kind: u16, request: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut message = Vec::with_capacity(HEADER + request.len());
        message.extend((HEADER as u32 + request.len() as u32).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend(REQUEST_DUMP.to_ne_bytes());
        message.extend(self.sequence.to_ne_bytes());
        message.extend(0u32.to_ne_bytes());
        message.extend(request);
        net::send(&self.socket, &message, SendFlags::empty())?;
        loop {
            let (length, _) = net::recv(&self.socket, self.piece.as_mut_slice(), RecvFlags::empty())?;
            let mut rest = &self.piece[..length];
            while let Some(message) = Message::first(rest) {
                // What is left of an earlier request that was given up is not for this one.
                if message.sequence == self.sequence {
                    match message.kind {
                        DONE => return Ok(()),
                        ERROR => return Err(refusal(message.body)),
                        _ => each(message.body),
                    }
                }
                rest = rest.get(message.whole..).unwrap_or_default();
            }
        }
    }
}

struct Message<'a> {
    kind: u16,
    sequence: u32,
    body: &'a [u8],
    /// The length of the message in bytes, padding included.
    whole: usize,
}

impl<'a> Message<'a> {
    fn first(bytes: &'a [u8]) -> Option<Self> {
        let length = number32(bytes, 0)? as usize;
        let body = bytes.get(HEADER..length)?;
        let kind = number16(bytes, 4)?;
        Some(Self { kind, sequence: number32(bytes, 8)?, body, whole: length.next_multiple_of(4) })
    }
}

fn refusal(body: &[u8]) -> io::Error {
    let code = number32(body, 0).unwrap_or_default() as i32;
    io::Error::from_raw_os_error(code.saturating_neg())
}

/// The attributes that follow a record's fixed part: kind and value.
pub(super) fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = number16(rest, 0)? as usize;
        let attribute = (number16(rest, 2)?, rest.get(4..length)?);
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(attribute)
    })
}

pub(super) fn number16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(super) fn number32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(super) fn number64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}
