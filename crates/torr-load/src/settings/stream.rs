//! Streams of events.

use crate::field::{parsed, switch};
use crate::setting::{Kind, Part, Setting, setting};
use crate::values::{duration, event_rule, events, token_rule};

const BY_TYPE: &str = "their event streams are found by the content type";

const TOKENS_OF_URLS: &str = "tokens are counted of URLs only";

const NO_WEBSOCKET: &str = "it needs a ws:// or wss:// URL";

/// The settings that make responses streams.
const STREAMS: &[&str] = &["sse", "tokens", "listen"];

pub const ROWS: &[Setting] = &[
    setting(Part::Stream, "sse", Kind::Switch, switch!(stream.sse))
        .help("Read each response as an event stream (server-sent events), and measure its events")
        .excludes(&["pipeline", "expect-body", "head"])
        .not_for_sessions(BY_TYPE)
        .not_for_scripts(BY_TYPE),
    setting(Part::Stream, "tokens", Kind::Text("RULE"), parsed!(stream.tokens, token_rule))
        .help(
            "Count the tokens of language models: 'openai' for chunks of /v1/chat/completions, or 'jsonpath PATH' for events with a \
             text there; implies --sse",
        )
        .excludes(&["pipeline", "expect-body", "head"])
        .not_for_sessions(TOKENS_OF_URLS)
        .not_for_scripts(TOKENS_OF_URLS),
    setting(Part::Stream, "listen", Kind::Switch, switch!(stream.listen))
        .help(
            "Receive on a WebSocket, and measure the messages that the server pushes; each request is a connection, on which --data, if \
             given, is sent once",
        )
        .excludes(&["pipeline", "match", "expect-body", "requests-per-connection"])
        .not_for_sessions(NO_WEBSOCKET)
        .not_for_scripts(NO_WEBSOCKET),
    setting(Part::Stream, "until", Kind::Text("RULE"), parsed!(stream.until, event_rule))
        .help(
            "End a stream with the event that meets this rule, such as 'data == \"[DONE]\"' or 'event == end'; also contains, \
             startsWith, matches",
        )
        .needs_for_urls(&[STREAMS]),
    setting(Part::Stream, "max-events", Kind::Number("N"), parsed!(stream.max_events, events))
        .help("End a stream after so many events")
        .needs_for_urls(&[STREAMS]),
    setting(Part::Stream, "idle-timeout", Kind::Number("TIME"), parsed!(stream.idle_timeout, duration))
        .help("Fail a stream that has no further event for this time; until its first event, --timeout holds")
        .default("30s")
        .needs_for_urls(&[STREAMS]),
];
