//! The messages of a WebSocket connection whose opening handshake is complete: frames, pings, and the closing handshake.

use super::compression::{MessageCodecs, MessageCompression};
use super::thread::WebSocketThread;
use crate::failures;
use crate::response::checks::MOST_BODY;
use torr_gauge::Failure;
use torr_wire::websocket::{self, Agreement, FrameError, FrameEvent, FrameReader, Kind, code};

/// The pings that a server may send between two messages.
const MOST_PINGS: u32 = 10_000;

/// The messages of one connection, in both directions.
#[derive(Debug)]
pub(super) struct Messages {
    frames: FrameReader,
    /// The compression of messages, where the handshake has agreed on it.
    compression: Option<Box<MessageCompression>>,
    /// The pings since the latest message.
    pings: u32,
    /// The code with which the server has closed the connection.
    pub closed: Option<u16>,
    /// The code with which this side closes the connection.
    closes_with: u16,
}

impl Default for Messages {
    fn default() -> Self {
        Self { frames: FrameReader::default(), compression: None, pings: 0, closed: None, closes_with: code::NORMAL }
    }
}

/// What a part of the bytes of a server comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Received {
    /// A message is complete, with the length of its payload in bytes.
    Message(Kind, u64),
    /// The server closes the connection. Nothing follows.
    Closed,
    /// All bytes are read, of which the last ones may belong to an incomplete message.
    All,
}

impl Messages {
    /// Forgets the connection before.
    pub fn reset(&mut self) {
        self.frames.reset();
        self.compression = None;
        (self.pings, self.closed, self.closes_with) = (0, None, code::NORMAL);
    }

    /// Begins after a handshake that has agreed on this compression.
    pub fn begin(&mut self, agreement: Option<Agreement>) {
        self.compression = agreement.map(|agreement| Box::new(MessageCompression::new(agreement)));
        if self.compression.is_some() {
            self.frames.take_compressed();
        }
    }

    /// Whether messages may be compressed.
    pub fn are_compressed(&self) -> bool {
        self.compression.is_some()
    }

    /// Whether a message is incomplete.
    #[inline]
    pub fn is_mid_message(&self) -> bool {
        self.frames.is_mid_message()
    }

    /// Reads bytes up to the end of the next message, whose payload goes to `piece`. Pongs go to `out`. Returns the number of bytes
    /// used.
    ///
    /// # Errors
    /// If the bytes violate the protocol.
    #[inline]
    pub fn receive(
        &mut self,
        thread: &mut WebSocketThread,
        input: &[u8],
        out: &mut Vec<u8>,
        mut piece: impl FnMut(&[u8]),
    ) -> Result<(usize, Received), Failure> {
        let mut read = 0;
        loop {
            let decoded = match &mut self.compression {
                None => self.frames.read(&input[read..], MOST_BODY as u64, &mut piece),
                Some(compression) => {
                    let codecs = &mut thread.codecs;
                    read_compressed(&mut self.frames, compression, codecs, &input[read..], &mut piece)
                }
            };
            let (used, event) = decoded.map_err(|error| {
                self.closes_with = error.code();
                failures::frame(error)
            })?;
            read += used;
            match event {
                Some(FrameEvent::Message(kind, length)) => {
                    self.pings = 0;
                    return Ok((read, Received::Message(kind, length)));
                }
                Some(FrameEvent::Ping) => self.pong(thread, out)?,
                Some(FrameEvent::Pong) => {}
                Some(FrameEvent::Close(code)) => {
                    self.closed = Some(code.unwrap_or(code::NONE));
                    return Ok((input.len(), Received::Closed));
                }
                None => return Ok((read, Received::All)),
            }
        }
    }

    #[cold]
    fn pong(&mut self, thread: &mut WebSocketThread, out: &mut Vec<u8>) -> Result<(), Failure> {
        thread.tally.pings += 1;
        self.pings += 1;
        if self.pings > MOST_PINGS {
            self.closes_with = code::POLICY;
            return Err(failures::pings(MOST_PINGS));
        }
        websocket::pong(self.frames.control(), thread.mask(), out);
        Ok(())
    }

    /// Checks the payload of a message.
    ///
    /// # Errors
    /// If a text is not UTF-8.
    pub fn check_text(&mut self, kind: Kind, payload: &[u8]) -> Result<(), Failure> {
        if kind == Kind::Text && std::str::from_utf8(payload).is_err() {
            self.closes_with = code::INVALID_PAYLOAD;
            return Err(failures::not_text());
        }
        Ok(())
    }

    /// Notes that the server has ended its side, and returns the code of its close frame.
    pub fn server_closed(&mut self) -> u16 {
        *self.closed.get_or_insert(code::ABNORMAL)
    }

    /// Writes the close frame of this side.
    pub fn close(&mut self, thread: &mut WebSocketThread, out: &mut Vec<u8>) {
        if let Some(code) = self.closed {
            *thread.tally.closed.entry(code).or_default() += 1;
        }
        // What the server has sent is sent back (section 5.5.1).
        let code = match self.closed {
            Some(code::ABNORMAL) => return,
            Some(code::NONE) => None,
            Some(code) => Some(code),
            None => Some(self.closes_with),
        };
        websocket::close(code, "", thread.mask(), out);
    }

    /// Appends the message that `write` appends in one frame, with room for its header before it.
    #[inline]
    pub fn write(
        &mut self,
        thread: &mut WebSocketThread,
        kind: Kind,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>, usize),
    ) {
        let (start, room) = (out.len(), thread.room);
        out.resize(start + room, 0);
        write(out, start + room);
        thread.room = match &mut self.compression {
            None => websocket::finish_message(kind, thread.mask(), start, room, out),
            Some(compression) => {
                compression.encode(&mut thread.codecs, start + room, out);
                websocket::finish_compressed_message(kind, thread.mask(), start, room, out)
            }
        };
    }
}

/// Does what [`FrameReader::read`] does on a connection whose messages may be compressed: a message's payload goes to `piece` when it
/// is complete, decoded, and its length is that of what was decoded.
#[inline(never)]
fn read_compressed(
    frames: &mut FrameReader,
    compression: &mut MessageCompression,
    codecs: &mut MessageCodecs,
    input: &[u8],
    piece: &mut dyn FnMut(&[u8]),
) -> Result<(usize, Option<FrameEvent>), FrameError> {
    let (used, event) = frames.read(input, MOST_BODY as u64, |part| compression.hold(part))?;
    Ok(match event {
        Some(FrameEvent::Message(kind, _)) if frames.was_compressed() => {
            let length = compression.decode(codecs, MOST_BODY as u64, piece)?;
            (used, Some(FrameEvent::Message(kind, length)))
        }
        Some(FrameEvent::Message(..)) => {
            compression.hand_over(piece);
            (used, event)
        }
        event => (used, event),
    })
}
