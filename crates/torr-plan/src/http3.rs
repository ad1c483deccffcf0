//! `--http3`: HTTP/3 over QUIC.

use crate::error::PlanError;
use torr_net::tls::{TlsSettings, Versions};
use torr_press::{ProtocolConfig, Target};

/// Returns the protocol of requests to a target in HTTP/3, with these settings of TLS if there are any.
///
/// # Errors
/// If the target has no TLS, the settings do not allow TLS 1.3, or a file of TLS cannot be read.
pub fn protocol(target: &Target, tls: Option<TlsSettings>) -> Result<ProtocolConfig, PlanError> {
    let Some(tls) = tls else {
        return Err(PlanError::Usage(format!("--http3 needs an https:// URL, found {}", target.shown())));
    };
    if tls.versions == Versions::Tls12 {
        return Err(PlanError::Usage("--http3 needs TLS 1.3: drop --tls-max".into()));
    }
    let tls = TlsSettings { alpn: vec!["h3".into()], needs_alpn: true, versions: Versions::Tls13, ..tls };
    // A file that is of no use shows before the run.
    let tls = tls.load().map_err(PlanError::usage)?;
    Ok(ProtocolConfig { http2: false, http3: true, tls: Some(tls), grpc: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_net::tls::Roots;

    fn refusal(url: &str, tls: Option<TlsSettings>) -> String {
        let target = Target::parse(url).expect("it is a URL");
        protocol(&target, tls).expect_err("it is refused").into_line()
    }

    #[test]
    fn http3_needs_tls_of_its_version() {
        assert_eq!(refusal("http://a.test/x", None), "--http3 needs an https:// URL, found http://a.test/x");
        let tls = TlsSettings { versions: Versions::Tls12, roots: Roots::AcceptAny, ..TlsSettings::new("a.test") };
        assert_eq!(refusal("https://a.test/", Some(tls)), "--http3 needs TLS 1.3: drop --tls-max");
    }
}
