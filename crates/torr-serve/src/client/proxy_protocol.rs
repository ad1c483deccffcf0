//! The PROXY protocol, versions 1 and 2: a header at the beginning of a connection with the address of the proxy's client.
//!
//! Specified by HAProxy's document "The PROXY protocol, versions 1 & 2", whose sections are named below. The maintained crate
//! `ppp` neither verifies the checksum nor bounds a header's length, and little is left beside these.
//!
//! No setting makes the header optional. A client that connects past the proxy could then send a header of its own with any
//! address, and a late or cut header would be parsed as a request. The document forbids it (section 2: the receiver must not
//! guess). So the header is either off or [`ProxyProtocol::Required`].

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::{FromStr, from_utf8};
use thiserror::Error;

/// Whether connections begin with a header of the PROXY protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProxyProtocol {
    /// Connections have no header; one would be a malformed request.
    #[default]
    Off,
    /// All connections begin with a header, and only trusted addresses may connect.
    Required,
}

impl fmt::Display for ProxyProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Required => "required",
        })
    }
}

impl FromStr for ProxyProtocol {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Off, Self::Required].into_iter().find(|one| one.to_string() == text).ok_or(())
    }
}

/// The content of a header. Without addresses those of the socket apply: the connection is the proxy's own, such as a health
/// check, or its client is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ProxyHeader {
    /// The client's address.
    pub source: Option<SocketAddr>,
    /// The address that the client connected to.
    pub destination: Option<SocketAddr>,
    /// Whether the client is unknown to the proxy, or has no address, such as on a Unix socket.
    pub is_unknown: bool,
}

impl ProxyHeader {
    const UNKNOWN: Self = Self { source: None, destination: None, is_unknown: true };
}

/// The reason why the first bytes of a connection are not a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum ProxyError {
    #[error("missing PROXY header at the start of the connection")]
    NoHeader,
    #[error("the PROXY header is too long")]
    TooLong,
    #[error("the PROXY header is malformed")]
    Malformed,
    #[error("the PROXY header's checksum is wrong")]
    Checksum,
}

/// The longest line of version 1 in bytes, with its end (section 2.1).
const LONGEST_V1: usize = 107;
/// The most bytes of addresses and extensions of version 2. The document allows 65,535, but recommends to fit one segment;
/// proxies send a few hundred, or up to 3,000 with a client's certificate.
const LONGEST_V2: usize = 4096;
const V1: &[u8] = b"PROXY ";
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

/// Returns the header at the beginning of these bytes and its length in bytes. `None` if the header may be incomplete.
pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, ProxyError> {
    let begins = |signature: &[u8]| {
        let length = signature.len().min(bytes.len());
        bytes[..length] == signature[..length]
    };
    if begins(V2) {
        if bytes.len() < V2.len() { Ok(None) } else { v2(bytes) }
    } else if begins(V1) {
        if bytes.len() < V1.len() { Ok(None) } else { v1(bytes) }
    } else {
        Err(ProxyError::NoHeader)
    }
}

