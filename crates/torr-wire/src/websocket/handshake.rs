//! The opening handshake (RFC 6455, section 4).

use super::deflate::{Agreement, Offer, Unagreed};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use httparse::Header;
use sha1::{Digest, Sha1};
use thiserror::Error;

/// The text that follows the key where its digest is computed.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The length of a key in base64.
const KEY_LENGTH: usize = 24;
/// The fields of a handshake's request that belong to the handshake itself, in lower case.
pub const FIELDS: [&str; 6] = [
    "connection",
    "sec-websocket-extensions",
    "sec-websocket-key",
    "sec-websocket-protocol",
    "sec-websocket-version",
    "upgrade",
];

/// The key of one handshake: 16 random bytes in base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; KEY_LENGTH]);

impl Key {
    /// A key that stands in a request until a random one takes its place.
    pub const PLACE: Self = Self([b'A'; KEY_LENGTH]);

    /// Returns the key of a request, if its header section has one with the length of a key.
    pub fn of_request(head: &[u8]) -> Option<Self> {
        let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let value = lines.find_map(|line| {
            let (name, value) = line.split_at_checked("sec-websocket-key:".len())?;
            name.eq_ignore_ascii_case(b"sec-websocket-key:").then(|| value.trim_ascii())
        });
        value?.try_into().ok().map(Self)
    }

    /// Returns the key of these bytes.
    pub fn new(random: [u8; 16]) -> Self {
        let mut text = [0; KEY_LENGTH];
        let written = BASE64_STANDARD.encode_slice(random, &mut text);
        debug_assert_eq!(written, Ok(KEY_LENGTH), "16 bytes are 24 characters");
        Self(text)
    }

    /// Returns the value of `Sec-WebSocket-Key`.
    pub fn value(&self) -> &[u8] {
        &self.0
    }

    /// Returns the value of `Sec-WebSocket-Accept` in the server's response.
    pub fn accept(&self) -> String {
        BASE64_STANDARD.encode(Sha1::new().chain_update(self.0).chain_update(GUID).finalize())
    }
}

/// The reason for which a response does not complete the handshake.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HandshakeError {
    /// The status is not 101.
    #[error("the server refused the WebSocket handshake with status {0}")]
    Refused(u16),
    /// `Upgrade` or `Connection` do not say that the protocol is WebSocket.
    #[error("the server's response has status 101, but no '{0}'")]
    Upgrade(&'static str),
    /// `Sec-WebSocket-Accept` is missing, or not that of the key.
    #[error("the server's Sec-WebSocket-Accept does not match the key")]
    Accept,
    /// The server uses an extension that was not offered.
    #[error("the server uses the extension '{0}', which was not offered")]
    Extension(String),
    /// The server uses `permessage-deflate` with a parameter that is invalid, or that the offer does not allow.
    #[error("the server uses permessage-deflate with '{0}', which is invalid or was not offered")]
    Deflate(String),
    /// The server uses a subprotocol that was not offered.
    #[error("the server uses the subprotocol '{0}', which was not offered")]
    Subprotocol(String),
}

/// What a server's response has to match.
#[derive(Debug)]
pub struct Handshake<'o> {
    /// The key that was sent.
    pub key: Key,
    /// The subprotocols that were offered.
    pub subprotocols: &'o [String],
    /// The offer of `permessage-deflate`, if there was one.
    pub deflate: Option<Offer>,
}

