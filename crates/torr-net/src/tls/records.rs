//! The records of a TLS connection of either side: ciphertext in and out of the caller's buffers.

use super::TlsError;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus};
use rustls::{CommonState, HandshakeKind};

/// The upper bound of a record's overhead in bytes: header, content type, nonce and tag.
const RECORD_OVERHEAD: usize = 64;
/// The limit of a record's plaintext in bytes (RFC 8446, section 5.1).
const RECORD: usize = 16 * 1024;

/// The size of a record's header in bytes: type, version and length.
const HEADER: usize = 5;

/// The largest buffer for incomplete input that is kept for later records, in bytes.
const KEPT_ROOM: usize = 64 * 1024;

/// The parameters that a handshake has negotiated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NegotiatedTls {
    /// Whether the session was resumed, without certificates.
    pub resumed: bool,
    /// Whether the server has taken requests that a client of QUIC sent before the handshake was complete (0-RTT).
    pub early_data: bool,
    /// The version, such as `TLSv1.3`.
    pub version: String,
    /// The cipher suite, such as `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The group of the key exchange, such as `X25519`; `None` without a key exchange.
    pub group: Option<String>,
    /// The algorithm of the public key of the peer's certificate, such as `ECDSA`; `None` without a certificate of a known
    /// algorithm.
    pub key: Option<&'static str>,
}

/// The side of a connection: the differences between the client and the server of `rustls`.
pub(super) trait Side {
    /// The marker type of `rustls` for the side.
    type Data;
    /// The limit of incomplete input in bytes. `rustls` gives up the bytes of a flight of handshake messages only where a message
    /// ends with its record, so that the whole of a flight may be incomplete.
    const LARGEST_FLIGHT: usize;
    /// Whether the buffer for incomplete records keeps its memory. A server frees it, since it has many idle connections.
    const KEEPS_ROOM: bool;

    /// Advances the state machine of `rustls` by one step.
    fn step<'c, 'i>(&'c mut self, input: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data>;
    /// Returns the state that both sides have in common.
    fn common(&self) -> &CommonState;
    /// Translates an error into this side's terms.
    fn error(error: rustls::Error) -> TlsError;
}

/// The record layer of one connection.
pub(super) struct Records<S> {
    side: S,
    /// The bytes of an incomplete record, and of all records of an incomplete handshake message. `rustls` keeps offsets into
    /// them, so they must be passed again with each step.
    partial: Vec<u8>,
    is_handshaking: bool,
    /// Whether the peer has sent `close_notify`.
    is_closed: bool,
    /// Whether the peer has violated TLS. `rustls` must not receive bytes after an error, since its offsets are invalid then.
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

    /// Returns the number of bytes of an incomplete record or message.
    #[inline]
    pub fn incomplete(&self) -> usize {
        self.partial.len()
    }

    #[inline]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns the negotiated parameters; `None` before the handshake is complete.
    pub fn negotiated(&self) -> Option<NegotiatedTls> {
        if self.is_handshaking {
            return None;
        }
        Some(parameters(self.side.common()))
    }

    /// Returns the peer's certificate chain in DER, its own certificate first.
    pub fn certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.side.common().peer_certificates().unwrap_or_default().iter().map(AsRef::as_ref)
    }

    /// Returns the negotiated protocol (ALPN).
    pub fn protocol(&self) -> Option<&[u8]> {
        self.side.common().alpn_protocol()
    }

    /// Decrypts ciphertext within `input`. Plaintext is appended to `plain`, and records to send to `out`, also on failure.
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
        // Only the rest of the incomplete record is copied. The records after it are processed in the caller's buffer.
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
        if all.len() > S::LARGEST_FLIGHT {
            self.has_failed = true;
            let most = S::LARGEST_FLIGHT / 1024;
            return Err(TlsError::Protocol(format!("the handshake messages are larger than {most} KiB")));
        }
        if (S::KEEPS_ROOM && all.capacity() <= KEPT_ROOM) || !all.is_empty() {
            self.partial = all;
        }
        Ok(())
    }

    /// Processes complete records at the front of `input`, and returns the number of bytes consumed.
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
                // This state comes once. The next one shows whether the handshake was complete.
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
                // Bytes after the peer's `close_notify` are ignored (RFC 8446, section 6.1).
                return Ok(if self.is_closed { input.len() } else { used });
            }
        }
    }

    /// Appends the alert of an error to `out`. While `rustls` has records to send, a step processes no input.
    #[cold]
    fn alert(&mut self, out: &mut Vec<u8>) {
        while self.side.common().wants_write() {
            let Ok(ConnectionState::EncodeTlsData(mut data)) = self.side.step(&mut []).state else { return };
            append(out, RECORD_OVERHEAD, |room| data.encode(room).map_err(|_| Some(RECORD)));
        }
    }

    /// Encrypts `plain`, and appends the records to `out`.
    #[inline]
    pub fn send(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsError> {
        for piece in plain.chunks(RECORD) {
            self.write(out, piece.len() + RECORD_OVERHEAD, |traffic, room| traffic.encrypt(piece, room))?;
        }
        Ok(())
    }

    /// Appends the alert `close_notify` to `out`, if the handshake is complete.
    pub fn close_notify(&mut self, out: &mut Vec<u8>) {
        // After an error the alert has been sent; before the handshake is complete, closing the connection is enough.
        let _ = self.write(out, RECORD_OVERHEAD, |traffic, room| traffic.queue_close_notify(room));
    }

    /// Appends the records that are due, such as a key update, and then those of `write` to `out`.
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
                // A key update precedes the data.
                ConnectionState::EncodeTlsData(mut data) => {
                    append(out, RECORD_OVERHEAD, |room| data.encode(room).map_err(|_| Some(RECORD)));
                }
                ConnectionState::TransmitTlsData(data) => data.done(),
                _ => return Err(TlsError::Protocol("cannot send in this state".into())),
            }
        }
    }
}

/// Returns the parameters of a complete handshake.
pub(super) fn parameters(common: &CommonState) -> NegotiatedTls {
    let version = match common.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
        _ => "TLSv1.3",
    };
    let cipher = common.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
    let own = common.peer_certificates().and_then(|chain| chain.first());
    NegotiatedTls {
        resumed: common.handshake_kind() == Some(HandshakeKind::Resumed),
        early_data: false,
        version: version.into(),
        cipher: cipher.unwrap_or_default(),
        group: common.negotiated_key_exchange_group().map(|group| format!("{:?}", group.name())),
        key: own.and_then(|own| super::key::algorithm(own.as_ref())),
    }
}

/// Returns the number of bytes that complete the incomplete record, or its header. With several records of a handshake
/// message only `rustls` knows the missing length, and `usize::MAX` requests all that is there.
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
    TlsError::Protocol("the connection has already failed".into())
}

#[cold]
fn used_up() -> TlsError {
    TlsError::Protocol("the connection's keys are exhausted".into())
}

/// Lets `write` append to `out` with at least `room` bytes, or the number that its error requests. Returns whether it
/// succeeded.
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
