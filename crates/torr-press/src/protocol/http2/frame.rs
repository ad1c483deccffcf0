//! Frames (RFC 9113, section 4): their heads, and those that are written.

/// The length of a frame's head.
pub const HEAD: usize = 9;
/// The largest payload that is taken, which is the least that everybody has to take.
pub const MOST: usize = 16 * 1024;
/// The largest window there can be.
pub const MOST_WINDOW: i64 = i32::MAX as i64;

/// Types of frames.
pub mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const PRIORITY: u8 = 2;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
}

/// Flags of frames; what they mean depends on the type.
pub mod flag {
    pub const ACK: u8 = 0x1;
    pub const END_STREAM: u8 = 0x1;
    pub const END_HEADERS: u8 = 0x4;
    pub const PADDED: u8 = 0x8;
    pub const PRIORITY: u8 = 0x20;
}

/// Settings' names.
pub mod setting {
    pub const HEADER_TABLE_SIZE: u16 = 1;
    pub const ENABLE_PUSH: u16 = 2;
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    pub const MAX_FRAME_SIZE: u16 = 5;
    pub const MAX_HEADER_LIST_SIZE: u16 = 6;
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub len: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl Head {
    /// The head that stands in front, if it is all there.
    #[inline]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let &[a, b, c, kind, flags, d, e, f, g] = bytes.first_chunk()?;
        let len = u32::from_be_bytes([0, a, b, c]) as usize;
        // The first bit of the stream has no meaning, and is passed over.
        Some(Self { len, kind, flags, stream: u32::from_be_bytes([d, e, f, g]) & !(1 << 31) })
    }

    #[inline]
    pub fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub fn write(self, out: &mut Vec<u8>) {
        let [_, a, b, c] = (self.len as u32).to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        out.extend_from_slice(&[a, b, c, self.kind, self.flags, d, e, f, g]);
    }
}

/// Returns the payload without its padding. `None` if the padding does not fit the payload.
#[inline]
pub fn unpadded(head: Head, payload: &[u8]) -> Option<&[u8]> {
    if !head.has(flag::PADDED) {
        return Some(payload);
    }
    let (&padding, rest) = payload.split_first()?;
    rest.get(..rest.len().checked_sub(padding.into())?)
}

/// A frame of one number: `RST_STREAM` or `WINDOW_UPDATE`.
pub fn number(kind: u8, stream: u32, number: u32, out: &mut Vec<u8>) {
    Head { len: 4, kind, flags: 0, stream }.write(out);
    out.extend_from_slice(&number.to_be_bytes());
}

/// The number that is the whole payload.
pub fn read_number(payload: &[u8]) -> Option<u32> {
    payload.try_into().ok().map(u32::from_be_bytes)
}

/// A whole frame.
pub fn whole(kind: u8, flags: u8, payload: &[u8], out: &mut Vec<u8>) {
    Head { len: payload.len(), kind, flags, stream: 0 }.write(out);
    out.extend_from_slice(payload);
}

/// Settings.
pub fn settings(settings: &[(u16, u32)], out: &mut Vec<u8>) {
    Head { len: 6 * settings.len(), kind: kind::SETTINGS, flags: 0, stream: 0 }.write(out);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// A packed head, in as many frames as it takes.
#[inline]
pub fn headers(stream: u32, block: &[u8], end_stream: bool, most: usize, out: &mut Vec<u8>) {
    let end = if end_stream { flag::END_STREAM } else { 0 };
    let (mut kind, mut flags, mut rest) = (kind::HEADERS, end, block);
    loop {
        let (piece, behind) = rest.split_at(rest.len().min(most));
        if behind.is_empty() {
            flags |= flag::END_HEADERS;
        }
        Head { len: piece.len(), kind, flags, stream }.write(out);
        out.extend_from_slice(piece);
        if behind.is_empty() {
            return;
        }
        (kind, flags, rest) = (kind::CONTINUATION, 0, behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_they_are_written() {
        let head = Head { len: 0x0001_0203, kind: kind::HEADERS, flags: 0x25, stream: 0x7fff_fffe };
        let mut bytes = Vec::new();
        head.write(&mut bytes);
        assert_eq!(bytes, [1, 2, 3, 1, 0x25, 0x7f, 0xff, 0xff, 0xfe]);
        assert_eq!(Head::read(&bytes), Some(head));
        assert_eq!(Head::read(&bytes[..8]), None);
        bytes[5] |= 0x80;
        assert_eq!(Head::read(&bytes), Some(head), "the reserved bit means nothing");
    }

    #[test]
    fn padding() {
        let padded = |payload| unpadded(Head { len: 0, kind: 0, flags: flag::PADDED, stream: 1 }, payload);
        assert_eq!(padded(b"\x02abc\0\0"), Some(&b"abc"[..]));
        assert_eq!(padded(b"\x00abc"), Some(&b"abc"[..]));
        assert_eq!(padded(b"\x03\0\0\0"), Some(&b""[..]));
        assert_eq!(padded(b"\x04\0\0\0"), None);
        assert_eq!(padded(b""), None);
    }

    #[test]
    fn a_large_head_takes_several_frames() {
        let mut out = Vec::new();
        headers(5, b"abcdefgh", true, 3, &mut out);
        let frame = |head, payload: &[u8]| [head, payload].concat();
        let expected = [
            frame(b"\0\0\x03\x01\x01\0\0\0\x05".as_slice(), b"abc"),
            frame(b"\0\0\x03\x09\x00\0\0\0\x05", b"def"),
            frame(b"\0\0\x02\x09\x04\0\0\0\x05", b"gh"),
        ];
        assert_eq!(out, expected.concat());
    }
}
