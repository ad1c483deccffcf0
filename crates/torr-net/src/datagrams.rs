//! UDP sockets, and trains of datagrams: those of one size that one system call sends or receives (UDP_SEGMENT and UDP_GRO,
//! `udp(7)`). One call for each datagram would cost more CPU than all else in user space.
//!
//! In a buffer a train is a header and the bytes of its datagrams ([`push_train`], [`trains`]), so that trains follow each other there
//! as bytes do on a stream.

use nix::sys::socket::sockopt::{IpBindAddressNoPort, Ipv4PacketInfo, Ipv6RecvPacketInfo, UdpGroSegment};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, RecvMsg, SockaddrLike, SockaddrStorage, recvmsg, sendmsg, setsockopt,
};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// The size of a train's header in a buffer, in bytes: the length of the train, and that of its datagrams.
pub const HEADER: usize = 6;
/// The room in bytes that one receive needs at least: a header and the largest train.
pub const ROOM: usize = HEADER + 65_535;
/// The number of datagrams that a train to be sent has at most. The kernel sends 64, and 65,507 bytes.
pub const MOST_DATAGRAMS: usize = 40;
/// The receive buffer that is requested, in bytes. The kernel grants no more than `net.core.rmem_max`.
pub const RECEIVE_BUFFER: usize = 4 * 1024 * 1024;
/// Room for the control messages with the size of received datagrams and the address that they were sent to.
const CONTROL: usize = 128;

/// Counts of what was sent and received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DatagramCounts {
    /// The number of datagrams sent.
    pub sent: u64,
    /// The number of system calls that sent them.
    pub sends: u64,
    /// The number of datagrams received.
    pub received: u64,
    /// The number of system calls that received them.
    pub receives: u64,
}

/// Opens a UDP socket that sends to an address and receives only from it, from the source address if one is given.
///
/// Datagrams are never fragmented, and may be larger than the kernel believes the path to allow: QUIC finds out by itself.
///
/// # Errors
/// Returns the errors of `socket(2)`, `setsockopt(2)`, `bind(2)` and `connect(2)`. [`io::ErrorKind::AddrNotAvailable`] means that no
/// port is free.
pub fn connect(address: SocketAddr, source: Option<IpAddr>) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = net::socket_with(family, SocketType::DGRAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    if let Some(source) = source {
        setsockopt(&socket, IpBindAddressNoPort, &true)?;
        net::bind(&socket, &SocketAddr::new(source, 0))?;
    }
    net::connect(&socket, &address)?;
    prepare(&socket, address)?;
    Ok(socket)
}

/// Opens a UDP socket of a server at an address, which shares its port with others of the same user (SO_REUSEPORT). The kernel
/// assigns each client to one of them by a hash of both addresses.
///
/// # Errors
/// Returns the errors of `socket(2)`, `setsockopt(2)` and `bind(2)`.
pub fn bind(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = net::socket_with(family, SocketType::DGRAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseport(&socket, true)?;
    match address {
        SocketAddr::V4(_) => setsockopt(&socket, Ipv4PacketInfo, &true)?,
        SocketAddr::V6(_) => setsockopt(&socket, Ipv6RecvPacketInfo, &true)?,
    }
    net::bind(&socket, &address)?;
    prepare(&socket, address)?;
    Ok(socket)
}

fn prepare(socket: &OwnedFd, address: SocketAddr) -> io::Result<()> {
    match address {
        SocketAddr::V4(_) => sockopt::set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE)?,
        SocketAddr::V6(_) => sockopt::set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::PROBE)?,
    }
    // A kernel without trains (before Linux 5.0) hands over single datagrams.
    let _ = setsockopt(socket, UdpGroSegment, &true);
    // A smaller buffer loses datagrams, which the counts of the run show.
    let _ = sockopt::set_socket_recv_buffer_size(socket, RECEIVE_BUFFER);
    Ok(())
}

/// Appends a train of datagrams of this size, of which the last may be shorter.
///
/// # Panics
/// If the datagrams are larger than any can be, or the train is.
pub fn push_train(datagrams: &[u8], size: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&header(datagrams.len(), size));
    out.extend_from_slice(datagrams);
}

