//! The host of a request over HTTP/2 or HTTP/3: exactly one valid name, in either of its two fields (RFC 9113, section 8.3.1).

use http::header::HOST;
use http::request::Parts;
use torr_wire::authority;

/// Whether a request names exactly one valid host: by `:authority`, by `Host`, or by both if they agree. A proxy in front may
/// have read one of them, and the application the other.
pub(super) fn names_one_host(parts: &Parts) -> bool {
    let mut fields = parts.headers.get_all(HOST).iter().map(|value| value.as_bytes());
    match (parts.uri.authority().map(|authority| authority.as_str().as_bytes()), fields.next(), fields.next()) {
        (Some(authority), None, _) => authority::is_valid(authority),
        (Some(authority), Some(host), None) => authority::is_valid(authority) && host.eq_ignore_ascii_case(authority),
        (None, Some(host), None) => authority::is_valid(host),
        _ => false,
    }
}
