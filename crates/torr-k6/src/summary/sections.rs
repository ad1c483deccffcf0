//! The sections of metrics in the text of a summary, by what they are about.

/// A section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Metrics of the script.
    Custom,
    /// Requests.
    Http,
    /// Iterations and virtual users.
    Execution,
    /// Bytes.
    Network,
    /// Calls of gRPC.
    Grpc,
    /// Sessions of WebSocket.
    Websocket,
}

impl Section {
    /// The title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Custom => "CUSTOM",
            Self::Http => "HTTP",
            Self::Execution => "EXECUTION",
            Self::Network => "NETWORK",
            Self::Grpc => "GRPC",
            Self::Websocket => "WEBSOCKET",
        }
    }
}

/// Returns the section of a metric; `None` if the text has the metric elsewhere, or in mode `full` only.
pub fn section(metric: &str, full: bool) -> Option<Section> {
    Some(match metric {
        "checks" | "group_duration" => return None,
        "http_req_duration" | "http_req_failed" | "http_reqs" => Section::Http,
        "http_req_blocked"
        | "http_req_connecting"
        | "http_req_tls_handshaking"
        | "http_req_sending"
        | "http_req_waiting"
        | "http_req_receiving" => return full.then_some(Section::Http),
        "iterations" | "iteration_duration" | "dropped_iterations" | "vus" | "vus_max" => Section::Execution,
        "data_sent" | "data_received" => Section::Network,
        "grpc_req_duration" | "grpc_streams" | "grpc_streams_msgs_sent" | "grpc_streams_msgs_received" => Section::Grpc,
        "ws_sessions" | "ws_connecting" | "ws_session_duration" | "ws_msgs_sent" | "ws_msgs_received" | "ws_ping" => {
            Section::Websocket
        }
        _ => Section::Custom,
    })
}
