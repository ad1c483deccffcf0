//! How the service is reached.

use super::{Http2Args, TlsArgs};
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;

/// The way there.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Transport")]
pub struct TransportArgs {
    /// Addresses of this machine to connect from, or networks such as 10.0.0.0/24, taken in turn; each has its own local
    /// ports
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    pub bind: Vec<String>,
    /// Connect to this address for a host and port, whatever its name resolves to; may be repeated
    #[arg(long, value_name = "HOST:PORT:ADDR", value_parser = resolved)]
    pub resolve: Vec<Resolved>,
    /// Connect to a Unix socket; the URL still says what is asked for
    #[arg(long, value_name = "PATH", conflicts_with_all = ["bind", "resolve", "proxy"])]
    pub unix_socket: Option<PathBuf>,
    /// Go through an HTTP proxy, by CONNECT
    #[arg(short = 'x', long, value_name = "[http://]HOST:PORT")]
    pub proxy: Option<String>,
    /// Name and password for the proxy
    #[arg(long, value_name = "NAME:PASSWORD", requires = "proxy")]
    pub proxy_user: Option<String>,
    #[command(flatten)]
    pub http2: Http2Args,
    #[command(flatten)]
    pub tls: TlsArgs,
}

/// What `--resolve` says of one host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub host: String,
    pub port: u16,
    pub addresses: Vec<IpAddr>,
}

/// As curl: the host may stand in brackets, and so may each address.
fn resolved(text: &str) -> Result<Resolved, String> {
    let bare = |text: &str| text.trim_start_matches('[').trim_end_matches(']').to_owned();
    let parts = || {
        let (host, rest) = match text.starts_with('[') {
            true => text.split_once("]:")?,
            false => text.split_once(':')?,
        };
        let (port, addresses) = rest.split_once(':')?;
        let addresses = addresses.split(',').map(|a| bare(a).parse().ok()).collect::<Option<Vec<IpAddr>>>()?;
        Some(Resolved { host: bare(host), port: port.parse().ok()?, addresses })
    };
    parts().ok_or_else(|| "not of the form example.com:443:192.0.2.1".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_for_a_host() {
        let expected = |host: &str, port, addresses: &[&str]| Resolved {
            host: host.into(),
            port,
            addresses: addresses.iter().map(|a| a.parse().unwrap()).collect(),
        };
        assert_eq!(resolved("a.test:80:192.0.2.1,192.0.2.2"), Ok(expected("a.test", 80, &["192.0.2.1", "192.0.2.2"])));
        assert_eq!(resolved("[::2]:80:[::1]"), Ok(expected("::2", 80, &["::1"])));
        for bad in ["", "a", "a:80", "a:80:", "a:b:192.0.2.1", "a:80:name", ":", "[::1]"] {
            assert!(resolved(bad).is_err(), "{bad:?} was taken");
        }
    }
}
