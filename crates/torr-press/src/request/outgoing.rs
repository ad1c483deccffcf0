//! A request on its way to the protocol: its facts, and its parts.

use super::sent_content::SentContent;
use http::Request;

/// The facts of a written request that its response is read by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestInfo {
    /// Whether the method is HEAD, whose responses have no content.
    pub is_head: bool,
    /// The number of its URL, from 0.
    pub url: u32,
    /// The part of the response that is kept for the user that sends the request.
    pub keep: Keep,
    /// Whether the events of its response, if that is an event stream, are handed to the user one by one as they arrive.
    pub hands_events: bool,
    /// Whether the request opens a WebSocket, if the server switches protocols. Only over HTTP/1.1.
    pub opens_websocket: bool,
    /// Whether the request is a call of a method of gRPC that returns one message. Only over HTTP/2.
    pub is_call: bool,
}

/// The part of a response that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// The status code.
    #[default]
    Status,
    /// Status code and field lines.
    Fields,
    /// Status code, field lines and content.
    Content,
}

/// One request in parts, as HTTP/2 sends it.
#[derive(Debug, Clone)]
pub struct RequestParts {
    /// Method, URI with scheme, host and path, and header fields, `Content-Length` among them where there is a body. The
    /// `Host` that a user asks for stands in the URI, and fields that HTTP/2 does not have are left out.
    pub head: Request<()>,
    /// The content, if the request has any.
    pub body: Option<SentContent>,
    /// The facts of the request.
    pub begun: RequestInfo,
}
