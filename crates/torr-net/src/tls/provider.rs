//! The cryptography that TLS stands on: the one provider that this crate's features choose.
//!
//! Each configuration names its provider. The library's short ways (`ClientConfig::builder()` and its like) take the
//! process's default instead, and panic where two providers are compiled in, which a program that uses this crate beside
//! others cannot foresee. `clippy.toml` disallows them.

use super::TlsError;
use rustls::crypto::CryptoProvider;
#[cfg(feature = "tls-aws-lc-rs")]
use rustls::crypto::aws_lc_rs as chosen;
#[cfg(all(feature = "tls-ring", not(feature = "tls-aws-lc-rs")))]
use rustls::crypto::ring as chosen;
use rustls::server::ProducesTickets;
use std::sync::Arc;

/// Returns the provider of the feature `tls-aws-lc-rs`, or of `tls-ring`. With neither, that is the process's default, which
/// the program has to install (`CryptoProvider::install_default`).
///
/// # Errors
/// [`TlsError::NoProvider`] if neither feature is on and no default is installed.
pub(super) fn provider() -> Result<Arc<CryptoProvider>, TlsError> {
    #[cfg(any(feature = "tls-ring", feature = "tls-aws-lc-rs"))]
    return Ok(Arc::new(chosen::default_provider()));
    #[cfg(not(any(feature = "tls-ring", feature = "tls-aws-lc-rs")))]
    return CryptoProvider::get_default().map(Arc::clone).ok_or(TlsError::NoProvider);
}

/// Returns new keys for a server's tickets, which are replaced every six hours. `None` where neither feature is on: a
/// provider has no way to encrypt tickets, only its crate has.
pub(super) fn new_tickets() -> Result<Option<Arc<dyn ProducesTickets>>, TlsError> {
    #[cfg(any(feature = "tls-ring", feature = "tls-aws-lc-rs"))]
    return Ok(Some(chosen::Ticketer::new()?));
    #[cfg(not(any(feature = "tls-ring", feature = "tls-aws-lc-rs")))]
    return Ok(None);
}