fn header(len: usize, size: usize) -> [u8; HEADER] {
    let [a, b, c, d] = u32::try_from(len).expect("a train is shorter than 64 KiB").to_ne_bytes();
    let [e, f] = u16::try_from(size).expect("a datagram is shorter than 64 KiB").to_ne_bytes();
    [a, b, c, d, e, f]
}

/// Returns the trains in a buffer: their datagrams, and the size of these.
pub fn trains(mut bytes: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    std::iter::from_fn(move || {
        let (train, size, rest) = first(bytes)?;
        bytes = rest;
        Some((train, size))
    })
}

fn first(bytes: &[u8]) -> Option<(&[u8], usize, &[u8])> {
    let (&[a, b, c, d, e, f], rest) = bytes.split_first_chunk::<HEADER>()?;
    let (train, rest) = rest.split_at_checked(u32::from_ne_bytes([a, b, c, d]) as usize)?;
    Some((train, usize::from(u16::from_ne_bytes([e, f])).max(1), rest))
}

/// Sends trains, as many as the send buffer takes, and returns the number of bytes that they take in the buffer, headers included.
///
/// # Errors
/// Returns the errors of `sendmsg(2)`, except `EAGAIN`, `EINTR` and `EMSGSIZE`: a datagram that the path does not allow is lost, as it
/// would be further on. `ECONNREFUSED` means that nothing listens at the address.
pub fn send(socket: impl AsFd, bytes: &[u8], counts: &mut DatagramCounts) -> io::Result<usize> {
    let (socket, mut rest) = (socket.as_fd(), bytes);
    while let Some((train, size, behind)) = first(rest) {
        if !send_train(socket.as_raw_fd(), train, size, None, counts)? {
            break;
        }
        rest = behind;
    }
    Ok(bytes.len() - rest.len())
}

/// The ends of a train on a socket that is not connected: the peer's address, and this side's if it is known.
type Ends = (SocketAddr, Option<IpAddr>);

/// Sends a train of datagrams of this size to a peer, from a local address if one is given. Returns whether the send buffer took it.
///
/// # Errors
/// Returns the errors of `sendmsg(2)`, except those that [`send`] ignores.
pub fn send_to(
    socket: impl AsFd,
    train: &[u8],
    size: usize,
    (peer, local): (SocketAddr, Option<IpAddr>),
    counts: &mut DatagramCounts,
) -> io::Result<bool> {
    send_train(socket.as_fd().as_raw_fd(), train, size, Some((peer, local)), counts)
}

fn sendmsg_to(socket: i32, train: &[u8], ends: Option<Ends>, gso: Option<&u16>) -> nix::Result<usize> {
    let from_v4 = |ip: Ipv4Addr| libc::in_pktinfo {
        ipi_ifindex: 0,
        ipi_spec_dst: libc::in_addr { s_addr: u32::from_ne_bytes(ip.octets()) },
        ipi_addr: libc::in_addr { s_addr: 0 },
    };
    let from_v6 =
        |ip: Ipv6Addr| libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: ip.octets() }, ipi6_ifindex: 0 };
    let (v4, v6) = match ends.and_then(|(_, local)| local) {
        None => (None, None),
        Some(IpAddr::V4(ip)) => (Some(from_v4(ip)), None),
        Some(IpAddr::V6(ip)) => (None, Some(from_v6(ip))),
    };
    let control: Vec<_> = [
        gso.map(ControlMessage::UdpGsoSegments),
        v4.as_ref().map(ControlMessage::Ipv4PacketInfo),
        v6.as_ref().map(ControlMessage::Ipv6PacketInfo),
    ]
    .into_iter()
    .flatten()
    .collect();
    let to = ends.map(|(peer, _)| SockaddrStorage::from(peer));
    sendmsg(socket, &[IoSlice::new(train)], &control, MsgFlags::MSG_NOSIGNAL, to.as_ref())
}

