//! The way to the service: addresses, Unix sockets and proxies.

use super::http2;
use super::http3;
use super::tls;
use crate::error::PlanError;
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};
use torr_gauge::machine::cpus;
use torr_gauge::redact;
use torr_load::{ConnectTo, Family, Load, TransportPart};
use torr_net::{Address, address};
use torr_press::{Destination, Plan, ProtocolConfig, Requests, Target};

/// The limit of the number of source addresses: more bring no more local ports than a run can use.
const MOST_SOURCES: usize = 65_536;

/// The way to the service, resolved.
pub(crate) struct Route {
    /// The addresses to connect to.
    pub addresses: Vec<Address>,
    /// The addresses to connect from, none for the system's choice.
    pub sources: Vec<IpAddr>,
    /// The request by which a proxy opens a tunnel, if there is a proxy.
    pub tunnel: Option<Vec<u8>>,
    /// The protocol.
    pub protocol: ProtocolConfig,
}

/// Finds what is wrong with the way to a target before any name is resolved.
///
/// # Errors
/// If files of TLS cannot be read, the protocol needs TLS, or the proxy's address is none.
pub(crate) fn check(part: &TransportPart, target: &Target) -> Result<(), PlanError> {
    protocol(part, target)?;
    part.proxy.as_deref().map_or(Ok(()), |url| proxy(url).map(drop))
}

/// Returns the way to a target.
pub(crate) fn route(part: &TransportPart, target: &Target) -> Result<Route, PlanError> {
    let protocol = protocol(part, target)?;
    if let Some(path) = &part.unix_socket {
        return Ok(Route { addresses: vec![Address::Unix(path.clone())], sources: vec![], tunnel: None, protocol });
    }
    let proxy = part.proxy.as_deref().map(proxy).transpose()?;
    let first = proxy.as_ref().unwrap_or(target);
    let mut addresses = addresses(part, &first.host, first.port)?;
    if let Some(port) = part.http3_port {
        addresses.iter_mut().for_each(|address| address.set_port(port));
    }
    let sources = sources(&part.bind, &addresses)?;
    // As with curl, the flag replaces the credentials of the proxy's URL.
    let user = |proxy: &Target| part.proxy_user.clone().or_else(|| proxy.credentials());
    let tunnel = proxy.as_ref().map(|proxy| target.connect_request(user(proxy).as_deref()));
    Ok(Route { addresses: addresses.into_iter().map(Address::Tcp).collect(), sources, tunnel, protocol })
}

/// Returns the plan of requests on the way of `transport`.
pub(crate) fn plan(
    load: &Load,
    transport: &TransportPart,
    target: Target,
    requests: Requests,
) -> Result<Plan, PlanError> {
    // Requests of HTTP/1.1 would be pipelined, which nothing has requested.
    let has_streams = transport.http3 || transport.http2.is_on();
    let route = route(transport, &target)?;
    Ok(Plan {
        sources: route.sources,
        tunnel: route.tunnel,
        protocol: route.protocol,
        depth: transport.http2.streams.as_deref().copied().filter(|_| has_streams).unwrap_or(1),
        threads: cpus(),
        keep_alive: load.keep_alive(),
        ..Plan::new(target, route.addresses, requests)
    })
}

fn protocol(part: &TransportPart, target: &Target) -> Result<ProtocolConfig, PlanError> {
    let tls = target.tls.then(|| tls::settings(&part.tls, target));
    match part.http3 {
        true if part.unix_socket.is_some() || part.proxy.is_some() => {
            let line = "HTTP/3 is not supported through a proxy or a Unix socket, which carry no datagrams";
            Err(PlanError::Usage(line.into()))
        }
        true => http3::protocol(target, tls),
        false => http2::protocol(&part.http2, target, tls),
    }
}

/// Returns a server of sessions beside the plan's own, with the way there.
pub(crate) fn destination(args: &TransportPart, target: Target) -> Result<Destination, PlanError> {
    let Route { addresses, tunnel, protocol, .. } = route(args, &target)?;
    Ok(Destination { target, addresses, tunnel, tls: protocol.tls })
}

/// Returns what finds the way to a server that sessions learn of during a run, by its origin; otherwise why there is none.
pub fn finder(args: &TransportPart) -> impl Fn(&str) -> Result<Destination, String> + Send + Sync + 'static {
    let args = args.clone();
    move |origin| {
        let target = Target::parse(origin).map_err(|error| error.to_string())?;
        destination(&args, target).map_err(PlanError::into_line)
    }
}

fn addresses(args: &TransportPart, host: &str, port: u16) -> Result<Vec<SocketAddr>, PlanError> {
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
        (true, Some(Family::V6)) => Err(PlanError::Unreachable(format!("'{host}' has no IPv6 address"))),
        (true, _) => Err(PlanError::Unreachable(format!("'{host}' has no IPv4 address"))),
    }
}

fn all_addresses(args: &TransportPart, host: &str, port: u16) -> Result<Vec<SocketAddr>, PlanError> {
    let given = args.resolve.iter().find(|given| given.is_for(host, port));
    if let Some(given) = given {
        return Ok(given.addresses.iter().map(|&address| SocketAddr::new(address, port)).collect());
    }
    address::resolve(host, port)
        .map_err(|_| PlanError::Unreachable(format!("cannot resolve '{host}': check the host name")))
}

/// Parses the URL of a proxy, which may have a user and a password.
fn proxy(proxy: &str) -> Result<Target, PlanError> {
    let bad = || PlanError::Usage(format!("--proxy must be http://HOST:PORT, found '{}'", redact::url(proxy)));
    let proxy = Target::parse(proxy).map_err(|_| bad())?;
    // Without a port curl would take 1080, which is hardly ever meant.
    if proxy.tls || proxy.path() != "/" || !proxy.has_port() { Err(bad()) } else { Ok(proxy) }
}

/// Source addresses must be this machine's, and of the target's family. Of a network those are taken that are.
fn sources(given: &[String], addresses: &[SocketAddr]) -> Result<Vec<IpAddr>, PlanError> {
    let mut sources = Vec::new();
    for text in given {
        let before = sources.len();
        match (text.parse::<IpAddr>(), text.parse::<IpNet>()) {
            (Ok(address), _) if address::is_local(address) => sources.push(address),
            (Err(_), Ok(network)) => {
                sources.extend(network.hosts().take(MOST_SOURCES).filter(|&host| address::is_local(host)));
            }
            (Err(_), Err(_)) => {
                return Err(PlanError::Usage(format!("--bind needs an address or a network, found '{text}'")));
            }
            _ => {}
        }
        if sources.len() == before {
            return Err(PlanError::Usage(format!("cannot connect from {text}: not an address of this machine")));
        }
    }
    for source in &sources {
        if let Some(other) = addresses.iter().find(|to| to.is_ipv4() != source.is_ipv4()) {
            return Err(PlanError::Usage(format!(
                "cannot connect from {source} to {}: one is IPv4, the other IPv6",
                other.ip()
            )));
        }
    }
    Ok(sources)
}
