//! `--http2` and its like: the protocol that is spoken.

use super::values::depth;
use crate::exit::CliError;
use clap::{ArgGroup, Args};
use torr_net::tls::TlsSettings;
use torr_press::{ProtocolConfig, Target};

/// Whether HTTP/2 is spoken, and how.
#[derive(Debug, Clone, Args)]
#[command(group(ArgGroup::new("h2").args(["http2", "http2_prior_knowledge"])))]
pub struct Http2Args {
    /// HTTP/2, which the server has to agree to in the TLS handshake
    #[arg(long)]
    pub http2: bool,
    /// HTTP/2 without asking the server first, with or without TLS
    #[arg(long)]
    pub http2_prior_knowledge: bool,
    /// Requests in flight on each connection of HTTP/2 [default: 1]
    #[arg(long, value_parser = depth, value_name = "N", requires = "h2")]
    pub streams: Option<u16>,
}

impl Http2Args {
    /// Returns the protocol of requests to a target, over TLS with these settings if there are any.
    pub fn protocol(&self, target: &Target, tls: Option<TlsSettings>) -> Result<ProtocolConfig, CliError> {
        if self.http2 && tls.is_none() {
            return Err(CliError::Usage(format!(
                "--http2 needs an https:// URL, where TLS agrees on it, unlike {}: give --http2-prior-knowledge",
                target.url
            )));
        }
        let http2 = self.http2 || self.http2_prior_knowledge;
        let by_http2 = |tls| TlsSettings { alpn: vec!["h2".into()], needs_alpn: self.http2, ..tls };
        let tls = if http2 { tls.map(by_http2) } else { tls };
        // A file that is of no use shows before the run.
        Ok(ProtocolConfig { http2, tls: tls.map(|settings| settings.load()).transpose().map_err(CliError::usage)? })
    }
}
