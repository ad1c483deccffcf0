//! The peer's control stream (RFC 9114, section 6.2.1).

use super::error::{ErrorCode, Http3Error};
use super::frame::{FrameReader, Piece, kind};
use super::sender::Sender;
use super::settings::Settings;
use super::varint;

/// The largest payload of a frame with numbers in it, in bytes.
const LARGEST: u64 = 4096;
/// The number of frames after the settings that a peer may send on its control stream: it has no more than a few to send, beside
/// those that come with requests.
const MOST_FRAMES: u32 = 10_000;
/// The number of frames that may come with a request: some clients change the priorities of several with each (RFC 9218, section 7).
const BY_REQUEST: u32 = 8;

/// An event on the control stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlEvent {
    /// The peer's settings, which come first.
    Settings(Settings),
    /// The peer is going to end the connection: a server does not process requests on streams from this number on.
    GoAway(u64),
}

/// A reader of the control stream, from behind its type on.
#[derive(Debug, Default)]
pub struct ControlStream {
    sender: Sender,
    reader: FrameReader,
    /// The type of the current frame.
    kind: u64,
    /// The payload of an incomplete frame that means something.
    payload: Vec<u8>,
    has_settings: bool,
    /// The number of frames so far, less those that came with requests.
    frames: u32,
}

impl ControlStream {
    /// Returns a reader of the control stream of this sender.
    pub fn new(sender: Sender) -> Self {
        Self { sender, ..Self::default() }
    }

    /// Notes that the peer has sent a request, with which some frames are free.
    pub fn regain(&mut self) {
        self.frames = self.frames.saturating_sub(BY_REQUEST);
    }

