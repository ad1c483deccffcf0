//! The open streams of one connection: one for each request.

use crate::request::SentContent;
use crate::response::events::EventWatch;
use crate::response::failed::ParsedResponse;
use crate::response::grpc::GrpcResponse;
use crate::response::inspect::Inspector;
use crate::response::kept::KeptResponse;
use std::collections::VecDeque;
use std::num::NonZero;
use torr_net::Nanos;

/// The state of a request and its response.
#[derive(Debug)]
pub struct Stream<'p> {
    pub id: u32,
    pub key: u32,
    pub is_head: bool,
    /// The status of the final response, once its header section has arrived.
    pub status: Option<u16>,
    /// When it arrived.
    pub first_byte: Option<NonZero<Nanos>>,
    /// The `Content-Length` of the response, if there is one.
    pub length: Option<u64>,
    /// The length of the content that has arrived.
    pub body: u64,
    /// The bytes that arrived since the last WINDOW_UPDATE.
    pub received: u32,
    /// The window of the server.
    pub window: i64,
    /// The content of the request that is not sent yet.
    pub upload: Option<SentContent>,
    /// The failed response, where one is to be kept.
    pub failed: Option<Box<ParsedResponse>>,
    /// The response, where it is to be kept.
    pub kept: Option<Box<KeptResponse>>,
    /// The response of a call of gRPC, if the request is one.
    pub call: Option<Box<GrpcResponse>>,
    /// The inspector of the response, if there is one.
    pub inspector: Option<Box<Inspector<'p>>>,
    /// Whether the response says that it is an event stream.
    pub is_event_stream: bool,
    /// The watch over its events, where responses are streams.
    pub events: Option<Box<EventWatch<'p>>>,
}

/// The open streams of a connection, the oldest first.
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

    /// Returns the position of a stream.
    #[inline]
    pub fn find(&self, id: u32) -> Option<usize> {
        // Responses mostly arrive in the order of requests.
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

    /// Removes the streams beyond `last`.
    pub fn split_beyond(&mut self, last: u32) -> VecDeque<Stream<'p>> {
        self.0.split_off(self.0.partition_point(|stream| stream.id <= last))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Stream<'p>> {
        self.0.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream<'p>> {
        self.0.iter_mut()
    }
}
