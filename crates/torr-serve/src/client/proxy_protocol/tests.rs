//! Headers of both versions: good, cut short, bad, and made of anything.

use super::*;
use proptest::prelude::*;

fn header(source: &str, destination: &str) -> ProxyHeader {
    ProxyHeader { source: source.parse().ok(), destination: destination.parse().ok(), is_unknown: false }
}

/// A header of version 2 with an empty checksum, if it is to have one, which is filled in.
fn v2_bytes(command: u8, family: u8, addresses: &[u8], extensions: &[(u8, &[u8])]) -> Vec<u8> {
    let extensions = extensions.iter().flat_map(|(kind, value)| {
        let length = u16::try_from(value.len()).expect("it is short");
        [&[*kind][..], &length.to_be_bytes(), value].concat()
    });
    let block: Vec<u8> = addresses.iter().copied().chain(extensions).collect();
    let length = u16::try_from(block.len()).expect("it is short");
    [V2, &[command, family], &length.to_be_bytes(), &block].concat()
}

const INET: &[u8] = &[192, 0, 2, 1, 198, 51, 100, 2, 0x1f, 0x90, 0x01, 0xbb];

/// Every beginning is incomplete, and what follows is left alone.
fn is(bytes: &[u8], header: ProxyHeader) {
    for length in 0..bytes.len() {
        assert_eq!(parse(&bytes[..length]), Ok(None), "{length} of {bytes:?}");
    }
    assert_eq!(parse(bytes), Ok(Some((header, bytes.len()))), "{bytes:?}");
    let followed = [bytes, b"GET / HTTP/1.1\r\n\r\n"].concat();
    assert_eq!(parse(&followed), Ok(Some((header, bytes.len()))), "{bytes:?}");
}

#[test]
fn version_1() {
    is(b"PROXY TCP4 192.0.2.1 198.51.100.2 8080 443\r\n", header("192.0.2.1:8080", "198.51.100.2:443"));
    is(b"PROXY TCP6 2001:db8::1 ::1 0 65535\r\n", header("[2001:db8::1]:0", "[::1]:65535"));
    is(b"PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n", header("192.0.2.1:1", "[::1]:2"));
    is(b"PROXY UNKNOWN\r\n", ProxyHeader::UNKNOWN);
    let full = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
    let longest = format!("PROXY UNKNOWN {full} {full} 65535 65535\r\n");
    assert_eq!(longest.len(), LONGEST_V1);
    is(longest.as_bytes(), ProxyHeader::UNKNOWN);
}

#[test]
fn what_is_not_version_1() {
    for line in [
        "PROXY TCP4\r\n",
        "PROXY  TCP4 1.1.1.1 2.2.2.2 1 2\r\n",
        "PROXY TCP4 1.1.1.1  2.2.2.2 1 2\r\n",
        "PROXY TCP4 1.1.1.1 2.2.2.2 1 2 \r\n",
        "PROXY TCP4 1.1.1.1 2.2.2.2 1 2 3\r\n",
        "PROXY TCP4 1.1.1.1 2.2.2.2 1\r\n",
        "PROXY TCP4 1.1.1.1 2.2.2.2 01 2\r\n",
        "PROXY TCP4 1.1.1.1 2.2.2.2 +1 2\r\n",
        "PROXY TCP4 1.1.1.1 2.2.2.2 65536 2\r\n",
        "PROXY TCP4 ::1 ::1 1 2\r\n",
        "PROXY TCP6 1.1.1.1 2.2.2.2 1 2\r\n",
        "PROXY TCP4 01.1.1.1 2.2.2.2 1 2\r\n",
        "PROXY tcp4 1.1.1.1 2.2.2.2 1 2\r\n",
        "PROXY UDP4 1.1.1.1 2.2.2.2 1 2\r\n",
        "PROXY UNKNOWNX\r\n",
        "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\n",
        "PROXY TCP4 1.1.1.1\r2.2.2.2 1 2\r\n",
        "PROXY \r\n",
    ] {
        assert_eq!(parse(line.as_bytes()), Err(ProxyError::Malformed), "{line:?}");
    }
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"proxy ", b"PROXYTCP4", b"\r\n\r\nG", b"\x16\x03\x01", b" "] {
        assert_eq!(parse(bytes), Err(ProxyError::NoHeader), "{bytes:?}");
    }
    let long = [b"PROXY UNKNOWN ".as_slice(), &[b'x'; 100]].concat();
    assert_eq!(parse(&long[..106]), Ok(None));
    assert_eq!(parse(&long[..107]), Err(ProxyError::TooLong));
    let late = [&long[..106], b"\r\n"].concat();
    assert_eq!(parse(&late), Err(ProxyError::TooLong));
}

#[test]
fn version_2() {
    let tcp4 = header("192.0.2.1:8080", "198.51.100.2:443");
    is(&v2_bytes(0x21, 0x11, INET, &[]), tcp4);
    is(&v2_bytes(0x21, 0x12, INET, &[]), tcp4);
    is(&v2_bytes(0x21, 0x11, INET, &[(0x04, b""), (0x02, b"example.org"), (0xee, &[0; 300])]), tcp4);
    let mut inet6 = [0; 36];
    (inet6[15], inet6[16], inet6[33], inet6[35]) = (1, 0xfe, 80, 81);
    is(&v2_bytes(0x21, 0x21, &inet6, &[]), header("[::1]:80", "[fe00::]:81"));
    is(&v2_bytes(0x21, 0x31, &[b'/'; 216], &[(0x04, b"x")]), ProxyHeader::UNKNOWN);
    is(&v2_bytes(0x21, 0x00, &[], &[]), ProxyHeader::UNKNOWN);
    is(&v2_bytes(0x21, 0x00, b"anything", &[]), ProxyHeader::UNKNOWN);
    is(&v2_bytes(0x20, 0x00, &[], &[]), ProxyHeader::default());
    is(&v2_bytes(0x20, 0x11, INET, &[]), ProxyHeader::default());
    is(&v2_bytes(0x20, 0x77, b"anything", &[]), ProxyHeader::default());
    is(&v2_bytes(0x21, 0x11, INET, &[(0x04, &[0; LONGEST_V2 - 15])]), tcp4);
}