/// Returns whether the train was taken.
fn send_train(
    socket: i32,
    train: &[u8],
    size: usize,
    ends: Option<Ends>,
    counts: &mut DatagramCounts,
) -> io::Result<bool> {
    let size_in_message = size as u16;
    let gso = (train.len() > size).then_some(&size_in_message);
    match sendmsg_to(socket, train, ends, gso) {
        Ok(_) => {
            counts.sends += 1;
            counts.sent += train.len().div_ceil(size) as u64;
            Ok(true)
        }
        Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => Ok(false),
        Err(nix::errno::Errno::EMSGSIZE) if train.len() <= size => Ok(true),
        // Some devices and kernels send no trains.
        Err(nix::errno::Errno::EIO | nix::errno::Errno::EINVAL | nix::errno::Errno::EMSGSIZE) if train.len() > size => {
            for datagram in train.chunks(size) {
                // What is not taken is lost, as it may be on the way: that is for QUIC to repair.
                send_train(socket, datagram, size, ends, counts)?;
            }
            Ok(true)
        }
        Err(error) => Err(error.into()),
    }
}

/// Receives the next train, and returns the number of bytes that it takes in the buffer, its header included; `None` if there is
/// none. Datagrams without bytes are ignored.
///
/// # Panics
/// If the buffer is smaller than [`ROOM`].
///
/// # Errors
/// Returns the errors of `recvmsg(2)`, except `EAGAIN` and `EINTR`. `ECONNREFUSED` means that nothing listens at the address.
pub fn recv(socket: impl AsFd, buffer: &mut [u8], counts: &mut DatagramCounts) -> io::Result<Option<usize>> {
    let (before, room) = buffer[..ROOM].split_at_mut(HEADER);
    loop {
        let Some((len, size)) = receive::<(), _>(socket.as_fd().as_raw_fd(), room, counts, |_, size, _| size)? else {
            return Ok(None);
        };
        if len > 0 {
            before.copy_from_slice(&header(len, size));
            return Ok(Some(HEADER + len));
        }
    }
}

/// A train that was received on a socket which is not connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceivedTrain {
    /// The number of bytes; 0 for a datagram without any.
    pub len: usize,
    /// The size of its datagrams, at least 1, of which the last may be shorter.
    pub size: usize,
    /// The address that sent it.
    pub peer: SocketAddr,
    /// The address that it was sent to, if the kernel reports it.
    pub local: Option<IpAddr>,
}

/// Receives the next train at the front of the buffer; `None` if there is none. A datagram without bytes is a train, too: any number of
/// them would keep a call from its return otherwise.
///
/// # Errors
/// Returns the errors of `recvmsg(2)`, except `EAGAIN` and `EINTR`.
pub fn recv_from(
    socket: impl AsFd,
    buffer: &mut [u8],
    counts: &mut DatagramCounts,
) -> io::Result<Option<ReceivedTrain>> {
    let found = |peer: Option<SockaddrStorage>, size, local| {
        let peer = peer?;
        let v4 = peer.as_sockaddr_in().map(|peer| SocketAddr::V4((*peer).into()));
        let peer = v4.or_else(|| peer.as_sockaddr_in6().map(|peer| SocketAddr::V6((*peer).into())))?;
        Some((peer, size, local))
    };
    let received = receive::<SockaddrStorage, _>(socket.as_fd().as_raw_fd(), buffer, counts, found)?;
    Ok(received.and_then(|(len, found)| {
        let (peer, size, local) = found?;
        Some(ReceivedTrain { len, size, peer, local })
    }))
}

