//! TLS as a client: what is asked for, and one connection's bytes in and out.
//!
//! By `rustls` with the `ring` provider, which builds with nothing but a C compiler. Its unbuffered interface works on
//! the caller's buffers, so that a record is decrypted where it was received.

mod client;
mod settings;
mod tickets;
mod trust;

pub use client::{Secured, TlsClient};
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
