//! The errors of connections and streams, and their codes (RFC 9114, section 8.1; RFC 9204, section 6).

use std::fmt;
use thiserror::Error;

/// The code of an error, of a connection or a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode(pub u64);

impl ErrorCode {
    /// There is no error.
    pub const NO_ERROR: Self = Self(0x100);
    /// The peer violated the protocol in a way that has no code of its own.
    pub const GENERAL_PROTOCOL_ERROR: Self = Self(0x101);
    /// This side cannot go on.
    pub const INTERNAL_ERROR: Self = Self(0x102);
    /// A stream that the peer must not open.
    pub const STREAM_CREATION_ERROR: Self = Self(0x103);
    /// The peer closed a stream that the connection needs.
    pub const CLOSED_CRITICAL_STREAM: Self = Self(0x104);
    /// A frame that is not allowed in this state or on this stream.
    pub const FRAME_UNEXPECTED: Self = Self(0x105);
    /// A frame of a wrong layout or size.
    pub const FRAME_ERROR: Self = Self(0x106);
    /// The peer causes excessive work.
    pub const EXCESSIVE_LOAD: Self = Self(0x107);
    /// An identifier that is used wrongly.
    pub const ID_ERROR: Self = Self(0x108);
    /// Settings that are wrong.
    pub const SETTINGS_ERROR: Self = Self(0x109);
    /// The control stream does not begin with settings.
    pub const MISSING_SETTINGS: Self = Self(0x10a);
    /// The server has not processed the request.
    pub const REQUEST_REJECTED: Self = Self(0x10b);
    /// The request, or its response, is not wanted any more.
    pub const REQUEST_CANCELLED: Self = Self(0x10c);
    /// The client ended the stream before its request was complete.
    pub const REQUEST_INCOMPLETE: Self = Self(0x10d);
    /// A message is malformed.
    pub const MESSAGE_ERROR: Self = Self(0x10e);
    /// A field section cannot be decoded.
    pub const QPACK_DECOMPRESSION_FAILED: Self = Self(0x200);
    /// An instruction of the peer's encoder is wrong.
    pub const QPACK_ENCODER_STREAM_ERROR: Self = Self(0x201);
    /// An instruction of the peer's decoder is wrong.
    pub const QPACK_DECODER_STREAM_ERROR: Self = Self(0x202);

    /// Returns the standard's name of the code, if it has one.
    pub fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0x100 => "H3_NO_ERROR",
            0x101 => "H3_GENERAL_PROTOCOL_ERROR",
            0x102 => "H3_INTERNAL_ERROR",
            0x103 => "H3_STREAM_CREATION_ERROR",
            0x104 => "H3_CLOSED_CRITICAL_STREAM",
            0x105 => "H3_FRAME_UNEXPECTED",
            0x106 => "H3_FRAME_ERROR",
            0x107 => "H3_EXCESSIVE_LOAD",
            0x108 => "H3_ID_ERROR",
            0x109 => "H3_SETTINGS_ERROR",
            0x10a => "H3_MISSING_SETTINGS",
            0x10b => "H3_REQUEST_REJECTED",
            0x10c => "H3_REQUEST_CANCELLED",
            0x10d => "H3_REQUEST_INCOMPLETE",
            0x10e => "H3_MESSAGE_ERROR",
            0x10f => "H3_CONNECT_ERROR",
            0x110 => "H3_VERSION_FALLBACK",
            0x200 => "QPACK_DECOMPRESSION_FAILED",
            0x201 => "QPACK_ENCODER_STREAM_ERROR",
            0x202 => "QPACK_DECODER_STREAM_ERROR",
            _ => return None,
        })
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "error {:#x}", self.0),
        }
    }
}

/// A violation of HTTP/3, which ends its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct Http3Error {
    /// The code that the peer gets.
    pub code: ErrorCode,
    /// The violation, as text.
    pub what: &'static str,
}

impl Http3Error {
    pub(super) const fn new(code: ErrorCode, what: &'static str) -> Self {
        Self { code, what }
    }
}
