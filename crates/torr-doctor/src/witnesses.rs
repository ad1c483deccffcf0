//! Witnesses that point to a factor in a single run, read in one way by the rules of a diagnosis and by those of a plain run.

use crate::figures::Figures;
use crate::thresholds::{MANY_FAILED, THROTTLED};
use torr_gauge::{Confidence, Factor, RunResult, Verdict};
use torr_signals::{PeerUse, QuotaUse, Signals};

/// Responses that say "not now" (RFC 6585, section 4; RFC 9110, section 15.6.4).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refusals {
    /// The share of all responses, 0 to 1.
    pub share: f64,
    /// The more frequent of the statuses 429 and 503.
    pub status: u16,
}

/// Returns the refusals of a run that had enough of them to matter.
pub fn refusals(run: &RunResult) -> Option<Refusals> {
    let count = |status: u16| run.status.get(&status).copied().unwrap_or(0);
    let (too_many, unavailable) = (count(429), count(503));
    let share = (too_many + unavailable) as f64 / run.requests.max(1) as f64;
    (share >= MANY_FAILED).then_some(Refusals { share, status: if too_many >= unavailable { 429 } else { 503 } })
}

/// Returns what a run's failures were: the most frequent causes, and all statuses of failed responses.
pub fn failures(run: &RunResult) -> impl Iterator<Item = String> {
    let causes = run.causes.iter().take(3).map(|cause| format!("{} x {}: {}", cause.count, cause.kind, cause.what));
    let statuses = run.status.iter().filter(|(status, _)| **status >= 400);
    causes.chain(statuses.map(|(status, count)| format!("{count} responses with status {status}")))
}

/// Returns the CPU quota that held the server back.
pub fn throttled(signals: Option<&Signals>) -> Option<&QuotaUse> {
    signals?.quota().filter(|quota| quota.throttled_share() >= THROTTLED)
}

/// Returns the acknowledgements that were held back for each response, if the kernel counts them.
pub fn acks_held_back(signals: Option<&Signals>, requests: u64) -> Option<f64> {
    Some(signals?.network?.delayed_acks? as f64 / requests.max(1) as f64)
}

/// Returns the beginning of the verdict on rows that are loaded one by one, with the number of messages for each request.
pub fn rows_one_by_one(figures: &Figures) -> Option<(Verdict, f64)> {
    let (peer, trips) = figures.many_trips()?;
    let summary = "Each request asks the database many times, as an ORM does that loads rows one by one.";
    let verdict = Verdict::new(Factor::Orm, Confidence::Likely, summary)
        .because(format!("{trips:.0} messages went to {} for each request", peer.address))
        .advice("load what belongs together with one query: a join, eager loading, 'IN (...)'");
    Some((verdict, trips))
}

/// Returns the database from which far more comes than goes to the client, and both in words.
pub fn rows_for_little(figures: &Figures, answered: f64) -> Option<(&PeerUse, String)> {
    let (peer, fetched) = figures.much_fetched(answered)?;
    let address = &peer.address;
    Some((
        peer,
        format!("{fetched:.0} bytes came from {address} for each request, and {answered:.0} went to the client"),
    ))
}
