//! From two readings to what happened between them.

use super::reading::{
    ClientCounts, ListenerCounts, MachineCounts, NetworkCounts, PeerCounts, ProcessCounts, QuotaCounts, Reading,
    ThreadCounts,
};
use super::{
    ClientsUse, DatagramSocketsUse, ListenerUse, MachineUse, NetworkUse, PeerUse, ProcessUse, ProgramUse, QuotaUse,
    Signals, ThreadUse,
};

/// The most threads of a process that are reported.
const THREADS: usize = 100;
/// The most programs beside the server that are reported.
const PROGRAMS: usize = 8;
/// The least CPU in cores of a program that is reported.
const LEAST_CORES: f64 = 0.01;

impl Signals {
    /// Returns the signals between two readings of one watcher, the earlier one first. Nothing is known between the readings of
    /// two watchers.
    pub fn between(earlier: &Reading, later: &Reading) -> Self {
        if earlier.watcher != later.watcher {
            return Self::default();
        }
        let seconds = later.at_us.saturating_sub(earlier.at_us) as f64 / 1e6;
        let span = Span {
            seconds,
            begin_us: earlier.at_us,
            end_us: later.at_us,
            samples: later.socket_samples.saturating_sub(earlier.socket_samples) as f64,
            quotas: earlier.all_processes().filter_map(|process| process.quota.as_ref()).collect(),
        };
        Self {
            seconds,
            machine: earlier.machine.zip(later.machine).and_then(|(then, now)| span.machine(&then, &now)),
            network: earlier.network.zip(later.network).map(|(then, now)| network(&then, &now)),
            listeners: later.listeners.iter().map(|listener| span.listener(earlier, listener)).collect(),
            clients: later.clients.as_ref().and_then(|now| span.clients(earlier.clients.as_ref(), now)),
            processes: span.processes(&earlier.processes, &later.processes),
            peers: span.peers(&earlier.peers, &later.peers),
            others: span.others(earlier, later),
            lookups: ratio(
                rise(earlier.lookups_sum, later.lookups_sum),
                rise(earlier.lookup_samples, later.lookup_samples),
            )
            .filter(|mean| *mean > 0.0),
            datagram_sockets: earlier.datagram_sockets.zip(later.datagram_sockets).map(|(then, now)| {
                DatagramSocketsUse { sockets: now.sockets, dropped: now.dropped.saturating_sub(then.dropped) }
            }),
            other_namespace: later.other_namespace,
        }
    }
}

impl QuotaUse {
    /// Returns the use of a quota between two readings that are `seconds` apart. `None` if they are not of the same cgroup.
    pub fn between(earlier: &QuotaCounts, later: &QuotaCounts, seconds: f64) -> Option<Self> {
        let used = later.used_us.zip(earlier.used_us).map(|(now, then)| now.saturating_sub(then) as f64 / 1e6);
        (earlier.cgroup == later.cgroup).then(|| Self {
            cgroup: later.cgroup.clone(),
            cores: later.cores,
            used_cores: used.and_then(|used| ratio(used, seconds)),
            periods: later.periods.saturating_sub(earlier.periods),
            throttled_periods: later.throttled_periods.saturating_sub(earlier.throttled_periods),
        })
    }
}

/// The time between two readings.
struct Span<'a> {
    seconds: f64,
    begin_us: u64,
    end_us: u64,
    /// The number of samples of the kernel's sockets.
    samples: f64,
    /// The quotas of the earlier reading: a process that came later is mostly in the cgroup of another one.
    quotas: Vec<&'a QuotaCounts>,
}

/// `None` where nothing was counted.
fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn share(part: f64, whole: f64) -> Option<f64> {
    ratio(part, whole).map(|share| share.clamp(0.0, 1.0))
}

/// Returns the increase of a counter.
fn rise(then: u64, now: u64) -> f64 {
    now.saturating_sub(then) as f64
}

fn known_rise(then: Option<u64>, now: Option<u64>) -> Option<u64> {
    Some(now?.saturating_sub(then?))
}

fn network(then: &NetworkCounts, now: &NetworkCounts) -> NetworkUse {
    NetworkUse {
        active_opens: known_rise(then.active_opens, now.active_opens),
        passive_opens: known_rise(then.passive_opens, now.passive_opens),
        listen_overflows: known_rise(then.listen_overflows, now.listen_overflows),
        listen_drops: known_rise(then.listen_drops, now.listen_drops),
        half_open_drops: known_rise(then.half_open_drops, now.half_open_drops),
        syn_retransmits: known_rise(then.syn_retransmits, now.syn_retransmits),
        retransmits: known_rise(then.retransmits, now.retransmits),
        segments_sent: known_rise(then.segments_sent, now.segments_sent),
        delayed_acks: known_rise(then.delayed_acks, now.delayed_acks),
        time_wait: now.time_wait,
        local_ports: now.local_ports,
    }
}

