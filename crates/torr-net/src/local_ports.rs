//! The supply of ephemeral ports: their number, and the time for which TIME_WAIT holds each.

use std::fs;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Linux's default range, used where `/proc` has none.
const DEFAULT: RangeInclusive<u16> = 32_768..=60_999;

/// The time for which the side that closes a connection holds its port, a constant of Linux.
const TIME_WAIT: Duration = Duration::from_secs(60);

/// The time after which `tcp_tw_reuse` allows another connection to the same destination to use the port: TCP timestamps
/// have to differ by a second.
const REUSE_AFTER: Duration = Duration::from_secs(1);

/// Returns the number of ports for connections from one address of this machine to one destination.
pub fn count() -> u64 {
    let reserved = read("ip_local_reserved_ports").unwrap_or_default();
    count_of(&read("ip_local_port_range").unwrap_or_default(), &reserved)
}

/// Returns the time for which a port is held after this side has closed its connection.
pub fn time_wait(on_loopback: bool) -> Duration {
    // 1 is everywhere, 2 on loopback only, the default.
    match read("tcp_tw_reuse").unwrap_or_default().trim() {
        "1" => REUSE_AFTER,
        "2" if on_loopback => REUSE_AFTER,
        _ => TIME_WAIT,
    }
}

fn read(name: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()
}

fn count_of(range: &str, reserved: &str) -> u64 {
    let ends: Vec<u16> = range.split_whitespace().filter_map(|end| end.parse().ok()).collect();
    let range = if let [first, last] = ends[..] { first..=last } else { DEFAULT };
    let reserved = reserved.trim().split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<u16>().ok()?.max(*range.start())..=last.parse::<u16>().ok()?.min(*range.end()))
    });
    let reserved: usize = reserved.map(|ports| ports.len()).sum();
    range.len().saturating_sub(reserved) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_ports_are_not_counted() {
        for (range, reserved, count) in [
            ("32768\t60999\n", "\n", 28_232),
            ("40000 40099", "", 100),
            ("40000 40099", "40000,40010-40019,1-10,40099-50000", 88),
            ("", "", 28_232),
            ("60999 32768", "", 0),
        ] {
            assert_eq!(count_of(range, reserved), count, "{range:?}, {reserved:?}");
        }
        assert!(count() > 0);
        assert!(time_wait(true) <= time_wait(false));
    }
}
