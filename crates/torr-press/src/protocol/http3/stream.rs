//! The open streams of one connection: one for each request.

use crate::request::SentContent;
use crate::response::events::EventWatch;
use crate::response::failed::ParsedResponse;
use crate::response::inspect::Inspector;
use crate::response::kept::KeptResponse;
use bytes::Bytes;
use std::collections::VecDeque;
use std::num::NonZero;
use torr_net::Nanos;
use torr_net::quic::{QuicChannel, StreamId};
use torr_wire::http3::MessageStream;

/// The state of a request and its response.
#[derive(Debug)]
pub struct Stream<'p> {
    pub id: StreamId,
    pub key: u32,
    pub is_head: bool,
    pub reader: MessageStream,
    /// The status of the final response, once its header section has arrived.
    pub status: Option<u16>,
    /// When it arrived.
    pub first_byte: Option<NonZero<Nanos>>,
    /// The `Content-Length` of the response, if there is one.
    pub length: Option<u64>,
    /// The length of the content that has arrived.
    pub body: u64,
    /// What of the request is not sent yet.
    pub upload: Option<Box<Upload>>,
    /// The failed response, where one is to be kept.
    pub failed: Option<Box<ParsedResponse>>,
    /// The response, where it is to be kept.
    pub kept: Option<Box<KeptResponse>>,
    /// The inspector of the response, if there is one.
    pub inspector: Option<Box<Inspector<'p>>>,
    /// Whether the response says that it is an event stream.
    pub is_event_stream: bool,
    /// The watch over its events, where responses are streams.
    pub events: Option<Box<EventWatch<'p>>>,
}

/// What is left of a request to be sent.
#[derive(Debug)]
pub struct Upload {
    /// The next bytes.
    pub piece: Bytes,
    /// The content behind them.
    pub content: SentContent,
}

impl Stream<'_> {
    pub fn new(id: StreamId, key: u32, is_head: bool) -> Self {
        Self {
            id,
            key,
            is_head,
            reader: MessageStream::default(),
            status: None,
            first_byte: None,
            length: None,
            body: 0,
            upload: None,
            failed: None,
            kept: None,
            inspector: None,
            is_event_stream: false,
            events: None,
        }
    }
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
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub fn push(&mut self, stream: Stream<'p>) {
        self.0.push_back(stream);
    }

    /// Returns the position of a stream.
    #[inline]
    pub fn find(&self, id: StreamId) -> Option<usize> {
        // Responses mostly arrive in the order of requests.
        if self.0.front().is_some_and(|first| first.id == id) {
            return Some(0);
        }
        self.0.binary_search_by_key(&QuicChannel::number(id), |stream| QuicChannel::number(stream.id)).ok()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Stream<'p>> {
        self.0.iter()
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

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes the streams from this number on.
    pub fn split_from(&mut self, first: u64) -> VecDeque<Stream<'p>> {
        let kept = self.0.partition_point(|stream| QuicChannel::number(stream.id) < first);
        self.0.split_off(kept)
    }

    /// Drops what is left of a request that the server does not want.
    pub fn stop_upload(&mut self, id: StreamId) {
        if let Some(at) = self.find(id) {
            self.0[at].upload = None;
        }
    }
}
