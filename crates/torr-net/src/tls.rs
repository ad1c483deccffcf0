//! TLS of both sides, without I/O: settings, and the records of a connection in the caller's buffers.
//!
//! The implementation is `rustls` through its unbuffered interface, which decrypts a record in the buffer that received it.
//! A feature of this crate chooses the cryptography: `tls-ring`, which needs only a C compiler, or `tls-aws-lc-rs`. Without
//! either, the process's default provider is used.

mod acceptor;
mod client;
mod explain;
mod files;
#[cfg(feature = "quic")]
pub(crate) mod handshake;
mod identities;
mod key;
mod provider;
mod records;
mod server;
mod settings;
mod tickets;
mod trust;
mod unmet_request;

pub use acceptor::{ServerTlsSettings, TlsAcceptor};
pub use client::TlsClient;
pub use records::NegotiatedTls;
pub use server::TlsServer;
pub use settings::{Identity, IdentityPem, Resumption, Roots, TlsConfig, TlsSettings, Versions, cipher_suites};

use thiserror::Error;

/// An error of TLS: of its settings, or of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TlsError {
    /// A file of certificates or keys cannot be used; the text names it.
    #[error("{0}")]
    File(String),
    /// The name is neither a host name nor an IP address.
    #[error("invalid server name '{0}': use a host name or an IP address")]
    Name(String),
    /// The server's certificate is not trusted, for the reason in the text.
    #[error("the server's certificate is not trusted: it {0}")]
    Untrusted(String),
    /// The server selected none of the offered protocols.
    #[error("the server does not support {0} (ALPN)")]
    Alpn(String),
    /// The server ended the handshake by an alert that has several reasons; the text has the usual one.
    #[error("TLS: {0}")]
    Refused(String),
    /// The server's bytes are not TLS.
    #[error("the server does not use TLS on this port: use http:// instead of https://")]
    NoTls,
    /// The client's certificate is not trusted, for the reason in the text.
    #[error("the client's certificate is not trusted: it {0}")]
    ClientUntrusted(String),
    /// The client sent no certificate, although one is required.
    #[error("the client sent no certificate")]
    NoClientCertificate,
    /// The client offers none of the server's protocols.
    #[error("the client and this server share no protocol (ALPN)")]
    ClientAlpn,
    /// The client's bytes are not TLS.
    #[error("the client does not use TLS")]
    ClientNoTls,
    /// No provider of cryptography is chosen.
    #[error(
        "no cryptography for TLS in this program: enable the crate's feature 'tls-ring' or 'tls-aws-lc-rs', or \
         install a default provider of rustls"
    )]
    NoProvider,
    /// Any other violation or failure, described in the text.
    #[error("TLS: {0}")]
    Protocol(String),
}

/// Errors of the configuration, whose texts in `rustls` are sufficient. Those of connections go through `explain`.
impl From<rustls::Error> for TlsError {
    fn from(error: rustls::Error) -> Self {
        Self::Protocol(error.to_string())
    }
}
