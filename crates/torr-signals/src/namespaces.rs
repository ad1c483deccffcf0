//! Network namespaces of this machine other than one's own, as those of containers: which of them has a server's address.
//!
//! Only root may look into those of other users' processes (`CAP_SYS_PTRACE` to read them, `CAP_SYS_ADMIN` to ask for their sockets).

use super::holders::{listening, numbers};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs::{File, read_dir, read_link, read_to_string};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// A network namespace, by a process in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Namespace {
    /// This process's own.
    Own,
    /// That of a process with this id.
    Of(i32),
}

impl Namespace {
    /// Returns the directory with the namespace's tables.
    pub fn tables(self) -> PathBuf {
        match self {
            Self::Own => "/proc/net".into(),
            Self::Of(pid) => format!("/proc/{pid}/net").into(),
        }
    }

    /// Returns the link that identifies the namespace.
    pub fn link(self) -> PathBuf {
        match self {
            Self::Own => "/proc/self/ns/net".into(),
            Self::Of(pid) => format!("/proc/{pid}/ns/net").into(),
        }
    }

    /// Returns what tells the namespace from others. `None` if this process may not read that.
    pub fn identity(self) -> Option<PathBuf> {
        read_link(self.link()).ok()
    }

    /// Does something in the namespace, on a thread of its own, which ends: so none has to return.
    ///
    /// # Errors
    /// Those of the kernel, such as a lack of rights to enter the namespace, and those of what is done.
    pub fn enter<T: Send + 'static>(self, act: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
        let enter = move || {
            let link = File::open(self.link())?;
            move_into_link_name_space(link.as_fd(), Some(LinkNameSpaceType::Network))?;
            act()
        };
        let thread = std::thread::Builder::new().name("torr-namespace".into()).spawn(enter)?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended too early")))
    }

    /// Returns the namespace, other than this one, that has the addresses and listeners at them. `None` if there is none, if the addresses
    /// lead from this process's namespace to another machine, which may have the address of a container, or if this process may not look
    /// there. Loopback addresses are each namespace's own, so they are in no other.
    pub fn other_with(self, addresses: &[SocketAddr]) -> Option<Self> {
        if addresses.is_empty() || addresses.iter().any(|address| address.ip().to_canonical().is_loopback()) {
            return None;
        }
        // The devices that another namespace's routes name are not visible from here.
        if self == Self::Own && !leads_to_namespace(addresses) {
            return None;
        }
        let mut seen: HashSet<PathBuf> = self.identity().into_iter().collect();
        for pid in numbers(Path::new("/proc")) {
            let other = Self::Of(pid);
            let is_new = other.identity().is_some_and(|identity| seen.insert(identity));
            if is_new && addresses.iter().all(|address| other.has(*address)) {
                return Some(other);
            }
        }
        None
    }

    /// Returns whether an address is one of the namespace's, and a socket listens there.
    fn has(self, address: SocketAddr) -> bool {
        let takes = |local: SocketAddr| super::holders::takes(local, address);
        self.owns(address.ip().to_canonical()) && !listening(&self.tables(), takes).is_empty()
    }

    fn owns(self, ip: IpAddr) -> bool {
        let table = |name: &str| read_to_string(self.tables().join(name)).unwrap_or_default();
        match ip {
            IpAddr::V4(ip) => is_local_v4(&table("fib_trie"), ip),
            IpAddr::V6(ip) => is_local_v6(&table("if_inet6"), ip),
        }
    }
}

/// Returns whether addresses that are not this namespace's own lead into another namespace of this machine, as far as that is visible without
/// any rights: they are reached through a bridge without a network card, or through a virtual pair of devices.
pub fn leads_to_namespace(addresses: &[SocketAddr]) -> bool {
    let routes = |name: &str| read_to_string(Namespace::Own.tables().join(name)).unwrap_or_default();
    let is_inside = |address: &SocketAddr| {
        let ip = address.ip().to_canonical();
        if ip.is_loopback() || Namespace::Own.owns(ip) {
            return false;
        }
        let device = match ip {
            IpAddr::V4(ip) => device_v4(&routes("route"), ip),
            IpAddr::V6(ip) => device_v6(&routes("ipv6_route"), ip),
        };
        device.is_some_and(|device| is_internal(&device))
    };
    !addresses.is_empty() && addresses.iter().all(is_inside)
}

/// Returns whether the kernel's table of routes (`fib_trie`) has an address as one of the namespace's own.
fn is_local_v4(fib_trie: &str, ip: Ipv4Addr) -> bool {
    let leaf = format!("|-- {ip}");
    let mut lines = fib_trie.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if line == leaf && lines.next().is_some_and(|next| next.starts_with("/32 host LOCAL")) {
            return true;
        }
    }
    false
}

fn is_local_v6(if_inet6: &str, ip: Ipv6Addr) -> bool {
    let digits = format!("{:032x}", ip.to_bits());
    if_inet6.lines().any(|line| line.split_whitespace().next() == Some(&digits))
}

/// Returns the device through which an address is reached directly, without a gateway, by the kernel's table of routes (`route`).
fn device_v4(routes: &str, ip: Ipv4Addr) -> Option<String> {
    let number = |text: &str| u32::from_str_radix(text, 16).ok().map(u32::swap_bytes);
    let fits = routes.lines().skip(1).filter_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let (network, gateway, mask) = (number(fields.get(1)?)?, number(fields.get(2)?)?, number(fields.get(7)?)?);
        (ip.to_bits() & mask == network).then(|| (mask, gateway, (*fields[0]).to_owned()))
    });
    let (_, gateway, device) = fits.max_by_key(|(mask, ..)| *mask)?;
    (gateway == 0).then_some(device)
}

