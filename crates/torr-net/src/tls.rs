//! TLS of either side: what is asked for, and one connection's bytes in and out.
//!
//! By `rustls` with the `ring` provider, which builds with nothing but a C compiler. Its unbuffered interface works on
//! the caller's buffers, so that a record is decrypted where it was received.

mod acceptor;
mod client;
mod files;
mod identities;
mod key;
mod records;
mod server;
mod settings;
mod tickets;
mod trust;

pub use acceptor::{ServerTlsSettings, TlsAcceptor};
pub use client::TlsClient;
pub use records::Secured;
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
    #[error("the server's certificate is not trusted ({0}): give --cacert with who signed it, or --insecure")]
    Untrusted(String),
    /// The server does not speak the protocol that is asked for.
    #[error("the server does not speak {0} (ALPN)")]
    Alpn(String),
    /// What answers there does not speak TLS.
    #[error("the server does not speak TLS on this port")]
    NoTls,
    /// The client's certificate is not to be trusted.
    #[error("the client's certificate is not trusted ({0})")]
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
    /// Anything else, in the words of the TLS library.
    #[error("TLS: {0}")]
    Protocol(String),
}

impl From<rustls::Error> for TlsError {
    fn from(error: rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(why) => Self::Untrusted(why.to_string()),
            rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType) => Self::NoTls,
            rustls::Error::NoApplicationProtocol
            | rustls::Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol) => {
                Self::Alpn("the protocol asked for".into())
            }
            error => Self::Protocol(error.to_string()),
        }
    }
}
