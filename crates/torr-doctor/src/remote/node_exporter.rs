//! What a node_exporter's metrics tell: the machine's CPUs and the kernel's TCP.

use std::collections::BTreeSet;
use torr_signals::{MachineCounts, NetworkCounts, Reading, SCHEMA};

/// The reading that the metrics amount to. `None` if they are not a node_exporter's.
pub(super) fn reading(text: &str, at_us: u64) -> Option<Reading> {
    let machine = machine(text)?;
    let count = |name: &str| samples(text, name).next().map(|(_, value)| value as u64);
    let network = NetworkCounts {
        active_opens: count("node_netstat_Tcp_ActiveOpens"),
        passive_opens: count("node_netstat_Tcp_PassiveOpens"),
        listen_overflows: count("node_netstat_TcpExt_ListenOverflows"),
        listen_drops: count("node_netstat_TcpExt_ListenDrops"),
        half_open_drops: count("node_netstat_TcpExt_TCPReqQFullDrop"),
        syn_retransmits: count("node_netstat_TcpExt_TCPSynRetrans"),
        retransmits: count("node_netstat_Tcp_RetransSegs"),
        segments_sent: count("node_netstat_Tcp_OutSegs"),
        delayed_acks: count("node_netstat_TcpExt_DelayedACKs"),
        time_wait: count("node_sockstat_TCP_tw"),
        local_ports: None,
    };
    let network = (network != NetworkCounts::default()).then_some(network);
    Some(Reading { schema: SCHEMA.into(), at_us, machine: Some(machine), network, ..Reading::default() })
}

fn machine(text: &str) -> Option<MachineCounts> {
    let (mut cpus, mut machine) = (BTreeSet::new(), MachineCounts::default());
    for (labels, seconds) in samples(text, "node_cpu_seconds_total") {
        cpus.insert(label(labels, "cpu")?);
        machine.total_s += seconds;
        match label(labels, "mode")? {
            "idle" | "iowait" => machine.idle_s += seconds,
            "steal" => *machine.steal_s.get_or_insert_default() += seconds,
            _ => {}
        }
    }
    machine.cores = cpus.len();
    machine.pressure_s = samples(text, "node_pressure_cpu_waiting_seconds_total").next().map(|(_, seconds)| seconds);
    (machine.cores > 0).then_some(machine)
}

/// The samples with this name: labels and value.
fn samples<'a>(text: &'a str, name: &str) -> impl Iterator<Item = (&'a str, f64)> {
    text.lines().filter_map(move |line| {
        let rest = line.strip_prefix(name)?;
        let (labels, value) = match rest.strip_prefix('{') {
            Some(rest) => rest.split_once('}')?,
            None => ("", rest.strip_prefix(' ')?),
        };
        // A time may follow.
        Some((labels, value.split_whitespace().next()?.parse().ok()?))
    })
}

fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    labels.split(',').find_map(|label| label.strip_prefix(name)?.strip_prefix("=\"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# HELP node_cpu_guest_seconds_total Seconds the CPUs spent in guests (VMs) for each mode.
# TYPE node_cpu_guest_seconds_total counter
node_cpu_guest_seconds_total{cpu=\"0\",mode=\"user\"} 5
# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 100.5
node_cpu_seconds_total{cpu=\"0\",mode=\"iowait\"} 0.5
node_cpu_seconds_total{cpu=\"0\",mode=\"steal\"} 2
node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 17
node_cpu_seconds_total{cpu=\"1\",mode=\"idle\"} 99
node_cpu_seconds_total{cpu=\"1\",mode=\"user\"} 21
# TYPE node_netstat_Tcp_ActiveOpens untyped
node_netstat_Tcp_ActiveOpens 1.233568e+06
node_netstat_TcpExt_ListenOverflows 7
# TYPE node_pressure_cpu_waiting_seconds_total counter
node_pressure_cpu_waiting_seconds_total 31.25
node_sockstat_TCP_tw 3
";

    #[test]
    fn known_metrics_are_taken_and_others_ignored() {
        let reading = reading(TEXT, 17).expect("it is one");
        let machine =
            MachineCounts { cores: 2, total_s: 240.0, idle_s: 200.0, steal_s: Some(2.0), pressure_s: Some(31.25) };
        assert_eq!(reading.machine, Some(machine));
        let network = reading.network.expect("there is some");
        assert_eq!(
            (network.active_opens, network.listen_overflows, network.time_wait),
            (Some(1_233_568), Some(7), Some(3))
        );
        assert_eq!((network.listen_drops, network.segments_sent), (None, None));
        assert_eq!((reading.at_us, reading.watcher, reading.clients), (17, 0, None));
    }

    #[test]
    fn other_metrics_are_not_a_machines() {
        assert_eq!(super::reading("process_cpu_seconds_total 5\n", 0), None);
        assert_eq!(super::reading("<html>", 0), None);
    }
}
