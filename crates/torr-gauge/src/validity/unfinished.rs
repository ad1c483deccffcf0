//! The requests in flight at the end of a closed loop, which bias the throughput of a short run.

use crate::result::RunResult;
use crate::result::validity::{Caution, Finding};

/// The limit of the share of requests without a response at the end. Each connection begins with one response time in
/// which nothing completes; without a warm-up that time is part of the throughput.
const UNFINISHED: f64 = 0.1;

/// Judges the requests in flight at the end. `None` where they do not bias the throughput: in an open loop, after a warm-up,
/// which carries as many over, where a number of requests ends the run, and where responses are streams, which are open by design.
pub(super) fn unfinished(run: &RunResult) -> Option<Finding> {
    let plan = &run.plan;
    let is_closed = plan.rate.is_none() && plan.arrivals.is_none() && plan.is_steady();
    if !is_closed || run.streams.is_some() || plan.warmup_s.is_some() || run.requests == 0 || run.unfinished == 0 {
        return None;
    }
    let share = run.unfinished as f64 / (run.requests + run.unfinished) as f64;
    let (unfinished, started) = (run.unfinished, run.started);
    Some(Finding::at_most(UNFINISHED, Caution::Unfinished { share, unfinished, started }))
}
