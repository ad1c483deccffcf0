//! TCP sockets of a network namespace, and the connected ones of UDP, as the kernel lists them (`inet_diag`).

use super::netlink::{ALL_TCP, BY_FAMILY, Netlink, attributes, number32, number64};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const ESTABLISHED: u8 = 1;
/// The state of UDP sockets that are not connected.
const UNCONNECTED: u8 = 7;
const LISTEN: u8 = 10;
const STATES: u32 = 1 << ESTABLISHED | 1 << LISTEN;

const IPV4: u8 = 2;
const IPV6: u8 = 10;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// The attribute with the memory of a socket, and the position of the number of dropped packets there, in bytes.
const MEMORY: u16 = 7;
const DROPS: usize = 32;
/// The attribute with `tcp_info`, and the bit that requests it.
const INFO: u16 = 2;
const WANT_INFO: u8 = 1 << (INFO - 1);
/// Both kinds of requests have an identity of this size in them, all of it zero where all sockets are meant.
const IDENTITY: [u8; 48] = [0; 48];
/// The length of a record without its attributes.
const RECORD: usize = 72;

/// One socket that listens or is connected.
#[derive(Debug, Clone)]
pub(super) struct TcpSocket {
    pub listens: bool,
    /// IPv4 also where the socket is an IPv6 socket with a mapped address.
    pub local: SocketAddr,
    pub remote: SocketAddr,
    /// Tells sockets apart for as long as the machine runs.
    pub cookie: u64,
    /// 0 as long as no process has it: the connection waits to be accepted.
    pub inode: u64,
    /// Bytes that were not read; of a listener, connections that wait to be accepted.
    pub unread: u32,
    /// Bytes that were not acknowledged; of a listener, how many may wait.
    pub unsent: u32,
    pub info: Option<TcpInfo>,
}

/// The kernel's data of a connection. Times without a unit are in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TcpInfo {
    pub last_data_sent_ms: u32,
    pub last_data_received_ms: u32,
    pub last_ack_received_ms: u32,
    pub rtt: u32,
    /// The rest came later; older kernels do not tell it.
    pub bytes_received: Option<u64>,
    pub min_rtt: Option<u32>,
    pub data_segments_sent: Option<u32>,
    pub limits: Option<Limits>,
}

/// The times in microseconds in which a connection had something to send, and of these the times in which the other side's
/// window or its own send buffer limited it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    pub busy: u64,
    pub window: u64,
    pub buffer: u64,
}

/// All listening and connected sockets.
pub(super) fn sockets(netlink: &mut Netlink) -> io::Result<Vec<TcpSocket>> {
    let mut found = vec![];
    let all = netlink.dump(ALL_TCP, &all_request(), |record| found.extend(socket(record)));
    if all.is_err() {
        found.clear();
        for family in [IPV4, IPV6] {
            netlink
                .dump(BY_FAMILY, &family_request(family, TCP, INFO, STATES), |record| found.extend(socket(record)))?;
        }
    }
    Ok(found)
}

/// Returns the connected UDP sockets: the other side's address, and the inode.
pub(super) fn connected_udp(netlink: &mut Netlink) -> io::Result<Vec<(SocketAddr, u64)>> {
    let mut found = vec![];
    for family in [IPV4, IPV6] {
        netlink.dump(BY_FAMILY, &family_request(family, UDP, 0, 1 << ESTABLISHED), |record| {
            found.extend(socket(record).map(|socket| (socket.remote, socket.inode)));
        })?;
    }
    Ok(found)
}

fn all_request() -> Vec<u8> {
    let mut request = vec![0, 0, 0, WANT_INFO];
    request.extend(IDENTITY);
    request.extend(STATES.to_ne_bytes());
    request.extend([0; 4]);
    request
}

/// One UDP socket that is not connected.
#[derive(Debug, Clone, Copy)]
pub(super) struct UdpSocket {
    /// Tells sockets apart for as long as the machine runs.
    pub cookie: u64,
    /// The number of datagrams that the kernel has dropped. It wraps around.
    pub dropped: u32,
}

/// Returns the UDP sockets that are not connected and whose local address `takes` accepts.
pub(super) fn unconnected_udp(netlink: &mut Netlink, takes: impl Fn(SocketAddr) -> bool) -> io::Result<Vec<UdpSocket>> {
    let mut found = vec![];
    for family in [IPV4, IPV6] {
        netlink.dump(BY_FAMILY, &family_request(family, UDP, MEMORY, 1 << UNCONNECTED), |record| {
            found.extend(udp_socket(record, &takes));
        })?;
    }
    Ok(found)
}

