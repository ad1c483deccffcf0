//! The frames of one direction of a connection of HTTP/2 (RFC 9113, section 4), as far as their headers tell.

/// The length of a frame's header in bytes.
pub(super) const HEADER: usize = 9;
/// The length of a PING frame's payload in bytes.
pub(super) const PING: usize = 8;

/// The types of frames that are distinguished (RFC 9113, section 6).
pub(super) mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const SETTINGS: u8 = 4;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const CONTINUATION: u8 = 9;
}

const ACK: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;

/// A frame of which enough has arrived to judge it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub kind: u8,
    pub is_ack: bool,
    pub stream: u32,
    /// The length of the payload in bytes, without padding for DATA.
    pub content: usize,
    /// The payload of a PING, zeros for any other frame.
    pub ping: [u8; PING],
}

/// The position in the frames of one direction.
#[derive(Debug, Default)]
pub(super) struct FrameScanner {
    /// The number of bytes before the first frame that have not passed.
    preface: usize,
    /// The beginning of a frame that cannot be judged yet.
    begun: [u8; HEADER + PING],
    length: usize,
    /// The number of bytes of the current frame that have not passed, and whether they are content.
    rest: usize,
    is_data: bool,
    /// A header section continues in the next frame, so that no other may come before it.
    in_section: bool,
}

impl FrameScanner {
    /// Returns the position before `preface` bytes that are no frame.
    pub fn new(preface: usize) -> Self {
        Self { preface, ..Self::default() }
    }

    /// Whether another frame may be put in here.
    pub fn is_between_frames(&self) -> bool {
        self.preface + self.length + self.rest == 0 && !self.in_section
    }

    /// Follows `bytes`, and passes each frame to `judge` once it can be judged. Returns how many bytes of DATA frames passed.
    pub fn pass(&mut self, mut bytes: &[u8], mut judge: impl FnMut(Frame)) -> usize {
        let mut data = 0;
        let before = self.preface.min(bytes.len());
        self.preface -= before;
        bytes = &bytes[before..];
        while !bytes.is_empty() {
            if self.rest > 0 {
                let passed = self.rest.min(bytes.len());
                self.rest -= passed;
                data += if self.is_data { passed } else { 0 };
                bytes = &bytes[passed..];
                continue;
            }
            let wanted = self.wanted();
            let taken = (wanted - self.length).min(bytes.len());
            self.begun[self.length..self.length + taken].copy_from_slice(&bytes[..taken]);
            self.length += taken;
            bytes = &bytes[taken..];
            if self.length == self.wanted() {
                judge(self.end_beginning());
            }
        }
        data
    }

    /// Returns how many bytes of the current frame are needed to judge it.
    fn wanted(&self) -> usize {
        if self.length < HEADER {
            return HEADER;
        }
        match (self.begun[3], self.payload()) {
            (kind::DATA, 1..) if self.begun[4] & PADDED != 0 => HEADER + 1,
            (kind::PING, PING) => HEADER + PING,
            _ => HEADER,
        }
    }

    fn payload(&self) -> usize {
        usize::from(self.begun[0]) << 16 | usize::from(self.begun[1]) << 8 | usize::from(self.begun[2])
    }

    fn end_beginning(&mut self) -> Frame {
        let (payload, begun) = (self.payload(), self.begun);
        let (kind, flags) = (begun[3], begun[4]);
        let padding = if self.length == HEADER + 1 { 1 + usize::from(begun[HEADER]) } else { 0 };
        let mut ping = [0; PING];
        if self.length == begun.len() {
            ping.copy_from_slice(&begun[HEADER..]);
        }
        self.rest = payload - (self.length - HEADER);
        self.is_data = kind == kind::DATA;
        self.length = 0;
        if matches!(kind, kind::HEADERS | kind::CONTINUATION) {
            self.in_section = flags & END_HEADERS == 0;
        }
        Frame {
            kind,
            is_ack: flags & ACK != 0,
            stream: u32::from_be_bytes([begun[5] & 0x7f, begun[6], begun[7], begun[8]]),
            content: payload.saturating_sub(padding),
            ping,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).expect("it is short");
        [&[0, 0, length, kind, flags, 0, 0, 0, stream][..], payload].concat()
    }

    #[test]
    fn frames_are_seen_wherever_the_bytes_are_split() {
        let wire = [
            b"preface".to_vec(),
            frame(kind::HEADERS, 0, 1, b"fields"),
            frame(kind::CONTINUATION, END_HEADERS, 1, b""),
            frame(kind::DATA, PADDED, 1, b"\x03abcd\0\0\0"),
            frame(kind::DATA, PADDED, 1, b"\x02\0\0"),
            frame(kind::DATA, 0, 1, b"plain"),
            frame(kind::PING, ACK, 0, b"12345678"),
            frame(kind::PING, 0, 0, b"odd"),
        ]
        .concat();
        let seen = |at: usize| {
            let (mut scanner, mut frames, mut data) = (FrameScanner::new(7), Vec::new(), 0);
            for piece in [&wire[..at], &wire[at..]] {
                data += scanner.pass(piece, |frame| frames.push(frame));
            }
            assert!(scanner.is_between_frames());
            (frames, data)
        };
        let (frames, data) = seen(0);
        let contents: Vec<_> = frames.iter().map(|frame| (frame.kind, frame.stream, frame.content)).collect();
        let expected = [(1, 1, 6), (9, 1, 0), (0, 1, 4), (0, 1, 0), (0, 1, 5), (6, 0, 8), (6, 0, 3)];
        assert_eq!(contents, expected);
        assert_eq!((&frames[5].ping, frames[5].is_ack, frames[6].ping), (b"12345678", true, [0; PING]));
        for at in 0..=wire.len() {
            assert_eq!(seen(at).0, frames, "split at {at}");
            // The byte with the length of a padding passes with its frame's beginning.
            assert_eq!(seen(at).1, data, "split at {at}");
        }
    }

    #[test]
    fn no_frame_may_be_put_into_another_or_into_a_header_section() {
        let mut scanner = FrameScanner::new(2);
        let mut after = |bytes: &[u8]| {
            scanner.pass(bytes, |_| {});
            scanner.is_between_frames()
        };
        assert!(!after(b"p"));
        assert!(after(b"p"));
        assert!(!after(b"\0\0\x02"));
        assert!(!after(&[kind::HEADERS, 0, 0, 0, 0, 1]));
        assert!(!after(b"xx"), "a CONTINUATION follows");
        assert!(after(&frame(kind::CONTINUATION, END_HEADERS, 1, b"x")));
    }
}
