//! What the environment of the process says about the way to servers.

mod proxies;

pub use proxies::{Proxies, Proxy};

/// What the environment of the process says about the way to servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkSettings {
    /// The proxies.
    pub proxies: Proxies,
    /// Whether HTTP/2 is not offered to servers with TLS.
    pub only_http1: bool,
}

impl NetworkSettings {
    /// Returns the settings of variables: those of proxies, and `GODEBUG` with `http2client=0`, which turns HTTP/2 off in k6.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let debug = variable("GODEBUG").unwrap_or_default();
        let only_http1 = debug.split(',').any(|setting| setting == "http2client=0");
        Self { proxies: Proxies::of(variable), only_http1 }
    }
}
