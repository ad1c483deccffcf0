//! The opening handshake of one connection (RFC 6455, section 4.1).

use crate::failures;
use crate::request::{Cursor, WebSocketRequests};
use torr_gauge::Failure;
use torr_wire::Header;
use torr_wire::response::{HeadCache, Observer, ResponseReader};
use torr_wire::websocket::{Agreement, Handshake, HandshakeError, Key};

/// The end of the request: the value of its last field is the key.
const END: &[u8] = b"\r\n\r\n";

/// A handshake whose response has not arrived.
#[derive(Debug)]
pub(super) struct Opening {
    key: Key,
    reader: ResponseReader,
}

impl Opening {
    /// Appends the next request of a thread's handshakes with a new key, and returns the handshake.
    pub fn begin(requests: &mut Cursor<'_>, out: &mut Vec<u8>) -> Self {
        let key = Key::new(fastrand::u128(..).to_ne_bytes());
        requests.write(out);
        let end = out.len().saturating_sub(END.len());
        let place = end.saturating_sub(key.value().len())..end;
        debug_assert_eq!(&out[place.clone()], Key::PLACE.value());
        out[place].copy_from_slice(key.value());
        Self { key, reader: ResponseReader::default() }
    }

    /// Reads a part of the response to a handshake of `requests`. Returns the number of bytes used once it is complete, with what it
    /// agrees on for compression; all of the part was used otherwise.
    ///
    /// # Errors
    /// If the response is none, or does not complete the handshake.
    pub fn read(
        &mut self,
        input: &[u8],
        requests: &WebSocketRequests,
    ) -> Result<Option<(usize, Option<Agreement>)>, Failure> {
        let (subprotocols, deflate) = (&requests.subprotocols[..], requests.deflate);
        let mut checked = Checked { handshake: Handshake { key: self.key, subprotocols, deflate }, outcome: None };
        // Whatever the status, content is not waited for.
        let read = self.reader.observe(input, true, &mut HeadCache::default(), &mut checked);
        match (read, checked.outcome) {
            (_, Some(Err(error))) => Err(failures::handshake(&error)),
            (Ok((used, Some(_))), Some(Ok(agreement))) => Ok(Some((used, agreement))),
            (Ok(_), _) => Ok(None),
            (Err(error), _) => {
                let other = failures::plain_to_tls(input).or_else(|| failures::http1_to_http2(input));
                Err(other.unwrap_or_else(|| failures::protocol(error)))
            }
        }
    }
}

/// The check of a response's header section.
struct Checked<'o> {
    handshake: Handshake<'o>,
    outcome: Option<Result<Option<Agreement>, HandshakeError>>,
}

impl Observer for Checked<'_> {
    fn head(&mut self, status: u16, fields: &[Header<'_>]) {
        // Other interim responses may precede.
        if status == 101 || status >= 200 {
            self.outcome = Some(self.handshake.check(status, fields));
        }
    }
}
