//! The machine's CPUs and the kernel's TCP, as far as they are one for all processes.

use super::namespaces::Namespace;
use super::reading::{MachineCounts, NetworkCounts};
use procfs::{CpuPressure, Current, CurrentSI};
use std::collections::HashMap;
use std::fs::read_to_string;

/// The CPUs' counts.
pub(super) fn machine() -> Option<MachineCounts> {
    let stats = procfs::KernelStats::current().ok()?;
    let ticks = procfs::ticks_per_second() as f64;
    let cpu = stats.total;
    let idle = cpu.idle + cpu.iowait.unwrap_or(0);
    let busy = cpu.user + cpu.nice + cpu.system + cpu.irq.unwrap_or(0) + cpu.softirq.unwrap_or(0);
    Some(MachineCounts {
        cores: stats.cpu_time.len(),
        total_s: (busy + idle + cpu.steal.unwrap_or(0)) as f64 / ticks,
        idle_s: idle as f64 / ticks,
        steal_s: cpu.steal.map(|steal| steal as f64 / ticks),
        pressure_s: CpuPressure::current().ok().map(|pressure| pressure.some.total as f64 / 1e6),
    })
}

/// The counts of the network namespace that a process is in.
pub(super) fn network(pid: Option<i32>) -> Option<NetworkCounts> {
    let process = pid.map_or("self".to_owned(), |pid| pid.to_string());
    let table = |name: &str| read_to_string(format!("/proc/{process}/net/{name}")).ok();
    let mut counts = table("snmp").map(|text| titled(&text))?;
    counts.extend(table("netstat").map(|text| titled(&text)).unwrap_or_default());
    let count = |name: &str| counts.get(name).copied();
    Some(NetworkCounts {
        active_opens: count("Tcp:ActiveOpens"),
        passive_opens: count("Tcp:PassiveOpens"),
        retransmits: count("Tcp:RetransSegs"),
        segments_sent: count("Tcp:OutSegs"),
        listen_overflows: count("TcpExt:ListenOverflows"),
        listen_drops: count("TcpExt:ListenDrops"),
        half_open_drops: count("TcpExt:TCPReqQFullDrop"),
        syn_retransmits: count("TcpExt:TCPSynRetrans"),
        delayed_acks: count("TcpExt:DelayedACKs"),
        time_wait: table("sockstat").and_then(|text| time_wait(&text)),
        local_ports: local_ports(pid),
    })
}

/// Reads lines that come in twos: titles, and the numbers that belong to them.
fn titled(text: &str) -> HashMap<String, u64> {
    let lines: Vec<_> = text.lines().collect();
    let pairs = lines.chunks_exact(2).filter_map(|pair| {
        let (mut titles, numbers) = (pair[0].split_whitespace(), pair[1].split_whitespace().skip(1));
        let heading = titles.next()?;
        Some(
            titles
                .zip(numbers)
                .filter_map(move |(title, number)| Some((format!("{heading}{title}"), number.parse().ok()?))),
        )
    });
    pairs.flatten().collect()
}

fn time_wait(sockstat: &str) -> Option<u64> {
    let line = sockstat.lines().find(|line| line.starts_with("TCP:"))?;
    let mut words = line.split_whitespace().skip_while(|word| *word != "tw");
    words.nth(1)?.parse().ok()
}

/// Returns the number of local ports for outgoing connections in the network namespace that a process is in. `None` if this process may not
/// enter it: the kernel shows a thread the settings of its own.
fn local_ports(pid: Option<i32>) -> Option<u64> {
    let read = || read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let other = pid.map(Namespace::Of).filter(|of| of.identity() != Namespace::Own.identity());
    let range = other.map_or_else(read, |other| other.enter(read));
    ports_of(&range.ok()?)
}

fn ports_of(range: &str) -> Option<u64> {
    let mut ends = range.split_whitespace().map_while(|end| end.parse::<u64>().ok());
    let (first, last) = (ends.next()?, ends.next()?);
    last.checked_sub(first).map(|more| more + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_numbers_have_the_same_heading() {
        let counts = titled("Tcp: MaxConn OutSegs\nTcp: -1 5\nTcpExt: ListenDrops\nTcpExt: 18446744073709551615\n");
        assert_eq!(counts.get("Tcp:OutSegs"), Some(&5));
        assert_eq!(counts.get("Tcp:MaxConn"), None);
        assert_eq!(counts.get("TcpExt:ListenDrops"), Some(&u64::MAX));
        assert_eq!((ports_of("32768\t60999\n"), ports_of("1000\t999\n"), ports_of("")), (Some(28_232), None, None));
        assert_eq!(time_wait("sockets: used 12\nTCP: inuse 1 orphan 0 tw 31 alloc 1 mem 0\n"), Some(31));
    }

    #[test]
    fn this_machine_tells() {
        let machine = machine().expect("/proc/stat is there on Linux");
        assert!(machine.cores > 0 && machine.total_s > machine.idle_s);
        let network = network(None).expect("/proc/net/snmp is there on Linux");
        assert!(network.active_opens.is_some() && network.listen_drops.is_some() && network.time_wait.is_some());
        assert!(network.local_ports.is_some_and(|ports| ports > 0), "this process shares its own namespace");
    }
}
