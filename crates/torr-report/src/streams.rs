//! The streams of a run in words.

use crate::human::{count, micros, plural, rate};
use crate::style::{FAINT, STRONG, paint};
use torr_gauge::RunResult;
use torr_gauge::latency::Summary;
use torr_gauge::streams::{Streams, Tokens};

/// Returns the parts of the summary: events per second, and the tails of the times to the first event and between events.
pub(crate) fn summary(streams: &Streams) -> Vec<String> {
    let tail = |name: &str, times: &Option<Summary>| tail(name, times).map(|text| paint(STRONG, text));
    if let Some(tokens) = &streams.tokens {
        let whole = paint(STRONG, format!("{} tokens/s", rate(tokens.tokens_per_s)));
        let each = tokens.per_token_us.map(|us| paint(STRONG, format!("{} per token", micros(us))));
        return std::iter::once(whole).chain(tail("first token", &tokens.first_token_us)).chain(each).collect();
    }
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

/// Returns the streams of an entry of sessions: their events, the tails of times, and those that did not end by the server.
pub(crate) fn of_entry(streams: &Streams) -> String {
    let all = format!("{} of {}", plural(streams.events, "event"), plural(streams.begun, "stream"));
    let tails = [tail("first event", &streams.first_event_us), tail("gap", &streams.gap_us)].into_iter().flatten();
    let ends =
        [(streams.open, "open when the run ended"), (streams.limited, "ended as planned"), (streams.silent, "silent")];
    let ends = ends.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(n)));
    std::iter::once(all).chain(tails).chain(ends).collect::<Vec<_>>().join(", ")
}

/// Returns the highest percentile of times that is known, with their name.
fn tail(name: &str, times: &Option<Summary>) -> Option<String> {
    let times = times.as_ref()?;
    let known = [("p99", times.p99), ("p90", times.p90), ("p50", times.p50)];
    let (percentile, us) = known.into_iter().find_map(|(name, us)| Some((name, us?))).unwrap_or(("max", times.max));
    Some(format!("{name} {percentile} {}", micros(us as f64)))
}

/// Returns the line of tokens.
pub(crate) fn tokens(tokens: &Tokens) -> String {
    let whole = paint(STRONG, format!("{} tokens/s", rate(tokens.tokens_per_s)));
    let each = tokens.per_token_us.map_or_else(String::new, |us| format!(", {} per token", micros(us)));
    let usage = match tokens.with_usage {
        0 => paint(FAINT, "   (an event is a token: the server sent no usage)"),
        _ => format!(", prompts of {}", plural(tokens.prompt_tokens, "token")),
    };
    format!("{whole}   {}{each}{usage}", plural(tokens.tokens, "token"))
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
    let ends: Vec<_> = ends.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))).collect();
    if ends.is_empty() { paint(FAINT, "none") } else { ends.join(", ") }
}
