//! MySQL's packets, a long one of which continues in the next.

use super::super::event::Fault;
use super::super::frame::{Frame, Frames, Header, Layout};
use crate::statements::normalise::sql::INPUT;

/// The most bytes of a packet. A longer one continues in the next.
pub(super) const LONGEST: usize = 0xff_ffff;

/// The packets of a client.
pub(super) const CLIENT: Layout =
    Layout { header: 4, read: |header| Some(Header { length: length(header), kept: INPUT }) };

/// The packets of a server, of which the greeting is the longest that is read.
pub(super) const SERVER: Layout =
    Layout { header: 4, read: |header| Some(Header { length: length(header), kept: 128 }) };

/// Returns the length of a packet's content.
pub(super) fn length(header: &[u8]) -> usize {
    usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16
}

/// The packets of one side.
#[derive(Debug, Default)]
pub(super) struct Side {
    frames: Frames,
    /// Whether the next packet continues the last one.
    continues: bool,
}

impl Side {
    /// Returns the next packet. That which continues another one has the length [`CONTINUATION`].
    pub(super) fn next(&mut self, bytes: &mut &[u8], layout: Layout) -> Result<Option<Frame<'_>>, Fault> {
        let Some(frame) = self.frames.next(bytes, layout)? else { return Ok(None) };
        let continued = std::mem::replace(&mut self.continues, frame.length == LONGEST);
        Ok(Some(if continued { Frame { length: CONTINUATION, ..frame } } else { frame }))
    }
}

/// The length that marks the continuation of a packet.
pub(super) const CONTINUATION: usize = usize::MAX;
