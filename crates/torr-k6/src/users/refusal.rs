//! What scripts learn of requests that failed: the numbers and the texts of k6.

use crate::user::exchange::Refusal;
use torr_gauge::{Failure, FailureKind};
use torr_press::HTTP2_ERROR_NAMES;

/// The numbers of errors of HTTP/2 that a connection or a stream ended with, without the error's own.
const GO_AWAY: u32 = 1610;
const STREAM: u32 = 1630;
/// The number of an error of a content coding.
const CONTENT_CODING: u32 = 1701;

/// Returns what a script learns of a failure.
pub(crate) fn of_failure(failure: &Failure) -> Refusal {
    let what = failure.what.as_ref();
    let has = |part: &str| what.contains(part);
    if let Some(refusal) = of_http2(what) {
        return refusal;
    }
    match failure.kind {
        FailureKind::Timeout => Refusal::new(1050, "request timeout"),
        FailureKind::Connect if has("refused") => Refusal::new(1212, "dial: connection refused"),
        FailureKind::Connect if has("timed out") => Refusal::new(1211, "dial: i/o timeout"),
        FailureKind::Connect => Refusal::new(1210, format!("dial: {what}")),
        FailureKind::Ports => Refusal::new(1210, format!("dial: {what}")),
        FailureKind::Tls if has("not signed by a trusted authority") || has("the certificate of an authority") => {
            Refusal::new(1310, "x509: unknown authority")
        }
        FailureKind::Tls if has("it is valid ") => Refusal::new(1311, "x509: certificate doesn't match hostname"),
        FailureKind::Tls if has("does not use TLS") => {
            Refusal::new(1301, "tls: first record does not look like a TLS handshake")
        }
        FailureKind::Tls => Refusal::new(1300, format!("tls: {what}")),
        FailureKind::Read if has("reset") => Refusal::new(1220, "read: connection reset by peer"),
        FailureKind::Write if has("reset") => Refusal::new(1220, "write: connection reset by peer"),
        FailureKind::Write if has("pipe") => Refusal::new(1201, "write: broken pipe"),
        FailureKind::Read if has("in the middle") => Refusal::new(1000, "unexpected EOF"),
        FailureKind::Read if has("closed") => Refusal::new(1000, "EOF"),
        _ => Refusal::new(1000, what.to_owned()),
    }
}

/// Returns what a script learns of content that does not have the content coding that it is said to have.
pub(crate) fn of_content() -> Refusal {
    Refusal::new(CONTENT_CODING, "error decompressing response body (malformed content, or more than 16 MiB)")
}

/// Returns what a script learns of an error of HTTP/2 by which the server has ended a connection or a stream.
fn of_http2(what: &str) -> Option<Refusal> {
    let (kind, begin, name) = match what.strip_prefix("the server reset the stream: ") {
        Some(name) => (STREAM, "http2: stream error with http2 ErrCode", name),
        None => {
            let name = what.strip_prefix("the server closed the connection: ")?;
            (GO_AWAY, "http2: received GoAway with http2 ErrCode", name)
        }
    };
    let number = HTTP2_ERROR_NAMES.iter().position(|known| *known == name).map_or(0, |at| at as u32 + 1);
    Some(Refusal::new(kind + number, format!("{begin} {name}")))
}

/// Returns what a script learns of a server that no request goes to, for a reason that the look-up has.
pub(crate) fn of_look_up(why: String) -> Refusal {
    match () {
        () if why.contains("is in a blacklisted range") => Refusal::new(1110, "ip is blacklisted"),
        () if why.contains("is in a blocked pattern") => Refusal::new(1111, "hostname is blocked"),
        () if why.contains("cannot resolve") => Refusal::new(1101, "lookup: no such host"),
        () => Refusal::new(1000, why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::FailureSide;

    fn code(kind: FailureKind, what: &'static str) -> (u32, String) {
        let refusal = of_failure(&Failure::new(kind, FailureSide::Server, what));
        (refusal.code, refusal.text)
    }

    #[test]
    fn failures_have_the_numbers_of_k6() {
        for (kind, what, expected, text) in [
            (
                FailureKind::Read,
                "the server reset the stream: CANCEL",
                1639,
                "http2: stream error with http2 ErrCode CANCEL",
            ),
            (
                FailureKind::Read,
                "the server closed the connection: ENHANCE_YOUR_CALM",
                1622,
                "http2: received GoAway with http2 ErrCode ENHANCE_YOUR_CALM",
            ),
            (
                FailureKind::Read,
                "the server reset the stream: unknown error",
                1630,
                "http2: stream error with http2 ErrCode unknown error",
            ),
            (FailureKind::Read, "connection reset by peer", 1220, "read: connection reset by peer"),
            (FailureKind::Tls, "TLS: something else", 1300, "tls: TLS: something else"),
        ] {
            assert_eq!(code(kind, what), (expected, text.to_owned()));
        }
    }

    #[test]
    fn servers_that_are_not_requested_have_the_reason() {
        for (why, expected, text) in [
            ("the request goes to http://a: IP (10.0.0.1) is in a blacklisted range", 1110, "ip is blacklisted"),
            ("the request goes to http://a: hostname (a) is in a blocked pattern", 1111, "hostname is blocked"),
            ("the request goes to http://a: cannot resolve 'a': no address", 1101, "lookup: no such host"),
            ("the request goes to http://a: too many servers", 1000, "the request goes to http://a: too many servers"),
        ] {
            assert_eq!(of_look_up(why.to_owned()), Refusal::new(expected, text));
        }
    }
}
