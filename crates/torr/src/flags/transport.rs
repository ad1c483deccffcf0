//! The way to the service: addresses, Unix sockets and proxies.

use super::http2::Http2Args;
use super::tls::TlsArgs;
use crate::exit::CliError;
use clap::Args;
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use torr_gauge::redact;
use torr_net::{Address, address};
use torr_press::{Destination, ProtocolConfig, Target};

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
    /// Hosts and ports to connect to instead of those of URLs, which options of hurl files name.
    #[arg(skip)]
    pub connect_to: Vec<ConnectTo>,
    /// The only family of addresses to connect to, which an option of a hurl file names.
    #[arg(skip)]
    pub family: Option<Family>,
    /// Connect to a Unix socket; the URL still has the host and the path
    #[arg(long, value_name = "PATH", conflicts_with_all = ["bind", "resolve", "proxy"])]
    pub unix_socket: Option<PathBuf>,
    /// Go through an HTTP proxy, by CONNECT
    #[arg(short = 'x', long, value_name = "[http://][USER:PASSWORD@]HOST:PORT")]
    pub proxy: Option<String>,
    /// Name and password for the proxy, instead of those in its URL
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

impl Resolved {
    /// Returns whether this is for a host and port.
    pub fn is_for(&self, host: &str, port: u16) -> bool {
        self.host.eq_ignore_ascii_case(host) && self.port == port
    }
}

/// As curl: the host may stand in brackets, and so may each address.
pub fn resolved(text: &str) -> Result<Resolved, String> {
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

/// A family of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    V4,
    V6,
}

/// Another host and port to connect to, as `--connect-to` of curl: `HOST1:PORT1:HOST2:PORT2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectTo {
    /// The host of URLs; `None` for every host.
    from_host: Option<String>,
    /// The port of URLs; `None` for every port.
    from_port: Option<u16>,
    /// The host to connect to; `None` for that of the URL.
    host: Option<String>,
    /// The port to connect to; `None` for that of the URL.
    port: Option<u16>,
}

impl FromStr for ConnectTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("takes HOST1:PORT1:HOST2:PORT2, such as example.com:443:127.0.0.1:8443, not '{text}'");
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(inner) = rest.strip_prefix('[') {
            // An address of IPv6 stands in brackets.
            let (host, after) = inner.split_once("]:").ok_or_else(wrong)?;
            let (port, after) = after.split_once(':').unwrap_or((after, ""));
            parts.extend([host, port]);
            rest = after;
        }
        if parts.len() < 4 {
            let (host, after) = rest.split_once(':').ok_or_else(wrong)?;
            let (port, after) = after.split_once(':').unwrap_or((after, ""));
            parts.extend([host, port]);
            rest = after;
        }
        if parts.len() < 4 {
            let (host, port) = rest.rsplit_once(':').ok_or_else(wrong)?;
            parts.extend([host.trim_start_matches('[').trim_end_matches(']'), port]);
            rest = "";
        }
        let [from_host, from_port, host, port] = <[&str; 4]>::try_from(parts).map_err(|_| wrong())?;
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let number = |text: &str| match text {
            "" => Ok(None),
            digits => digits.parse().map(Some).map_err(|_| wrong()),
        };
        if !rest.is_empty() || host.contains(':') && host.parse::<IpAddr>().is_err() {
            return Err(wrong());
        }
        Ok(Self { from_host: given(from_host), from_port: number(from_port)?, host: given(host), port: number(port)? })
    }
}

/// The limit of the number of source addresses: more bring no more local ports than a run can use.
const MOST_SOURCES: usize = 65_536;

/// The way to the service, resolved.
pub struct Route {
    pub addresses: Vec<Address>,
    pub sources: Vec<IpAddr>,
    pub tunnel: Option<Vec<u8>>,
    pub protocol: ProtocolConfig,
}

impl TransportArgs {
    /// Returns the way to a service of a command line without flags.
    pub fn without_flags() -> Self {
        #[derive(clap::Parser)]
        struct Only {
            #[command(flatten)]
            transport: TransportArgs,
        }
        <Only as clap::Parser>::parse_from(["torr"]).transport
    }

    /// Finds what is wrong with the way to a target before any name is resolved.
    ///
    /// # Errors
    /// If files of TLS cannot be read, the protocol needs TLS, or the proxy's address is none.
    pub fn check(&self, target: &Target) -> Result<(), CliError> {
        self.http2.protocol(target, target.tls.then(|| self.tls.settings(target)))?;
        self.proxy.as_deref().map_or(Ok(()), |url| proxy(url).map(drop))
    }

    /// Returns the way to a target.
    pub fn route(&self, target: &Target) -> Result<Route, CliError> {
        let protocol = self.http2.protocol(target, target.tls.then(|| self.tls.settings(target)))?;
        if let Some(path) = &self.unix_socket {
            return Ok(Route { addresses: vec![Address::Unix(path.clone())], sources: vec![], tunnel: None, protocol });
        }
        let proxy = self.proxy.as_deref().map(proxy).transpose()?;
        let first = proxy.as_ref().unwrap_or(target);
        let addresses = addresses(self, &first.host, first.port)?;
        let sources = sources(&self.bind, &addresses)?;
        // As with curl, the flag replaces the credentials of the proxy's URL.
        let user = |proxy: &Target| self.proxy_user.clone().or_else(|| proxy.credentials());
        let tunnel = proxy.as_ref().map(|proxy| target.connect_request(user(proxy).as_deref()));
        Ok(Route { addresses: addresses.into_iter().map(Address::Tcp).collect(), sources, tunnel, protocol })
    }
}

