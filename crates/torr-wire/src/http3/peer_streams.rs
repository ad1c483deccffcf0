//! All unidirectional streams that a peer has open on a connection: its control stream, and those of QPACK (RFC 9114, section 6.2).

use super::control::ControlEvent;
use super::error::{ErrorCode, Http3Error};
use super::sender::Sender;
use super::stream::UnidirectionalStream;
use super::stream_type::StreamType;

/// Whether a stream is read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// More of the stream is to be read.
    Continue,
    /// The stream is of a type that means nothing here, and may be endless: it was forgotten.
    Stop,
}

/// The streams of a peer, which the caller knows by identifiers. QUIC bounds their number.
#[derive(Debug)]
pub struct PeerStreams<I> {
    sender: Sender,
    open: Vec<(I, UnidirectionalStream)>,
}

impl<I: Copy + PartialEq> PeerStreams<I> {
    /// Returns a peer without streams.
    pub fn new(sender: Sender) -> Self {
        Self { sender, open: Vec::new() }
    }

    /// Adds a stream that the peer has opened.
    pub fn add(&mut self, id: I) {
        self.open.push((id, UnidirectionalStream::new(self.sender)));
    }

    /// Returns whether the stream is open.
    #[inline]
    pub fn has(&self, id: I) -> bool {
        self.open.iter().any(|(other, _)| *other == id)
    }

    /// Notes that the peer has sent a request, with which some frames on its control stream are free.
    pub fn regain(&mut self) {
        for (_, stream) in &mut self.open {
            if let UnidirectionalStream::Control(control) = stream {
                control.regain();
            }
        }
    }

    /// Reads bytes of a stream, and gives its events to `event`.
    ///
    /// # Errors
    /// If the peer violates HTTP/3 or QPACK, and the errors of `event`.
    pub fn read(
        &mut self,
        id: I,
        mut input: &[u8],
        mut event: impl FnMut(ControlEvent) -> Result<(), Http3Error>,
    ) -> Result<Reading, Http3Error> {
        loop {
            let Some((_, stream)) = self.open.iter_mut().find(|(other, _)| *other == id) else {
                return Ok(Reading::Stop);
            };
            let had_kind = stream.kind().is_some();
            let next = stream.next(&mut input)?;
            match stream.kind().filter(|_| !had_kind) {
                None => {}
                Some(StreamType::Unknown) => {
                    self.open.retain(|(other, _)| *other != id);
                    return Ok(Reading::Stop);
                }
                Some(kind) if self.open.iter().filter(|(_, stream)| stream.kind() == Some(kind)).count() > 1 => {
                    let what = "second stream of a type that there may be one of";
                    return Err(Http3Error::new(ErrorCode::STREAM_CREATION_ERROR, what));
                }
                Some(_) => {}
            }
            match next {
                Some(next) => event(next)?,
                None => return Ok(Reading::Continue),
            }
        }
    }

    /// Notes that the peer has ended a stream.
    ///
    /// # Errors
    /// [`ErrorCode::CLOSED_CRITICAL_STREAM`] for one that the connection needs.
    pub fn end(&mut self, id: I) -> Result<(), Http3Error> {
        let Some(at) = self.open.iter().position(|(other, _)| *other == id) else { return Ok(()) };
        match self.open.remove(at).1.is_critical() {
            true => {
                let what = match self.sender {
                    Sender::Client => "the client ended its control stream, or one of QPACK",
                    Sender::Server => "the server ended its control stream, or one of QPACK",
                };
                Err(Http3Error::new(ErrorCode::CLOSED_CRITICAL_STREAM, what))
            }
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_their_types_and_ends() {
        let mut peer = PeerStreams::new(Sender::Client);
        (0..4).for_each(|id| peer.add(id));
        let mut events = 0;
        let mut count = |_| {
            events += 1;
            Ok(())
        };
        assert_eq!(peer.read(0, &[0, 4, 0, 13, 1, 7, 7, 1, 3], &mut count), Ok(Reading::Continue));
        assert_eq!(events, 2, "settings and GOAWAY");
        assert_eq!(peer.read(1, &[0x21, 1, 2, 3], |_| Ok(())), Ok(Reading::Stop));
        assert!(!peer.has(1) && peer.has(2));
        assert_eq!(peer.end(1), Ok(()));
        let second = peer.read(2, &[0], |_| Ok(())).map_err(|error| error.code);
        assert_eq!(second, Err(ErrorCode::STREAM_CREATION_ERROR));
        let push = peer.read(3, &[1, 0], |_| Ok(())).map_err(|error| error.code);
        assert_eq!(push, Err(ErrorCode::STREAM_CREATION_ERROR));
        assert_eq!(peer.end(0).map_err(|error| error.code), Err(ErrorCode::CLOSED_CRITICAL_STREAM));
    }
}
