//! The servers that a script's requests go to: names are looked up as the options say, and proxies are those of the environment.

mod encrypted_key;
mod pattern;
mod tls;

use crate::network::{NetworkSettings, Proxies, Proxy};
use crate::options::{Dns, Options, duration};
use crate::sockets::Ways;
use crate::sockets::grpc::GrpcServer;
use ipnet::IpNet;
use pattern::is_matched;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tls::TlsRules;
pub use tls::unsupported_suites;
use torr_net::{Address, address};
use torr_press::learnt::LearntServers;
use torr_press::{Destination, Target};

/// What options and the environment say about servers.
struct Rules {
    hosts: BTreeMap<String, String>,
    blocked: Vec<String>,
    blacklist: Vec<IpNet>,
    dns: Dns,
    tls: TlsRules,
    proxies: Proxies,
}

/// The time after which a name is looked up again, unless an option says otherwise.
const TTL: Duration = Duration::from_secs(300);

/// Returns the servers of a run, which has none yet.
///
/// # Errors
/// If an option cannot be used.
pub fn learnt(options: &Options, network: &NetworkSettings) -> Result<LearntServers, String> {
    let rules = Arc::new(Rules::of(options, network)?);
    let again = Arc::clone(&rules);
    let ttl = match rules.dns.ttl.as_deref() {
        None => Some(TTL),
        Some("inf") => None,
        Some(ttl) => Some(duration::parse(ttl).map_err(|why| format!("dns.ttl: {why}"))?),
    };
    let servers = LearntServers::new(1, move |origin: &str| rules.find(origin));
    Ok(match ttl {
        None => servers,
        Some(ttl) => servers.renewed_after(ttl, move |origin: &str| {
            let (addresses, _) = again.way(&Target::parse(origin).map_err(|error| error.to_string())?)?;
            Ok(addresses)
        }),
    })
}

/// Returns what finds the way to the server of an origin.
///
/// # Errors
/// If an option cannot be used.
pub fn finder(
    options: &Options,
    network: &NetworkSettings,
) -> Result<impl Fn(&str) -> Result<Destination, String> + Send + Sync + 'static, String> {
    let rules = Rules::of(options, network)?;
    Ok(move |origin: &str| rules.find(origin))
}

/// Returns what finds the ways to the servers of sockets. Servers of WebSockets have HTTP/1.1, and gRPC goes through no proxy.
///
/// # Errors
/// If an option cannot be used.
pub fn ways(options: &Options, network: &NetworkSettings) -> Result<Ways, String> {
    let of_websockets = Rules::of(options, &NetworkSettings { only_http1: true, ..network.clone() })?;
    let of_grpc = Rules::of(options, &NetworkSettings { proxies: Proxies::default(), ..network.clone() })?;
    Ok(Ways {
        websocket: Arc::new(move |origin: &String| of_websockets.find(origin)),
        grpc: Arc::new(move |server: &GrpcServer| of_grpc.find_grpc(server)),
    })
}

impl Rules {
    fn of(options: &Options, network: &NetworkSettings) -> Result<Self, String> {
        let networks = options.blacklist_ips.iter().flatten();
        let parsed = |text: &String| {
            let single = || text.parse::<IpAddr>().ok().map(IpNet::from);
            text.parse::<IpNet>()
                .ok()
                .or_else(single)
                .ok_or_else(|| format!("blacklistIPs: expected a network, found '{text}'"))
        };
        Ok(Self {
            hosts: options.hosts.clone().unwrap_or_default(),
            blocked: options.block_hostnames.clone().unwrap_or_default(),
            blacklist: networks.map(parsed).collect::<Result<_, _>>()?,
            dns: options.dns.clone().unwrap_or_default(),
            tls: TlsRules::of(options, network.only_http1)?,
            proxies: network.proxies.clone(),
        })
    }

