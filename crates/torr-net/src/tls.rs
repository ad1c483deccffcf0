//! TLS of either side: what is asked for, and one connection's bytes in and out.
//!
//! By `rustls`, through its unbuffered interface, which works on the caller's buffers, so that a record is decrypted where
//! it was received. Its cryptography is chosen by a feature of this crate: `tls-ring`, which builds with nothing but a C
//! compiler, or `tls-aws-lc-rs`. With neither it is what the program has installed as the process's default.

mod acceptor;
mod client;
mod explain;
mod files;
mod identities;
mod key;
mod provider;
mod records;
mod server;
mod settings;
mod tickets;
mod trust;

pub use acceptor::{ServerTlsSettings, TlsAcceptor};
pub use client::TlsClient;
pub use records::NegotiatedTls;
pub use server::TlsServer;
pub use settings::{Resumption, Roots, TlsConfig, TlsSettings, Versions};

use thiserror::Error;

/// What goes wrong with TLS.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TlsError {
    /// A file of certificates or keys is of no use.
    #[error("{0}")]
    File(String),
    /// The name is neither a host name nor an address.
    #[error("'{0}' is no name that a certificate can have")]
    Name(String),
    /// The server's certificate is not to be trusted.
    #[error("the server's certificate is not trusted: it {0}")]
    Untrusted(String),
    /// The server does not speak the protocol that is asked for.
    #[error("the server does not speak {0} (ALPN)")]
    Alpn(String),
    /// What answers there does not speak TLS.
    #[error("the server does not speak TLS on this port: is the URL http:// and not https://?")]
    NoTls,
    /// The client's certificate is not to be trusted.
    #[error("the client's certificate is not trusted: it {0}")]
    ClientUntrusted(String),
    /// The client was asked for a certificate and has none.
    #[error("the client has shown no certificate")]
    NoClientCertificate,
    /// The client offers protocols, but none of the server's.
    #[error("the client offers no protocol that is spoken here (ALPN)")]
    ClientAlpn,
    /// What the client has sent is not TLS.
    #[error("the client does not speak TLS")]
    ClientNoTls,
    /// Nobody has chosen the cryptography.
    #[error(
        "there is no cryptography for TLS in this program: turn on the feature 'tls-ring' or 'tls-aws-lc-rs' of the crate by \
         which it uses TLS, or install a default provider of rustls"
    )]
    NoProvider,
    /// Anything else.
    #[error("TLS: {0}")]
    Protocol(String),
}

/// Errors before there is a connection, of which the library's words tell enough.
impl From<rustls::Error> for TlsError {
    fn from(error: rustls::Error) -> Self {
        Self::Protocol(error.to_string())
    }
}
