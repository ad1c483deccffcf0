//! TCP segments in IP packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The protocol number of TCP.
const TCP: u8 = 6;

/// A TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment<'p> {
    /// The sender.
    pub(super) from: SocketAddr,
    /// The receiver.
    pub(super) to: SocketAddr,
    /// The number of the first byte.
    pub(super) sequence: u32,
    /// The number of the byte that the sender expects next, unless it knows none yet.
    pub(super) acknowledged: Option<u32>,
    /// Whether the segment opens a connection.
    pub(super) opens: bool,
    /// Whether the segment ends its sender's part of the connection.
    pub(super) ends: bool,
    /// The bytes.
    pub(super) payload: &'p [u8],
    /// Whether bytes are missing at the end of `payload`.
    pub(super) is_cut: bool,
}

/// Returns the segment in a packet that begins with its IP header, or `None` if it has none or only a part of one.
pub(super) fn segment(packet: &[u8]) -> Option<Segment<'_>> {
    let (from, to, content, is_cut) = match packet.first()? >> 4 {
        4 => ipv4(packet)?,
        6 => ipv6(packet)?,
        _ => return None,
    };
    let header = content.first_chunk::<20>()?;
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let port = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let offset = usize::from(header[12] >> 4) * 4;
    let flags = header[13];
    let payload = content.get(offset..).filter(|_| offset >= header.len())?;
    Some(Segment {
        from: SocketAddr::new(from, port(0)),
        to: SocketAddr::new(to, port(2)),
        sequence: word(4),
        acknowledged: (flags & 0x10 != 0).then(|| word(8)),
        opens: flags & 0x02 != 0,
        ends: flags & 0x05 != 0,
        payload,
        is_cut,
    })
}

/// The addresses and the content of an IP packet, and whether bytes of the content are missing.
type Content<'p> = (IpAddr, IpAddr, &'p [u8], bool);

fn ipv4(packet: &[u8]) -> Option<Content<'_>> {
    let header = packet.first_chunk::<20>()?;
    let length = usize::from(header[0] & 0xf) * 4;
    let is_fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0;
    if length < header.len() || header[9] != TCP || is_fragment {
        return None;
    }
    let address = |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]).into();
    let (content, is_cut) = bounded(packet, length, usize::from(u16::from_be_bytes([header[2], header[3]])))?;
    Some((address(12), address(16), content, is_cut))
}

fn ipv6(packet: &[u8]) -> Option<Content<'_>> {
    let header = packet.first_chunk::<40>()?;
    if header[6] != TCP {
        return None;
    }
    let address = |at: usize| {
        let bytes: [u8; 16] = header[at..at + 16].try_into().ok()?;
        // The addresses of a socket for both families are shown as IPv4.
        Some(Ipv6Addr::from(bytes).to_canonical())
    };
    let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
    // A length of 0 stands for one that needs more than 16 bits.
    let total = if length == 0 { 0 } else { length + header.len() };
    let (content, is_cut) = bounded(packet, header.len(), total)?;
    Some((address(8)?, address(24)?, content, is_cut))
}

/// Returns the content of a packet between its header and its total length. Behind it may be padding.
fn bounded(packet: &[u8], header: usize, total: usize) -> Option<(&[u8], bool)> {
    let total = if total == 0 { packet.len() } else { total };
    Some((packet.get(header..total.min(packet.len()))?, total > packet.len()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a packet of IPv4 with a segment.
    pub(in crate::statements) fn packet(
        from: SocketAddr,
        to: SocketAddr,
        sequence: u32,
        acknowledged: u32,
        flags: u8,
        payload: &[u8],
    ) -> Vec<u8> {
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (from.ip(), to.ip()) else { panic!("IPv4 only") };
        let mut packet = vec![0x45, 0];
        packet.extend(u16::try_from(40 + payload.len()).expect("a test's packet is short").to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, TCP, 0, 0]);
        packet.extend(source.octets());
        packet.extend(destination.octets());
        packet.extend(from.port().to_be_bytes());
        packet.extend(to.port().to_be_bytes());
        packet.extend(sequence.to_be_bytes());
        packet.extend(acknowledged.to_be_bytes());
        packet.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
        packet.extend(payload);
        packet
    }

    #[test]
    fn segments_are_read() {
        let from = "10.0.0.1:4000".parse().expect("an address");
        let to = "10.0.0.2:5432".parse().expect("an address");
        let mut bytes = packet(from, to, 7, 9, 0x18, b"hello");
        bytes.extend([0; 6]);
        let read = segment(&bytes).expect("a segment");
        assert_eq!((read.from, read.to, read.sequence, read.acknowledged), (from, to, 7, Some(9)));
        assert_eq!((read.payload, read.is_cut, read.opens, read.ends), (&b"hello"[..], false, false, false));
        let cut = segment(&bytes[..43]).expect("a segment");
        assert_eq!((cut.payload, cut.is_cut), (&b"hel"[..], true));
        bytes[6] = 0x20;
        assert_eq!(segment(&bytes), None, "a fragment");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(mut bytes in proptest::collection::vec(any::<u8>(), 0..120), version in 0u8..16) {
            if let Some(first) = bytes.first_mut() {
                *first = *first & 0xf | version << 4;
            }
            segment(&bytes);
        }
    }
}