    fn find(&self, origin: &str) -> Result<Destination, String> {
        let target = Target::parse(origin).map_err(|error| error.to_string())?;
        let (addresses, tunnel) = self.way(&target)?;
        let tls = match target.tls {
            true => Some(self.tls.settings(&target.host).load().map_err(|error| error.to_string())?),
            false => None,
        };
        Ok(Destination { addresses, tunnel, tls, target })
    }

    fn find_grpc(&self, server: &GrpcServer) -> Result<Destination, String> {
        let target = Target::parse(&server.origin).map_err(|error| error.to_string())?;
        let (addresses, tunnel) = self.way(&target)?;
        let tls = match target.tls {
            true => Some(self.tls.of_grpc(&target.host, server)?.load().map_err(|error| error.to_string())?),
            false => None,
        };
        Ok(Destination { addresses, tunnel, tls, target })
    }

    /// Returns the addresses of a server or of its proxy, and the request that opens a tunnel to it.
    fn way(&self, target: &Target) -> Result<(Vec<Address>, Option<Vec<u8>>), String> {
        let (addresses, tunnel) = match self.proxies.find(target.tls, &target.host, target.port) {
            None => (self.addresses(&target.host, target.port)?, None),
            Some(Proxy::Unusable(why)) => return Err(why.clone()),
            Some(Proxy::Http { host, port, user }) => {
                let tunnel = target.tls.then(|| target.connect_request(user.as_deref()));
                (self.addresses(host, *port)?, tunnel)
            }
        };
        Ok((addresses.into_iter().map(Address::Tcp).collect(), tunnel))
    }

    /// Returns the addresses to connect to for a name, in the order in which connections take them.
    fn addresses(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
        if self.blocked.iter().any(|pattern| is_matched(pattern, host)) {
            return Err(format!("hostname ({host}) is in a blocked pattern"));
        }
        let addresses = match self.mapped(host, port) {
            Some(address) => vec![address],
            None => {
                let all = address::resolve(host, port);
                let all = all.map_err(|error| format!("cannot resolve '{host}': {error}"))?;
                selected(all, &self.dns)
            }
        };
        if addresses.is_empty() {
            return Err(format!("cannot resolve '{host}': it has no address that the option dns allows"));
        }
        if let Some(address) =
            addresses.iter().find(|address| self.blacklist.iter().any(|net| net.contains(&address.ip())))
        {
            return Err(format!("IP ({}) is in a blacklisted range", address.ip()));
        }
        Ok(addresses)
    }

    /// Returns the address that the option `hosts` gives a name.
    fn mapped(&self, host: &str, port: u16) -> Option<SocketAddr> {
        let with_port = format!("{host}:{port}");
        let wild = || {
            self.hosts.iter().find(|(pattern, _)| pattern.contains('*') && is_matched(pattern, host)).map(|(_, to)| to)
        };
        let to = self.hosts.get(&with_port).or_else(|| self.hosts.get(host)).or_else(wild)?;
        let ip = |text: &str| text.trim_matches(['[', ']']).parse::<IpAddr>().ok();
        to.parse::<SocketAddr>().ok().or_else(|| Some(SocketAddr::new(ip(to)?, port)))
    }
}

