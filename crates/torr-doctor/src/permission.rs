//! The services that may be examined without a flag: those on loopback and private addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is loopback, link-local or of a private network (RFC 1918, RFC 4193): one that packets from the
/// internet do not reach.
pub fn is_ours(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_ours_v4(address),
        IpAddr::V6(address) => is_ours_v6(address),
    }
}

fn is_ours_v4(address: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_private() || address.is_link_local() || address.is_unspecified()
}

fn is_ours_v6(address: Ipv6Addr) -> bool {
    // The unspecified address is connected to as loopback is.
    let network = address.is_unique_local() || address.is_unicast_link_local();
    network || address.is_loopback() || address.is_unspecified()
}

/// Why `command` leaves an address alone unless its user vouches for it, in one line.
pub fn refusal(address: IpAddr, command: &str) -> String {
    format!(
        "{address} is a public address, and '{command}' may overload it; if you are responsible for this service, add \
         --i-own-this"
    )
}

/// The first of these addresses that needs a word from its user.
pub fn not_ours(addresses: impl IntoIterator<Item = IpAddr>) -> Option<IpAddr> {
    addresses.into_iter().find(|&address| !is_ours(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> IpAddr {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn what_the_internet_does_not_reach_is_ours() {
        for ours in [
            "127.0.0.1",
            "127.9.9.9",
            "10.0.0.1",
            "10.255.255.255",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "169.254.1.1",
            "0.0.0.0",
            "::1",
            "::",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(is_ours(parsed(ours)), "{ours}");
        }
    }

    #[test]
    fn all_else_needs_a_word() {
        for theirs in [
            "8.8.8.8",
            "192.0.2.1",
            "203.0.113.1",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "11.0.0.0",
            "100.64.0.1",
            "2001:db8::1",
            "2606:4700::1",
            "fe00::1",
            "fec0::1",
            "::ffff:8.8.8.8",
            "ff02::1",
            "224.0.0.1",
            "255.255.255.255",
        ] {
            assert!(!is_ours(parsed(theirs)), "{theirs}");
        }
    }

    #[test]
    fn one_foreign_address_among_ours_is_found() {
        let all = ["127.0.0.1", "192.0.2.1", "10.0.0.1"].map(parsed);
        assert_eq!(not_ours(all), Some(all[1]));
        assert_eq!(not_ours([all[0], all[2]]), None);
        let line = refusal(all[1], "torr limit");
        assert!(line.contains("192.0.2.1") && line.contains("--i-own-this") && line.lines().count() == 1, "{line}");
    }
}
