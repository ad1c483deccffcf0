//! The packet socket: the system calls by which packets of one port are received.
#![expect(unsafe_code, reason = "no library receives a batch of packets with the kernel's times")]

use libc::{c_int, c_void, sock_filter, sock_fprog, socklen_t};
use std::io;
use std::mem::{size_of, size_of_val, zeroed};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{from_mut, from_ref, null_mut};

/// The packets of a batch.
pub(super) const BATCH: usize = 32;

/// The most bytes of a packet: no IP packet without an extension is longer.
const PACKET: usize = 65_536;

/// The bytes of the kernel's buffer: what a busy database sends in some tens of milliseconds.
const BUFFER: c_int = 16 << 20;

/// Words of 8 bytes for what comes with a packet: its time.
const CONTROL: usize = 8;

/// A socket that receives the packets that a filter accepts.
#[derive(Debug)]
pub(super) struct PacketSocket(OwnedFd);

/// Room for the packets of a batch.
#[derive(Debug)]
pub(super) struct Batch {
    packets: Vec<u8>,
    /// Of each packet its length, and its time in nanoseconds.
    received: Vec<(usize, u64)>,
}

impl Default for Batch {
    fn default() -> Self {
        Self { packets: vec![0; BATCH * PACKET], received: Vec::with_capacity(BATCH) }
    }
}

impl Batch {
    /// Returns the packets with their times.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let packets = self.packets.chunks_exact(PACKET).zip(&self.received);
        packets.map(|(packet, &(length, at))| (&packet[..length], at))
    }
}

impl PacketSocket {
    /// Opens a socket in the network namespace of this thread, which sees all interfaces. `server` is one end of all packets.
    pub(super) fn open(filter: &[sock_filter], server: IpAddr) -> io::Result<Self> {
        // SAFETY: `socket` has no pointers.
        let fd =
            unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        let socket = Self(unsafe { OwnedFd::from_raw_fd(fd) });
        let program = sock_fprog {
            len: u16::try_from(filter.len()).map_err(io::Error::other)?,
            // The kernel only reads it.
            filter: filter.as_ptr().cast_mut(),
        };
        socket.set(libc::SO_ATTACH_FILTER, &program)?;
        socket.set::<c_int>(libc::SO_TIMESTAMPNS, &1)?;
        // Beyond the machine's limit only root may go.
        if socket.set(libc::SO_RCVBUFFORCE, &BUFFER).is_err() {
            socket.set(libc::SO_RCVBUF, &BUFFER)?;
        }
        // Without a protocol nothing was received yet that the filter had not seen.
        // SAFETY: an address of zeros is valid.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (protocol(server) as u16).to_be();
        // SAFETY: the address is valid for the length that is given.
        let bound = unsafe { libc::bind(fd, from_ref(&address).cast(), size_of_val(&address) as socklen_t) };
        if bound < 0 { Err(io::Error::last_os_error()) } else { Ok(socket) }
    }

    fn set<T>(&self, option: c_int, value: &T) -> io::Result<()> {
        let length = size_of::<T>() as socklen_t;
        // SAFETY: the value is valid for its length, and the kernel only reads it.
        let set = unsafe {
            libc::setsockopt(self.0.as_raw_fd(), libc::SOL_SOCKET, option, from_ref(value).cast::<c_void>(), length)
        };
        if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Receives what is there, at most a batch, and returns the number of packets.
    pub(super) fn receive(&self, batch: &mut Batch) -> io::Result<usize> {
        let mut control = [[0_u64; CONTROL]; BATCH];
        // SAFETY: messages of zeros are valid: they have no buffers.
        let mut messages: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
        // SAFETY: vectors of zeros are valid: they have no bytes.
        let mut vectors: [libc::iovec; BATCH] = unsafe { zeroed() };
        let packets = batch.packets.chunks_exact_mut(PACKET);
        for (((message, vector), control), packet) in
            messages.iter_mut().zip(&mut vectors).zip(&mut control).zip(packets)
        {
            vector.iov_base = packet.as_mut_ptr().cast();
            vector.iov_len = packet.len();
            message.msg_hdr.msg_iov = from_mut(vector);
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = control.as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = size_of_val(control) as _;
        }
        batch.received.clear();
        // SAFETY: each message has one vector, which is a part of `packets` of its own, and a control buffer; all outlive the call.
        let received = unsafe {
            libc::recvmmsg(self.0.as_raw_fd(), messages.as_mut_ptr(), BATCH as u32, libc::MSG_DONTWAIT as _, null_mut())
        };
        let received = match usize::try_from(received) {
            Ok(received) => received,
            Err(_) => {
                let error = io::Error::last_os_error();
                // An interface that goes down is reported once; the others remain.
                let is_passing = matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR | libc::ENETDOWN));
                return if is_passing { Ok(0) } else { Err(error) };
            }
        };
        for message in &messages[..received] {
            let length = usize::try_from(message.msg_len).map_or(PACKET, |length| length.min(PACKET));
            batch.received.push((length, time(&message.msg_hdr)));
        }
        Ok(received)
    }

    /// Returns the number of packets that the kernel has dropped since the last call, since its buffer was full.
    pub(super) fn dropped(&self) -> u32 {
        let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = size_of_val(&statistics) as socklen_t;
        // SAFETY: the value is valid for the length that is given.
        let got = unsafe {
            let value = from_mut(&mut statistics).cast::<c_void>();
            libc::getsockopt(self.0.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, value, &mut length)
        };
        if got < 0 { 0 } else { statistics.tp_drops }
    }
}

/// Returns the protocol of packets that pass: to and from the loopback interface's own address each is received once, and all that other
/// packets cost is a look at their protocol. Elsewhere what is sent must be seen too, and the kernel copies the description of each packet
/// for a socket of all protocols, those of the load among them.
fn protocol(server: IpAddr) -> c_int {
    match server {
        IpAddr::V4(address) if address.is_loopback() => libc::ETH_P_IP,
        IpAddr::V6(address) if address.is_loopback() => libc::ETH_P_IPV6,
        _ => libc::ETH_P_ALL,
    }
}

/// Returns the time at which the kernel saw a packet, in nanoseconds, or 0 if it has none.
fn time(message: &libc::msghdr) -> u64 {
    // SAFETY: the kernel has filled the control buffer up to the length in the message.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: the header is within the control buffer, which is aligned for it.
        let found = unsafe { *header };
        if found.cmsg_level == libc::SOL_SOCKET && found.cmsg_type == libc::SCM_TIMESTAMPNS {
            // SAFETY: the kernel puts a time behind this header; it may not be aligned.
            let time: libc::timespec = unsafe { libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned() };
            let part = |value: i64| u64::try_from(value).unwrap_or(0);
            return part(time.tv_sec).wrapping_mul(1_000_000_000).wrapping_add(part(time.tv_nsec));
        }
        // SAFETY: as for the first header.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    0
}