/// Returns the device through which an address is reached directly, without a gateway, by the kernel's table of routes (`ipv6_route`:
/// network, length of its prefix, source, length, gateway, metric, references, uses, flags and device). `None` for an address that is only
/// valid on one link: each has the same network.
fn device_v6(routes: &str, ip: Ipv6Addr) -> Option<String> {
    if ip.is_unicast_link_local() {
        return None;
    }
    let fits = routes.lines().filter_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let number = |at: usize| u128::from_str_radix(fields.get(at)?, 16).ok();
        let (network, prefix, gateway, metric) = (number(0)?, number(1)?, number(4)?, number(5)?);
        let mask = u128::MAX.checked_shl(128u32.checked_sub(u32::try_from(prefix).ok()?)?).unwrap_or(0);
        (ip.to_bits() & mask == network).then(|| ((prefix, Reverse(metric)), gateway, fields.get(9).copied()))
    });
    let (_, gateway, device) = fits.max_by_key(|(closeness, ..)| *closeness)?;
    device.filter(|_| gateway == 0).map(str::to_owned)
}

/// Returns whether a device has no network card behind it: a bridge of virtual devices, or an end of a virtual pair.
fn is_internal(device: &str) -> bool {
    let folder = Path::new("/sys/class/net").join(device);
    if !folder.exists() {
        // The mounted folder shows the devices of another namespace: this process has joined one, whose devices are hardly ever cards.
        return true;
    }
    let is_card = |name: &str| Path::new("/sys/class/net").join(name).join("device").exists();
    if folder.join("bridge").exists() {
        let ports = read_dir(folder.join("brif")).into_iter().flatten().flatten();
        return !ports.map(|port| port.file_name()).any(|name| is_card(&name.to_string_lossy()));
    }
    let text = |name: &str| read_to_string(folder.join(name)).unwrap_or_default();
    let is_over_others = || {
        let entries = read_dir(&folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with("lower_"))
    };
    // A virtual pair is an Ethernet (ARPHRD_ETHER) without a type of its own, unlike a VLAN, and without another device below it. The index
    // of its other end is that of another namespace, where it may be the same. A TAP device and an unbound tunnel lead elsewhere.
    let is_pair = text("type").trim() == "1" && !text("uevent").contains("DEVTYPE=") && text("iflink").trim() != "0";
    is_pair && !is_card(device) && !folder.join("tun_flags").exists() && !is_over_others()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIE: &str = "Local:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 172.17.0.0\n        /16 link UNICAST\n     |-- 172.17.0.2\n        \
                        /32 host LOCAL\n     |-- 172.17.255.255\n        /32 link BROADCAST\n";
    const ROUTES: &str = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
                          eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
                          docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n";

    #[test]
    fn a_device_of_a_namespace_whose_devices_are_not_mounted_is_internal() {
        assert!(is_internal("of-a-namespace") && !is_internal("lo"));
    }

    #[test]
    fn an_address_is_local_where_the_table_of_routes_says_so() {
        let is_local = |ip: &str| is_local_v4(TRIE, ip.parse().expect("an address"));
        assert!(is_local("172.17.0.2") && !is_local("172.17.255.255") && !is_local("172.17.0.3"));
        let addresses = "fd000000000000000000000000000007 02 40 00 80 eth0\n";
        assert!(is_local_v6(addresses, "fd00::7".parse().expect("an address")));
        assert!(!is_local_v6(addresses, "fd00::8".parse().expect("an address")));
    }

    #[test]
    fn the_device_is_that_of_the_closest_network_without_a_gateway() {
        let device = |ip: &str| device_v4(ROUTES, ip.parse().expect("an address"));
        assert_eq!(device("172.17.0.2").as_deref(), Some("docker0"));
        assert_eq!(device("198.51.100.1"), None, "a gateway leads there");
        let zero = "0".repeat(32);
        let route = |network: &str, prefix, gateway: &str, metric, device| {
            let network = format!("{network:0<32}");
            format!("{network} {prefix} {zero} 00 {gateway} {metric} 00000001 00000000 00000001 {device:>8}\n")
        };
        let routes = [
            route("fd000001", "40", &zero, "00000100", "docker0"),
            route("fd000001", "40", &zero, "00000400", "later"),
            route("", "00", &format!("fe80{:0>28}", 1), "00000400", "eth0"),
            route("", "00", &zero, "ffffffff", "lo"),
        ];
        let routes = routes.concat();
        let device = |ip: &str| device_v6(&routes, ip.parse().expect("an address"));
        assert_eq!(device("fd00:1::7").as_deref(), Some("docker0"));
        assert_eq!(device("2001:db8::1"), None, "a gateway leads there");
        assert_eq!(device("fe80::1"), None, "each link has such addresses");
    }

    #[test]
    fn this_machine_has_its_own_addresses_and_loopback_leads_nowhere_else() {
        assert!(Namespace::Own.owns([127, 0, 0, 1].into()) && !Namespace::Own.owns([192, 0, 2, 77].into()));
        let loopback = SocketAddr::from(([127, 0, 0, 1], 80));
        assert_eq!(Namespace::Own.other_with(&[loopback]), None);
        assert!(!leads_to_namespace(&[loopback]) && !leads_to_namespace(&[]));
    }
}
