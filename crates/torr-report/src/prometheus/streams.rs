//! The metrics of event streams.

use super::page::Page;
use prometheus::proto::MetricFamily;
use std::borrow::Cow;
use torr_gauge::collector::Measurement;

/// Returns the metrics of a run whose responses are streams, none of another.
pub(super) fn families(page: &Page<'_>, run: &Measurement) -> Vec<MetricFamily> {
    let (Some(tally), Some(streams)) = (&run.total.streams, &run.result.streams) else { return Vec::new() };
    let tokens = tally.tokens.as_ref().zip(streams.tokens.as_ref()).map_or_else(Vec::new, |(tally, tokens)| {
        vec![
            page.counter("torr_tokens_total", "Tokens of language models.", tokens.tokens),
            page.counter("torr_prompt_tokens_total", "Tokens of prompts, as streams said.", tokens.prompt_tokens),
            page.histograms(
                "torr_first_token_seconds",
                "Time from when a request was due to the first token of its stream.",
                [(Vec::new(), Cow::Borrowed(&tally.first))],
            ),
            page.histograms(
                "torr_token_gap_seconds",
                "Time between two consecutive events with a token.",
                [(Vec::new(), Cow::Borrowed(&tally.gaps))],
            ),
        ]
    });
    let events = vec![
        page.counter("torr_events_total", "Events of streams.", streams.events),
        page.gauge("torr_events_per_second", "Events per second over the whole run.", streams.events_per_s),
        page.histograms(
            "torr_first_event_seconds",
            "Time from when a request was due to the first event of its stream.",
            [(Vec::new(), Cow::Borrowed(&tally.first_event))],
        ),
        page.histograms(
            "torr_event_gap_seconds",
            "Time between two consecutive events of a stream.",
            [(Vec::new(), Cow::Borrowed(&tally.gaps))],
        ),
        page.gauge(
            "torr_longest_silence_seconds",
            "The longest time in which an open stream had no event.",
            tally.longest_silence as f64 / 1e9,
        ),
    ];
    events.into_iter().chain(tokens).collect()
}
