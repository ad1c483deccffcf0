//! The streams of a run in words.

use crate::human::{count, micros, plural, rate};
use crate::style::{FAINT, STRONG, paint};
use torr_gauge::RunResult;
use torr_gauge::latency::Summary;
use torr_gauge::streams::Streams;

/// Returns the parts of the summary: events per second, and the tails of the times to the first event and between events.
pub(crate) fn summary(streams: &Streams) -> Vec<String> {
    let tail = |name: &str, times: &Option<Summary>| {
        let times = times.as_ref()?;
        let known = [("p99", times.p99), ("p90", times.p90), ("p50", times.p50)];
        let (percentile, us) = known.into_iter().find_map(|(name, us)| Some((name, us?))).unwrap_or(("max", times.max));
        Some(paint(STRONG, format!("{name} {percentile} {}", micros(us as f64))))
    };
    let events = paint(STRONG, format!("{} events/s", rate(streams.events_per_s)));
    let tails = [tail("first event", &streams.first_event_us), tail("gap", &streams.gap_us)];
    std::iter::once(events).chain(tails.into_iter().flatten()).collect()
}

/// Returns the line of events.
pub(crate) fn events(streams: &Streams) -> String {
    let whole = paint(STRONG, format!("{} events/s", rate(streams.events_per_s)));
    let all = format!("{} of {}", plural(streams.events, "event"), plural(streams.begun, "stream"));
    let silence = match streams.longest_silence_us {
        0 => String::new(),
        us => format!(", longest silence {}", micros(us as f64)),
    };
    format!("{whole}   {all}{silence}")
}

/// Returns the line of how streams ended.
pub(crate) fn ends(streams: &Streams, run: &RunResult) -> String {
    let complete = run.requests.saturating_sub(streams.limited);
    let waiting = run.unfinished.saturating_sub(streams.open);
    let ends = [
        (streams.open, "open when the run ended"),
        (complete, "ended by the server"),
        (streams.limited, "ended by this client as planned"),
        (run.errors.unanswered(), "failed"),
        (waiting, "without an event when the run ended"),
    ];
    let ends: Vec<_> =
        ends.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))).collect();
    if ends.is_empty() { paint(FAINT, "none") } else { ends.join(", ") }
}
