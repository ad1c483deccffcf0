//! The behaviour of a service above its limit, and afterwards.

use super::ask::{Ask, Bench, Purpose};
use super::reading::Reading;
use super::streams::StreamReading;
use super::trials::Trials;
use serde::Serialize;
use torr_gauge::latency::Summary;
use torr_gauge::verdict::{Course, StepReason};
use torr_press::RunError;

/// The rate of the overload as a ratio to the limit.
pub(super) const ABOVE: f64 = 1.2;
/// The share of the limit below which throughput counts as collapsed.
const COLLAPSED: f64 = 0.8;

/// An overload and its effects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overload {
    /// The offered rate in requests per second; of streams, those that began per second.
    pub rate: f64,
    /// The streams, where responses are streams of events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamReading>,
    /// The length in seconds.
    pub seconds: f64,
    /// Responses per second with a status below 400.
    pub good_per_s: f64,
    /// The share of the requests that failed.
    pub error_share: f64,
    /// Response times; of streams, the times to the first event.
    pub latency_us: Option<Summary>,
    /// Whether the objectives were still met.
    pub kept: bool,
    /// The kind of behaviour.
    pub course: Course,
    /// The seconds without load after which response times were as before. `None` if they were not in `waited_s`.
    pub recovered_after_s: Option<f64>,
    /// The longest wait in seconds.
    pub waited_s: f64,
}

/// Runs an overload and waits for recovery. `None` if interrupted, or if the budget ends before it is known.
pub(super) fn try_it<B: Bench>(trials: &mut Trials<'_, B>, limit: &Reading) -> Result<Option<Overload>, RunError> {
    let Some(offered) = limit.offered().map(|limit| ABOVE * limit) else { return Ok(None) };
    let length = trials.settings.step();
    let overload = trials.ask(offered, length, Purpose::Overload, StepReason::Overload(ABOVE));
    let ask = Ask { may_end_early: false, ..overload };
    let Some(reading) = trials.recorded(&ask)? else { return Ok(None) };
    let ended = trials.bench.now();
    let recovered = trials.settle()?;
    let waited = trials.bench.now().saturating_sub(ended);
    if trials.bench.stopped() {
        return Ok(None);
    }
    if recovered.is_none() && waited < trials.settings.patience() / 2 {
        // There was no time to see what follows.
        return Ok(None);
    }
    let course = match recovered {
        None => Course::StaysSlow,
        Some(_) if reading.done_per_s() < COLLAPSED * limit.full_per_s() => Course::Collapses,
        Some(_) => Course::Recovers,
    };
    Ok(Some(Overload {
        rate: reading.streams.map_or(offered, |streams| streams.begun_per_s),
        streams: reading.streams,
        seconds: reading.seconds,
        good_per_s: reading.good_per_s,
        error_share: reading.error_share,
        latency_us: reading.latency_us,
        kept: reading.kept,
        course,
        recovered_after_s: recovered.map(|time| time.as_secs_f64()),
        waited_s: waited.as_secs_f64(),
    }))
}
