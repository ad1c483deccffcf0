//! From the command line to the protocol that is spoken.

use super::mistake;
use crate::cli::Http2Args;
use crate::exit::Stop;
use torr_net::tls::TlsSettings;
use torr_press::ProtocolConfig;

/// The protocol that is asked for, on a connection that is secured so.
pub fn protocol(args: &Http2Args, tls: Option<TlsSettings>) -> Result<ProtocolConfig, Stop> {
    if args.http2 && tls.is_none() {
        let how = "--http2 needs an https:// URL, where TLS agrees on it: for http:// give --http2-prior-knowledge";
        return Err(Stop::Usage(how.into()));
    }
    let http2 = args.http2 || args.http2_prior_knowledge;
    let by_http2 = |tls| TlsSettings { alpn: vec!["h2".into()], needs_alpn: args.http2, ..tls };
    let tls = if http2 { tls.map(by_http2) } else { tls };
    // A file that is of no use shows before the run.
    Ok(ProtocolConfig { http2, tls: tls.map(|settings| settings.load()).transpose().map_err(mistake)? })
}