fn thread(seconds: f64, then: Option<&ThreadCounts>, now: &ThreadCounts) -> ThreadUse {
    let none = ThreadCounts::default();
    let then = then.unwrap_or(&none);
    let samples = rise(then.samples, now.samples);
    let per_second = |then: Option<u64>, now: Option<u64>| ratio(rise(then.unwrap_or_default(), now?), seconds);
    let waiting = now.waiting.iter().filter_map(|(what, &now)| {
        let share = share(rise(then.waiting.get(what).copied().unwrap_or_default(), now), samples)?;
        (share > 0.0).then(|| (what.clone(), share))
    });
    ThreadUse {
        tid: now.tid,
        name: now.name.clone(),
        cores: share(rise(then.cpu_ns, now.cpu_ns) / 1e9, seconds).unwrap_or_default(),
        queued: per_second(then.queued_ns, now.queued_ns).map(|nanoseconds| (nanoseconds / 1e9).min(1.0)),
        waits_per_s: per_second(then.waits, now.waits),
        running: share(rise(then.running, now.running), samples),
        waiting: waiting.collect(),
    }
}

impl Span<'_> {
    fn machine(&self, then: &MachineCounts, now: &MachineCounts) -> Option<MachineUse> {
        let total = now.total_s - then.total_s;
        let steal = now.steal_s.zip(then.steal_s).map(|(now, then)| now - then);
        let pressure = now.pressure_s.zip(then.pressure_s).map(|(now, then)| now - then);
        Some(MachineUse {
            cores: now.cores,
            cpu_share: 1.0 - share(now.idle_s - then.idle_s, total)?,
            steal_share: steal.and_then(|steal| share(steal, total)),
            cpu_pressure: pressure.and_then(|pressure| share(pressure, self.seconds)),
        })
    }

    fn listener(&self, earlier: &Reading, now: &ListenerCounts) -> ListenerUse {
        self.queue(earlier.listeners.iter().find(|then| then.address == now.address), now)
    }

    /// Returns the accept queue of a listener.
    fn queue(&self, then: Option<&ListenerCounts>, now: &ListenerCounts) -> ListenerUse {
        let none = ListenerCounts::default();
        let then = then.unwrap_or(&none);
        ListenerUse {
            address: now.address.clone(),
            sockets: now.sockets,
            backlog: now.backlog,
            queued_mean: ratio(rise(then.queued_sum, now.queued_sum), self.samples),
            queued_max: now.queued.largest_since(&then.queued),
        }
    }

    fn clients(&self, then: Option<&ClientCounts>, now: &ClientCounts) -> Option<ClientsUse> {
        let none = ClientCounts::default();
        let then = then.unwrap_or(&none);
        let mean = |then, now| ratio(rise(then, now), self.samples);
        let limited = rise(then.limited_us, now.limited_us);
        let busy = now.busy_us.map(|now| rise(then.busy_us.unwrap_or_default(), now));
        Some(ClientsUse {
            established: mean(then.established_sum, now.established_sum)?,
            unread: mean(then.unread_sum, now.unread_sum)?,
            unsent: mean(then.unsent_sum, now.unsent_sum)?,
            rtt_us: ratio(rise(then.rtt_us_sum, now.rtt_us_sum), rise(then.rtt_count, now.rtt_count)),
            min_rtt_us: now.min_rtt_us.least_since(&then.min_rtt_us).map(f64::from),
            window_limited: busy.and_then(|busy| share(limited, busy)),
        })
    }

    /// The busiest first. Of those that have ended, only those that did something.
    fn processes(&self, then: &[ProcessCounts], now: &[ProcessCounts]) -> Vec<ProcessUse> {
        let same = |a: &ProcessCounts, b: &ProcessCounts| (a.pid, a.started) == (b.pid, b.started);
        let uses = now.iter().map(|now| self.process(then.iter().find(|then| same(then, now)), now));
        let mut uses: Vec<_> = uses.filter(|process| process.thread_count > 0 || process.cores > 0.0).collect();
        uses.sort_by(|a, b| b.cores.total_cmp(&a.cores));
        uses
    }

    fn process(&self, then: Option<&ProcessCounts>, now: &ProcessCounts) -> ProcessUse {
        let none = ProcessCounts::default();
        let then = then.unwrap_or(&none);
        // One that was found later has been counted for less.
        let seconds = self.end_us.saturating_sub(self.begin_us.max(now.since_us)) as f64 / 1e6;
        let thread = |now: &ThreadCounts| thread(seconds, then.threads.iter().find(|then| then.tid == now.tid), now);
        let mut threads: Vec<_> = now.threads.iter().map(thread).collect();
        threads.sort_by(|a, b| b.cores.total_cmp(&a.cores));
        threads.truncate(THREADS);
        let quota = now.quota.as_ref();
        ProcessUse {
            pid: now.pid,
            name: now.name.clone(),
            cores: ratio(rise(then.cpu_us, now.cpu_us) / 1e6, seconds).unwrap_or_default(),
            allowed_cores: now.allowed_cores,
            threads,
            thread_count: now.thread_count,
            open_files: now.open_files,
            file_limit: now.file_limit,
            quota: quota.and_then(|now| self.quotas.iter().find_map(|then| QuotaUse::between(then, now, self.seconds))),
        }
    }

    /// The programs that have no part in the run.
    fn others(&self, earlier: &Reading, later: &Reading) -> Vec<ProgramUse> {
        let before = |name: &str| earlier.others.iter().find(|then| then.name == name).map_or(0, |then| then.cpu_us);
        let cores = |name: &str, now: u64| ratio(rise(before(name), now) / 1e6, self.seconds).unwrap_or_default();
        let uses =
            later.others.iter().map(|now| ProgramUse { name: now.name.clone(), cores: cores(&now.name, now.cpu_us) });
        let mut uses: Vec<_> = uses.filter(|program| program.cores >= LEAST_CORES).collect();
        uses.sort_by(|a, b| b.cores.total_cmp(&a.cores));
        uses.truncate(PROGRAMS);
        uses
    }

    /// Returns the peers, those with the most traffic first.
    fn peers(&self, then: &[PeerCounts], now: &[PeerCounts]) -> Vec<PeerUse> {
        let none = PeerCounts::default();
        let before = |now: &PeerCounts| then.iter().find(|then| then.address == now.address).unwrap_or(&none);
        let mut peers: Vec<_> = now.iter().filter_map(|now| self.peer(before(now), now)).collect();
        let traffic = |peer: &PeerUse| (peer.sends_per_s.unwrap_or(0.0), peer.connections);
        peers.sort_by(|a, b| traffic(b).partial_cmp(&traffic(a)).unwrap_or(std::cmp::Ordering::Equal));
        peers
    }

    /// `None` for one that there was no connection to.
    fn peer(&self, then: &PeerCounts, now: &PeerCounts) -> Option<PeerUse> {
        let connections =
            ratio(rise(then.connections_sum, now.connections_sum), self.samples).filter(|&mean| mean > 0.0)?;
        let known = |then: Option<u64>, now: Option<u64>, whole| ratio(rise(then.unwrap_or_default(), now?), whole);
        Some(PeerUse {
            address: now.address.clone(),
            role: now.role,
            connections,
            connections_max: now.connections.largest_since(&then.connections).unwrap_or_default() as usize,
            kept: share(rise(then.kept, now.kept), rise(then.candidates, now.candidates)),
            waiting: known(then.waiting_sum, now.waiting_sum, self.samples),
            sends_per_s: known(then.sends, now.sends, self.seconds),
            bytes_per_s: known(then.bytes, now.bytes, self.seconds),
            rtt_us: ratio(rise(then.rtt_us_sum, now.rtt_us_sum), rise(then.rtt_count, now.rtt_count)),
            processes: self.processes(&then.processes, &now.processes),
            listener: now.listener.as_ref().map(|now| self.queue(then.listener.as_ref(), now)),
            accepted: known(then.accepted_sum, now.accepted_sum, self.samples),
            unread: known(then.unread_sum, now.unread_sum, self.samples),
            peers: self.peers(&then.peers, &now.peers),
        })
    }
}

