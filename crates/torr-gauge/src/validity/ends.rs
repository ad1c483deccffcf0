//! Whether a closed loop ran long enough for its throughput to stand for the service.

use super::words::percent;
use super::{Criterion, Finding};
use crate::result::RunResult;

/// The share of the requests that may be without a response when a run of a given time ends. Each connection begins with
/// one response time in which nothing completes; without a warm-up that is part of the throughput.
const UNFINISHED: f64 = 0.1;

/// Requests that the end of the run cut off. `None` where they do not bend the throughput: in an open loop, after a
/// warm-up, of which as many are carried over, and where a number of requests ends the run.
pub(super) fn unfinished(run: &RunResult) -> Option<Finding> {
    let plan = &run.plan;
    let is_closed = plan.rate.is_none() && plan.arrivals.is_none() && plan.is_steady();
    if !is_closed || plan.warmup_s.is_some() || run.requests == 0 || run.unfinished == 0 {
        return None;
    }
    let share = run.unfinished as f64 / (run.requests + run.unfinished) as f64;
    let note = format!(
        "{} of {} requests had no response when the run ended: the throughput is up to {} too low",
        run.unfinished,
        run.asked,
        percent(share)
    );
    let finding = Finding::at_most(Criterion::Unfinished, share, UNFINISHED, note);
    Some(finding.or("press longer, or begin with --warmup: what is in flight at both ends is even then"))
}
