//! Responses of gRPC: messages behind prefixes in the content, and the status in the trailers
//! (grpc.io, "gRPC over HTTP2", "Responses").

use torr_gauge::GrpcStatus;

/// The longest message in bytes.
pub(crate) const LONGEST_MESSAGE: u32 = 16 * 1024 * 1024;
/// The bytes before each message: a flag and the length.
const PREFIX: usize = 5;

/// What is expected of the responses of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrpcMethod {
    /// Whether a successful response is a stream of messages, not one message.
    pub returns_stream: bool,
}

/// The defect of a response.
type Wrong = &'static str;

/// What the fields of a header section or of trailers tell of a call.
#[derive(Debug, Default)]
pub(crate) struct GrpcFields {
    /// The status, if there is one.
    pub status: Option<GrpcStatus>,
    /// Whether messages have a coding (`grpc-encoding`).
    is_coded: bool,
}

impl GrpcFields {
    /// Takes the next field.
    #[inline]
    pub fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            // A value that is no number is no status.
            b"grpc-status" => self.status = GrpcStatus::of_field(value),
            b"grpc-encoding" => self.is_coded = value != b"identity",
            _ => {}
        }
    }

    /// Whether the call has a status that is an error.
    pub fn has_failed(&self) -> bool {
        self.status.is_some_and(|status| !status.is_ok())
    }
}

/// The response of one call, as far as it has arrived.
#[derive(Debug)]
pub(crate) struct GrpcResponse {
    method: GrpcMethod,
    /// The status, once the trailers have arrived.
    status: Option<GrpcStatus>,
    /// Whether messages have a coding (`grpc-encoding`).
    is_coded: bool,
    /// The part of a message's prefix that has arrived.
    prefix: [u8; PREFIX],
    prefix_length: usize,
    /// The bytes of the current message that are still to come.
    left: u32,
    /// The number of complete messages.
    messages: u64,
}

impl GrpcResponse {
    /// Returns the response to a call of a method, of which nothing has arrived.
    pub fn of(method: GrpcMethod) -> Self {
        Self { method, status: None, is_coded: false, prefix: [0; PREFIX], prefix_length: 0, left: 0, messages: 0 }
    }

    /// Takes what a header section or the trailers tell.
    pub fn take(&mut self, fields: GrpcFields) {
        self.status = fields.status.or(self.status);
        self.is_coded |= fields.is_coded;
    }

    /// Returns the number of complete messages.
    #[inline]
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Takes a piece of the content.
    ///
    /// # Errors
    /// The defect of a message's prefix.
    pub fn content(&mut self, mut piece: &[u8]) -> Result<(), Wrong> {
        while !piece.is_empty() {
            if self.left > 0 {
                let taken = piece.len().min(self.left as usize);
                piece = &piece[taken..];
                self.left -= taken as u32;
                self.messages += u64::from(self.left == 0);
                continue;
            }
            let taken = piece.len().min(PREFIX - self.prefix_length);
            self.prefix[self.prefix_length..][..taken].copy_from_slice(&piece[..taken]);
            self.prefix_length += taken;
            piece = &piece[taken..];
            if self.prefix_length == PREFIX {
                self.begin_message()?;
            }
        }
        Ok(())
    }

    /// Reads the prefix of a message.
    fn begin_message(&mut self) -> Result<(), Wrong> {
        let [flag, a, b, c, d] = self.prefix;
        let length = u32::from_be_bytes([a, b, c, d]);
        match flag {
            0 => {}
            1 if self.is_coded => {}
            1 => return Err("a gRPC message is compressed although the response has no grpc-encoding"),
            _ => return Err("invalid flag before a gRPC message"),
        }
        if length > LONGEST_MESSAGE {
            return Err("a gRPC message is longer than 16 MiB");
        }
        (self.prefix_length, self.left) = (0, length);
        self.messages += u64::from(length == 0);
        Ok(())
    }

