//! Sessions as a whole: their rate, and how they ended.

use crate::human::{count, percent, rate as per_second};
use crate::style::{BAD, FAINT, STRONG, paint};
use torr_gauge::result::PlanSummary;
use torr_gauge::sessions::SessionSummary;

/// Returns the finished sessions per second, beside the planned rate if there is one.
pub fn rate(sessions: &SessionSummary, plan: &PlanSummary) -> String {
    let planned = plan.rate.map_or(String::new(), |planned| format!(" of {}", per_second(planned)));
    paint(STRONG, format!("{}{planned} sessions/s", per_second(sessions.per_second)))
}

/// Returns how many sessions failed; `None` without failures.
pub fn failed(sessions: &SessionSummary) -> Option<String> {
    let failed = sessions.failed;
    let share = percent(failed as f64 / sessions.started.max(1) as f64);
    let noun = if failed == 1 { "session" } else { "sessions" };
    (failed > 0).then(|| paint(BAD, format!("{} {noun} failed ({share})", count(failed))))
}

/// Returns the rate of sessions and how they ended.
pub fn counts(sessions: &SessionSummary, plan: &PlanSummary) -> String {
    let failed = match sessions.failed {
        0 => String::new(),
        n => {
            let share = percent(n as f64 / sessions.started.max(1) as f64);
            format!(", {}", paint(BAD, format!("{} failed ({share})", count(n))))
        }
    };
    let unfinished = match sessions.unfinished {
        0 => String::new(),
        n => paint(FAINT, format!("   ({} unfinished when the run ended)", count(n))),
    };
    format!("{}   {} finished{failed}{unfinished}", rate(sessions, plan), count(sessions.finished))
}
