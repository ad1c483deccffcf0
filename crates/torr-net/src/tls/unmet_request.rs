//! The client's part of a server's request for a certificate that the client does not have.

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A resolver without certificates, which notes that a server has requested one.
#[derive(Debug, Default)]
pub struct UnmetRequest(AtomicBool);

impl UnmetRequest {
    /// Returns whether the server has requested a certificate.
    pub fn was_seen(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl ResolvesClientCert for UnmetRequest {
    fn resolve(&self, _issuers: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}
