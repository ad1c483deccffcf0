//! The content of a request that has not arrived as a whole: gathered for a handler, or passed on to a router as it comes.

use crate::message::body_channel::{BodyReceiver, BodySender, body_channel};
use crate::message::body_error::BodyError;
use crate::message::body_pace::BodyPace;
use std::task::Waker;
use torr_wire::WireError;
use torr_wire::body::{BodyReader, Framing};

/// The number of bytes that are received at most of content that no handler reads, so that its connection can be kept alive.
const DISCARDED: u64 = 256 * 1024;

/// The content that is awaited.
#[derive(Default)]
pub(super) enum Content {
    /// A header section comes next.
    #[default]
    None,
    Gathered(Box<Gathered>),
    Uploaded(Box<Upload>),
}

/// A request whose content is gathered.
pub(super) struct Gathered {
    /// The bytes of the header section, which are parsed again when the content is complete.
    pub head: Vec<u8>,
    pub body: Vec<u8>,
    reader: BodyReader,
}

/// Content that is passed on to a router as it comes.
pub(super) struct Upload {
    reader: BodyReader,
    sender: BodySender,
    received: u64,
    /// The pace at which the client has to send.
    pub pace: BodyPace,
    /// The length of the content, if it is known.
    length: Option<u64>,
    /// The client waits for `100 Continue` before it sends the content.
    pub expects_continue: bool,
}

/// The part of a request's content that has not arrived at the time of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remainder {
    Nothing,
    /// Some bytes, after which the connection may be kept alive.
    Awaited,
    /// More than is worth receiving, or an unknown number.
    Unwanted,
}

/// Why content is not received to its end.
pub(super) enum ContentError {
    TooLarge,
    Malformed(WireError),
}

impl Gathered {
    pub fn new(head: Vec<u8>, framing: Framing) -> Self {
        Self { head, body: Vec::new(), reader: BodyReader::new(framing) }
    }

    /// Adds content of at most `most` bytes in all. Returns how much of `input` belongs to it.
    ///
    /// # Errors
    /// [`ContentError::TooLarge`] also where a fault follows, which may not have arrived yet and must not change the response.
    pub fn receive(&mut self, input: &[u8], most: u64) -> Result<usize, ContentError> {
        let room = most - self.body.len() as u64;
        let (body, mut received) = (&mut self.body, 0);
        let read = self.reader.read(input, |piece| {
            received += piece.len() as u64;
            if received <= room {
                body.extend_from_slice(piece);
            }
        });
        if received > room {
            return Err(ContentError::TooLarge);
        }
        read.map_err(ContentError::Malformed)
    }

    pub fn is_complete(&self) -> bool {
        self.reader.is_done()
    }
}

impl Upload {
    /// Returns an upload and the handler's end of it. `wake` makes the waker that is called when the handler has made room or
    /// waits for content.
    pub fn new(
        framing: Framing,
        expects_continue: bool,
        pace: BodyPace,
        wake: impl Fn() -> Waker,
    ) -> (Self, BodyReceiver) {
        let length = match framing {
            Framing::Length(length) => Some(length),
            _ => None,
        };
        let (sender, receiver) = body_channel(length, wake());
        (Self { reader: BodyReader::new(framing), sender, received: 0, pace, length, expects_continue }, receiver)
    }

    /// Passes content of at most `most` bytes in all on. Returns how much of `input` belongs to it.
    ///
    /// # Errors
    /// If the content is too large or malformed, which the handler learns as well.
    pub fn receive(&mut self, input: &[u8], most: u64) -> Result<usize, ContentError> {
        self.expects_continue &= input.is_empty();
        let (sender, received, pace) = (&self.sender, &mut self.received, &mut self.pace);
        let read = self.reader.read(input, |piece| {
            *received = received.saturating_add(piece.len() as u64);
            pace.receive(piece.len() as u64);
            if *received <= most {
                sender.push(piece);
            }
        });
        if self.received > most {
            self.sender.end(Err(BodyError::TooLarge));
            return Err(ContentError::TooLarge);
        }
        let used = read.map_err(|error| {
            self.sender.end(Err(BodyError::Malformed));
            ContentError::Malformed(error)
        })?;
        if self.reader.is_done() {
            self.sender.end(Ok(()));
        }
        Ok(used)
    }

    pub fn is_complete(&self) -> bool {
        self.reader.is_done()
    }

    /// Ends the content where the client has sent nothing of it for too long.
    pub fn time_out(&self) {
        self.sender.end(Err(BodyError::TimedOut));
    }

    /// Whether more may be received. If not, the waker is called once the handler has made room.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.sender.has_room()
    }

    /// Whether the client is to be sent `100 Continue` now: it waits for that, and the handler reads the content.
    pub fn invites(&mut self) -> bool {
        let invites = self.expects_continue && self.sender.is_wanted();
        self.expects_continue &= !invites;
        invites
    }

    /// Returns how much has not arrived.
    pub fn remainder(&self) -> Remainder {
        let is_short = self.length.is_some_and(|length| length - self.received <= DISCARDED);
        match self.sender.is_abandoned() {
            // A client that still waits for `100 Continue` may send the content or not.
            _ if self.expects_continue => Remainder::Unwanted,
            true if !is_short => Remainder::Unwanted,
            _ => Remainder::Awaited,
        }
    }
}
