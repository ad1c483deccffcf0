//! The servers that a script's requests go to: names are looked up as the options say.

use crate::options::Options;
use ipnet::IpNet;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use torr_net::tls::{Roots, TlsSettings, Versions};
use torr_net::{Address, address};
use torr_press::{Destination, Target};

/// What options say about servers.
struct Rules {
    hosts: BTreeMap<String, String>,
    blocked: Vec<String>,
    blacklist: Vec<IpNet>,
    accepts_any: bool,
    versions: Versions,
}

/// Returns what finds the way to the server of an origin.
///
/// # Errors
/// If an option cannot be used.
pub fn finder(
    options: &Options,
) -> Result<impl Fn(&str) -> Result<Destination, String> + Send + Sync + 'static, String> {
    let networks = options.blacklist_ips.iter().flatten();
    let network = |text: &String| {
        let single = || text.parse::<IpAddr>().ok().map(IpNet::from);
        text.parse::<IpNet>()
            .ok()
            .or_else(single)
            .ok_or_else(|| format!("blacklistIPs: expected a network, found '{text}'"))
    };
    let rules = Arc::new(Rules {
        hosts: options.hosts.clone().unwrap_or_default(),
        blocked: options.block_hostnames.clone().unwrap_or_default(),
        blacklist: networks.map(network).collect::<Result<_, _>>()?,
        accepts_any: options.insecure_skip_tls_verify == Some(true),
        versions: versions(options),
    });
    Ok(move |origin: &str| rules.find(origin))
}

fn versions(options: &Options) -> Versions {
    let Some(given) = &options.tls_version else { return Versions::Both };
    let is_last = |version: &Option<String>| version.as_deref() == Some("tls1.3");
    match (is_last(&given.min), given.max.as_deref().is_none_or(|max| max == "tls1.3")) {
        (true, _) => Versions::Tls13,
        (false, false) => Versions::Tls12,
        (false, true) => Versions::Both,
    }
}

impl Rules {
    fn find(&self, origin: &str) -> Result<Destination, String> {
        let target = Target::parse(origin).map_err(|error| error.to_string())?;
        if self.blocked.iter().any(|pattern| is_matched(pattern, &target.host)) {
            return Err(format!("hostname ({}) is in a blocked pattern", target.host));
        }
        let addresses = match self.mapped(&target.host, target.port) {
            Some(address) => vec![address],
            None => address::resolve(&target.host, target.port)
                .map_err(|error| format!("cannot resolve '{}': {error}", target.host))?,
        };
        // By default IPv4 is preferred, and one address of each name is used.
        let preferred: Vec<_> = addresses.iter().copied().filter(SocketAddr::is_ipv4).collect();
        let addresses = if preferred.is_empty() { addresses } else { preferred };
        if let Some(address) =
            addresses.iter().find(|address| self.blacklist.iter().any(|net| net.contains(&address.ip())))
        {
            return Err(format!("IP ({}) is in a blacklisted range", address.ip()));
        }
        let tls = match target.tls {
            true => {
                let roots = if self.accepts_any { Roots::AcceptAny } else { Roots::System };
                let settings = TlsSettings { roots, versions: self.versions, ..TlsSettings::new(&*target.host) };
                Some(settings.load().map_err(|error| error.to_string())?)
            }
            false => None,
        };
        Ok(Destination { addresses: addresses.into_iter().map(Address::Tcp).collect(), tunnel: None, tls, target })
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

/// Returns whether a name matches a pattern, which may begin with `*`.
fn is_matched(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) => name.len() >= end.len() && name[name.len() - end.len()..].eq_ignore_ascii_case(end),
        None => pattern.eq_ignore_ascii_case(name),
    }
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
        let find = finder(&options).expect("the options are right");
        let address = |origin: &str| find(origin).map(|found| found.addresses[0].to_string());
        assert_eq!(address("http://a.test:81").as_deref(), Ok("127.0.0.1:81"));
        assert_eq!(address("http://b.test:80").as_deref(), Ok("127.0.0.1:8080"));
        assert_eq!(address("http://x.c.test:80").as_deref(), Ok("127.0.0.3:1"));
        assert!(address("http://x.evil.test:80").is_err_and(|why| why.contains("blocked pattern")));
        assert!(address("http://127.0.0.2:80").is_err_and(|why| why.contains("blacklisted")));
        options.blacklist_ips = Some(vec!["somewhere".to_owned()]);
        assert!(finder(&options).is_err_and(|why| why.contains("'somewhere'")));
    }
}
