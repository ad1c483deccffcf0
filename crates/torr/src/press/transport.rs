//! From the command line to the way there.

use super::http2;
use crate::cli::{TlsArgs, TlsResumption, TransportArgs};
use crate::exit::Stop;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};
use torr_gauge::redact;
use torr_net::tls::{Resumption, Roots, TlsSettings, Versions};
use torr_net::{Address, address};
use torr_press::{ProtocolConfig, Target};

/// More source addresses than this are of no use to anybody.
const MOST_SOURCES: usize = 65_536;

/// The way to the service.
pub struct Way {
    pub addresses: Vec<Address>,
    pub sources: Vec<IpAddr>,
    pub tunnel: Option<Vec<u8>>,
    pub protocol: ProtocolConfig,
}

/// The way that is asked for.
pub fn way(args: &TransportArgs, target: &Target) -> Result<Way, Stop> {
    let protocol = http2::protocol(&args.http2, target.tls.then(|| tls(&args.tls, target)))?;
    if let Some(path) = &args.unix_socket {
        return Ok(Way { addresses: vec![Address::Unix(path.clone())], sources: vec![], tunnel: None, protocol });
    }
    let (host, port) = match &args.proxy {
        Some(proxy) => proxy_address(proxy)?,
        None => (target.host.clone(), target.port),
    };
    let addresses = addresses(args, &host, port)?;
    let sources = sources(&args.bind, &addresses)?;
    let tunnel = args.proxy.is_some().then(|| tunnel(target, args.proxy_user.as_deref()));
    Ok(Way { addresses: addresses.into_iter().map(Address::Tcp).collect(), sources, tunnel, protocol })
}

fn addresses(args: &TransportArgs, host: &str, port: u16) -> Result<Vec<SocketAddr>, Stop> {
    let given = args.resolve.iter().find(|given| given.host.eq_ignore_ascii_case(host) && given.port == port);
    if let Some(given) = given {
        return Ok(given.addresses.iter().map(|&address| SocketAddr::new(address, port)).collect());
    }
    address::resolve(host, port).map_err(|_| Stop::Unreachable(format!("the name '{host}' does not resolve")))
}

/// Host and port of a proxy.
fn proxy_address(proxy: &str) -> Result<(String, u16), Stop> {
    let bad = || Stop::Usage(format!("--proxy '{}' is not of the form http://host:port", redact::url(proxy)));
    let proxy = Target::parse(proxy).map_err(|_| bad())?;
    // Without a port curl would take 1080, which is hardly ever meant.
    if proxy.tls || proxy.path() != "/" || !proxy.has_port() { Err(bad()) } else { Ok((proxy.host, proxy.port)) }
}

/// What is said to the proxy (RFC 9110, section 9.3.6).
pub fn tunnel(target: &Target, user: Option<&str>) -> Vec<u8> {
    let to = target.host_and_port();
    let authorization =
        user.map_or(String::new(), |user| format!("Proxy-Authorization: Basic {}\r\n", BASE64_STANDARD.encode(user)));
    format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{authorization}\r\n").into_bytes()
}

/// Source addresses must be this machine's, and of the target's family. Of a network those are taken that are.
fn sources(given: &[String], addresses: &[SocketAddr]) -> Result<Vec<IpAddr>, Stop> {
    let mut sources = Vec::new();
    for text in given {
        let before = sources.len();
        match (text.parse::<IpAddr>(), text.parse::<IpNet>()) {
            (Ok(address), _) if address::is_local(address) => sources.push(address),
            (Err(_), Ok(network)) => {
                sources.extend(network.hosts().take(MOST_SOURCES).filter(|&host| address::is_local(host)));
            }
            (Err(_), Err(_)) => {
                return Err(Stop::Usage(format!("--bind '{text}' is neither an address nor a network")));
            }
            _ => {}
        }
        if sources.len() == before {
            return Err(Stop::Usage(format!("cannot connect from {text}: it is no address of this machine")));
        }
    }
    for source in &sources {
        if let Some(other) = addresses.iter().find(|to| to.is_ipv4() != source.is_ipv4()) {
            return Err(Stop::Usage(format!("cannot connect from {source} to {}: one is IPv4, one IPv6", other.ip())));
        }
    }
    Ok(sources)
}

fn tls(args: &TlsArgs, target: &Target) -> TlsSettings {
    TlsSettings {
        roots: match &args.cacert {
            Some(file) => Roots::File(file.clone()),
            None if args.insecure => Roots::AcceptAny,
            None => Roots::System,
        },
        identity: args.cert.clone().map(|cert| (cert.clone(), args.key.clone().unwrap_or(cert))),
        versions: match (args.tlsv1_3, args.tls_max.as_deref()) {
            (true, _) => Versions::Tls13,
            (false, Some("1.2")) => Versions::Tls12,
            _ => Versions::Both,
        },
        alpn: vec!["http/1.1".into()],
        resumption: match args.tls_resumption {
            TlsResumption::On => Resumption::On,
            TlsResumption::Off => Resumption::Off,
            TlsResumption::Full => Resumption::Full,
        },
        ..TlsSettings::new(args.sni.as_deref().unwrap_or(&target.host))
    }
}
