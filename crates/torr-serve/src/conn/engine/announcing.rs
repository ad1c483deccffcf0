//! Connections that begin with a proxy's word on who they are from.

use super::*;
use crate::client::proxy_protocol;

/// What has come of the PROXY header.
pub(super) enum Announced {
    NotYet,
    /// All of it, and this behind it.
    As(Vec<u8>),
}

impl Connection {
    /// Takes what has arrived of the header. `None` if it is none, or its client has as many connections as it may have.
    #[cold]
    pub(super) fn announce(&mut self, bytes: &[u8]) -> Option<Announced> {
        let mut preamble = self.preamble.take()?;
        preamble.extend_from_slice(bytes);
        let Some((header, used)) = proxy_protocol::parse(&preamble).ok()? else {
            self.preamble = Some(preamble);
            return Some(Announced::NotYet);
        };
        self.http.client().is_unknown = header.is_unknown;
        if let Some(source) = header.source {
            self.seat.charge(source.ip()).ok()?;
            self.http.client().address = Some(source);
        }
        Some(Announced::As(preamble.split_off(used)))
    }
}
