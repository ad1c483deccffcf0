//! The unidirectional streams of a peer, those that carry instructions of QPACK among them (RFC 9114, section 6.2; RFC 9204,
//! section 4).

use super::control::{ControlEvent, ControlStream};
use super::error::{ErrorCode, Http3Error};
use super::sender::Sender;
use super::stream_type::StreamType;
use super::varint;

/// A unidirectional stream of a peer, from its type on.
#[derive(Debug, Default)]
pub enum UnidirectionalStream {
    /// No byte has come of a stream of a server.
    #[default]
    Untyped,
    /// The type is incomplete: these are its bytes, and their number.
    Beginning([u8; 8], u8, Sender),
    /// The control stream.
    Control(ControlStream),
    /// A stream of another type.
    Other(OtherStream),
}

/// A unidirectional stream that carries nothing that a peer without a dynamic table needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherStream {
    /// Instructions of the peer's encoder.
    Encoder,
    /// Instructions of the peer's decoder.
    Decoder {
        /// Whether the next byte belongs to the number of an instruction.
        is_in_number: bool,
    },
    /// The type is unknown: it is not read.
    Unknown,
}

impl UnidirectionalStream {
    /// Returns a reader of a stream of this sender.
    pub fn new(sender: Sender) -> Self {
        Self::Beginning([0; 8], 0, sender)
    }

    /// Reads bytes of the stream up to the next event, or all of them, and takes them off the front.
    ///
    /// # Errors
    /// If the sender violates HTTP/3 or QPACK.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<ControlEvent>, Http3Error> {
        loop {
            match self {
                Self::Untyped => *self = Self::new(Sender::Server),
                Self::Beginning(bytes, filled, sender) => {
                    let Some((&byte, rest)) = input.split_first() else { return Ok(None) };
                    bytes[usize::from(*filled)] = byte;
                    (*input, *filled) = (rest, *filled + 1);
                    if let Some((number, _)) = varint::read(&bytes[..usize::from(*filled)]) {
                        *self = Self::of(StreamType::of(number), *sender)?;
                    }
                }
                Self::Control(control) => return control.next(input),
                Self::Other(other) => return other.read(input).map(|()| None),
            }
        }
    }

    fn of(kind: StreamType, sender: Sender) -> Result<Self, Http3Error> {
        Ok(match kind {
            StreamType::Control => Self::Control(ControlStream::new(sender)),
            StreamType::Push if sender == Sender::Client => {
                return Err(Http3Error::new(ErrorCode::STREAM_CREATION_ERROR, "push stream of a client"));
            }
            StreamType::Push => {
                return Err(Http3Error::new(ErrorCode::ID_ERROR, "push stream although pushes are not allowed"));
            }
            StreamType::Encoder => Self::Other(OtherStream::Encoder),
            StreamType::Decoder => Self::Other(OtherStream::Decoder { is_in_number: false }),
            StreamType::Unknown => Self::Other(OtherStream::Unknown),
        })
    }

    /// Returns the type, once it is known.
    pub fn kind(&self) -> Option<StreamType> {
        match self {
            Self::Untyped | Self::Beginning(..) => None,
            Self::Control(_) => Some(StreamType::Control),
            Self::Other(OtherStream::Encoder) => Some(StreamType::Encoder),
            Self::Other(OtherStream::Decoder { .. }) => Some(StreamType::Decoder),
            Self::Other(OtherStream::Unknown) => Some(StreamType::Unknown),
        }
    }

    /// Returns whether the connection cannot go on without the stream.
    pub fn is_critical(&self) -> bool {
        self.kind().is_some_and(|kind| kind != StreamType::Unknown)
    }
}

/// The instruction that sets the capacity of the dynamic table to 0, the only one that an encoder without a table may send (RFC
/// 9204, section 4.3.1).
const NO_CAPACITY: u8 = 0x20;
/// The upper two bits of the cancellation of a stream, the only instruction that a decoder may send that has read no reference to a
/// dynamic table (RFC 9204, section 4.4.2). The other bits are the beginning of a number.
const CANCELLATION: u8 = 0x40;

impl OtherStream {
    /// Takes all bytes.
    fn read(&mut self, input: &mut &[u8]) -> Result<(), Http3Error> {
        let bytes = std::mem::take(input);
        match self {
            Self::Encoder if bytes.iter().any(|&byte| byte != NO_CAPACITY) => Err(Http3Error::new(
                ErrorCode::QPACK_ENCODER_STREAM_ERROR,
                "QPACK: instruction for a dynamic table that has no room",
            )),
            Self::Decoder { is_in_number } => bytes.iter().try_for_each(|&byte| {
                if *is_in_number {
                    *is_in_number = byte & 0x80 != 0;
                } else if byte & 0xc0 == CANCELLATION {
                    *is_in_number = byte & 0x3f == 0x3f;
                } else {
                    let what = "QPACK: acknowledgement of a dynamic table that is not used";
                    return Err(Http3Error::new(ErrorCode::QPACK_DECODER_STREAM_ERROR, what));
                }
                Ok(())
            }),
            Self::Encoder | Self::Unknown => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Option<StreamType>, ErrorCode> {
        let mut stream = UnidirectionalStream::default();
        for byte in bytes {
            stream.next(&mut std::slice::from_ref(byte)).map_err(|error| error.code)?;
        }
        Ok(stream.kind())
    }

    #[test]
    fn streams_have_the_type_that_they_begin_with() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[0]), Ok(Some(StreamType::Control)));
        assert_eq!(read(&[1]), Err(ErrorCode::ID_ERROR));
        assert_eq!(read(&[2, 0x20, 0x20]), Ok(Some(StreamType::Encoder)));
        assert_eq!(read(&[2, 0x3f, 0x01]), Err(ErrorCode::QPACK_ENCODER_STREAM_ERROR));
        assert_eq!(read(&[3, 0x44]), Ok(Some(StreamType::Decoder)));
        assert_eq!(read(&[3, 0x7f, 0x80, 0x01, 0x44]), Ok(Some(StreamType::Decoder)));
        assert_eq!(read(&[3, 0x7f, 0x80, 0x01, 0x84]), Err(ErrorCode::QPACK_DECODER_STREAM_ERROR));
        assert_eq!(read(&[3, 0x01]), Err(ErrorCode::QPACK_DECODER_STREAM_ERROR));
        assert_eq!(read(&[0xc0, 0, 0, 0, 0, 0, 0]), Ok(None));
        assert_eq!(read(&[0xc0, 0, 0, 0, 0, 0, 0, 3, 0x44]), Ok(Some(StreamType::Decoder)));
        assert_eq!(read(&[0x40, 0x54, 1, 2, 3]), Ok(Some(StreamType::Unknown)));
    }
}
