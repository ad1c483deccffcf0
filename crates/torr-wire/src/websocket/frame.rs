//! Frames (RFC 6455, section 5): those of the client written, those of the server read.

use super::code;
use super::mask::mask;
use thiserror::Error;

/// The largest payload of a control frame, in bytes (section 5.5).
pub const LARGEST_CONTROL: usize = 125;
/// The largest header of a frame that a server sends, which is not masked.
const LARGEST_HEADER: usize = 10;
/// The first bit of a header: this is the message's last frame.
const FIN: u8 = 0x80;
/// The bits that extensions may use.
const RESERVED: u8 = 0x70;
/// The bit of those that says that a message is compressed (RFC 7692, section 6): in the header of its first frame.
const COMPRESSED: u8 = 0x40;
/// The bit of the second byte that says that the payload is masked.
const MASKED: u8 = 0x80;
/// The length that says that 2 bytes of length follow, and that of 8 bytes.
const TWO_BYTES: u8 = 126;
const EIGHT_BYTES: u8 = 127;

/// What a message is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// Any bytes.
    Binary,
}

/// Opcodes (section 11.8).
mod opcode {
    pub const CONTINUATION: u8 = 0;
    pub const TEXT: u8 = 1;
    pub const BINARY: u8 = 2;
    pub const CLOSE: u8 = 8;
    pub const PING: u8 = 9;
    pub const PONG: u8 = 10;
}

/// A violation of the protocol by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    /// A server must not mask (section 5.1).
    #[error("the server sent a masked frame")]
    Masked,
    /// Reserved bits are set that belong to no extension, or not in this frame.
    #[error("the server sent a frame with reserved bits")]
    Reserved,
    /// The opcode is not defined.
    #[error("the server sent a frame with the unknown opcode {0}")]
    Opcode(u8),
    /// A frame continues no message.
    #[error("the server sent a continuation frame outside of a message")]
    NothingToContinue,
    /// A message begins within another one.
    #[error("the server began a message within another one")]
    MessageWithin,
    /// A control frame is fragmented.
    #[error("the server sent a fragmented control frame")]
    FragmentedControl,
    /// A control frame is larger than [`LARGEST_CONTROL`].
    #[error("the server sent a control frame with more than {LARGEST_CONTROL} bytes")]
    LargeControl,
    /// A message is larger than the reader's limit, in bytes.
    #[error("the server sent a message with more than {0} bytes")]
    Large(u64),
    /// The payload of a close frame has one byte, or a code that must not be sent (section 7.4).
    #[error("the server sent a close frame with an invalid code")]
    Code,
    /// The payload of a compressed message is none of DEFLATE (RFC 1951).
    #[error("the server sent a compressed message that is malformed")]
    Deflate,
}

impl FrameError {
    /// Returns the code with which the client closes the connection (section 7.4.1).
    pub fn code(self) -> u16 {
        match self {
            Self::Large(_) => code::TOO_LARGE,
            Self::Deflate => code::INVALID_PAYLOAD,
            _ => code::PROTOCOL_ERROR,
        }
    }
}

/// The length of the header of a small message, in bytes: the room to begin with.
pub const LEAST_ROOM: usize = 6;

/// Returns the length of the header of a masked frame with this payload, in bytes.
#[inline]
fn message_room(payload: usize) -> usize {
    match payload {
        0..126 => LEAST_ROOM,
        126..=0xffff => 8,
        _ => 14,
    }
}

/// Makes the bytes from `start` on a message in one frame, masked with `key`: `room` bytes that were left free, and the payload.
/// The payload moves if its header has another length, which is returned: the room for the next message of about this size.
#[inline]
pub fn finish_message(kind: Kind, key: [u8; 4], start: usize, room: usize, out: &mut Vec<u8>) -> usize {
    finish(FIN | opcode_of(kind), key, start, room, out)
}

/// Does what [`finish_message`] does for a payload that is compressed, which the handshake has to have agreed on.
pub fn finish_compressed_message(kind: Kind, key: [u8; 4], start: usize, room: usize, out: &mut Vec<u8>) -> usize {
    finish(FIN | COMPRESSED | opcode_of(kind), key, start, room, out)
}