/// Parses version 1 (section 2.1), one line of text.
fn v1(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, ProxyError> {
    let line = &bytes[..bytes.len().min(LONGEST_V1)];
    let Some(end) = line.iter().position(|byte| b"\r\n".contains(byte)) else {
        return if bytes.len() < LONGEST_V1 { Ok(None) } else { Err(ProxyError::TooLong) };
    };
    match line[end..] {
        [b'\r', b'\n', ..] => {}
        [b'\r'] if bytes.len() < LONGEST_V1 => return Ok(None),
        [b'\r'] => return Err(ProxyError::TooLong),
        _ => return Err(ProxyError::Malformed),
    }
    let words = from_utf8(&line[V1.len()..end]).map_err(|_| ProxyError::Malformed)?;
    let header = v1_words(words).ok_or(ProxyError::Malformed)?;
    Ok(Some((header, end + 2)))
}

/// Parses the words of version 1, with exactly one space between two and nothing after the last.
fn v1_words(words: &str) -> Option<ProxyHeader> {
    let mut words = words.split(' ');
    let is_v4 = match words.next()? {
        // The rest of the line is to be ignored.
        "UNKNOWN" => return Some(ProxyHeader::UNKNOWN),
        "TCP4" => true,
        "TCP6" => false,
        _ => return None,
    };
    let mut ip = || -> Option<IpAddr> {
        let word = words.next()?;
        if is_v4 { Some(word.parse::<Ipv4Addr>().ok()?.into()) } else { Some(word.parse::<Ipv6Addr>().ok()?.into()) }
    };
    let (source, destination) = (ip()?, ip()?);
    let mut port = || {
        let word = words.next()?;
        let plain = word.bytes().all(|byte| byte.is_ascii_digit()) && (word == "0" || !word.starts_with('0'));
        word.parse().ok().filter(|_| plain)
    };
    let (source, destination) = (address(source, port()?), address(destination, port()?));
    words.next().is_none().then_some(ProxyHeader { source, destination, is_unknown: false })
}

/// Parses version 2 (section 2.2): sixteen bytes, addresses, extensions.
fn v2(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, ProxyError> {
    const FIXED: usize = 16;
    // Faults in an incomplete header are reported at once.
    let local = match bytes.get(12) {
        None => return Ok(None),
        Some(0x20) => true,
        Some(0x21) => false,
        Some(_) => return Err(ProxyError::Malformed),
    };
    let Some(&[family, high, low]) = bytes.get(13..FIXED) else { return Ok(None) };
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length > LONGEST_V2 {
        return Err(ProxyError::TooLong);
    }
    let Some(header) = bytes.get(..FIXED + length) else { return Ok(None) };
    // The proxy's own connection: addresses are to be skipped.
    if local {
        return Ok(Some((ProxyHeader::default(), header.len())));
    }
    let block = &header[FIXED..];
    // The high half is the address family, the low half the transport: none, stream, or datagram for a client over QUIC.
    let (known, extensions) = match family {
        // The size of the addresses is unknown, and so the start of the extensions.
        0x00 => return Ok(Some((ProxyHeader::UNKNOWN, header.len()))),
        0x11 | 0x12 => v2_addresses::<4>(block),
        0x21 | 0x22 => v2_addresses::<16>(block),
        // Two paths of Unix sockets, which are not used as addresses.
        0x31 | 0x32 => block.get(216..).map(|extensions| (ProxyHeader::UNKNOWN, extensions)),
        _ => None,
    }
    .ok_or(ProxyError::Malformed)?;
    check_extensions(header, header.len() - extensions.len())?;
    Ok(Some((known, header.len())))
}

/// Returns two addresses of N bytes with two ports, and the extensions.
fn v2_addresses<const N: usize>(block: &[u8]) -> Option<(ProxyHeader, &[u8])>
where
    IpAddr: From<[u8; N]>,
{
    let (source, rest) = block.split_first_chunk::<N>()?;
    let (destination, rest) = rest.split_first_chunk::<N>()?;
    let (source_port, rest) = rest.split_first_chunk::<2>()?;
    let (destination_port, rest) = rest.split_first_chunk::<2>()?;
    let source = address(IpAddr::from(*source), u16::from_be_bytes(*source_port));
    let destination = address(IpAddr::from(*destination), u16::from_be_bytes(*destination_port));
    Some((ProxyHeader { source, destination, is_unknown: false }, rest))
}

/// Verifies the checksum (section 2.2.3) among the extensions, each of which is type, length and value (2.2).
fn check_extensions(header: &[u8], mut at: usize) -> Result<(), ProxyError> {
    const CRC32C: u8 = 0x03;
    let mut checked = false;
    while at < header.len() {
        let Some(&[kind, high, low]) = header.get(at..at + 3) else { return Err(ProxyError::Malformed) };
        let value = at + 3..at + 3 + usize::from(u16::from_be_bytes([high, low]));
        let Some(bytes) = header.get(value.clone()) else { return Err(ProxyError::Malformed) };
        if kind == CRC32C {
            let sum: [u8; 4] = bytes.try_into().map_err(|_| ProxyError::Malformed)?;
            if checked {
                return Err(ProxyError::Malformed);
            }
            // The checksum is computed with its own bytes as zero.
            let zeroed = [&header[..value.start], &[0; 4], &header[value.end..]];
            if crc32c(zeroed.into_iter().flatten()) != u32::from_be_bytes(sum) {
                return Err(ProxyError::Checksum);
            }
            checked = true;
        }
        at = value.end;
    }
    Ok(())
}

/// Returns the CRC32C (RFC 3720, appendix B.4), computed bit by bit: a header is short and comes once in a connection.
fn crc32c<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
    !bytes.fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

/// Returns an address with IPv4-mapped IPv6 as IPv4.
fn address(ip: IpAddr, port: u16) -> Option<SocketAddr> {
    Some(SocketAddr::new(ip.to_canonical(), port))
}
