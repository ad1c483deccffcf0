//! The provider of cryptography that this crate's features choose.
//!
//! Each configuration names its provider. `ClientConfig::builder()` and similar functions use the process's default instead,
//! and panic where two providers are compiled in, which a library cannot foresee. `clippy.toml` disallows them.

use super::TlsError;
use rustls::crypto::CryptoProvider;
#[cfg(feature = "tls-aws-lc-rs")]
use rustls::crypto::aws_lc_rs as chosen;
#[cfg(all(feature = "tls-ring", not(feature = "tls-aws-lc-rs")))]
use rustls::crypto::ring as chosen;
use rustls::server::ProducesTickets;
use std::sync::Arc;

/// Returns the provider of the feature `tls-aws-lc-rs`, else that of `tls-ring`, else the process's default, which the
/// program has to install (`CryptoProvider::install_default`).
///
/// # Errors
/// [`TlsError::NoProvider`] if neither feature is on and no default is installed.
pub(super) fn provider() -> Result<Arc<CryptoProvider>, TlsError> {
    #[cfg(any(feature = "tls-ring", feature = "tls-aws-lc-rs"))]
    return Ok(Arc::new(chosen::default_provider()));
    #[cfg(not(any(feature = "tls-ring", feature = "tls-aws-lc-rs")))]
    return CryptoProvider::get_default().map(Arc::clone).ok_or(TlsError::NoProvider);
}

/// Returns new keys for a server's tickets, which rotate every six hours. `None` where neither feature is on: a provider's
/// interface has no encryption of tickets, only its crate has.
pub(super) fn new_tickets() -> Result<Option<Arc<dyn ProducesTickets>>, TlsError> {
    #[cfg(any(feature = "tls-ring", feature = "tls-aws-lc-rs"))]
    return Ok(Some(chosen::Ticketer::new()?));
    #[cfg(not(any(feature = "tls-ring", feature = "tls-aws-lc-rs")))]
    return Ok(None);
}