/// Returns the addresses of a name that the option `dns` lets connections go to. Connections take them in turn.
fn selected(addresses: Vec<SocketAddr>, dns: &Dns) -> Vec<SocketAddr> {
    let (first_family, other_family): (Vec<_>, Vec<_>) = match dns.policy.as_deref() {
        Some("any") => (addresses, Vec::new()),
        Some("preferIPv6" | "onlyIPv6") => addresses.into_iter().partition(SocketAddr::is_ipv6),
        _ => addresses.into_iter().partition(SocketAddr::is_ipv4),
    };
    let only = dns.policy.as_deref().is_some_and(|policy| policy.starts_with("only"));
    let mut selected = if first_family.is_empty() && !only { other_family } else { first_family };
    if dns.select.as_deref() == Some("first") {
        selected.truncate(1);
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_mapped_and_blocked() {
        let mut options = Options::default();
        let hosts = [("a.test", "127.0.0.1"), ("b.test:80", "127.0.0.1:8080"), ("*.c.test", "127.0.0.3:1")];
        options.hosts = Some(hosts.map(|(from, to)| (from.to_owned(), to.to_owned())).into());
        options.block_hostnames = Some(vec!["*.evil.test".to_owned()]);
        options.blacklist_ips = Some(vec!["127.0.0.2/32".to_owned()]);
        let rules = Rules::of(&options, &NetworkSettings::default()).expect("the options are right");
        let address = |origin: &str| rules.find(origin).map(|found| found.addresses[0].to_string());
        assert_eq!(address("http://a.test:81").as_deref(), Ok("127.0.0.1:81"));
        assert_eq!(address("http://b.test:80").as_deref(), Ok("127.0.0.1:8080"));
        assert_eq!(address("http://x.c.test:80").as_deref(), Ok("127.0.0.3:1"));
        assert!(address("http://x.evil.test:80").is_err_and(|why| why.contains("blocked pattern")));
        assert!(address("http://127.0.0.2:80").is_err_and(|why| why.contains("blacklisted")));
        options.blacklist_ips = Some(vec!["somewhere".to_owned()]);
        assert!(
            Rules::of(&options, &NetworkSettings::default()).map(drop).is_err_and(|why| why.contains("'somewhere'"))
        );
    }

    #[test]
    fn addresses_are_selected_by_family_and_number() {
        let all: Vec<SocketAddr> = ["[::1]:1", "192.0.2.1:1", "192.0.2.2:1", "[::2]:1"]
            .map(|text| text.parse().expect("it is an address"))
            .into();
        let of = |policy: &str, select: &str, from: &[SocketAddr]| {
            let dns = Dns { policy: Some(policy.into()), select: Some(select.into()), ..Dns::default() };
            let found = selected(from.to_vec(), &dns);
            found.iter().map(|address| address.ip().to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("preferIPv4", "random", &all), "192.0.2.1 192.0.2.2");
        assert_eq!(of("preferIPv6", "roundRobin", &all), "::1 ::2");
        assert_eq!(of("any", "first", &all), "::1");
        assert_eq!(of("onlyIPv6", "first", &all), "::1");
        assert_eq!(
            (of("preferIPv4", "random", &all[..1]), of("onlyIPv4", "random", &all[..1])),
            ("::1".into(), "".into())
        );
        assert_eq!(selected(all.clone(), &Dns::default()), all[1..3]);
    }

    #[test]
    fn servers_behind_a_proxy_have_its_address() {
        let variables =
            [("HTTP_PROXY", "127.0.0.1:3128"), ("HTTPS_PROXY", "http://u:p@127.0.0.2:81"), ("NO_PROXY", "b.test")];
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let hosts = Some([("b.test".to_owned(), "127.0.0.9".to_owned())].into());
        let options = Options { hosts, insecure_skip_tls_verify: Some(true), ..Options::default() };
        let rules = Rules::of(&options, &NetworkSettings::of(variable)).expect("the options are right");
        let found = |origin: &str| {
            let found = rules.find(origin).expect("there is a way");
            (found.addresses[0].to_string(), found.tunnel.map(|tunnel| String::from_utf8_lossy(&tunnel).into_owned()))
        };
        assert_eq!(found("http://a.test:80"), ("127.0.0.1:3128".into(), None));
        assert_eq!(found("http://b.test:80"), ("127.0.0.9:80".into(), None));
        let (address, tunnel) = found("https://a.test:443");
        let tunnel = tunnel.expect("servers with TLS are behind a tunnel");
        assert_eq!(address, "127.0.0.2:81");
        assert!(
            tunnel.starts_with("CONNECT a.test:443 HTTP/1.1\r\n") && tunnel.contains("Proxy-Authorization: Basic dTpw")
        );
    }
}
