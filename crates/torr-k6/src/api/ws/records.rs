//! The samples of a WebSocket.

use crate::api::http::samples::SampleState;
use crate::metrics::{MetricId, TagSet, builtin};
use crate::options::SystemTag;
use crate::sockets::{Response, SocketHandle};
use crate::user::Vu;
use std::cell::OnceCell;
use std::time::{Duration, Instant};

/// The samples of one socket, whose tags are known when the handshake has its end.
#[derive(Debug)]
pub struct Records {
    /// The tags of the virtual user when the socket began.
    base: TagSet,
    /// Whether the samples have the tag `name`, as those of requests have.
    is_named: bool,
    tags: OnceCell<TagSet>,
    began: Instant,
}

impl Records {
    /// Returns the samples of a socket that begins now. Those of `k6/websockets` have the tag `name`, those of `k6/ws` have not.
    #[must_use]
    pub fn begin(vu: &Vu, is_named: bool) -> Self {
        let base = vu.tags.borrow_mut().set(&mut vu.recorder.borrow_mut());
        Self { base, is_named, tags: OnceCell::new(), began: Instant::now() }
    }

    /// Records that the handshake has its end, with a response or without.
    pub fn handshake(&self, vu: &Vu, url: &str, own: &[(String, String)], response: Option<&Response>, took: Duration) {
        let status = response.map(|response| response.status.to_string()).unwrap_or_default();
        let subprotocol = response.and_then(|response| response.field("sec-websocket-protocol")).unwrap_or_default();
        let mut recorder = vu.recorder.borrow_mut();
        let system = vu.tags.borrow().system();
        let mut further: Vec<_> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        // A name takes the place of the URL.
        let given = further.iter().find(|(name, _)| self.is_named && *name == SystemTag::Name.name());
        let (shown, is_unnamed) = (given.map_or(url, |(_, given)| *given), given.is_none());
        for (tag, value) in [
            (SystemTag::Url, shown),
            (SystemTag::Name, shown),
            (SystemTag::Status, &status),
            (SystemTag::Subproto, subprotocol),
        ] {
            if system.has(tag) && (tag != SystemTag::Name || (self.is_named && is_unnamed)) {
                further.push((tag.name(), value));
            }
        }
        let tags = recorder.tag_set(&self.base, &further);
        recorder.add(builtin::WS_SESSIONS, 1.0, &tags);
        recorder.add_time(builtin::WS_CONNECTING, took, &tags);
        let _ = self.tags.set(tags);
    }

    /// Records a sample of a metric.
    pub fn add(&self, vu: &Vu, metric: MetricId, value: f64) {
        if let Some(tags) = self.tags.get() {
            vu.recorder.borrow_mut().add(metric, value, tags);
        }
    }

    /// Records the time from a ping to its pong.
    pub fn pong(&self, vu: &Vu, took: Duration) {
        if let Some(tags) = self.tags.get() {
            vu.recorder.borrow_mut().add_time(builtin::WS_PING, took, tags);
        }
    }

    /// Records that the socket has ended.
    pub fn end(&self, vu: &Vu) {
        if let Some(tags) = self.tags.get() {
            vu.recorder.borrow_mut().add_time(builtin::WS_SESSION_DURATION, self.began.elapsed(), tags);
        }
    }
}

/// Counts the bytes of a socket among those of its user.
pub fn count_transferred(vu: &Vu, handle: &SocketHandle) {
    vu.extra::<SampleState>().add(handle.take_transferred());
}
