//! The metrics of event streams.

use super::points::{Points, gauge, sum};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use torr_gauge::collector::Measurement;

/// Returns the metrics of a run whose responses are streams, none of another.
pub(super) fn metrics(points: &Points, run: &Measurement) -> Vec<Metric> {
    let (Some(tally), Some(streams)) = (&run.total.streams, &run.result.streams) else { return Vec::new() };
    let min = |summary: &Option<torr_gauge::latency::Summary>| summary.as_ref().map(|summary| summary.min);
    let tokens = tally.tokens.as_ref().zip(streams.tokens.as_ref()).map_or_else(Vec::new, |(tally, tokens)| {
        vec![
            sum("torr.tokens", "{token}", "Tokens of language models", vec![points.count(tokens.tokens, Vec::new())]),
            points.histogram(
                "torr.first_token",
                "Time from when a request was due to the first token of its stream",
                vec![points.times(&tally.first, min(&tokens.first_token_us), Vec::new())],
            ),
            points.histogram(
                "torr.token_gap",
                "Time between two consecutive events with a token",
                vec![points.times(&tally.gaps, min(&tokens.gap_us), Vec::new())],
            ),
        ]
    });
    let events = vec![
        sum("torr.events", "{event}", "Events of streams", vec![points.count(streams.events, Vec::new())]),
        points.histogram(
            "torr.first_event",
            "Time from when a request was due to the first event of its stream",
            vec![points.times(&tally.first_event, min(&streams.first_event_us), Vec::new())],
        ),
        points.histogram(
            "torr.event_gap",
            "Time between two consecutive events of a stream",
            vec![points.times(&tally.gaps, min(&streams.gap_us), Vec::new())],
        ),
        gauge(
            "torr.longest_silence",
            "s",
            "The longest time in which an open stream had no event",
            points.value(tally.longest_silence as f64 / 1e9),
        ),
    ];
    events.into_iter().chain(tokens).collect()
}
