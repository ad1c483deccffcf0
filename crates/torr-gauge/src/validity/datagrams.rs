//! The datagrams of a run over QUIC: those that this machine's kernel dropped, and whether bursts arrive together.

use crate::result::RunResult;
use crate::result::validity::{Caution, Finding};

/// The limit of the share of dropped datagrams: each one delays a response until its content is sent again.
const DROPPED: f64 = 0.0;
/// The lower limit of the mean number of datagrams that a system call receives.
const TOGETHER: f64 = 1.005;
/// The least number of system calls that is judged.
const RECEIVES: f64 = 1000.0;
/// The least mean number of datagrams per response, and their least mean size in bytes, for some to arrive together. Acknowledgements
/// of what this side sends are smaller, and come one at a time.
const PER_RESPONSE: f64 = 4.0;
const SIZE: f64 = 600.0;

/// Judges the datagrams that the kernel dropped.
pub(super) fn drops(run: &RunResult) -> Option<Finding> {
    let datagrams = run.datagrams.as_ref()?;
    let dropped = datagrams.dropped;
    let share = dropped as f64 / (dropped.saturating_add(datagrams.received)).max(1) as f64;
    let receive_buffer = datagrams.receive_buffer.unwrap_or(0);
    Some(Finding { ok: dropped == 0, ..Finding::at_most(DROPPED, Caution::Drops { share, dropped, receive_buffer }) })
}

/// Judges whether datagrams arrive together. `None` for responses of so few datagrams that none can.
pub(super) fn bursts(run: &RunResult) -> Option<Finding> {
    let datagrams = run.datagrams.as_ref()?;
    let (per_receive, received) = (datagrams.per_receive?, datagrams.received);
    let count = received as f64;
    let size = run.bytes.received as f64 / count;
    let per_response = count / run.completed().max(1) as f64;
    if count / per_receive < RECEIVES || per_response < PER_RESPONSE || size < SIZE {
        return None;
    }
    let fact = Caution::Bursts { per_receive, received };
    Some(Finding { ok: per_receive >= TOGETHER, ..Finding::at_most(TOGETHER, fact) })
}
