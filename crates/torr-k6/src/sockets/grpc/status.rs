//! The status of a call: what a response says, and what stands for a response that does not arrive.

use super::binary::decoded;
use http::HeaderMap;
use http::header::InvalidHeaderValue;
use percent_encoding::percent_decode;

/// The codes that a client has reason to set.
pub(super) mod code {
    pub const CANCELED: u32 = 1;
    pub const UNKNOWN: u32 = 2;
    pub const DEADLINE_EXCEEDED: u32 = 4;
    pub const PERMISSION_DENIED: u32 = 7;
    pub const RESOURCE_EXHAUSTED: u32 = 8;
    pub const UNIMPLEMENTED: u32 = 12;
    pub const INTERNAL: u32 = 13;
    pub const UNAVAILABLE: u32 = 14;
    pub const UNAUTHENTICATED: u32 = 16;
}

/// A call that has no complete response, or one with a status that is not OK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub status: u32,
    pub text: String,
    /// The content of `grpc-status-details-bin`.
    pub details: Vec<u8>,
    /// Whether the server has not seen the request, so that it may be sent again.
    pub is_unseen: bool,
}

impl Fault {
    pub fn new(status: u32, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), details: Vec::new(), is_unseen: false }
    }

    pub fn internal(text: impl Into<String>) -> Self {
        Self::new(code::INTERNAL, text)
    }

    pub fn of_value(error: InvalidHeaderValue) -> Self {
        Self::internal(error.to_string())
    }

    pub fn canceled() -> Self {
        Self::new(code::CANCELED, "grpc: the client connection is closing")
    }

    pub fn deadline() -> Self {
        Self::new(code::DEADLINE_EXCEEDED, "context deadline exceeded")
    }

    /// Returns what an error of HTTP/2 means for a call (gRPC over HTTP/2, "HTTP2 Transport Mapping").
    pub fn of_h2(error: &h2::Error) -> Self {
        let reason = error.reason();
        if error.is_go_away() {
            let name = reason.map(|reason| format!("{reason:?}")).unwrap_or_default();
            let text = format!("the server ends the connection (GOAWAY with {name})");
            return Self { is_unseen: error.is_remote(), ..Self::new(code::UNAVAILABLE, text) };
        }
        if let Some(reason) = reason.filter(|_| error.is_reset()) {
            let status = match reason {
                h2::Reason::REFUSED_STREAM => code::UNAVAILABLE,
                h2::Reason::CANCEL => code::CANCELED,
                h2::Reason::ENHANCE_YOUR_CALM | h2::Reason::FLOW_CONTROL_ERROR => code::RESOURCE_EXHAUSTED,
                h2::Reason::INADEQUATE_SECURITY => code::PERMISSION_DENIED,
                _ => code::INTERNAL,
            };
            let text = format!("stream terminated by RST_STREAM with error code: {reason:?}");
            return Self { is_unseen: reason == h2::Reason::REFUSED_STREAM, ..Self::new(status, text) };
        }
        let why = match error.get_io() {
            Some(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
            Some(error) => error.to_string(),
            None => error.to_string(),
        };
        Self::new(code::UNAVAILABLE, format!("error reading from server: {why}"))
    }

    /// Returns what a response of HTTP without gRPC means for a call (gRPC, "HTTP to gRPC Status Code Mapping").
    pub fn of_http(status: http::StatusCode, content_type: Option<&[u8]>) -> Self {
        let code = match status.as_u16() {
            200 => code::UNKNOWN,
            400 => code::INTERNAL,
            401 => code::UNAUTHENTICATED,
            403 => code::PERMISSION_DENIED,
            404 => code::UNIMPLEMENTED,
            429 | 502..=504 => code::UNAVAILABLE,
            _ => code::UNKNOWN,
        };
        let reason = status.canonical_reason().unwrap_or_default();
        let status = format!("unexpected HTTP status code received from server: {} ({reason})", status.as_u16());
        let kind = match content_type {
            Some(kind) => {
                format!("transport: received unexpected content-type \"{}\"", String::from_utf8_lossy(kind))
            }
            None => "malformed header: missing HTTP content-type".to_owned(),
        };
        Self::new(code, format!("{status}; {kind}"))
    }
}

/// Returns the status of header fields that end a response; `None` if they have none.
pub(super) fn of_trailers(fields: &HeaderMap) -> Option<Result<(), Fault>> {
    let status = fields.get("grpc-status")?.as_bytes();
    let Some(status) = std::str::from_utf8(status).ok().and_then(|status| status.parse().ok()) else {
        return Some(Err(Fault::new(code::UNKNOWN, "transport: malformed grpc-status")));
    };
    if status == 0 {
        return Some(Ok(()));
    }
    let text = fields.get("grpc-message").map(|text| percent_decode(text.as_bytes()).decode_utf8_lossy().into_owned());
    let name = "grpc-status-details-bin";
    let details = fields.get(name).map(|details| decoded(name, details.as_bytes())).unwrap_or_default();
    Some(Err(Fault { details, ..Fault::new(status, text.unwrap_or_default()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trailers(fields: &[(&'static str, &'static str)]) -> Option<Result<(), Fault>> {
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(*name, http::HeaderValue::from_static(value));
        }
        of_trailers(&map)
    }

    #[test]
    fn trailers_have_the_status() {
        assert_eq!(trailers(&[("x-a", "b")]), None);
        assert_eq!(trailers(&[("grpc-status", "0"), ("grpc-message", "fine")]), Some(Ok(())));
        let fault = trailers(&[
            ("grpc-status", "5"),
            ("grpc-message", "not %C3%BCnder 100%25"),
            ("grpc-status-details-bin", "AAE"),
        ]);
        let expected = Fault { details: vec![0, 1], ..Fault::new(5, "not \u{fc}nder 100%") };
        assert_eq!(fault, Some(Err(expected)));
        assert!(matches!(trailers(&[("grpc-status", "x")]), Some(Err(Fault { status: code::UNKNOWN, .. }))));
        assert!(matches!(trailers(&[("grpc-status", "99")]), Some(Err(Fault { status: 99, .. }))));
    }

    #[test]
    fn a_response_that_is_not_of_grpc_has_a_status_too() {
        let of = |status: u16, kind: Option<&[u8]>| {
            let fault = Fault::of_http(http::StatusCode::from_u16(status).expect("it is a status"), kind);
            (fault.status, fault.text)
        };
        let (status, text) = of(404, Some(b"text/html"));
        assert_eq!(status, code::UNIMPLEMENTED);
        assert_eq!(
            text,
            "unexpected HTTP status code received from server: 404 (Not Found); transport: received unexpected content-type \"text/html\""
        );
        assert_eq!(of(503, None).0, code::UNAVAILABLE);
        assert_eq!(of(500, None).0, code::UNKNOWN);
        assert_eq!(of(401, None).0, code::UNAUTHENTICATED);
    }
}