#[inline]
fn opcode_of(kind: Kind) -> u8 {
    match kind {
        Kind::Text => opcode::TEXT,
        Kind::Binary => opcode::BINARY,
    }
}

#[inline]
fn finish(first: u8, key: [u8; 4], start: usize, room: usize, out: &mut Vec<u8>) -> usize {
    let payload = out.len() - start - room;
    let needed = message_room(payload);
    if needed != room {
        move_payload(start, room, needed, out);
    }
    let (header, payload) = out[start..].split_at_mut(needed);
    write_header(first, payload.len(), key, header);
    mask(payload, key);
    needed
}

#[cold]
fn move_payload(start: usize, room: usize, needed: usize, out: &mut Vec<u8>) {
    let end = out.len();
    if needed > room {
        out.resize(end + needed - room, 0);
    }
    out.copy_within(start + room..end, start + needed);
    out.truncate(end + needed - room);
}

/// Fills in a header, which has the length of one for this payload.
#[inline]
fn write_header(first: u8, payload: usize, key: [u8; 4], header: &mut [u8]) {
    header[0] = first;
    match payload {
        0..126 => header[1] = MASKED | payload as u8,
        126..=0xffff => {
            header[1] = MASKED | TWO_BYTES;
            header[2..4].copy_from_slice(&(payload as u16).to_be_bytes());
        }
        _ => {
            header[1] = MASKED | EIGHT_BYTES;
            header[2..10].copy_from_slice(&(payload as u64).to_be_bytes());
        }
    }
    let end = header.len();
    header[end - 4..].copy_from_slice(&key);
}

fn write_control(opcode: u8, payload: &[u8], key: [u8; 4], out: &mut Vec<u8>) {
    let payload = &payload[..payload.len().min(LARGEST_CONTROL)];
    let mut header = [0; 6];
    write_header(FIN | opcode, payload.len(), key, &mut header);
    out.extend_from_slice(&header);
    let start = out.len();
    out.extend_from_slice(payload);
    mask(&mut out[start..], key);
}

/// Appends the pong to a ping with this payload.
pub fn pong(ping: &[u8], key: [u8; 4], out: &mut Vec<u8>) {
    write_control(opcode::PONG, ping, key, out);
}

/// Appends a ping with this payload, of which no more than [`LARGEST_CONTROL`] bytes go.
pub fn ping(payload: &[u8], key: [u8; 4], out: &mut Vec<u8>) {
    write_control(opcode::PING, payload, key, out);
}

/// Appends a close frame with a code and a reason, which is cut to what fits. Without a code there is no reason.
pub fn close(code: Option<u16>, reason: &str, key: [u8; 4], out: &mut Vec<u8>) {
    let Some(code) = code else { return write_control(opcode::CLOSE, &[], key, out) };
    let mut end = reason.len().min(LARGEST_CONTROL - 2);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let payload = [&code.to_be_bytes(), &reason.as_bytes()[..end]].concat();
    write_control(opcode::CLOSE, &payload, key, out);
}

/// What a server has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameEvent {
    /// A message is complete, with the length of its payload in bytes.
    Message(Kind, u64),
    /// A ping, whose payload [`FrameReader::control`] returns.
    Ping,
    /// A pong.
    Pong,
    /// The server closes the connection, with this code if it gives one. No frame follows.
    Close(Option<u16>),
}

/// A frame whose payload has not arrived completely.
#[derive(Debug, Clone, Copy)]
struct Frame {
    opcode: u8,
    is_last: bool,
    is_compressed: bool,
    /// The number of payload bytes that are to come.
    left: u64,
}

/// A message whose last frame has not arrived completely.
#[derive(Debug, Clone, Copy)]
struct Message {
    kind: Kind,
    /// The bytes of payload in its frames so far.
    length: u64,
    is_compressed: bool,
}

/// A decoder of the frames of one connection, which arrive in pieces of any size.
#[derive(Debug, Default)]
pub struct FrameReader {
    header: [u8; LARGEST_HEADER],
    /// The number of bytes of an incomplete header.
    header_length: u8,
    frame: Option<Frame>,
    message: Option<Message>,
    /// Whether messages may be compressed.
    takes_compressed: bool,
    /// Whether the latest complete message is compressed.
    was_compressed: bool,
    /// The payload of the latest control frame. Most connections have none.
    control: Option<Box<Control>>,
}

