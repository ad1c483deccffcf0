//! How hard and how long the load is.

use crate::field::{parsed, switch};
use crate::setting::{Kind, Part, Setting, Times, setting};
use crate::values::{
    arrivals, connections, depth, duration, per_second, rate, requests, run_duration, stages, think, threads,
    timestamps, window,
};
use torr_press::Arrivals;

const IN_FLIGHT: &str = "a virtual user has one request in flight";

pub const ROWS: &[Setting] = &[
    setting(Part::Pace, "connections", Kind::Number("N"), parsed!(pace.connections, connections))
        .short('c')
        .brief("Keep N connections or virtual users")
        .help("Keep this many connections open, or virtual users active [default: 100]"),
    setting(Part::Pace, "max-connections", Kind::Number("N"), parsed!(pace.max_connections, connections))
        .help("Open connections as needed in an open loop, at most this many [default: the value of -c]")
        .needs(&[OPEN])
        .excludes(&["connections"]),
    setting(Part::Pace, "threads", Kind::Number("THREADS"), parsed!(pace.threads, threads))
        .short('t')
        .help("Use this many threads [default: one per CPU]"),
    setting(Part::Pace, "duration", Kind::Number("DURATION"), parsed!(pace.duration, run_duration))
        .short('d')
        .brief("Run for this long, such as 2m [default: 10s]")
        .help("Run for this long, such as 30s or 2m; a bare number is seconds [default: 10s, or no limit with -n]"),
    setting(Part::Pace, "requests", Kind::Number("REQUESTS"), parsed!(pace.requests, requests))
        .short('n')
        .brief("Send this many requests, such as 5000 or 2M")
        .help("Send this many requests, such as 5000 or 2M; with -d, the first limit reached ends the run"),
    setting(Part::Pace, "rate", Kind::Number("RATE"), parsed!(pace.rate, rate))
        .short('r')
        .brief("Send requests at this rate per second (open loop)")
        .help("Send requests at this rate per second, however slowly the service responds (open loop); -c limits the connections")
        .excludes(&["stages"]),
    setting(Part::Pace, "stages", Kind::Text("STAGES"), parsed!(pace.stages, stages))
        .times(Times::Joined)
        .brief("Ramp the rate or the connections through stages")
        .help(
            "Ramp the rate, or the number of connections, through stages: \
                '10s:100,30s:1000,5s:0' sets rates (open loop), '10s:100c,30s:500c' connections (closed loop)",
        ),
    setting(Part::Pace, "max-rate", Kind::Number("RATE"), parsed!(pace.max_rate, per_second))
        .help("Limit the request rate of a closed loop, per second")
        .excludes(&["rate"]),
    setting(Part::Pace, "arrivals", Kind::Choice("ARRIVALS", &Arrivals::NAMES), parsed!(pace.arrivals, arrivals))
        .help(
            "Spread the requests of an open loop evenly (constant), at random as many independent users do (poisson), or in the \
             bursts of --log (logged)",
        )
        .default("constant")
        .needs(&[OPEN]),
    setting(Part::Pace, "coalesce", Kind::Number("DURATION"), parsed!(pace.coalesce, window))
        .help(
            "Send requests of an open loop together if they are due within this time of each other, which saves CPU time; 0 \
             sends each at its own time [default: 150us, or 0 for poisson and logged]",
        )
        .needs(&[OPEN]),
    setting(Part::Pace, "patience", Kind::Number("DURATION"), parsed!(pace.patience, duration))
        .help(
            "Do not send a request of an open loop that no connection was available for within this time of its due time: \
             count it as an error, as a user who has left",
        )
        .needs(&[OPEN]),
    setting(
        Part::Pace,
        "timestamps",
        Kind::Choice("CLOCK", &["auto", "kernel", "user"]),
        parsed!(pace.timestamps, timestamps),
    )
    .help(
        "Take the time of a response from this clock: when the kernel receives it (kernel), or when Torr reads it (user); \
         auto is kernel in open loops and for streams, over TCP, and user otherwise",
    )
    .default("auto"),
    setting(Part::Pace, "quick-ack", Kind::Switch, switch!(pace.quick_ack)).help(
        "Acknowledge received data at once (TCP_QUICKACK), for a server that waits for acknowledgements between its writes",
    ),
    setting(Part::Pace, "timeout", Kind::Number("DURATION"), parsed!(pace.timeout, duration))
        .help("Fail a request that gets no complete response within this time")
        .default("10s"),
    setting(Part::Pace, "warmup", Kind::Number("DURATION"), parsed!(pace.warmup, duration))
        .help("Warm up for this long before measuring"),
    setting(Part::Pace, "think", Kind::Number("DURATION"), parsed!(pace.think, think)).help(
        "Wait this long between a response and the next request of a closed loop or a session (think time); a range such as 50ms..150ms gives random times",
    ),
    setting(Part::Pace, "pipeline", Kind::Number("N"), parsed!(pace.pipeline, depth))
        .help("Keep this many requests in flight on each connection (HTTP/1.1 pipelining)")
        .excludes(&["no-keepalive", "http2", "http2-prior-knowledge"])
        .not_for_sessions(IN_FLIGHT),
    setting(
        Part::Pace,
        "requests-per-connection",
        Kind::Number("N"),
        parsed!(pace.requests_per_connection, requests),
    )
    .help("Close each connection after this many requests")
    .excludes(&["no-keepalive"]),
    setting(Part::Pace, "no-keepalive", Kind::Switch, switch!(pace.no_keepalive))
        .help("Open a connection for each request")
        .excludes(&["streams"]),
];

/// The settings that make an open loop.
const OPEN: &[&str] = &["rate", "stages"];
