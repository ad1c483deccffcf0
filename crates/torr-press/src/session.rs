//! The protocol on one connection: how requests are written and answers read.

use crate::gathered::Gathered;
use crate::request::Cursor;
use std::num::NonZero;
use torr_gauge::Failure;
use torr_gauge::collector::FirstAnswer;
use torr_net::Nanos;
use torr_net::tls::Secured;
use torr_wire::response::Response;

/// One connection's protocol. It sees bytes only; the engine owns socket, clocks and counters.
pub trait Session {
    /// Whether an answer may still be told after all of the input was taken: [`Session::receive`] is then called
    /// again, without input, until it tells nothing more.
    const HOLDS: bool;
    /// Whether answers come in any order, and name the key of their request.
    const KEYED: bool;
    /// What all sessions of a thread work with.
    type Shared: Default;

    /// A new connection has been established: all that was on the one before is forgotten. What is to be said before any
    /// request goes to `out`.
    fn open(&mut self, out: &mut Vec<u8>);

    /// Whether a handshake is still to be completed before the first request.
    fn is_securing(&self) -> bool {
        false
    }

    /// How the handshake went, if there was one and it is complete.
    fn secured(&self) -> Option<Secured> {
        None
    }

    /// Whether one more request can be started now.
    #[inline]
    fn has_room(&self) -> bool {
        true
    }

    /// Writes the next request to `out`, or has [`Session::flush`] write it. Gives whether it is a HEAD.
    fn start(&mut self, shared: &mut Self::Shared, key: u32, cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> bool;

    /// Writes what was started since the last time, and has not been written yet, to `out`.
    ///
    /// # Errors
    /// If it cannot be written. The connection is of no more use then.
    #[inline]
    fn flush(&mut self, _shared: &mut Self::Shared, _out: &mut Vec<u8>) -> Result<(), Failure> {
        Ok(())
    }

    /// Takes bytes from the front of `input`, up to the next thing to be told; if there is none, all of it. May change
    /// what it takes. What is to be said in return goes to `out`.
    ///
    /// # Errors
    /// If the bytes are not what they should be. The connection is of no more use then.
    fn receive(
        &mut self,
        shared: &mut Self::Shared,
        input: &mut [u8],
        at: Nanos,
        asked: Asked<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<Told>), Failure>;

    /// The server has ended the connection. Tells what this completes, if anything: no other request can follow.
    ///
    /// # Errors
    /// If it cuts an answer short.
    fn end(&mut self) -> Result<Option<Told>, Failure>;

    /// The requests under way here have failed: nothing is left to be said of them.
    fn lost(&mut self) {}

    /// Whether no further request can be started on this connection.
    fn is_leaving(&self) -> bool {
        false
    }

    /// The first answer of all, if that was to be kept and came here.
    fn first_answer(&mut self) -> Option<FirstAnswer> {
        None
    }

    /// Gives up one request, if it can be done without giving up the connection.
    fn cancel(&mut self, _shared: &mut Self::Shared, _key: u32, _out: &mut Vec<u8>) -> bool {
        false
    }
}

/// What has been asked on a connection and not been answered.
#[derive(Debug)]
pub struct Asked<'g> {
    /// How many requests.
    pub count: usize,
    /// Whether the oldest is a HEAD.
    pub to_head: bool,
    /// Where a response with a status of 400 or more is to be kept, as long as none has been.
    pub gather: Option<&'g mut Gathered>,
}

/// What a session has to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// A whole answer.
    Answer(Answer),
    /// One request has failed; the connection goes on.
    Failed(u32, Failure),
    /// The server has not looked at this request and never will: it may be sent again on another connection.
    Unprocessed(u32),
}

/// A whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The key of its request; of no meaning where sessions are not keyed: it answers the oldest.
    pub key: u32,
    /// When its first byte came, if that was before its last.
    pub first_byte: Option<NonZero<Nanos>>,
    /// What the engine wants to know of it.
    pub response: Response,
    /// Checks that it failed, a bit each.
    pub failed_checks: u32,
    /// Redirects that were followed on the way to it.
    pub redirects: u8,
}
