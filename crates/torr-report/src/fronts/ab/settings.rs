//! The settings of ApacheBench that its layout shows.

/// The settings of the command line that the layout shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The URL's host.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path and query.
    pub path: String,
    /// The name sent to the server by TLS (SNI).
    pub tls_name: Option<String>,
    /// Connections at a time.
    pub concurrency: usize,
    /// Whether the responses' length may vary (`-l`).
    pub variable_length: bool,
    /// Whether a body is sent with each request.
    pub sends_body: bool,
    /// Whether connections are kept alive (`-k`).
    pub keep_alive: bool,
    /// Whether percentiles are left out (`-d`).
    pub no_percentiles: bool,
    /// Whether deviations are left out (`-S`).
    pub no_deviation: bool,
}
