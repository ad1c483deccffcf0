//! What happens above the limit, and after.

use super::ask::{Ask, Bench, Purpose};
use super::trials::{self, Trials};
use serde::{Deserialize, Serialize};
use torr_gauge::latency::Summary;
use torr_press::RunError;

/// How far above the limit.
pub const ABOVE: f64 = 1.2;
/// The share of the limit below which throughput counts as collapsed.
const COLLAPSED: f64 = 0.8;

/// More than the limit, and what it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overload {
    /// Requests per second that were asked for.
    pub rate: f64,
    /// For how many seconds.
    pub seconds: f64,
    /// Requests per second that were answered with a status below 400.
    pub good_per_s: f64,
    /// The share of the requests that failed.
    pub error_share: f64,
    /// Response times.
    pub latency_us: Option<Summary>,
    /// Whether it still kept to its objectives.
    pub kept: bool,
    /// How it went.
    pub course: Course,
    /// After how many seconds without load responses were as before. `None` if they were not for as long as was waited.
    pub recovered_after_s: Option<f64>,
    /// How long was waited, in seconds.
    pub waited_s: f64,
}

/// How a service takes an overload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Course {
    /// Throughput stayed, and response times came back once the overload was gone.
    Recovers,
    /// Throughput fell well below the limit, and all came back afterwards.
    Collapses,
    /// Response times did not come back for as long as was waited.
    StaysSlow,
}

/// Presses above the limit, and watches what follows. `None` if somebody ended it.
pub(super) fn try_it<B: Bench>(trials: &mut Trials<'_, B>, limit: f64) -> Result<Option<Overload>, RunError> {
    let rate = ABOVE * limit;
    let length = trials.settings.step();
    let why = format!("{ABOVE} times the limit: does throughput stay, and does it recover?");
    let ask = Ask { why, may_end_early: false, ..trials::ask(rate, length, Purpose::Overload) };
    let Some(reading) = trials.recorded(&ask)? else { return Ok(None) };
    let ended = trials.bench.now();
    let recovered = trials.settle()?;
    let waited = trials.bench.now().saturating_sub(ended);
    if trials.bench.stopped() {
        return Ok(None);
    }
    let course = match recovered {
        None => Course::StaysSlow,
        Some(_) if reading.good_per_s < COLLAPSED * limit => Course::Collapses,
        Some(_) => Course::Recovers,
    };
    Ok(Some(Overload {
        rate,
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
