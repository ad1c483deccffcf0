//! Streams of events.

use crate::field::{parsed, switch};
use crate::setting::{Kind, Part, Setting, setting};
use crate::values::{duration, event_rule, events};

const NOT_YET: &str = "a response is read as a whole there";

pub const ROWS: &[Setting] = &[
    setting(Part::Stream, "sse", Kind::Switch, switch!(stream.sse))
        .brief("Read responses as event streams (SSE)")
        .help("Read each response as an event stream (server-sent events), and measure its events")
        .excludes(&["pipeline", "expect-body", "head"])
        .not_for_sessions(NOT_YET)
        .not_for_scripts(NOT_YET),
    setting(Part::Stream, "until", Kind::Text("RULE"), parsed!(stream.until, event_rule))
        .help(
            "End a stream with the event that meets this rule, such as 'data == \"[DONE]\"' or 'event == end'; also contains, \
             startsWith, matches",
        )
        .needs(&[&["sse"]]),
    setting(Part::Stream, "max-events", Kind::Number("N"), parsed!(stream.max_events, events))
        .help("End a stream after so many events")
        .needs(&[&["sse"]]),
    setting(Part::Stream, "idle-timeout", Kind::Number("TIME"), parsed!(stream.idle_timeout, duration))
        .help("Fail a stream that has no further event for this time; until its first event, --timeout holds")
        .default("30s")
        .needs(&[&["sse"]]),
];
