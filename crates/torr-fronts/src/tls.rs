//! What the command lines can say of TLS.

use torr_net::tls::Versions;

/// What these programs can say of TLS. Unless they say otherwise, they believe every certificate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsArgs {
    /// Whether the server's certificate is checked.
    pub verify: bool,
    /// The versions that may be used; all without it.
    pub versions: Option<Versions>,
    /// A PEM file with a certificate to show, and its key.
    pub identity: Option<String>,
    /// Whether the server is not told which name is meant (SNI).
    pub no_sni: bool,
}
