//! The settings of a connection, and the control stream that begins with them (RFC 9114, section 7.2.4; RFC 9204, section 5).

use super::error::{ErrorCode, Http3Error};
use super::frame::{kind, write_header};
use super::stream_type::StreamType;
use super::varint;

/// The limit of the dynamic table of QPACK, in bytes.
const QPACK_MAX_TABLE_CAPACITY: u64 = 0x1;
/// The largest field section, in bytes.
const MAX_FIELD_SECTION_SIZE: u64 = 0x6;
/// The limit of streams that wait for the dynamic table.
const QPACK_BLOCKED_STREAMS: u64 = 0x7;
/// The identifiers of HTTP/2's settings, which must not be sent.
const OF_HTTP2: std::ops::RangeInclusive<u64> = 0x2..=0x5;
/// The number of settings that a peer may send: the standards have some ten.
const MOST: usize = 128;

/// The settings of a peer, as far as they concern this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The largest field section that the peer takes, in bytes, counted with 32 for each field; without one, the maximum.
    pub largest_section: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { largest_section: u64::MAX }
    }
}

impl Settings {
    /// Reads the payload of a SETTINGS frame.
    ///
    /// # Errors
    /// [`ErrorCode::SETTINGS_ERROR`] for a setting that is given twice or is of HTTP/2, [`ErrorCode::FRAME_ERROR`] for an incomplete
    /// one.
    pub fn read(mut payload: &[u8]) -> Result<Self, Http3Error> {
        let (mut settings, mut seen) = (Self::default(), Vec::new());
        while !payload.is_empty() {
            let incomplete = Http3Error::new(ErrorCode::FRAME_ERROR, "incomplete setting in a SETTINGS frame");
            let (name, of_name) = varint::read(payload).ok_or(incomplete)?;
            let (value, of_value) = varint::read(&payload[of_name..]).ok_or(incomplete)?;
            payload = &payload[of_name + of_value..];
            if OF_HTTP2.contains(&name) {
                return Err(Http3Error::new(ErrorCode::SETTINGS_ERROR, "setting that HTTP/3 does not have"));
            }
            if seen.contains(&name) {
                return Err(Http3Error::new(ErrorCode::SETTINGS_ERROR, "setting that is given twice"));
            }
            if seen.len() == MOST {
                return Err(Http3Error::new(ErrorCode::EXCESSIVE_LOAD, "more than 128 settings"));
            }
            seen.push(name);
            if name == MAX_FIELD_SECTION_SIZE {
                settings.largest_section = value;
            }
        }
        Ok(settings)
    }
}

/// Appends the beginning of this side's control stream: its type, and settings by which the peer has no dynamic table of QPACK,
/// and sends no field section above this number of bytes.
pub fn write_control_stream(largest_section: usize, out: &mut Vec<u8>) {
    varint::write(StreamType::Control.number(), out);
    let mut payload = Vec::new();
    let settings =
        [(QPACK_MAX_TABLE_CAPACITY, 0), (MAX_FIELD_SECTION_SIZE, largest_section as u64), (QPACK_BLOCKED_STREAMS, 0)];
    for (name, value) in settings {
        varint::write(name, &mut payload);
        varint::write(value, &mut payload);
    }
    write_header(kind::SETTINGS, payload.len() as u64, out);
    out.extend_from_slice(&payload);
}

/// Appends a GOAWAY frame: this side, a server, processes no request on streams from this number on.
///
/// # Panics
/// If the number has more than 62 bits.
pub fn write_go_away(first: u64, out: &mut Vec<u8>) {
    let mut payload = Vec::new();
    varint::write(first, &mut payload);
    write_header(kind::GOAWAY, payload.len() as u64, out);
    out.extend_from_slice(&payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(settings: &[(u64, u64)]) -> Vec<u8> {
        let mut payload = Vec::new();
        for &(name, value) in settings {
            varint::write(name, &mut payload);
            varint::write(value, &mut payload);
        }
        payload
    }

    #[test]
    fn settings_are_read_and_unknown_ones_ignored() {
        let read = Settings::read(&of(&[(0x21, 9), (MAX_FIELD_SECTION_SIZE, 1000), (QPACK_MAX_TABLE_CAPACITY, 4096)]));
        assert_eq!(read, Ok(Settings { largest_section: 1000 }));
        assert_eq!(Settings::read(&[]), Ok(Settings::default()));
    }

    #[test]
    fn wrong_settings_have_their_codes() {
        let code = |payload: &[u8]| Settings::read(payload).expect_err("they are refused").code;
        assert_eq!(code(&of(&[(6, 1), (6, 1)])), ErrorCode::SETTINGS_ERROR);
        for name in OF_HTTP2 {
            assert_eq!(code(&of(&[(name, 1)])), ErrorCode::SETTINGS_ERROR);
        }
        assert_eq!(code(&[6]), ErrorCode::FRAME_ERROR);
        assert_eq!(code(&[6, 0x40]), ErrorCode::FRAME_ERROR);
        let many: Vec<_> = (0x1000..0x1000 + MOST as u64 + 1).map(|name| (name, 0)).collect();
        assert_eq!(code(&of(&many)), ErrorCode::EXCESSIVE_LOAD);
    }
}
