//! A connection's records, of whichever side: ciphertext in and out of the caller's buffers.

use super::TlsError;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus};
use rustls::{CommonState, HandshakeKind};

/// The most that a record adds to what it carries: header, content type, nonce and tag.
const RECORD_OVERHEAD: usize = 64;
/// The most that a record carries (RFC 8446, section 5.1).
const RECORD: usize = 16 * 1024;

/// A record's header: kind, version and length.
const HEADER: usize = 5;

/// The most that is kept of what has come in part. A message of the handshake may have 64 KiB, but be in records of a byte
/// each.
const MOST_PARTIAL: usize = 128 * 1024;

/// How a connection was secured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NegotiatedTls {
    /// From an earlier connection's session, without certificates.
    pub resumed: bool,
    /// Such as `TLSv1.3`.
    pub version: String,
    /// Such as `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The group of the key exchange, such as `X25519`; nothing where there was none.
    pub group: Option<String>,
    /// The kind of key that the peer's certificate is for, such as `ECDSA`; nothing where it has shown none of a known kind.
    pub key: Option<&'static str>,
}

/// What differs between the library's client and its server.
pub(super) trait Side {
    /// The library's name for the side.
    type Data;
    /// Whether the room for a record that comes in part is kept for the next one. A server has many idle connections.
    const KEEPS_ROOM: bool;

    /// The library's step from one state to the next.
    fn step<'c, 'i>(&'c mut self, input: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data>;
    /// What both sides know of a connection.
    fn common(&self) -> &CommonState;
    /// What went wrong, as this side sees it.
    fn error(error: rustls::Error) -> TlsError;
}

/// One connection.
pub(super) struct Records<S> {
    side: S,
    /// Records that have come in part, and those of a handshake's message that has come in part. The library remembers
    /// where in them the message is: they must be there again whenever it looks at what has come.
    partial: Vec<u8>,
    is_handshaking: bool,
    /// The peer has said that nothing more will come.
    is_closed: bool,
    /// The peer has broken the rules. The library must not be given any more of what it says: it has lost its place.
    has_failed: bool,
}

impl<S: Side> Records<S> {
    pub fn new(side: S) -> Self {
        Self { side, partial: Vec::new(), is_handshaking: true, is_closed: false, has_failed: false }
    }

    #[inline]
    pub fn is_handshaking(&self) -> bool {
        self.is_handshaking
    }

    #[inline]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// How the connection was secured, once it was.
    pub fn negotiated(&self) -> Option<NegotiatedTls> {
        if self.is_handshaking {
            return None;
        }
        let common = self.side.common();
        let version = match common.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "TLSv1.3",
        };
        let cipher = common.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
        Some(NegotiatedTls {
            resumed: common.handshake_kind() == Some(HandshakeKind::Resumed),
            version: version.into(),
            cipher: cipher.unwrap_or_default(),
            group: common.negotiated_key_exchange_group().map(|group| format!("{:?}", group.name())),
            key: self.certificates().next().and_then(super::key::algorithm),
        })
    }