impl Reading {
    fn all_processes(&self) -> impl Iterator<Item = &ProcessCounts> {
        let peers = self.peers.iter().flat_map(|peer| std::iter::once(peer).chain(&peer.peers));
        self.processes.iter().chain(peers.flat_map(|peer| &peer.processes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Levels, ProgramCounts};
    use super::*;

    fn quota(periods: u64, throttled_periods: u64, used_us: Option<u64>) -> QuotaCounts {
        QuotaCounts { cgroup: "/web".into(), cores: 0.5, used_us, periods, throttled_periods }
    }

    fn process(pid: i32, started: u64, cpu_us: u64, quota: QuotaCounts) -> ProcessCounts {
        ProcessCounts { pid, started, cpu_us, thread_count: 1, quota: Some(quota), ..ProcessCounts::default() }
    }

    fn reading(at_us: u64, processes: Vec<ProcessCounts>) -> Reading {
        Reading { watcher: 1, at_us, socket_samples: at_us / 50_000, processes, ..Reading::default() }
    }

    #[test]
    fn a_process_that_takes_a_number_over_is_another_one() {
        let earlier = reading(1_000_000, vec![process(7, 10, 900_000, quota(10, 5, Some(100_000)))]);
        let later = vec![process(7, 99, 400_000, quota(30, 20, Some(1_100_000)))];
        let seen = Signals::between(&earlier, &reading(3_000_000, later));
        assert_eq!((seen.seconds, seen.processes[0].cores), (2.0, 0.2));
        // It is in the cgroup of the one before.
        let used = seen.processes[0].quota.clone().expect("it is known from before");
        assert_eq!((used.periods, used.throttled_periods, used.used_cores), (20, 15, Some(0.5)));
    }

    #[test]
    fn a_process_that_was_found_late_is_counted_from_there() {
        let found = ProcessCounts { since_us: 2_500_000, ..process(7, 10, 250_000, quota(0, 0, None)) };
        let seen = Signals::between(&reading(1_000_000, vec![]), &reading(3_000_000, vec![found]));
        assert_eq!(seen.processes[0].cores, 0.5);
        // Its cgroup is not known from before.
        assert_eq!(seen.processes[0].quota, None);
    }

    #[test]
    fn other_programs_are_sorted_by_their_cpu_between_the_readings() {
        let program = |name: &str, cpu_us| ProgramCounts { name: name.into(), cpu_us };
        let earlier =
            Reading { others: vec![program("idle", 900_000), program("cc", 100_000)], ..reading(1_000_000, vec![]) };
        let others = vec![program("idle", 900_000), program("cc", 500_000), program("new", 1_000_000)];
        let later = Reading { others, ..reading(3_000_000, vec![]) };
        let seen = Signals::between(&earlier, &later);
        let others: Vec<_> = seen.others.iter().map(|program| (program.name.as_str(), program.cores)).collect();
        assert_eq!(others, [("new", 0.5), ("cc", 0.2)]);
        assert_eq!([0.1, 0.3, 0.6].map(|least| seen.busiest_others(least).count()), [2, 1, 0]);
    }

    #[test]
    fn what_was_not_counted_is_not_zero() {
        let nothing = Signals::between(&reading(0, vec![]), &reading(1_000_000, vec![]));
        assert!(nothing.machine.is_none() && nothing.network.is_none() && nothing.clients.is_none());
        let clients = |established_sum| Some(ClientCounts { established_sum, ..ClientCounts::default() });
        let at = |at_us, clients| Reading { clients, ..reading(at_us, vec![]) };
        let seen = Signals::between(&at(0, clients(0)), &at(1_000_000, clients(60))).clients.expect("it was counted");
        assert_eq!((seen.established, seen.rtt_us, seen.min_rtt_us, seen.window_limited), (3.0, None, None, None));
        // No sample has been taken in between.
        assert_eq!(Signals::between(&at(1, clients(5)), &at(2, clients(5))).clients, None);
        let unknown = quota(10, 5, None);
        assert_eq!(QuotaUse::between(&unknown, &quota(11, 5, Some(7)), 1.0).expect("it is the same").used_cores, None);
        let elsewhere = QuotaCounts { cgroup: "/other".into(), ..unknown.clone() };
        assert_eq!(QuotaUse::between(&unknown, &elsewhere, 1.0), None);
    }

    #[test]
    fn peers_are_those_that_there_was_a_connection_to() {
        let peer = |address: &str, connections_sum, waiting_sum| {
            let connections = Levels::default();
            PeerCounts { address: address.into(), connections_sum, connections, waiting_sum, ..PeerCounts::default() }
        };
        let with = |at_us, peers| Reading { peers, ..reading(at_us, vec![]) };
        let earlier = with(0, vec![peer("a:1", 40, Some(10)), peer("b:2", 40, Some(10))]);
        let later = with(1_000_000, vec![peer("a:1", 40, Some(10)), peer("b:2", 80, Some(30)), peer("c:3", 20, None)]);
        let seen = Signals::between(&earlier, &later).peers;
        let peers: Vec<_> = seen.iter().map(|peer| (peer.address.as_str(), peer.connections, peer.waiting)).collect();
        assert_eq!(peers, [("b:2", 2.0, Some(1.0)), ("c:3", 1.0, None)]);
    }
}
