//! Headers of the PROXY protocol: what was read of one stays as it is when more arrives, and a second implementation reads the
//! same addresses.
//!
//! The option has no meaning. The bytes are those at the front of a connection.

use crate::input::Input;
use ppp::{v1, v2};
use std::net::{IpAddr, SocketAddr};
use torr_serve::fuzzing::{ProxyHeader, proxy_header};

/// The longest header: 16 bytes, and what version 2 may have of addresses and extensions here.
const LONGEST: usize = 16 + 4096;

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::binary(bytes);
    let wire = &input.wire[..input.wire.len().min(2 * LONGEST)];
    let whole = proxy_header(wire);
    // Every length up to the fixed part and its addresses, then every 61st.
    let lengths = (0..wire.len()).filter(|length| *length < 300 || length % 61 == 0);
    for length in lengths {
        match proxy_header(&wire[..length]) {
            Ok(None) => {}
            other => assert_eq!(other, whole, "{length} bytes of {}", wire.escape_ascii()),
        }
    }
    match whole {
        Ok(Some(header)) => {
            assert!(header.length <= wire.len().min(LONGEST), "{header:?}");
            assert!(proxy_header(&wire[..header.length - 1]) == Ok(None), "without its last byte");
            assert_eq!(second(&wire[..header.length]), Some(header), "of {}", wire.escape_ascii());
        }
        Ok(None) => assert!(wire.len() < LONGEST, "{} bytes, and no end in sight", wire.len()),
        Err(_) => {}
    }
}

/// The header as the second implementation reads it.
fn second(bytes: &[u8]) -> Option<ProxyHeader> {
    let length = bytes.len();
    let pair = |source: (IpAddr, u16), destination: (IpAddr, u16)| {
        let canonical = |(ip, port): (IpAddr, u16)| Some(SocketAddr::new(ip.to_canonical(), port));
        ProxyHeader { source: canonical(source), destination: canonical(destination), is_unknown: false, length }
    };
    let nothing = |is_unknown| ProxyHeader { source: None, destination: None, is_unknown, length };
    // The second implementation refuses more than a few words behind it, where all is to be ignored (section 2.1).
    if bytes.starts_with(b"PROXY UNKNOWN") {
        return Some(nothing(true));
    }
    if let Ok(header) = v1::Header::try_from(bytes) {
        return Some(match header.addresses {
            v1::Addresses::Unknown => nothing(true),
            v1::Addresses::Tcp4(a) => {
                pair((a.source_address.into(), a.source_port), (a.destination_address.into(), a.destination_port))
            }
            v1::Addresses::Tcp6(a) => {
                pair((a.source_address.into(), a.source_port), (a.destination_address.into(), a.destination_port))
            }
        });
    }
    // What stands in a header of the proxy's own connection is to be skipped, whatever it is.
    if bytes.get(12) == Some(&0x20) {
        return Some(nothing(false));
    }
    Some(match v2::Header::try_from(bytes).ok()?.addresses {
        v2::Addresses::Unspecified | v2::Addresses::Unix(_) => nothing(true),
        v2::Addresses::IPv4(a) => {
            pair((a.source_address.into(), a.source_port), (a.destination_address.into(), a.destination_port))
        }
        v2::Addresses::IPv6(a) => {
            pair((a.source_address.into(), a.source_port), (a.destination_address.into(), a.destination_port))
        }
    })
}
