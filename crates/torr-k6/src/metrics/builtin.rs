//! The built-in metrics.

use super::kind::{Contains, MetricId, MetricKind};

/// The built-in metrics in the order of their numbers: name, kind, what the values are.
pub(super) const BUILTIN: [(&str, MetricKind, Contains); 28] = [
    ("vus", MetricKind::Gauge, Contains::Default),
    ("vus_max", MetricKind::Gauge, Contains::Default),
    ("iterations", MetricKind::Counter, Contains::Default),
    ("iteration_duration", MetricKind::Trend, Contains::Time),
    ("dropped_iterations", MetricKind::Counter, Contains::Default),
    ("checks", MetricKind::Rate, Contains::Default),
    ("group_duration", MetricKind::Trend, Contains::Time),
    ("http_reqs", MetricKind::Counter, Contains::Default),
    ("http_req_failed", MetricKind::Rate, Contains::Default),
    ("http_req_duration", MetricKind::Trend, Contains::Time),
    ("http_req_blocked", MetricKind::Trend, Contains::Time),
    ("http_req_connecting", MetricKind::Trend, Contains::Time),
    ("http_req_tls_handshaking", MetricKind::Trend, Contains::Time),
    ("http_req_sending", MetricKind::Trend, Contains::Time),
    ("http_req_waiting", MetricKind::Trend, Contains::Time),
    ("http_req_receiving", MetricKind::Trend, Contains::Time),
    ("ws_sessions", MetricKind::Counter, Contains::Default),
    ("ws_msgs_sent", MetricKind::Counter, Contains::Default),
    ("ws_msgs_received", MetricKind::Counter, Contains::Default),
    ("ws_ping", MetricKind::Trend, Contains::Time),
    ("ws_session_duration", MetricKind::Trend, Contains::Time),
    ("ws_connecting", MetricKind::Trend, Contains::Time),
    ("grpc_req_duration", MetricKind::Trend, Contains::Time),
    ("grpc_streams", MetricKind::Counter, Contains::Default),
    ("grpc_streams_msgs_sent", MetricKind::Counter, Contains::Default),
    ("grpc_streams_msgs_received", MetricKind::Counter, Contains::Default),
    ("data_sent", MetricKind::Counter, Contains::Data),
    ("data_received", MetricKind::Counter, Contains::Data),
];

/// `vus`: the latest number of the virtual users that are active.
pub const VUS: MetricId = MetricId(0);
/// `vus_max`: the latest number of the virtual users that exist.
pub const VUS_MAX: MetricId = MetricId(1);
/// `iterations`: the number of complete iterations.
pub const ITERATIONS: MetricId = MetricId(2);
/// `iteration_duration`: the distribution of durations of complete iterations.
pub const ITERATION_DURATION: MetricId = MetricId(3);
/// `dropped_iterations`: the number of iterations that did not begin.
pub const DROPPED_ITERATIONS: MetricId = MetricId(4);
/// `checks`: the share of checks that passed.
pub const CHECKS: MetricId = MetricId(5);
/// `group_duration`: the distribution of durations of groups.
pub const GROUP_DURATION: MetricId = MetricId(6);
/// `http_reqs`: the number of requests with redirects.
pub const HTTP_REQS: MetricId = MetricId(7);
/// `http_req_failed`: the share of requests that failed.
pub const HTTP_REQ_FAILED: MetricId = MetricId(8);
/// `http_req_duration`: the distribution of durations of requests without those of connecting.
pub const HTTP_REQ_DURATION: MetricId = MetricId(9);
/// `http_req_blocked`: the distribution of times until a request had its connection.
pub const HTTP_REQ_BLOCKED: MetricId = MetricId(10);
/// `http_req_connecting`: the distribution of times of connecting.
pub const HTTP_REQ_CONNECTING: MetricId = MetricId(11);
/// `http_req_tls_handshaking`: the distribution of times of TLS handshakes.
pub const HTTP_REQ_TLS_HANDSHAKING: MetricId = MetricId(12);
/// `http_req_sending`: the distribution of times of sending requests.
pub const HTTP_REQ_SENDING: MetricId = MetricId(13);
/// `http_req_waiting`: the distribution of times until the first byte of responses.
pub const HTTP_REQ_WAITING: MetricId = MetricId(14);
/// `http_req_receiving`: the distribution of times of receiving responses.
pub const HTTP_REQ_RECEIVING: MetricId = MetricId(15);
/// `ws_sessions`: the number of WebSockets.
pub const WS_SESSIONS: MetricId = MetricId(16);
/// `ws_msgs_sent`: the number of messages that were sent on WebSockets.
pub const WS_MSGS_SENT: MetricId = MetricId(17);
/// `ws_msgs_received`: the number of messages that were received on WebSockets.
pub const WS_MSGS_RECEIVED: MetricId = MetricId(18);
/// `ws_ping`: the distribution of times from ping to pong.
pub const WS_PING: MetricId = MetricId(19);
/// `ws_session_duration`: the distribution of durations of WebSockets.
pub const WS_SESSION_DURATION: MetricId = MetricId(20);
/// `ws_connecting`: the distribution of times of opening WebSockets.
pub const WS_CONNECTING: MetricId = MetricId(21);
/// `grpc_req_duration`: the distribution of durations of gRPC calls.
pub const GRPC_REQ_DURATION: MetricId = MetricId(22);
/// `grpc_streams`: the number of gRPC streams.
pub const GRPC_STREAMS: MetricId = MetricId(23);
/// `grpc_streams_msgs_sent`: the number of messages that were sent on gRPC streams.
pub const GRPC_STREAMS_MSGS_SENT: MetricId = MetricId(24);
/// `grpc_streams_msgs_received`: the number of messages that were received on gRPC streams.
pub const GRPC_STREAMS_MSGS_RECEIVED: MetricId = MetricId(25);
/// `data_sent`: the number of bytes that were sent.
pub const DATA_SENT: MetricId = MetricId(26);
/// `data_received`: the number of bytes that were received.
pub const DATA_RECEIVED: MetricId = MetricId(27);
