//! The frames of a request: its header section, and its content.

use crate::request::SentContent;
use crate::request::outgoing::{RequestInfo, RequestParts};
use bytes::Bytes;
use torr_wire::http3::{kind, qpack, write_header};

/// The size of content, in bytes, up to which it is copied behind the frames before it.
const SMALL: usize = 4096;

/// A request in the frames of HTTP/3.
#[derive(Debug)]
pub struct EncodedRequest {
    /// The HEADERS frame, the header of the DATA frame, and content if it is small.
    pub frames: Bytes,
    /// The content that follows.
    pub content: SentContent,
    /// The facts by which the response is read.
    pub info: RequestInfo,
}

impl EncodedRequest {
    /// Encodes a request. `section` is memory whose content does not matter.
    pub fn new(parts: RequestParts, section: &mut Vec<u8>) -> Self {
        section.clear();
        qpack::encode(&parts.head, section);
        let mut frames = Vec::with_capacity(section.len() + 32);
        write_header(kind::HEADERS, section.len() as u64, &mut frames);
        frames.extend_from_slice(section);
        let mut content = parts.body.unwrap_or_default();
        if !content.is_empty() {
            write_header(kind::DATA, content.len() as u64, &mut frames);
        }
        if content.len() <= SMALL {
            content.move_to(SMALL, &mut frames);
        }
        Self { frames: frames.into(), content, info: parts.begun }
    }
}
