//! The kernel's filter of packets: TCP segments from or to one port, each of them once.

use libc::sock_filter;

/// Codes of classic BPF instructions.
const LOAD_WORD: u16 = 0x20;
const LOAD_HALF: u16 = 0x28;
const LOAD_BYTE: u16 = 0x30;
const LOAD_HALF_INDEXED: u16 = 0x48;
const LOAD_HEADER_LENGTH: u16 = 0xb1;
const SHIFT_RIGHT: u16 = 0x74;
const IF_EQUAL: u16 = 0x15;
const IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Where the kernel offers what is no byte of the packet: its direction, and its interface.
const ANCILLARY: u32 = 0xffff_f000;
const DIRECTION: u32 = ANCILLARY + 4;
const INTERFACE: u32 = ANCILLARY + 8;

/// The loopback interface, which has this number in each namespace, and shows each packet in both directions.
const LOOPBACK: u32 = 1;
const OUTGOING: u32 = 4;

/// The protocol number of TCP.
const TCP: u32 = 6;

/// The bits of a fragment: more of them follow, or it is not the first.
const FRAGMENT: u32 = 0x3fff;

/// The most bytes of a packet.
const ALL: u32 = 0xffff;

/// A place in the program that jumps lead to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Next,
    Version,
    Ipv4,
    Ipv6,
    Accept,
    Reject,
}

/// Returns the filter for packets that begin with their IP header.
pub(super) fn filter(port: u16) -> Vec<sock_filter> {
    use Label::{Accept, Ipv4, Ipv6, Next, Reject, Version};
    let port = u32::from(port);
    // Code and operand; where a condition holds, and where it does not; the label of the instruction.
    let program = [
        (LOAD_WORD, INTERFACE, Next, Next, Next),
        (IF_EQUAL, LOOPBACK, Next, Version, Next),
        (LOAD_WORD, DIRECTION, Next, Next, Next),
        (IF_EQUAL, OUTGOING, Reject, Next, Next),
        (LOAD_BYTE, 0, Next, Next, Version),
        (SHIFT_RIGHT, 4, Next, Next, Next),
        (IF_EQUAL, 4, Ipv4, Next, Next),
        (IF_EQUAL, 6, Ipv6, Reject, Next),
        (LOAD_BYTE, 9, Next, Next, Ipv4),
        (IF_EQUAL, TCP, Next, Reject, Next),
        (LOAD_HALF, 6, Next, Next, Next),
        (IF_ANY_BIT, FRAGMENT, Reject, Next, Next),
        (LOAD_HEADER_LENGTH, 0, Next, Next, Next),
        (LOAD_HALF_INDEXED, 0, Next, Next, Next),
        (IF_EQUAL, port, Accept, Next, Next),
        (LOAD_HALF_INDEXED, 2, Next, Next, Next),
        (IF_EQUAL, port, Accept, Reject, Next),
        // Extensions of IPv6 are rare, and are not followed.
        (LOAD_BYTE, 6, Next, Next, Ipv6),
        (IF_EQUAL, TCP, Next, Reject, Next),
        (LOAD_HALF, 40, Next, Next, Next),
        (IF_EQUAL, port, Accept, Next, Next),
        (LOAD_HALF, 42, Next, Next, Next),
        (IF_EQUAL, port, Accept, Reject, Next),
        (RETURN, ALL, Next, Next, Accept),
        (RETURN, 0, Next, Next, Reject),
    ];
    // A jump counts from the instruction behind it.
    let jump = |from: usize, to: Label| {
        let target = program.iter().position(|instruction| to != Next && instruction.4 == to);
        target.and_then(|target| u8::try_from(target - from - 1).ok()).unwrap_or(0)
    };
    let instructions = program.iter().enumerate();
    instructions
        .map(|(at, &(code, k, yes, no, _))| sock_filter { code, jt: jump(at, yes), jf: jump(at, no), k })
        .collect()
}
