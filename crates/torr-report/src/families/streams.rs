//! The metrics of event streams.

use super::family::{Family, counter, gauge, histograms};
use std::borrow::Cow;
use torr_gauge::collector::Measurement;

/// Returns the metrics of a run whose responses are streams, none of another.
pub(super) fn families(run: &Measurement) -> Vec<Family<'_>> {
    let (Some(tally), Some(streams)) = (&run.total.streams, &run.result.streams) else { return Vec::new() };
    let tokens = tally.tokens.as_ref().zip(streams.tokens.as_ref()).map_or_else(Vec::new, |(tally, tokens)| {
        vec![
            counter("torr_tokens_total", "Tokens of language models.", tokens.tokens),
            counter("torr_prompt_tokens_total", "Tokens of prompts, as streams said.", tokens.prompt_tokens),
            histograms(
                "torr_first_token_seconds",
                "Time from when a request was due to the first token of its stream.",
                [(Vec::new(), Cow::Borrowed(&tally.first))],
            ),
            histograms(
                "torr_token_gap_seconds",
                "Time between two consecutive events with a token.",
                [(Vec::new(), Cow::Borrowed(&tally.gaps))],
            ),
        ]
    });
    let events = vec![
        counter("torr_events_total", "Events of streams.", streams.events),
        gauge("torr_events_per_second", "Events per second over the whole run.", streams.events_per_s),
        histograms(
            "torr_first_event_seconds",
            "Time from when a request was due to the first event of its stream.",
            [(Vec::new(), Cow::Borrowed(&tally.first_event))],
        ),
        histograms(
            "torr_event_gap_seconds",
            "Time between two consecutive events of a stream.",
            [(Vec::new(), Cow::Borrowed(&tally.gaps))],
        ),
        gauge(
            "torr_longest_silence_seconds",
            "The longest time in which an open stream had no event.",
            tally.longest_silence as f64 / 1e9,
        ),
    ];
    events.into_iter().chain(tokens).collect()
}
