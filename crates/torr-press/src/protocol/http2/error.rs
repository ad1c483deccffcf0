//! The errors of a connection or a stream, and their codes (RFC 9113, section 7).

use super::hpack::HpackError;
use torr_gauge::{Failure, FailureKind, FailureSide};

/// The names of the errors in the order of their codes.
pub const ERROR_NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// Why something ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub u32);

impl Code {
    pub const NO_ERROR: Self = Self(0);
    pub const PROTOCOL_ERROR: Self = Self(1);
    pub const FLOW_CONTROL_ERROR: Self = Self(3);
    pub const STREAM_CLOSED: Self = Self(5);
    pub const FRAME_SIZE_ERROR: Self = Self(6);
    pub const REFUSED_STREAM: Self = Self(7);
    pub const CANCEL: Self = Self(8);
    pub const COMPRESSION_ERROR: Self = Self(9);
    pub const ENHANCE_YOUR_CALM: Self = Self(11);

    /// The standard's name.
    pub fn name(self) -> &'static str {
        ERROR_NAMES.get(self.0 as usize).copied().unwrap_or("unknown error")
    }
}

/// Why a connection is of no more use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken {
    pub code: Code,
    pub what: &'static str,
}

impl Broken {
    pub const fn protocol(what: &'static str) -> Self {
        Self { code: Code::PROTOCOL_ERROR, what }
    }

    pub const fn size(what: &'static str) -> Self {
        Self { code: Code::FRAME_SIZE_ERROR, what }
    }

    pub const fn flow(what: &'static str) -> Self {
        Self { code: Code::FLOW_CONTROL_ERROR, what }
    }

    pub const fn calm(what: &'static str) -> Self {
        Self { code: Code::ENHANCE_YOUR_CALM, what }
    }

    pub fn failure(self) -> Failure {
        malformed(self.what)
    }
}

impl From<HpackError> for Broken {
    fn from(error: HpackError) -> Self {
        let code = match error {
            HpackError::TooLarge => Code::ENHANCE_YOUR_CALM,
            _ => Code::COMPRESSION_ERROR,
        };
        Self { code, what: error.what() }
    }
}

/// Returns the failure of bytes that are not valid HTTP/2.
pub fn malformed(what: &'static str) -> Failure {
    Failure::new(FailureKind::Protocol, FailureSide::Server, what)
}

/// The server has given up one stream.
pub fn reset(code: Code) -> Failure {
    Failure::new(FailureKind::Read, FailureSide::Server, format!("the server reset the stream: {}", code.name()))
}

/// The server has given up the connection.
pub fn gone_away(code: Code) -> Failure {
    Failure::new(FailureKind::Read, FailureSide::Server, format!("the server closed the connection: {}", code.name()))
}

/// The server ended the connection before it said anything.
pub fn speechless() -> Failure {
    Failure::new(FailureKind::Read, FailureSide::Server, "the server closed the connection without sending HTTP/2")
}
