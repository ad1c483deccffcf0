//! The state that all WebSocket connections of a thread share.

use super::compression::MessageCodecs;
use fastrand::Rng;
use torr_gauge::Sample;
use torr_gauge::websocket::WebSocketTally;
use torr_wire::websocket::LEAST_ROOM;

/// The masks of a thread's frames, the codecs of compressed messages, and the thread's counts.
#[derive(Debug)]
pub struct WebSocketThread {
    masks: Rng,
    /// The length of the latest message's header, in bytes.
    pub(super) room: usize,
    pub(super) codecs: MessageCodecs,
    /// What was counted since the latest sample.
    pub(super) tally: WebSocketTally,
}

impl Default for WebSocketThread {
    fn default() -> Self {
        Self { masks: Rng::new(), room: LEAST_ROOM, codecs: MessageCodecs::default(), tally: WebSocketTally::default() }
    }
}

impl WebSocketThread {
    /// Returns the mask of the next frame. A browser's masks have to be unpredictable, so that a page cannot choose the bytes that
    /// pass a proxy (RFC 6455, section 10.3); here the user who chooses the payload could send the bytes as they are.
    #[inline]
    pub(super) fn mask(&mut self) -> [u8; 4] {
        self.masks.u32(..).to_ne_bytes()
    }

    /// Moves the counts to a sample.
    #[inline]
    pub(super) fn hand_over(&mut self, sample: &mut Sample) {
        if !self.tally.is_empty() {
            sample.websocket.get_or_insert_default().add(&std::mem::take(&mut self.tally));
        }
    }
}
