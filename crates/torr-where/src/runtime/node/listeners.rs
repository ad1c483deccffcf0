//! The ports at which a process listens on the loopback interface: where the inspector is, and whether it has opened.

use std::collections::BTreeSet;
use std::fs;

/// The most lines of the kernel's lists that are read.
const SOCKETS: usize = 200_000;
/// The state of a listener in the kernel's lists.
const LISTEN: &str = "0A";

/// Returns the ports at which a process listens, by IPv4 or IPv6.
pub fn ports(process: i32) -> BTreeSet<u16> {
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let inodes: BTreeSet<u64> = descriptors
        .filter_map(|entry| {
            let link = fs::read_link(entry.path()).ok()?;
            link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect();
    let mut ports = BTreeSet::new();
    for table in ["tcp", "tcp6"] {
        let text = fs::read_to_string(format!("/proc/{process}/net/{table}")).unwrap_or_default();
        ports.extend(text.lines().skip(1).take(SOCKETS).filter_map(|line| listener(line, &inodes)));
    }
    ports
}

/// Returns the port of a line of the kernel's list, if it is a listener with one of the inodes.
fn listener(line: &str, inodes: &BTreeSet<u64>) -> Option<u16> {
    let words: Vec<_> = line.split_whitespace().collect();
    let is_one = *words.get(3)? == LISTEN && inodes.contains(&words.get(9)?.parse().ok()?);
    is_one.then(|| u16::from_str_radix(words.get(1)?.rsplit_once(':')?.1, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_listener_has_a_port_as_long_as_it_is_open() {
        let own = std::process::id() as i32;
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = listener.local_addr().expect("it is bound").port();
        assert!(ports(own).contains(&port));
        assert!(ports(-1).is_empty());
    }
}
