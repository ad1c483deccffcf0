//! The types of unidirectional streams (RFC 9114, section 6.2; RFC 9204, section 4.2).

/// The type of a unidirectional stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamType {
    /// Settings and the end of the connection.
    Control,
    /// A response that was not requested.
    Push,
    /// Instructions of the peer's encoder of QPACK.
    Encoder,
    /// Instructions of the peer's decoder of QPACK.
    Decoder,
    /// A type that this side does not know, and ignores.
    Unknown,
}

impl StreamType {
    /// Returns the type of a number.
    pub fn of(number: u64) -> Self {
        match number {
            0 => Self::Control,
            1 => Self::Push,
            2 => Self::Encoder,
            3 => Self::Decoder,
            _ => Self::Unknown,
        }
    }

    /// Returns the number of a known type; for an unknown one, one that is reserved for that.
    pub fn number(self) -> u64 {
        match self {
            Self::Control => 0,
            Self::Push => 1,
            Self::Encoder => 2,
            Self::Decoder => 3,
            Self::Unknown => 0x21,
        }
    }
}
