//! The streams under way on one connection: one for each request.

use crate::failed_response::ParsedResponse;
use crate::inspect::Inspector;
use bytes::Bytes;
use std::collections::VecDeque;
use std::num::NonZero;
use torr_net::Nanos;

/// One request and its answer, as far as they have come.
#[derive(Debug)]
pub struct Stream<'p> {
    pub id: u32,
    pub key: u32,
    pub is_head: bool,
    /// Once the head of the final answer has come.
    pub status: Option<u16>,
    /// When that was.
    pub first_byte: Option<NonZero<Nanos>>,
    /// How long the body is to be, if that has been said.
    pub length: Option<u64>,
    /// How much of it has come.
    pub body: u64,
    /// What has come and has not been given back to the server's window.
    pub received: u32,
    /// How much the server takes.
    pub window: i64,
    /// What could not be sent yet of the request's body.
    pub upload: Option<Bytes>,
    /// What has come of a failed response, where one is to be kept.
    pub failed: Option<Box<ParsedResponse>>,
    /// Who looks at its answer, if anybody does.
    pub inspector: Option<Box<Inspector<'p>>>,
}

/// Those of a connection, the oldest first.
#[derive(Debug, Default)]
pub struct Streams<'p>(VecDeque<Stream<'p>>);

impl<'p> Streams<'p> {
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub fn push(&mut self, stream: Stream<'p>) {
        self.0.push_back(stream);
    }

    /// Where it is.
    #[inline]
    pub fn find(&self, id: u32) -> Option<usize> {
        // Answers mostly come in the order of requests.
        if self.0.front().is_some_and(|first| first.id == id) {
            return Some(0);
        }
        self.0.binary_search_by_key(&id, |stream| stream.id).ok()
    }

    pub fn find_key(&self, key: u32) -> Option<usize> {
        self.0.iter().position(|stream| stream.key == key)
    }

    #[inline]
    pub fn at(&mut self, at: usize) -> &mut Stream<'p> {
        &mut self.0[at]
    }

    #[inline]
    pub fn remove(&mut self, at: usize) -> Option<Stream<'p>> {
        self.0.remove(at)
    }

    /// Takes those beyond this one.
    pub fn split_beyond(&mut self, last: u32) -> VecDeque<Stream<'p>> {
        self.0.split_off(self.0.partition_point(|stream| stream.id <= last))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream<'p>> {
        self.0.iter_mut()
    }
}
