//! The server's settings (RFC 9113, section 6.5).

use super::error::Broken;
use super::frame::{self, setting};

/// The server's settings, as far as they bind this side.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// Whether settings have arrived.
    pub is_known: bool,
    /// The maximum number of open streams (SETTINGS_MAX_CONCURRENT_STREAMS).
    pub streams: u32,
    /// The initial flow-control window of a stream in bytes (SETTINGS_INITIAL_WINDOW_SIZE).
    pub window: i64,
    /// The largest payload of a frame in bytes that the server receives (SETTINGS_MAX_FRAME_SIZE).
    pub frame: usize,
    /// The largest size in bytes of the server's dynamic table (SETTINGS_HEADER_TABLE_SIZE).
    pub table: u32,
}

/// No server allows for less without saying so.
const STREAMS_UNTIL_KNOWN: u32 = 100;

impl Default for Peer {
    fn default() -> Self {
        Self { is_known: false, streams: STREAMS_UNTIL_KNOWN, window: 65_535, frame: frame::MOST, table: 4096 }
    }
}

impl Peer {
    /// Takes the payload of its settings.
    pub fn take(&mut self, payload: &[u8]) -> Result<(), Broken> {
        if !self.is_known {
            (self.is_known, self.streams) = (true, u32::MAX);
        }
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() {
            return Err(Broken::size("invalid size of a SETTINGS frame"));
        }
        for &[a, b, c, d, e, f] in settings {
            let value = u32::from_be_bytes([c, d, e, f]);
            match u16::from_be_bytes([a, b]) {
                setting::HEADER_TABLE_SIZE => self.table = value,
                setting::ENABLE_PUSH if value != 0 => {
                    return Err(Broken::protocol("invalid SETTINGS_ENABLE_PUSH"));
                }
                setting::MAX_CONCURRENT_STREAMS => self.streams = value,
                setting::INITIAL_WINDOW_SIZE if i64::from(value) > frame::MOST_WINDOW => {
                    return Err(Broken::flow("invalid SETTINGS_INITIAL_WINDOW_SIZE"));
                }
                setting::INITIAL_WINDOW_SIZE => self.window = value.into(),
                setting::MAX_FRAME_SIZE if !(16_384..=16_777_215).contains(&value) => {
                    return Err(Broken::protocol("invalid SETTINGS_MAX_FRAME_SIZE"));
                }
                setting::MAX_FRAME_SIZE => self.frame = value as usize,
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_taken_or_refused() {
        let mut peer = Peer::default();
        assert_eq!((peer.streams, peer.window), (100, 65_535));
        peer.take(b"").unwrap();
        assert_eq!((peer.is_known, peer.streams), (true, u32::MAX), "no limit unless it says so");
        peer.take(b"\0\x03\0\0\0\x05\0\x04\x7f\xff\xff\xff\0\x05\0\xff\xff\xff\0\x01\0\0\0\x09\x12\x34\0\0\0\0")
            .unwrap();
        assert_eq!((peer.streams, peer.window, peer.frame, peer.table), (5, i32::MAX.into(), 0xff_ffff, 9));
        for bad in
            [&b"\0\x03\0\0\0"[..], b"\0\x02\0\0\0\x01", b"\0\x04\x80\0\0\0", b"\0\x05\0\0\x3f\xff", b"\0\x05\x01\0\0\0"]
        {
            assert!(peer.take(bad).is_err(), "{bad:x?} was taken");
        }
    }
}