    /// Returns the status of HTTP or of gRPC by which the complete response is counted.
    ///
    /// # Errors
    /// The defect of a response that has no status of gRPC, or whose messages are not those that the status announces.
    pub fn end(&self, http: u16) -> Result<u16, Wrong> {
        let Some(status) = self.status else {
            let is_http_error = (400..600).contains(&http);
            return if is_http_error { Ok(http) } else { Err("the response has no grpc-status") };
        };
        if !status.is_ok() {
            return Ok(status.counted_as());
        }
        if self.left > 0 || self.prefix_length > 0 {
            return Err("the response ended in the middle of a gRPC message");
        }
        match self.messages {
            1 => {}
            _ if self.method.returns_stream => {}
            0 => return Err("the response has grpc-status 0 and no message"),
            _ => return Err("the response has several messages: the method returns one"),
        }
        Ok(status.counted_as())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNARY: GrpcMethod = GrpcMethod { returns_stream: false };
    const STREAM: GrpcMethod = GrpcMethod { returns_stream: true };

    /// Returns how a response is counted whose content arrives in pieces of each size.
    fn read(content: &[u8], fields: &[(&str, &str)], http: u16, method: GrpcMethod) -> Result<u16, Wrong> {
        let outcomes = (1..=content.len().max(1)).map(|size| {
            let mut response = GrpcResponse::of(method);
            let (head, trailers) = fields.split_at(fields.len().saturating_sub(1));
            let section = |fields: &[(&str, &str)]| {
                let mut section = GrpcFields::default();
                fields.iter().for_each(|(name, value)| section.take(name.as_bytes(), value.as_bytes()));
                section
            };
            response.take(section(head));
            content.chunks(size).try_for_each(|piece| response.content(piece))?;
            response.take(section(trailers));
            response.end(http)
        });
        let outcomes: Vec<_> = outcomes.collect();
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{outcomes:?}");
        outcomes[0]
    }

    #[test]
    fn the_status_of_grpc_decides() {
        let ok = ("grpc-status", "0");
        let away = ("grpc-status", "14");
        let one = b"\0\0\0\0\x02ab";
        for (content, fields, http, method, counted) in [
            (&one[..], &[ok][..], 200, UNARY, Ok(200)),
            (b"\0\0\0\0\0", &[ok], 200, UNARY, Ok(200)),
            (b"\x01\0\0\0\x01a", &[("grpc-encoding", "gzip"), ok], 200, UNARY, Ok(200)),
            (&[one, &one[..]].concat(), &[ok], 200, STREAM, Ok(200)),
            (b"", &[ok], 200, STREAM, Ok(200)),
            (b"", &[away], 200, UNARY, Ok(614)),
            (one, &[away], 200, UNARY, Ok(614)),
            (b"\0\0", &[away], 200, STREAM, Ok(614)),
            (b"", &[away], 503, UNARY, Ok(614)),
            (b"", &[], 502, UNARY, Ok(502)),
            (b"", &[], 614, UNARY, Err("the response has no grpc-status")),
        ] {
            assert_eq!(read(content, fields, http, method), counted, "{content:?} {fields:?} {http}");
        }
    }

    #[test]
    fn a_response_that_is_none_has_one_line() {
        let ok = ("grpc-status", "0");
        let one = b"\0\0\0\0\x02ab";
        for (content, fields, method, wrong) in [
            (&one[..], &[][..], UNARY, "the response has no grpc-status"),
            (one, &[("grpc-status", "fine")], UNARY, "the response has no grpc-status"),
            (b"", &[ok], UNARY, "the response has grpc-status 0 and no message"),
            (&[one, &one[..]].concat(), &[ok], UNARY, "the response has several messages: the method returns one"),
            (&one[..6], &[ok], UNARY, "the response ended in the middle of a gRPC message"),
            (&one[..4], &[ok], STREAM, "the response ended in the middle of a gRPC message"),
            (b"\0\xff\xff\xff\xff", &[ok], UNARY, "a gRPC message is longer than 16 MiB"),
            (
                b"\x01\0\0\0\x01a",
                &[("grpc-encoding", "identity"), ok],
                UNARY,
                "a gRPC message is compressed although the response has no grpc-encoding",
            ),
            (b"\x02\0\0\0\x01a", &[ok], UNARY, "invalid flag before a gRPC message"),
        ] {
            assert_eq!(read(content, fields, 200, method), Err(wrong), "{content:?}");
        }
    }
}
