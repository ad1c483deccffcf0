//! The protocol on one connection: how a request is written and an answer read.

use crate::request::Cursor;
use torr_wire::WireError;
use torr_wire::response::{Response, ResponseReader};

/// One connection's protocol. It sees bytes only; the engine owns socket, clock and counters.
pub trait Session {
    /// A new connection has been established.
    fn open(&mut self);

    /// Begins a request: appends its bytes to `out`.
    fn start(&mut self, out: &mut Vec<u8>);

    /// Takes bytes from the front of `input`, up to the end of one answer. Without an answer all were taken.
    ///
    /// # Errors
    /// If they are not what they should be. The connection is of no more use then.
    fn receive(&mut self, input: &[u8]) -> Result<(usize, Option<Answer>), WireError>;

    /// The server has ended the connection. Gives the answer that this completes, if there is one.
    ///
    /// # Errors
    /// If it cuts an answer short.
    fn end(&mut self) -> Result<Option<Answer>, WireError>;
}

/// What the engine wants to know of an answer.
pub type Answer = Response;

/// HTTP/1.1, one request at a time.
#[derive(Debug)]
pub struct Http1<'p> {
    cursor: Cursor<'p>,
    /// Whether the last request was a HEAD.
    to_head: bool,
    reader: ResponseReader,
}

impl<'p> Http1<'p> {
    /// Sends one request after another.
    pub fn new(cursor: Cursor<'p>) -> Self {
        Self { cursor, to_head: false, reader: ResponseReader::default() }
    }
}

impl Session for Http1<'_> {
    fn open(&mut self) {
        self.reader.reset();
    }

    #[inline]
    fn start(&mut self, out: &mut Vec<u8>) {
        self.to_head = self.cursor.write(out).is_head;
    }

    #[inline]
    fn receive(&mut self, input: &[u8]) -> Result<(usize, Option<Answer>), WireError> {
        self.reader.read(input, self.to_head)
    }

    fn end(&mut self) -> Result<Option<Answer>, WireError> {
        self.reader.end()
    }
}