#[derive(Debug)]
struct Control {
    payload: [u8; LARGEST_CONTROL],
    length: u8,
}

impl FrameReader {
    /// Forgets what is incomplete, and that messages may be compressed: the next bytes are those of another connection.
    pub fn reset(&mut self) {
        (self.header_length, self.frame, self.message) = (0, None, None);
        (self.takes_compressed, self.was_compressed) = (false, false);
    }

    /// Takes compressed messages from now on: the handshake has agreed on `permessage-deflate`.
    pub fn take_compressed(&mut self) {
        self.takes_compressed = true;
    }

    /// Returns whether the latest complete message is compressed. Its pieces and its length are those of the compressed payload.
    #[must_use]
    pub fn was_compressed(&self) -> bool {
        self.was_compressed
    }

    /// Returns whether a message is incomplete.
    #[inline]
    pub fn is_mid_message(&self) -> bool {
        self.message.is_some() || self.frame.is_some() || self.header_length > 0
    }

    /// Returns the payload of the latest control frame.
    pub fn control(&self) -> &[u8] {
        self.control.as_ref().map_or(&[], |control| &control.payload[..control.length.into()])
    }

    /// Decodes `input` up to the end of one message or control frame. Each piece of a message's payload goes to `piece`. A message may
    /// have `most` bytes.
    ///
    /// Returns the number of bytes consumed, and what is complete; otherwise all of `input` was consumed.
    ///
    /// # Errors
    /// [`FrameError`], after which the connection cannot be used.
    #[inline]
    pub fn read(
        &mut self,
        input: &[u8],
        most: u64,
        mut piece: impl FnMut(&[u8]),
    ) -> Result<(usize, Option<FrameEvent>), FrameError> {
        let mut at = 0;
        loop {
            let mut frame = match self.frame.take() {
                Some(frame) => frame,
                None => match self.read_header(&input[at..])? {
                    (used, Some(frame)) => {
                        at += used;
                        self.begin(frame, most)?;
                        frame
                    }
                    (_, None) => return Ok((input.len(), None)),
                },
            };
            let arrived = usize::try_from(frame.left).map_or(input.len() - at, |left| left.min(input.len() - at));
            let payload = &input[at..at + arrived];
            at += arrived;
            frame.left -= arrived as u64;
            if frame.opcode >= opcode::CLOSE {
                self.hold_control(payload);
            } else if !payload.is_empty() {
                piece(payload);
            }
            if frame.left > 0 {
                self.frame = Some(frame);
                return Ok((at, None));
            }
            if let Some(event) = self.end(frame)? {
                return Ok((at, Some(event)));
            }
        }
    }

    /// Reads a header, part of which may have arrived before.
    #[inline]
    fn read_header(&mut self, input: &[u8]) -> Result<(usize, Option<Frame>), FrameError> {
        if self.header_length == 0
            && let [first, second, ..] = *input
            && second & !MASKED < TWO_BYTES
        {
            return Ok((2, Some(header(first, second, u64::from(second & !MASKED), self.takes_compressed)?)));
        }
        self.read_long_header(input)
    }

    fn read_long_header(&mut self, input: &[u8]) -> Result<(usize, Option<Frame>), FrameError> {
        let mut used = 0;
        loop {
            let have = usize::from(self.header_length);
            let needed = match self.header[1] & !MASKED {
                _ if have < 2 => 2,
                TWO_BYTES => 4,
                EIGHT_BYTES => 10,
                _ => 2,
            };
            if have == needed {
                self.header_length = 0;
                let [first, second, rest @ ..] = self.header;
                let length = match needed {
                    2 => u64::from(second & !MASKED),
                    4 => u64::from(u16::from_be_bytes([rest[0], rest[1]])),
                    _ => u64::from_be_bytes(rest),
                };
                return Ok((used, Some(header(first, second, length, self.takes_compressed)?)));
            }
            let arrived = (needed - have).min(input.len() - used);
            if arrived == 0 {
                return Ok((used, None));
            }
            self.header[have..have + arrived].copy_from_slice(&input[used..used + arrived]);
            self.header_length += arrived as u8;
            used += arrived;
        }
    }