fn udp_socket(record: &[u8], takes: impl Fn(SocketAddr) -> bool) -> Option<UdpSocket> {
    let found = socket(record).filter(|socket| takes(socket.local))?;
    let (_, rest) = record.split_at_checked(RECORD)?;
    let (_, memory) = attributes(rest).find(|(kind, _)| *kind == MEMORY)?;
    Some(UdpSocket { cookie: found.cookie, dropped: number32(memory, DROPS)? })
}

/// Returns a request for the sockets of a family and protocol in these states, with one attribute if its number isn't 0.
fn family_request(family: u8, protocol: u8, attribute: u16, states: u32) -> Vec<u8> {
    let wanted = if attribute == 0 { 0 } else { 1 << (attribute - 1) };
    let mut request = vec![family, protocol, wanted, 0];
    request.extend(states.to_ne_bytes());
    request.extend(IDENTITY);
    request
}

fn socket(record: &[u8]) -> Option<TcpSocket> {
    let (fixed, rest) = record.split_at_checked(RECORD)?;
    let port = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let address = |at: usize| match fixed[0] {
        IPV4 => fixed[at..].first_chunk().map(|&octets| IpAddr::V4(Ipv4Addr::from(octets))),
        IPV6 => fixed[at..].first_chunk().map(|&octets| IpAddr::V6(Ipv6Addr::from(octets)).to_canonical()),
        _ => None,
    };
    Some(TcpSocket {
        listens: fixed[1] == LISTEN,
        local: SocketAddr::new(address(8)?, port(4)),
        remote: SocketAddr::new(address(24)?, port(6)),
        cookie: number64(fixed, 44)?,
        unread: number32(fixed, 56)?,
        unsent: number32(fixed, 60)?,
        inode: number32(fixed, 68)?.into(),
        info: attributes(rest).find(|(kind, _)| *kind == INFO).and_then(|(_, value)| info(value)),
    })
}

fn info(bytes: &[u8]) -> Option<TcpInfo> {
    Some(TcpInfo {
        last_data_sent_ms: number32(bytes, 44)?,
        last_data_received_ms: number32(bytes, 52)?,
        last_ack_received_ms: number32(bytes, 56)?,
        rtt: number32(bytes, 68)?,
        bytes_received: number64(bytes, 128),
        // The kernel says "the largest number" where it has not measured any.
        min_rtt: number32(bytes, 148).filter(|&rtt| rtt != u32::MAX && rtt > 0),
        data_segments_sent: number32(bytes, 156),
        limits: limits(bytes),
    })
}

fn limits(bytes: &[u8]) -> Option<Limits> {
    Some(Limits { busy: number64(bytes, 168)?, window: number64(bytes, 176)?, buffer: number64(bytes, 184)? })
}

impl TcpInfo {
    /// Returns whether a response is awaited, given how many bytes the other side has not acknowledged.
    ///
    /// A request is mostly acknowledged along with its response, or when the other side's timer for acknowledgements has
    /// passed, some 40 ms later. Then the order of the last events decides: data was sent after data was received, or an
    /// acknowledgement was received after the last data.
    ///
    /// On a new connection the kernel takes the time of its opening for that of the last data received, which a request follows at once: there
    /// the counts decide.
    pub fn awaits_response(&self, unacknowledged: u32) -> bool {
        if self.bytes_received == Some(0) {
            return unacknowledged > 0 || self.data_segments_sent.is_some_and(|segments| segments > 0);
        }
        let sent_last = self.last_data_sent_ms < self.last_data_received_ms;
        let sent_meanwhile = self.last_data_sent_ms == self.last_data_received_ms;
        unacknowledged > 0 || sent_last || sent_meanwhile && self.last_ack_received_ms < self.last_data_received_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_connection_awaits_a_response_once_it_has_sent_a_request() {
        let new = |segments| TcpInfo {
            bytes_received: Some(0),
            data_segments_sent: Some(segments),
            last_ack_received_ms: 7,
            last_data_received_ms: 7,
            last_data_sent_ms: 7,
            ..TcpInfo::default()
        };
        assert!(new(1).awaits_response(0) && new(0).awaits_response(9) && !new(0).awaits_response(0));
        assert!(!TcpInfo { bytes_received: Some(80), ..new(1) }.awaits_response(0), "a response has come");
    }
}
