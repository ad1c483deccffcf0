//! `--http2` and its like: the protocol that is spoken.

use crate::error::PlanError;
use torr_load::Http2Part;
use torr_net::tls::TlsSettings;
use torr_press::{ProtocolConfig, Target};

/// Returns the protocol of requests to a target, over TLS with these settings if there are any.
///
/// # Errors
/// If the protocol needs TLS, or a file of TLS cannot be read.
pub fn protocol(part: &Http2Part, target: &Target, tls: Option<TlsSettings>) -> Result<ProtocolConfig, PlanError> {
    if part.http2 && tls.is_none() {
        return Err(PlanError::Usage(format!(
            "--http2 needs an https:// URL, found {}: use --http2-prior-knowledge instead",
            target.shown()
        )));
    }
    let http2 = part.is_on();
    let by_http2 = |tls| TlsSettings { alpn: vec!["h2".into()], needs_alpn: part.http2, ..tls };
    let tls = if http2 { tls.map(by_http2) } else { tls };
    // A file that is of no use shows before the run.
    let tls = tls.map(|settings| settings.load()).transpose().map_err(PlanError::usage)?;
    Ok(ProtocolConfig { http2, http3: false, tls, grpc: None })
}