/// Receives a train, and returns its length, and what `see` makes of the sender, the size of its datagrams and the local address.
fn receive<S: SockaddrLike, T>(
    socket: i32,
    room: &mut [u8],
    counts: &mut DatagramCounts,
    see: impl Fn(Option<S>, usize, Option<IpAddr>) -> T,
) -> io::Result<Option<(usize, T)>> {
    let (mut control, mut rooms) = ([0; CONTROL], [IoSliceMut::new(room)]);
    let message = match recvmsg::<S>(socket, &mut rooms, Some(&mut control), MsgFlags::empty()) {
        Ok(message) => message,
        Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let len = message.bytes;
    let (size, local) = described(&message);
    let size = size.filter(|size| (1..=len).contains(size)).unwrap_or(len.max(1));
    if len > 0 {
        counts.receives += 1;
        counts.received += len.div_ceil(size) as u64;
    }
    Ok(Some((len, see(message.address, size, local))))
}

/// Returns the size of datagrams, and the address that they were sent to, as control messages have them.
fn described<S>(message: &RecvMsg<'_, '_, S>) -> (Option<usize>, Option<IpAddr>) {
    let (mut size, mut local) = (None, None);
    for message in message.cmsgs().into_iter().flatten() {
        match message {
            ControlMessageOwned::UdpGroSegments(found) => size = usize::try_from(found).ok(),
            ControlMessageOwned::Ipv4PacketInfo(info) => {
                local = Some(IpAddr::from(info.ipi_addr.s_addr.to_ne_bytes()));
            }
            ControlMessageOwned::Ipv6PacketInfo(info) => local = Some(IpAddr::from(info.ipi6_addr.s6_addr)),
            _ => {}
        }
    }
    (size, local)
}

/// Returns whether an error of [`send`] or [`recv`] means that nothing listens at the address.
pub fn is_refused(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::CONNREFUSED.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn trains_arrive_as_datagrams_and_back() {
        let server = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let client = connect(server.local_addr().expect("an address"), None).expect("it can be opened");
        let (mut counts, mut out) = (DatagramCounts::default(), Vec::new());
        push_train(&[7; 2500], 1000, &mut out);
        push_train(b"alone", 5, &mut out);
        assert_eq!(send(&client, &out, &mut counts).expect("it is taken"), out.len());
        assert_eq!((counts.sent, counts.sends), (4, 2));
        let mut buffer = vec![0; 3000];
        let mut lengths = Vec::new();
        let mut from = None;
        for _ in 0..4 {
            let (len, sender) = server.recv_from(&mut buffer).expect("it arrives");
            lengths.push(len);
            from = Some(sender);
        }
        assert_eq!(lengths, [1000, 1000, 500, 5]);
        for size in [9, 9, 4, 0, 1] {
            server.send_to(&vec![size as u8; size], from.expect("it was received")).expect("it is sent");
        }
        let (mut room, mut received) = (vec![0; ROOM], Vec::new());
        while received.len() < 4 {
            // The kernel may hand over several at once, or each alone.
            if let Some(len) = recv(&client, &mut room, &mut counts).expect("it can be received") {
                let all = trains(&room[..len]).flat_map(|(train, size)| train.chunks(size).map(<[u8]>::len));
                received.extend(all);
            }
        }
        assert_eq!(received, [9, 9, 4, 1]);
        assert_eq!(counts.received, 4);
    }

    #[test]
    fn a_datagram_without_bytes_is_an_empty_train_of_its_sender() {
        let socket = bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        let address = crate::socket::local_addr(&socket).expect("it has an address");
        let sender = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        for length in [0, 3] {
            sender.send_to(&[7; 3][..length], address).expect("it is sent");
        }
        let (mut room, mut counts) = (vec![0; ROOM], DatagramCounts::default());
        let mut next = || recv_from(&socket, &mut room, &mut counts).expect("it can be received");
        // On loopback a datagram that was sent has arrived.
        let [empty, full, none] = [(); 3].map(|()| next());
        let (empty, full) = (empty.expect("it has arrived"), full.expect("it has arrived"));
        assert_eq!((empty.len, empty.size, Some(empty.peer)), (0, 1, sender.local_addr().ok()));
        assert_eq!((full.len, full.size, none), (3, 3, None));
    }

    #[test]
    fn a_closed_port_refuses() {
        let server = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let client = connect(server.local_addr().expect("an address"), None).expect("it can be opened");
        drop(server);
        let (mut counts, mut out) = (DatagramCounts::default(), Vec::new());
        push_train(b"x", 1, &mut out);
        // On loopback the refusal is there when the first datagram has been sent.
        send(&client, &out, &mut counts).expect("the first one is taken");
        let error = recv(&client, &mut vec![0; ROOM], &mut counts).expect_err("it is refused");
        assert!(is_refused(&error), "{error}");
    }
}
