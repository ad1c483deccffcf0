//! The option `localIPs`: addresses, ranges and networks that requests come from.

use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The largest number of addresses that are used: those of a larger network are left out from there on.
const MOST: u128 = 65_536;

/// Returns the addresses of a list with commas, in their order.
///
/// # Errors
/// If a part is neither an address nor a range such as `10.0.0.1-10.0.0.9` nor a network such as `10.0.0.0/24`.
pub(super) fn addresses(list: &str) -> Result<Vec<IpAddr>, String> {
    let mut all = Vec::new();
    for part in list.split(',').map(str::trim) {
        let (first, last) = block(part)
            .ok_or_else(|| format!("localIPs: expected an address, a range or a network, found '{part}'"))?;
        let most = MOST - (all.len() as u128).min(MOST);
        all.extend((first..=last).take(usize::try_from(most).unwrap_or(usize::MAX)).map(|number| {
            match part.contains(':') {
                true => IpAddr::V6(Ipv6Addr::from_bits(number)),
                false => IpAddr::V4(Ipv4Addr::from_bits(number as u32)),
            }
        }));
    }
    Ok(all)
}

/// Returns the first and the last address of a part, as numbers.
fn block(part: &str) -> Option<(u128, u128)> {
    let number = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    let parsed = |text: &str| text.parse::<IpAddr>().ok();
    if let Some((first, last)) = part.split_once('-') {
        let (first, last) = (parsed(first)?, parsed(last)?);
        let (from, to) = (number(first), number(last));
        return (first.is_ipv4() == last.is_ipv4() && from <= to).then_some((from, to));
    }
    if let Ok(network) = part.parse::<IpNet>() {
        let (first, last) = (number(network.network()), number(network.broadcast()));
        // The first and the last address of a network of IPv4 are not those of a host.
        let has_ends = network.addr().is_ipv4() && last - first >= 2;
        return Some(if has_ends { (first + 1, last - 1) } else { (first, last) });
    }
    let address = number(parsed(part)?);
    Some((address, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_addresses_ranges_and_networks() {
        let shown =
            |list: &str| addresses(list).map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        for (list, expected) in [
            ("127.0.0.1", "127.0.0.1"),
            ("10.0.0.254-10.0.1.1,::1", "10.0.0.254 10.0.0.255 10.0.1.0 10.0.1.1 ::1"),
            ("10.0.0.0/30", "10.0.0.1 10.0.0.2"),
            ("10.0.0.4/31,10.0.0.9/32", "10.0.0.4 10.0.0.5 10.0.0.9"),
            ("fd00::/127", "fd00:: fd00::1"),
        ] {
            assert_eq!(shown(list).as_deref(), Ok(expected), "{list}");
        }
        for list in ["", "host", "10.0.0.9-10.0.0.1", "10.0.0.1-::1", "10.0.0.0/33", "10.0.0.1,"] {
            assert!(shown(list).is_err_and(|why| why.starts_with("localIPs: ")), "{list}");
        }
        assert_eq!(addresses("fd00::/64,10.0.0.1").map(|all| all.len()), Ok(MOST as usize));
    }
}
