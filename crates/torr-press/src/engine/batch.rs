//! The buffers of a batch: what its connections have received, and what is to be sent on them.

use crate::request::SentContent;
use std::ops::Range;
use torr_net::{Nanos, Token};

/// The number of connections in a batch.
pub(super) const BATCH: usize = 32;
/// The size of the buffer for received bytes.
const ARENA: usize = 256 * 1024;
/// The number of bytes after which no further request is written before all are sent.
const MAX_OUT: usize = 1024 * 1024;

/// The bytes of one receive.
pub(super) struct Arrival {
    pub token: Token,
    pub bytes: Range<usize>,
    pub at: Nanos,
    /// Whether the room was filled, so that there may be more bytes, for which no event comes.
    pub full: bool,
    /// Whether the server has ended its side behind these bytes or later ones.
    pub ended: bool,
}

/// Bytes to be sent on a connection.
pub(super) struct Send {
    pub connection: u32,
    /// The generation of the socket that they are meant for.
    pub generation: u32,
    pub bytes: Range<usize>,
    /// The number of requests in them.
    pub requests: u16,
    /// The position of the content that follows the bytes in [`Batch::contents`], counted from 1; 0 without such content.
    pub content: u32,
    /// For a scheduled request, since when it could have been sent, unless its send lag has been recorded.
    pub lag_from: Option<Nanos>,
}

/// The buffers of a thread, reused for all batches.
pub(super) struct Batch {
    arena: Box<[u8]>,
    /// The number of bytes of the arena that are filled.
    used: usize,
    arrivals: Vec<Arrival>,
    pub out: Vec<u8>,
    pub sends: Vec<Send>,
    /// The content that follows the bytes of sends, in memory that all connections share.
    contents: Vec<SentContent>,
    /// The number of bytes in `contents`.
    content_bytes: usize,
    /// The connections, with the generations of their sockets, whose protocols have more to write once all is sent.
    pub with_more: Vec<(u32, u32)>,
}

impl Batch {
    pub fn new() -> Self {
        Self {
            arena: vec![0; ARENA].into_boxed_slice(),
            used: 0,
            arrivals: Vec::with_capacity(BATCH),
            out: Vec::new(),
            sends: Vec::with_capacity(BATCH),
            contents: Vec::new(),
            content_bytes: 0,
            with_more: Vec::new(),
        }
    }

    /// Whether the arena has room for another receive, which needs this much.
    #[inline]
    pub fn has_room(&self, least: usize) -> bool {
        self.arena.len() - self.used >= least
    }

    /// Returns the room for the next receive.
    #[inline]
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.arena[self.used..]
    }

    /// Takes what has been received out, with the memory that it is in, until [`Batch::put_back`].
    #[inline]
    pub fn take_arrivals(&mut self) -> (Vec<Arrival>, Box<[u8]>) {
        self.used = 0;
        (std::mem::take(&mut self.arrivals), std::mem::take(&mut self.arena))
    }

    /// Puts the memory back.
    #[inline]
    pub fn put_back(&mut self, arrivals: Vec<Arrival>, arena: Box<[u8]>) {
        (self.arrivals, self.arena) = (arrivals, arena);
    }

    /// Adds the bytes that a receive has put at the beginning of the arena's room.
    #[inline]
    pub fn received(&mut self, token: Token, len: usize, ended: bool, at: Nanos) {
        let full = len == self.arena.len() - self.used;
        self.arrivals.push(Arrival { token, bytes: self.used..self.used + len, at, full, ended });
        self.used += len;
    }

    /// Whether enough has been written that it should be sent first.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.out.len() + self.content_bytes >= MAX_OUT
    }

    /// Schedules the bytes from `start` on to be sent, if there are any, which are no requests.
    #[inline]
    pub fn send_from(&mut self, start: usize, connection: usize, generation: u32) {
        if self.out.len() > start {
            let bytes = start..self.out.len();
            let connection = connection as u32;
            self.sends.push(Send { connection, generation, bytes, requests: 0, content: 0, lag_from: None });
        }
    }

    /// Schedules the bytes from `start` on to be sent, if there are any, which are so many requests.
    #[inline]
    pub fn send_requests_from(&mut self, start: usize, to: (u32, u32), requests: u16, lag_from: Option<Nanos>) {
        let ((connection, generation), end) = (to, self.out.len());
        match self.sends.last_mut() {
            _ if end == start => {}
            // Adjacent bytes for one connection need one send, unless a send lag has to be recorded for each.
            Some(last)
                if last.connection == connection
                    && last.bytes.end == start
                    && lag_from.is_none()
                    && last.content == 0 =>
            {
                last.bytes.end = end;
                last.requests += requests;
            }
            _ => self.sends.push(Send { connection, generation, bytes: start..end, requests, content: 0, lag_from }),
        }
    }

    /// Schedules the bytes from `start` on to be sent, which are so many requests, and the content of the last one of them
    /// behind the bytes.
    #[cold]
    pub fn send_with_content(
        &mut self,
        start: usize,
        (connection, generation): (u32, u32),
        requests: u16,
        lag_from: Option<Nanos>,
        content: SentContent,
    ) {
        self.content_bytes += content.len();
        self.contents.push(content);
        let (bytes, content) = (start..self.out.len(), self.contents.len() as u32);
        self.sends.push(Send { connection, generation, bytes, requests, content, lag_from });
    }

    /// Returns the content that follows the bytes of a send.
    pub fn content(&self, send: &Send) -> Option<&SentContent> {
        self.contents.get((send.content as usize).checked_sub(1)?)
    }

    /// Discards what has been sent, and the memory of an unusually large batch.
    #[inline]
    pub fn clear_out(&mut self) {
        self.out.clear();
        if self.content_bytes > 0 {
            self.contents.clear();
            self.content_bytes = 0;
        }
        if self.out.capacity() > 4 * MAX_OUT {
            self.out = Vec::new();
        }
    }
}
