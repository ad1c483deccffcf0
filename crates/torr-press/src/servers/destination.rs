//! A server of a run beside the plan's own.

use super::target::Target;
use torr_net::Address;
use torr_net::tls::TlsConfig;

/// A server of a run beside the plan's own, and the way to it.
#[derive(Debug, Clone)]
pub struct Destination {
    /// The parsed URL of the server.
    pub target: Target,
    /// The addresses behind its name, or the proxy's; connections take them in turn. At least one.
    pub addresses: Vec<Address>,
    /// The request by which a proxy opens a tunnel, if there is a proxy.
    pub tunnel: Option<Vec<u8>>,
    /// The settings of TLS; `None` without TLS.
    pub tls: Option<TlsConfig>,
}