#[test]
fn what_is_not_version_2() {
    let malformed = [
        v2_bytes(0x11, 0x11, INET, &[]),
        v2_bytes(0x22, 0x11, INET, &[]),
        v2_bytes(0x21, 0x10, INET, &[]),
        v2_bytes(0x21, 0x13, INET, &[]),
        v2_bytes(0x21, 0x41, INET, &[]),
        v2_bytes(0x21, 0x11, &INET[1..], &[]),
        v2_bytes(0x21, 0x21, INET, &[]),
        v2_bytes(0x21, 0x31, INET, &[]),
        v2_bytes(0x21, 0x11, &[INET, &[4]].concat(), &[]),
        v2_bytes(0x21, 0x11, &[INET, &[4, 0]].concat(), &[]),
        v2_bytes(0x21, 0x11, &[INET, &[4, 0, 2, 0]].concat(), &[]),
        v2_bytes(0x21, 0x11, INET, &[(0x03, b"abc")]),
        v2_bytes(0x21, 0x11, INET, &[(0x03, b"abcde")]),
    ];
    for bytes in malformed {
        assert_eq!(parse(&bytes), Err(ProxyError::Malformed), "{bytes:?}");
    }
    let long = v2_bytes(0x21, 0x11, INET, &[(0x04, &[0; LONGEST_V2 - 14])]);
    assert_eq!(parse(&long[..16]), Err(ProxyError::TooLong));
    assert_eq!(parse(&v2_bytes(0x41, 0x11, &[], &[])[..13]), Err(ProxyError::Malformed));
}

#[test]
fn the_checksum_is_looked_at() {
    // RFC 3720, appendix B.4.
    assert_eq!(crc32c([0; 32].iter()), 0x8a91_36aa);
    assert_eq!(crc32c([0xff; 32].iter()), 0x62a8_ab43);
    assert_eq!(crc32c(b"123456789".iter()), 0xe306_9283);
    let extensions: [(u8, &[u8]); 3] = [(0x02, b"a"), (0x03, &[0; 4]), (0x04, b"b")];
    let mut bytes = v2_bytes(0x21, 0x11, INET, &extensions);
    let at = 16 + INET.len() + 4 + 3;
    let sum = crc32c(bytes.iter());
    bytes[at..at + 4].copy_from_slice(&sum.to_be_bytes());
    is(&bytes, header("192.0.2.1:8080", "198.51.100.2:443"));
    for wrong in [16, at, at + 3, bytes.len() - 1] {
        let mut bytes = bytes.clone();
        bytes[wrong] ^= 1;
        assert_eq!(parse(&bytes), Err(ProxyError::Checksum), "byte {wrong}");
    }
}

#[test]
fn settings_have_names() {
    for one in [ProxyProtocol::Off, ProxyProtocol::Required] {
        assert_eq!(one.to_string().parse(), Ok(one));
    }
    assert_eq!("optional".parse::<ProxyProtocol>(), Err(()));
}

/// The beginnings of input, most of them of a header.
const STARTS: &[&[u8]] = &[b"", V1, V2, b"PROXY TCP4 "];

proptest! {
    /// Any bytes in any pieces have one outcome, which further bytes do not change, within the bounds.
    #[test]
    fn anything_is_taken(start in prop::sample::select(STARTS), bytes: Vec<u8>, nearly: bool) {
        let bytes = if nearly && start == V2 { [V2, &[0x21, 0x11, 0, 40], &bytes].concat() } else { [start, &bytes].concat() };
        let all = parse(&bytes);
        for length in 0..bytes.len() {
            match parse(&bytes[..length]) {
                Ok(None) => {}
                Ok(Some((header, used))) => {
                    prop_assert!(used <= length);
                    prop_assert_eq!(&all, &Ok(Some((header, used))));
                }
                Err(error) => prop_assert_eq!(&all, &Err(error)),
            }
        }
        prop_assert!(all != Ok(None) || bytes.len() < 16 + LONGEST_V2);
    }

    #[test]
    fn addresses_come_through(a: [u8; 16], b: [u8; 16], ports: (u16, u16)) {
        let (from, to) = (Ipv6Addr::from(a), Ipv6Addr::from(b));
        let (source, destination) = (address(from.into(), ports.0), address(to.into(), ports.1));
        let is = ProxyHeader { source, destination, is_unknown: false };
        let line = format!("PROXY TCP6 {from} {to} {} {}\r\n", ports.0, ports.1);
        prop_assert_eq!(parse(line.as_bytes()), Ok(Some((is, line.len()))));
        let block = [&a[..], &b, &ports.0.to_be_bytes(), &ports.1.to_be_bytes()].concat();
        let bytes = v2_bytes(0x21, 0x21, &block, &[]);
        prop_assert_eq!(parse(&bytes), Ok(Some((is, bytes.len()))));
    }
}