    /// The certificates that the peer has shown, its own first, in DER.
    pub fn certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.side.common().peer_certificates().unwrap_or_default().iter().map(AsRef::as_ref)
    }

    /// The protocol that was agreed on (ALPN).
    pub fn protocol(&self) -> Option<&[u8]> {
        self.side.common().alpn_protocol()
    }

    /// Takes ciphertext, which is decrypted in place. Plaintext is added to `plain`, and what is to be said in return to
    /// `out`, also when it fails.
    #[inline]
    pub fn receive(&mut self, input: &mut [u8], out: &mut Vec<u8>, plain: &mut Vec<u8>) -> Result<(), TlsError> {
        if self.has_failed {
            return Err(failed());
        }
        if self.partial.is_empty() {
            let used = self.process(input, out, plain)?;
            self.partial.extend_from_slice(&input[used..]);
            return Ok(());
        }
        // Only the rest of the record that has been begun is copied. What follows it is processed where it is.
        let mut all = std::mem::take(&mut self.partial);
        let mut rest = input;
        while !all.is_empty() && !rest.is_empty() {
            let (front, back) = rest.split_at_mut(lacking(&all).min(rest.len()));
            all.extend_from_slice(front);
            let used = self.process(&mut all, out, plain)?;
            all.drain(..used);
            rest = back;
        }
        if !rest.is_empty() {
            let used = self.process(rest, out, plain)?;
            all.extend_from_slice(&rest[used..]);
        }
        if all.len() > MOST_PARTIAL {
            self.has_failed = true;
            return Err(TlsError::Protocol("a message of the handshake comes in too many records".into()));
        }
        if S::KEEPS_ROOM || !all.is_empty() {
            self.partial = all;
        }
        Ok(())
    }

    /// Processes whole records from the front of `input`, and gives how many bytes they were.
    pub fn process(&mut self, input: &mut [u8], out: &mut Vec<u8>, plain: &mut Vec<u8>) -> Result<usize, TlsError> {
        let mut used = 0;
        loop {
            let status = self.side.step(&mut input[used..]);
            let (discard, mut done) = (status.discard, false);
            match status.state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        plain.extend_from_slice(record.map_err(S::error)?.payload);
                    }
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    append(out, RECORD_OVERHEAD, |room| match data.encode(room) {
                        Ok(written) => Ok(written),
                        Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) => {
                            Err(Some(required_size))
                        }
                        Err(EncodeError::AlreadyEncoded) => Err(None),
                    });
                }
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(ConnectionState::WriteTraffic(_)) => (self.is_handshaking, done) = (false, true),
                // Said once. What comes next tells whether the handshake was complete before.
                Ok(ConnectionState::PeerClosed) => self.is_closed = true,
                Ok(ConnectionState::Closed) => (self.is_closed, done) = (true, true),
                Ok(_) => done = true,
                Err(error) => {
                    self.has_failed = true;
                    self.alert(out);
                    return Err(S::error(error));
                }
            }
            used += discard;
            if done {
                // Whatever follows the peer's last word is to be ignored (RFC 8446, section 6.1), not to be kept.
                return Ok(if self.is_closed { input.len() } else { used });
            }
        }
    }

    /// Tells the peer why the connection ends. As long as the library has something to say, it does not look for more that
    /// has come.
    #[cold]
    fn alert(&mut self, out: &mut Vec<u8>) {
        while self.side.common().wants_write() {
            let Ok(ConnectionState::EncodeTlsData(mut data)) = self.side.step(&mut []).state else { return };
            append(out, RECORD_OVERHEAD, |room| data.encode(room).map_err(|_| Some(RECORD)));
        }
    }

    /// Encrypts `plain` onto the end of `out`.
    #[inline]
    pub fn send(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsError> {
        for piece in plain.chunks(RECORD) {
            self.write(out, piece.len() + RECORD_OVERHEAD, |traffic, room| traffic.encrypt(piece, room))?;
        }
        Ok(())
    }

    /// Tells the peer that nothing more will come, if the handshake is complete.
    pub fn close_notify(&mut self, out: &mut Vec<u8>) {
        // Where it cannot be said any more, the peer knows already, or will learn by the connection's end.
        let _ = self.write(out, RECORD_OVERHEAD, |traffic, room| traffic.queue_close_notify(room));
    }

    /// Lets `write` write to the end of `out`, after what has to go first.
    #[inline]
    fn write(
        &mut self,
        out: &mut Vec<u8>,
        room: usize,
        mut write: impl FnMut(&mut rustls::unbuffered::WriteTraffic<'_, S::Data>, &mut [u8]) -> Result<usize, EncryptError>,
    ) -> Result<(), TlsError> {
        if self.has_failed {
            return Err(failed());
        }
        loop {
            match self.side.step(&mut self.partial).state.map_err(S::error)? {
                ConnectionState::WriteTraffic(mut traffic) => {
                    let written = append(out, room, |room| {
                        write(&mut traffic, room).map_err(|error| match error {
                            EncryptError::InsufficientSize(least) => Some(least.required_size),
                            EncryptError::EncryptExhausted => None,
                        })
                    });
                    return if written { Ok(()) } else { Err(used_up()) };
                }
                // A change of keys goes first.
                ConnectionState::EncodeTlsData(mut data) => {
                    append(out, RECORD_OVERHEAD, |room| data.encode(room).map_err(|_| Some(RECORD)));
                }
                ConnectionState::TransmitTlsData(data) => data.done(),
                _ => return Err(TlsError::Protocol("nothing can be sent now".into())),
            }
        }
    }
}

/// How many bytes a record lacks that has come in part, or its header. Where more than one record has come, and only the
/// library knows what is missing, any number will do.
#[inline]
fn lacking(partial: &[u8]) -> usize {
    match partial {
        [_, _, _, high, low, carried @ ..] => match usize::from(u16::from_be_bytes([*high, *low])) {
            length if length > carried.len() => length - carried.len(),
            _ => usize::MAX,
        },
        header => HEADER - header.len(),
    }
}

#[cold]
fn failed() -> TlsError {
    TlsError::Protocol("the connection has failed before".into())
}

#[cold]
fn used_up() -> TlsError {
    TlsError::Protocol("the connection's keys are used up".into())
}

/// Lets `write` write to the end of `out`, with at least so much room, or what it asks for instead. Gives whether it
/// could.
#[inline]
fn append(out: &mut Vec<u8>, room: usize, mut write: impl FnMut(&mut [u8]) -> Result<usize, Option<usize>>) -> bool {
    let start = out.len();
    let mut room = room;
    loop {
        out.resize(start + room, 0);
        match write(&mut out[start..]) {
            Ok(written) => {
                out.truncate(start + written);
                return true;
            }
            Err(Some(more)) if more > room => room = more,
            Err(_) => {
                out.truncate(start);
                return false;
            }
        }
    }
}
