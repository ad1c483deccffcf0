//! TLS options of the command lines.

use torr_net::tls::Versions;

/// TLS options. By default these programs do not verify certificates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsArgs {
    /// Whether to verify the server's certificate.
    pub verify: bool,
    /// The allowed versions of TLS; `None` allows all.
    pub versions: Option<Versions>,
    /// A PEM file with a client certificate and its key.
    pub identity: Option<String>,
    /// Whether to send no server name (SNI).
    pub no_sni: bool,
}