    /// Reads bytes up to the next event, or all of them, and takes them off the front.
    ///
    /// # Errors
    /// If the sender violates HTTP/3.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<ControlEvent>, Http3Error> {
        while let Some(piece) = self.reader.next(input)? {
            let is_complete = match piece {
                Piece::Begin(kind, length) => {
                    self.begin(kind, length)?;
                    length == 0
                }
                Piece::Payload(bytes, is_last) => {
                    if [kind::SETTINGS, kind::GOAWAY].contains(&self.kind) {
                        self.payload.extend_from_slice(bytes);
                    }
                    is_last
                }
            };
            if is_complete && let Some(event) = self.complete()? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    fn begin(&mut self, kind: u64, length: u64) -> Result<(), Http3Error> {
        self.kind = kind;
        self.frames += 1;
        if self.frames > MOST_FRAMES {
            return Err(Http3Error::new(ErrorCode::EXCESSIVE_LOAD, "more than 10,000 frames on the control stream"));
        }
        match kind {
            kind::SETTINGS if self.has_settings => {
                Err(Http3Error::new(ErrorCode::FRAME_UNEXPECTED, "second SETTINGS frame"))
            }
            kind::SETTINGS | kind::GOAWAY if length > LARGEST => {
                Err(Http3Error::new(ErrorCode::EXCESSIVE_LOAD, "frame of more than 4 KiB on the control stream"))
            }
            kind::SETTINGS => Ok(()),
            _ if !self.has_settings => {
                Err(Http3Error::new(ErrorCode::MISSING_SETTINGS, "the control stream begins without SETTINGS"))
            }
            // Nothing is ever pushed, whatever the client allows.
            kind::MAX_PUSH_ID if self.sender == Sender::Client => Ok(()),
            kind::DATA | kind::HEADERS | kind::PUSH_PROMISE | kind::MAX_PUSH_ID => {
                Err(Http3Error::new(ErrorCode::FRAME_UNEXPECTED, "frame that is not allowed on the control stream"))
            }
            // No push has been allowed that could be cancelled.
            kind::CANCEL_PUSH => {
                Err(Http3Error::new(ErrorCode::ID_ERROR, "CANCEL_PUSH for a push that is not allowed"))
            }
            _ => Ok(()),
        }
    }

    fn complete(&mut self) -> Result<Option<ControlEvent>, Http3Error> {
        let payload = std::mem::take(&mut self.payload);
        match self.kind {
            kind::SETTINGS => {
                self.has_settings = true;
                Ok(Some(ControlEvent::Settings(Settings::read(&payload)?)))
            }
            kind::GOAWAY => match varint::read(&payload) {
                // A client's has the number of a push.
                Some((stream, len)) if len == payload.len() && (stream % 4 == 0 || self.sender == Sender::Client) => {
                    Ok(Some(ControlEvent::GoAway(stream)))
                }
                Some((_, len)) if len == payload.len() => {
                    Err(Http3Error::new(ErrorCode::ID_ERROR, "GOAWAY with the number of no request"))
                }
                _ => Err(Http3Error::new(ErrorCode::FRAME_ERROR, "invalid size of a GOAWAY frame")),
            },
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a stream in pieces of this length.
    fn read(bytes: &[u8], length: usize) -> Result<Vec<ControlEvent>, ErrorCode> {
        let (mut stream, mut events) = (ControlStream::default(), Vec::new());
        for mut piece in bytes.chunks(length) {
            while let Some(event) = stream.next(&mut piece).map_err(|error| error.code)? {
                events.push(event);
            }
        }
        Ok(events)
    }

    #[test]
    fn settings_come_first_and_unknown_frames_are_ignored() {
        let settings = ControlEvent::Settings(Settings { largest_section: 9 });
        let bytes = [4, 2, 6, 9, 0x21, 3, 1, 2, 3, 0x21, 0, 7, 1, 8, 7, 1, 4];
        for length in 1..=bytes.len() {
            let expected = vec![settings, ControlEvent::GoAway(8), ControlEvent::GoAway(4)];
            assert_eq!(read(&bytes, length), Ok(expected));
        }
    }

    #[test]
    fn violations_have_their_codes() {
        for (bytes, code) in [
            (&[7, 1, 0][..], ErrorCode::MISSING_SETTINGS),
            (&[0x21, 0], ErrorCode::MISSING_SETTINGS),
            (&[4, 0, 4, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[4, 0, 0, 1], ErrorCode::FRAME_UNEXPECTED),
            (&[4, 0, 1, 1], ErrorCode::FRAME_UNEXPECTED),
            (&[4, 0, 5, 1], ErrorCode::FRAME_UNEXPECTED),
            (&[4, 0, 13, 1, 1], ErrorCode::FRAME_UNEXPECTED),
            (&[4, 0, 6, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[4, 0, 3, 1, 1], ErrorCode::ID_ERROR),
            (&[4, 0, 7, 1, 1], ErrorCode::ID_ERROR),
            (&[4, 0, 7, 2, 1, 1], ErrorCode::FRAME_ERROR),
            (&[4, 0, 7, 0], ErrorCode::FRAME_ERROR),
            (&[4, 1, 6], ErrorCode::FRAME_ERROR),
            (&[4, 0x50, 1], ErrorCode::EXCESSIVE_LOAD),
        ] {
            assert_eq!(read(bytes, 1), Err(code), "{bytes:?}");
        }
        let many: Vec<u8> = [4, 0].into_iter().chain([0x21, 0].repeat(MOST_FRAMES as usize)).collect();
        assert_eq!(read(&many, 1000), Err(ErrorCode::EXCESSIVE_LOAD));
    }

    #[test]
    fn frames_that_come_with_requests_are_free() {
        let mut stream = ControlStream::new(Sender::Client);
        assert!(stream.next(&mut &[4, 0][..]).is_ok());
        let frames = [0x21, 0].repeat(BY_REQUEST as usize);
        for _ in 0..2 * MOST_FRAMES / BY_REQUEST {
            assert_eq!(stream.next(&mut &frames[..]), Ok(None));
            stream.regain();
        }
    }
}
