//! The samples of an event stream.

use crate::host::go_error;
use crate::metrics::{MetricKind, TagSet, builtin};
use crate::options::SystemTag;
use crate::user::Vu;
use rquickjs::{Ctx, Result};
use std::time::{Duration, Instant};

/// The metric of events.
const EVENTS: &str = "sse_event";

/// Adds the metric of events to those of the test.
///
/// # Errors
/// If the script has a metric of this name and another kind.
pub fn register(ctx: &Ctx<'_>) -> Result<()> {
    let registered = Vu::of(ctx).run.registry.register(EVENTS, MetricKind::Counter, false);
    registered.map(drop).map_err(|why| go_error(ctx, &why))
}

/// The samples of one stream.
#[derive(Debug)]
pub struct Records {
    tags: TagSet,
    began: Instant,
}

impl Records {
    /// Records that the response has begun, or that there is none, after a time.
    pub fn begin(vu: &Vu, url: &str, own: &[(String, String)], status: Option<u16>, took: Duration) -> Self {
        let status = status.map(|status| status.to_string());
        let mut recorder = vu.recorder.borrow_mut();
        let base = vu.tags.borrow_mut().set(&mut recorder);
        let system = vu.tags.borrow().system();
        let mut further: Vec<_> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        for (tag, value) in [(SystemTag::Url, Some(url)), (SystemTag::Status, status.as_deref())] {
            further.extend(value.filter(|_| system.has(tag)).map(|value| (tag.name(), value)));
        }
        let tags = recorder.tag_set(&base, &further);
        recorder.add_time(builtin::HTTP_REQ_SENDING, took, &tags);
        let now = Instant::now();
        Self { tags, began: now.checked_sub(took).unwrap_or(now) }
    }

    /// Records an event.
    pub fn event(&self, vu: &Vu) {
        if let Some(metric) = vu.run.registry.find(EVENTS) {
            vu.recorder.borrow_mut().add(metric, 1.0, &self.tags);
        }
    }

    /// Records that the stream has ended.
    pub fn end(&self, vu: &Vu) {
        let mut recorder = vu.recorder.borrow_mut();
        recorder.add(builtin::HTTP_REQS, 1.0, &self.tags);
        recorder.add_time(builtin::HTTP_REQ_DURATION, self.began.elapsed(), &self.tags);
    }
}