impl Handshake<'_> {
    /// Checks the header section of the response with this status, and returns what it agrees on for compression: `None` if messages
    /// are plain. A server may use none of the subprotocols (section 4.1).
    ///
    /// # Errors
    /// [`HandshakeError`].
    pub fn check(&self, status: u16, fields: &[Header<'_>]) -> Result<Option<Agreement>, HandshakeError> {
        if status != 101 {
            return Err(HandshakeError::Refused(status));
        }
        let values = |name: &'static str| {
            let of_name = fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
            of_name.map(|field| field.value.trim_ascii())
        };
        let has_token = |name: &'static str, token: &str| {
            let tokens = values(name).flat_map(|value| value.split(|&byte| byte == b','));
            tokens.map(<[u8]>::trim_ascii).any(|one| one.eq_ignore_ascii_case(token.as_bytes()))
        };
        if !has_token("upgrade", "websocket") {
            return Err(HandshakeError::Upgrade("Upgrade: websocket"));
        }
        if !has_token("connection", "upgrade") {
            return Err(HandshakeError::Upgrade("Connection: Upgrade"));
        }
        if !values("sec-websocket-accept").eq([self.key.accept().as_bytes()]) {
            return Err(HandshakeError::Accept);
        }
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let agreement = Agreement::of(self.deflate, values("sec-websocket-extensions")).map_err(|why| match why {
            Unagreed::Extension(other) => HandshakeError::Extension(text(other)),
            Unagreed::Parameter(other) => HandshakeError::Deflate(text(other)),
        })?;
        let is_offered = |value: &&[u8]| self.subprotocols.iter().any(|offered| offered.as_bytes() == *value);
        match values("sec-websocket-protocol").find(|value| !is_offered(value)) {
            Some(other) => Err(HandshakeError::Subprotocol(text(other))),
            None => Ok(agreement),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nonce of the RFC's example in section 1.3.
    const NONCE: [u8; 16] = *b"the sample nonce";

    #[test]
    fn the_digest_is_that_of_the_rfc() {
        let key = Key::new(NONCE);
        assert_eq!(key.value(), b"dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(key.accept(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        let request = b"GET / HTTP/1.1\r\nHost: h\r\nsec-websocket-KEY:  dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        assert_eq!(Key::of_request(request), Some(key));
        assert_eq!(Key::of_request(b"GET / HTTP/1.1\r\nSec-WebSocket-Key: short\r\n\r\n"), None);
    }

    #[test]
    fn a_response_has_to_match_the_request() {
        let subprotocols = ["chat".to_owned(), "v2.chat".to_owned()];
        let handshake = Handshake { key: Key::new(NONCE), subprotocols: &subprotocols, deflate: None };
        let good = [
            ("UPGRADE", "WebSocket"),
            ("connection", "keep-alive, Upgrade"),
            ("Sec-WebSocket-Accept", " s3pPLMBiTxaQ9kYGzzhZRbK+xOo= "),
        ];
        let check = |status, without: &str, with: &[(&'static str, &'static str)]| {
            let fields = good.iter().filter(|(name, _)| *name != without).chain(with);
            let fields: Vec<_> = fields.map(|(name, value)| Header { name, value: value.as_bytes() }).collect();
            handshake.check(status, &fields)
        };
        assert_eq!(check(101, "", &[]), Ok(None));
        assert_eq!(check(101, "", &[("Sec-WebSocket-Protocol", "v2.chat")]), Ok(None));
        assert_eq!(check(403, "", &[]), Err(HandshakeError::Refused(403)));
        assert_eq!(check(200, "", &[]), Err(HandshakeError::Refused(200)));
        assert_eq!(check(101, "UPGRADE", &[]), Err(HandshakeError::Upgrade("Upgrade: websocket")));
        let other = [("Connection", "close")];
        assert_eq!(check(101, "connection", &other), Err(HandshakeError::Upgrade("Connection: Upgrade")));
        assert_eq!(check(101, "Sec-WebSocket-Accept", &[]), Err(HandshakeError::Accept));
        let wrong = [("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOO=")];
        assert_eq!(check(101, "Sec-WebSocket-Accept", &wrong), Err(HandshakeError::Accept));
        assert_eq!(check(101, "", &wrong), Err(HandshakeError::Accept), "one value too many");
        let extension = [("sec-websocket-extensions", "permessage-deflate")];
        assert_eq!(check(101, "", &extension), Err(HandshakeError::Extension("permessage-deflate".into())));
        let offering = Handshake { deflate: Some(Offer::WithoutTakeover), ..handshake };
        let fields: Vec<_> =
            good.iter().chain(&extension).map(|(name, value)| Header { name, value: value.as_bytes() }).collect();
        assert!(offering.check(101, &fields).is_ok_and(|agreement| agreement.is_some()));
        let subprotocol = [("Sec-WebSocket-Protocol", "v1.chat")];
        assert_eq!(check(101, "", &subprotocol), Err(HandshakeError::Subprotocol("v1.chat".into())));
    }
}
