//! A reading in Prometheus' text format. All that is counted goes on rising, so that rates can be made of it.

use std::fmt::Write;
use torr_signals::{ProcessCounts, Reading};

/// The text of a reading; `target` names the service, if one is watched.
pub fn text(reading: &Reading, target: &str) -> String {
    let mut page = Page::default();
    machine(&mut page, reading);
    network(&mut page, reading);
    if reading.watcher != 0 {
        service(&mut page, reading, target);
    }
    page.0
}

/// One series' labels and value.
type Series = (Vec<(&'static str, String)>, f64);

#[derive(Default)]
struct Page(String);

impl Page {
    /// Something that only rises.
    fn counter(&mut self, name: &str, help: &str, series: impl IntoIterator<Item = Series>) {
        self.family(name, "counter", help, series);
    }

    fn gauge(&mut self, name: &str, help: &str, series: impl IntoIterator<Item = Series>) {
        self.family(name, "gauge", help, series);
    }

    /// Appends a family of series, none if it is empty.
    fn family(&mut self, name: &str, kind: &str, help: &str, series: impl IntoIterator<Item = Series>) {
        let mut series = series.into_iter().peekable();
        if series.peek().is_none() {
            return;
        }
        // Nothing can go wrong in writing to a string.
        let _ = writeln!(self.0, "# HELP torr_watch_{name} {help}\n# TYPE torr_watch_{name} {kind}");
        for (labels, value) in series {
            let labels: Vec<_> =
                labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let _ = writeln!(self.0, "torr_watch_{name}{labels} {value}");
        }
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn one(value: Option<f64>) -> Option<Series> {
    Some((vec![], value?))
}

fn machine(page: &mut Page, reading: &Reading) {
    let Some(machine) = reading.machine else { return };
    page.gauge("cpus", "CPUs of the machine.", one(Some(machine.cores as f64)));
    let modes = [("all", Some(machine.total_s)), ("idle", Some(machine.idle_s)), ("steal", machine.steal_s)];
    let series = modes.into_iter().filter_map(|(mode, value)| Some((vec![("mode", mode.into())], value?)));
    page.counter("cpu_seconds_total", "Time of all CPUs.", series);
    page.counter("cpu_pressure_seconds_total", "Time in which something waited for a CPU.", one(machine.pressure_s));
}

fn network(page: &mut Page, reading: &Reading) {
    let Some(network) = reading.network else { return };
    let counts = [
        ("tcp_active_opens_total", "Connections that were opened from here.", network.active_opens),
        ("tcp_passive_opens_total", "Connections that were accepted here.", network.passive_opens),
        ("tcp_listen_overflows_total", "Connections that found an accept queue full.", network.listen_overflows),
        ("tcp_listen_drops_total", "Connections that a listener dropped.", network.listen_drops),
        (
            "tcp_half_open_drops_total",
            "Connections that found the queue of half-open ones full.",
            network.half_open_drops,
        ),
        ("tcp_syn_retransmits_total", "SYN packets that were sent again.", network.syn_retransmits),
        ("tcp_retransmits_total", "Segments that were sent again.", network.retransmits),
        ("tcp_segments_sent_total", "Segments that were sent.", network.segments_sent),
        ("tcp_delayed_acks_total", "Acknowledgements that were held back.", network.delayed_acks),
    ];
    for (name, help, count) in counts {
        page.counter(name, help, one(count.map(|count| count as f64)));
    }
    page.gauge("tcp_time_wait", "Sockets in TIME_WAIT.", one(network.time_wait.map(|count| count as f64)));
}

fn service(page: &mut Page, reading: &Reading, target: &str) {
    let of = |label: &'static str, value: &str| vec![("service", target.to_owned()), (label, value.to_owned())];
    let service = || vec![("service", target.to_owned())];
    let samples = reading.socket_samples as f64;
    page.counter(
        "samples_total",
        "How often sockets were looked at: what else is counted by sample is to be divided by this.",
        [(service(), samples)],
    );
    let listeners = || reading.listeners.iter();
    let queued = listeners().map(|listener| (of("listener", &listener.address), listener.queued_sum as f64));
    page.counter("accept_queue_total", "Connections that waited to be accepted, by sample.", queued);
    let backlog =
        listeners().filter_map(|listener| Some((of("listener", &listener.address), listener.backlog?.into())));
    page.gauge("accept_queue_limit", "How many may wait at one socket.", backlog);
    let clients = reading.clients.as_ref();
    let states =
        clients.map(|c| [("established", c.established_sum), ("unread", c.unread_sum), ("unsent", c.unsent_sum)]);
    let series = states.into_iter().flatten().map(|(state, count)| (of("state", state), count as f64));
    page.counter(
        "connections_total",
        "Accepted connections by sample: all, with unread bytes, with bytes not acknowledged.",
        series,
    );
    processes(page, &|process| of("process", &format!("{} {}", process.name, process.pid)), &reading.processes);
    let peers = || reading.peers.iter();
    let connections = peers().map(|peer| (of("peer", &peer.address), peer.connections_sum as f64));
    page.counter("peer_connections_total", "Connections to others, by sample.", connections);
    let waiting = peers().filter_map(|peer| Some((of("peer", &peer.address), peer.waiting_sum? as f64)));
    page.counter("peer_waiting_total", "Of those, how many had a request in flight.", waiting);
    let sends = peers().filter_map(|peer| Some((of("peer", &peer.address), peer.sends? as f64)));
    page.counter("peer_segments_sent_total", "Segments with data that were sent to them.", sends);
    let cpu = peers().filter(|peer| !peer.processes.is_empty()).map(|peer| {
        let used: u64 = peer.processes.iter().map(|process| process.cpu_us).sum();
        (of("peer", &peer.address), used as f64 / 1e6)
    });
    page.counter("peer_cpu_seconds_total", "CPU time of their processes, where those run on this machine.", cpu);
}

fn processes(page: &mut Page, labels: &dyn Fn(&ProcessCounts) -> Vec<(&'static str, String)>, all: &[ProcessCounts]) {
    let with = |value: fn(&ProcessCounts) -> Option<f64>| {
        all.iter().filter_map(move |process| Some((labels(process), value(process)?)))
    };
    page.counter(
        "process_cpu_seconds_total",
        "CPU time of the server's processes.",
        with(|p| Some(p.cpu_us as f64 / 1e6)),
    );
    page.gauge("process_threads", "Threads of the server's processes.", with(|p| Some(p.thread_count as f64)));
    page.gauge("process_open_files", "Open files.", with(|p| Some(p.open_files? as f64)));
    page.gauge("process_file_limit", "How many files may be open.", with(|p| Some(p.file_limit? as f64)));
    page.gauge("quota_cpus", "The CPU quota that a process is under.", with(|p| Some(p.quota.as_ref()?.cores)));
    page.counter("quota_periods_total", "Periods of that quota.", with(|p| Some(p.quota.as_ref()?.periods as f64)));
    let throttled = with(|p| Some(p.quota.as_ref()?.throttled_periods as f64));
    page.counter("quota_throttled_periods_total", "Of those, throttled ones.", throttled);
}