    /// Checks a frame against what was before it, and counts its payload.
    #[inline]
    fn begin(&mut self, frame: Frame, most: u64) -> Result<(), FrameError> {
        let new = |kind| Message { kind, length: 0, is_compressed: frame.is_compressed };
        let message = match (frame.opcode, self.message) {
            (opcode::TEXT, None) => new(Kind::Text),
            (opcode::BINARY, None) => new(Kind::Binary),
            (opcode::TEXT | opcode::BINARY, Some(_)) => return Err(FrameError::MessageWithin),
            (opcode::CONTINUATION, Some(message)) => message,
            (opcode::CONTINUATION, None) => return Err(FrameError::NothingToContinue),
            _ => return self.begin_control(frame),
        };
        // Before anything of it has arrived: no server is waited for that announces too much.
        let length = message.length.checked_add(frame.left);
        let length = length.filter(|length| *length <= most).ok_or(FrameError::Large(most))?;
        self.message = Some(Message { length, ..message });
        Ok(())
    }

    #[cold]
    fn begin_control(&mut self, frame: Frame) -> Result<(), FrameError> {
        if !frame.is_last {
            return Err(FrameError::FragmentedControl);
        }
        if frame.left > LARGEST_CONTROL as u64 {
            return Err(FrameError::LargeControl);
        }
        let new = || Box::new(Control { payload: [0; LARGEST_CONTROL], length: 0 });
        self.control.get_or_insert_with(new).length = 0;
        Ok(())
    }

    #[cold]
    fn hold_control(&mut self, piece: &[u8]) {
        let Some(control) = &mut self.control else { return };
        let at = usize::from(control.length);
        let end = (at + piece.len()).min(LARGEST_CONTROL);
        control.payload[at..end].copy_from_slice(&piece[..end - at]);
        control.length = end as u8;
    }

    /// Returns what a complete frame completes, if anything.
    #[inline]
    fn end(&mut self, frame: Frame) -> Result<Option<FrameEvent>, FrameError> {
        Ok(match frame.opcode {
            opcode::PING => Some(FrameEvent::Ping),
            opcode::PONG => Some(FrameEvent::Pong),
            opcode::CLOSE => Some(FrameEvent::Close(self.close_code()?)),
            _ if frame.is_last => self.message.take().map(|message| {
                self.was_compressed = message.is_compressed;
                FrameEvent::Message(message.kind, message.length)
            }),
            _ => None,
        })
    }

    /// Returns the code of a close frame.
    fn close_code(&self) -> Result<Option<u16>, FrameError> {
        match *self.control() {
            [] => Ok(None),
            [high, low, ..] => match u16::from_be_bytes([high, low]) {
                1004..=1006 | 1015 => Err(FrameError::Code),
                code @ 1000..=4999 => Ok(Some(code)),
                _ => Err(FrameError::Code),
            },
            [_] => Err(FrameError::Code),
        }
    }
}

/// Returns the frame of a header, which may begin a compressed message if the handshake has agreed on that.
#[inline]
fn header(first: u8, second: u8, length: u64, takes_compressed: bool) -> Result<Frame, FrameError> {
    let opcode = first & !(FIN | RESERVED);
    let is_compressed = first & RESERVED != 0;
    if is_compressed {
        // Neither control frames nor those that continue a message have the bit (RFC 7692, section 6.1).
        let begins = matches!(opcode, opcode::TEXT | opcode::BINARY);
        if !takes_compressed || !begins || first & RESERVED != COMPRESSED {
            return Err(FrameError::Reserved);
        }
    }
    if second & MASKED != 0 {
        return Err(FrameError::Masked);
    }
    match opcode {
        0..=2 | 8..=10 => Ok(Frame { opcode, is_last: first & FIN != 0, is_compressed, left: length }),
        other => Err(FrameError::Opcode(other)),
    }
}

#[cfg(test)]
mod tests;
