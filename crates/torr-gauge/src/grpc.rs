//! Status codes of gRPC: how a call ended, which trailers tell whatever the status of HTTP is.

/// The names of the codes in their order (grpc.io, "Status codes").
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The code for all others that a server may send.
const UNKNOWN: u8 = 2;
/// The status of HTTP that every response of gRPC has.
const HTTP_OK: u16 = 200;
/// What is added to a code where it is counted among statuses of HTTP, none of which is so large (RFC 9110, section 15): as an error,
/// like each status of 400 or more.
const BEYOND_HTTP: u16 = 600;

/// The status code of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrpcStatus(u8);

impl GrpcStatus {
    /// The call has succeeded.
    pub const OK: Self = Self(0);
    /// The server does not have the method.
    pub const UNIMPLEMENTED: Self = Self(12);

    /// Reads the value of a `grpc-status` field; `None` if it is no number. A number without a name is `UNKNOWN`.
    pub fn of_field(value: &[u8]) -> Option<Self> {
        let is_number = !value.is_empty() && value.len() <= 10 && value.iter().all(u8::is_ascii_digit);
        let code = is_number.then(|| std::str::from_utf8(value).ok()?.parse::<u64>().ok()).flatten()?;
        Some(Self(u8::try_from(code).ok().filter(|code| usize::from(*code) < NAMES.len()).unwrap_or(UNKNOWN)))
    }

    /// Returns the status of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        NAMES.iter().position(|known| *known == name).map(|code| Self(code as u8))
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        NAMES[usize::from(self.0)]
    }

    /// Returns the code.
    pub fn code(self) -> u8 {
        self.0
    }

    /// Whether the call has succeeded.
    pub fn is_ok(self) -> bool {
        self == Self::OK
    }

    /// Returns the number by which a response with this status is counted among statuses of HTTP.
    pub fn counted_as(self) -> u16 {
        if self.is_ok() { HTTP_OK } else { BEYOND_HTTP + u16::from(self.0) }
    }

    /// Returns the status of a call that is counted by this number; `None` for a status of HTTP.
    pub fn of_count(number: u16) -> Option<Self> {
        let code = number.checked_sub(BEYOND_HTTP)?;
        (1..NAMES.len()).contains(&usize::from(code)).then_some(Self(code as u8))
    }

    /// Returns the status of HTTP with which a response came that is counted by this number.
    pub fn http(number: u16) -> u16 {
        if Self::of_count(number).is_some() { HTTP_OK } else { number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_a_name_and_a_number_among_those_of_http() {
        for (field, name, counted) in [
            (&b"0"[..], "OK", 200),
            (b"14", "UNAVAILABLE", 614),
            (b"016", "UNAUTHENTICATED", 616),
            (b"17", "UNKNOWN", 602),
            (b"4294967295", "UNKNOWN", 602),
        ] {
            let status = GrpcStatus::of_field(field).expect(name);
            assert_eq!((status.name(), status.counted_as()), (name, counted));
            assert_eq!(GrpcStatus::of_name(name), Some(status));
            assert_eq!(GrpcStatus::of_count(counted), Some(status).filter(|status| !status.is_ok()));
            assert_eq!(GrpcStatus::http(counted), 200);
        }
        for field in [&b""[..], b"-1", b"+1", b" 1", b"OK", b"99999999999"] {
            assert_eq!(GrpcStatus::of_field(field), None, "{field:?}");
        }
        for number in [0, 100, 200, 404, 503, 599, 600, 617, 999] {
            assert_eq!((GrpcStatus::of_count(number), GrpcStatus::http(number)), (None, number));
        }
    }
}
