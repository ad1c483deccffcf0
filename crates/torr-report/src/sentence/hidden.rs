//! The sentences of facts that hide behind something else: errors, queues, stops, a tail.

use super::experiment::cheap;
use super::parts::was;
use crate::human::{count, per_second, percent, plural, seconds, times};
use torr_gauge::verdict::CheapRequest;

pub(super) fn idle_workers(workers: usize) -> String {
    format!(
        "{} {} nearly idle, also after reconnecting, although other loads kept all workers busy",
        plural(workers as u64, "other worker"),
        was(workers)
    )
}

pub(super) fn burst(pause_s: f64, responses: f64, expected: f64) -> String {
    format!(
        "after a pause of {}, the first tenth of a second had {responses:.0} responses instead of {expected:.0}",
        seconds(pause_s)
    )
}

pub(super) fn errors_begin(clean: usize, connections: usize, share: f64) -> String {
    format!(
        "errors begin between {clean} and {}: with {connections}, {} of the requests failed",
        plural(connections as u64, "connection"),
        percent(share)
    )
}

pub(super) fn errors_stay(connections: usize, share: f64) -> String {
    format!(
        "with {} again, which had no errors before, {} of the requests failed",
        plural(connections as u64, "connection"),
        percent(share)
    )
}

pub(super) fn ports_taken(time_wait: u64, ports: u64) -> String {
    format!(
        "the server's machine had {} in TIME_WAIT, and it has {} to connect from",
        plural(time_wait, "connection"),
        plural(ports, "local port")
    )
}

pub(super) fn peer_queue(peer: &str, backlog: u64, queued: u64) -> String {
    format!("the accept queue of {peer} has room for {}; {queued} were queued", plural(backlog, "connection"))
}

pub(super) fn connect_tail(p50_s: Option<f64>, p99_s: f64) -> String {
    let half = p50_s.map(|p50_s| format!("half of the connections opened within {}, ", seconds(p50_s)));
    format!("{}1% took over {}; the kernel sends a SYN again after a second", half.unwrap_or_default(), seconds(p99_s))
}

pub(super) fn tail(p50_s: f64, p99_s: f64) -> String {
    format!(
        "1% of the responses took over {}, {} the median of {}",
        seconds(p99_s),
        times(p99_s / p50_s.max(1e-6)),
        seconds(p50_s)
    )
}

pub(super) fn stalls(stalls: u64, longest_s: f64, share: f64) -> String {
    let times = if stalls == 1 { "once".to_owned() } else { format!("{} times", count(stalls)) };
    format!(
        "no response came on any connection {times}, for up to {}: {} of the run",
        seconds(longest_s),
        percent(share)
    )
}

pub(super) fn threads_stopped(share: f64) -> String {
    format!("the server's threads were stopped, not waiting, {} of the time (state T)", percent(share))
}

pub(super) fn stops(period_s: f64, stopped_s: f64) -> String {
    format!("in each {}, no response came for {}", seconds(period_s), seconds(stopped_s))
}

pub(super) fn light_load_stops(request: CheapRequest, rps: f64, target_rps: f64) -> String {
    format!(
        "{} stops in the same way, at {} instead of {}: CPU time is limited, not the number of requests",
        cheap(request),
        per_second(rps),
        per_second(target_rps)
    )
}