/// Returns a server of sessions beside the plan's own, with the way there.
pub fn destination(args: &TransportArgs, target: Target) -> Result<Destination, CliError> {
    let Route { addresses, tunnel, protocol, .. } = args.route(&target)?;
    Ok(Destination { target, addresses, tunnel, tls: protocol.tls })
}

/// Returns what finds the way to a server that sessions learn of during a run, by its origin; otherwise why there is none.
pub fn finder(args: &TransportArgs) -> impl Fn(&str) -> Result<Destination, String> + Send + Sync + 'static {
    let args = args.clone();
    move |origin| {
        let target = Target::parse(origin).map_err(|error| error.to_string())?;
        destination(&args, target).map_err(CliError::into_line)
    }
}

fn addresses(args: &TransportArgs, host: &str, port: u16) -> Result<Vec<SocketAddr>, CliError> {
    let is_meant = |to: &&ConnectTo| {
        to.from_host.as_ref().is_none_or(|from| from.eq_ignore_ascii_case(host))
            && to.from_port.is_none_or(|from| from == port)
    };
    let to = args.connect_to.iter().find(is_meant).filter(|_| args.proxy.is_none());
    let host = to.and_then(|to| to.host.as_deref()).unwrap_or(host);
    let port = to.and_then(|to| to.port).unwrap_or(port);
    let mut addresses = all_addresses(args, host, port)?;
    if let Some(family) = args.family {
        addresses.retain(|address| address.is_ipv4() == (family == Family::V4));
    }
    match (addresses.is_empty(), args.family) {
        (false, _) => Ok(addresses),
        (true, Some(Family::V6)) => Err(CliError::Unreachable(format!("the name '{host}' has no address of IPv6"))),
        (true, _) => Err(CliError::Unreachable(format!("the name '{host}' has no address of IPv4"))),
    }
}

fn all_addresses(args: &TransportArgs, host: &str, port: u16) -> Result<Vec<SocketAddr>, CliError> {
    let given = args.resolve.iter().find(|given| given.is_for(host, port));
    if let Some(given) = given {
        return Ok(given.addresses.iter().map(|&address| SocketAddr::new(address, port)).collect());
    }
    address::resolve(host, port).map_err(|_| CliError::Unreachable(format!("the name '{host}' does not resolve")))
}

/// Parses the URL of a proxy, which may have a user and a password.
fn proxy(proxy: &str) -> Result<Target, CliError> {
    let bad = || CliError::Usage(format!("--proxy '{}' is not of the form http://host:port", redact::url(proxy)));
    let proxy = Target::parse(proxy).map_err(|_| bad())?;
    // Without a port curl would take 1080, which is hardly ever meant.
    if proxy.tls || proxy.path() != "/" || !proxy.has_port() { Err(bad()) } else { Ok(proxy) }
}

/// Source addresses must be this machine's, and of the target's family. Of a network those are taken that are.
fn sources(given: &[String], addresses: &[SocketAddr]) -> Result<Vec<IpAddr>, CliError> {
    let mut sources = Vec::new();
    for text in given {
        let before = sources.len();
        match (text.parse::<IpAddr>(), text.parse::<IpNet>()) {
            (Ok(address), _) if address::is_local(address) => sources.push(address),
            (Err(_), Ok(network)) => {
                sources.extend(network.hosts().take(MOST_SOURCES).filter(|&host| address::is_local(host)));
            }
            (Err(_), Err(_)) => {
                return Err(CliError::Usage(format!("--bind '{text}' is neither an address nor a network")));
            }
            _ => {}
        }
        if sources.len() == before {
            return Err(CliError::Usage(format!("cannot connect from {text}: it is no address of this machine")));
        }
    }
    for source in &sources {
        if let Some(other) = addresses.iter().find(|to| to.is_ipv4() != source.is_ipv4()) {
            return Err(CliError::Usage(format!(
                "cannot connect from {source} to {}: one is IPv4, one IPv6",
                other.ip()
            )));
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_host_to_connect_to() {
        let parts = |text: &str| {
            let ConnectTo { from_host, from_port, host, port } = text.parse().ok()?;
            Some((from_host.unwrap_or_default(), from_port, host.unwrap_or_default(), port))
        };
        for (text, (from_host, from_port, host, port)) in [
            ("a.test:80:127.0.0.1:8080", ("a.test", Some(80), "127.0.0.1", Some(8080))),
            (":::", ("", None, "", None)),
            ("::b.test:", ("", None, "b.test", None)),
            ("a.test:::81", ("a.test", None, "", Some(81))),
            ("a.test:80:[::1]:81", ("a.test", Some(80), "::1", Some(81))),
            ("[::2]:80:b.test:81", ("::2", Some(80), "b.test", Some(81))),
            ("[::2]:80:[::1]:81", ("::2", Some(80), "::1", Some(81))),
        ] {
            assert_eq!(parts(text), Some((from_host.to_owned(), from_port, host.to_owned(), port)), "{text}");
        }
        for bad in ["", "a", "a:80", "a:80:b", "a:80:b:c", "a:80:b:1:2", "a:99999:b:1", "[::1:80:b:1", "x:y:b:1"] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }

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
