//! The figures that rules read, from the experiments that every diagnosis makes.

mod threads;

use crate::ladder::Ladder;
use crate::thresholds::{
    CHEAP, FETCHED_FOR_LITTLE, FULL_THREAD, FULL_THREAD_USES, HELD_UP, LEAST_WORK, MACHINE_FULL, MANY_TRIPS,
    MOST_OF_FULL_MACHINE, MOST_OF_THE_WORK, MOSTLY_CONNECTING, MUCH_FETCHED, NOT_HELD_UP, SERVED, SERVER_COMPUTES,
    SERVERS_PART, STARVED_THREAD, WORKING_THREAD,
};
use crate::weather::Weather;
use serde::Serialize;
use std::time::Duration;
use torr_gauge::verdict::{CheapRequest, Fact, Speedup};
use torr_signals::{ClientsUse, PeerUse, ProcessUse, QuotaUse, Role, Signals, ThreadUse};

/// Returns whether the server, rather than the load generator, saturates the machine that they share, by the CPU of each in cores. Used
/// by active and passive rules, so that they agree.
pub fn server_fills(server: f64, generator: f64) -> bool {
    server >= SERVERS_PART * generator
}

/// The figures of a diagnosis.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figures {
    /// The connections of the user's load.
    pub connections: usize,
    /// The most requests in flight of the user's load.
    pub in_flight: usize,
    /// The throughput of a null service with as many connections, in responses per second.
    pub null_rps: Option<f64>,
    /// The throughput of a null service with a connection for each request, in responses per second.
    pub null_rps_connecting: Option<f64>,
    /// The least response time of single requests in seconds.
    pub alone_least_s: f64,
    /// The mean response time of single requests in seconds, without the hypervisor's pauses.
    pub alone_mean_s: f64,
    /// The median response time of single requests in seconds.
    pub alone_median_s: f64,
    /// The quartiles of the response times of single requests in seconds, between which their middle half lies. `None` if they are not
    /// known.
    pub alone_middle_s: Option<(f64, f64)>,
    /// The least round-trip time of TCP in seconds.
    pub round_trip_s: Option<f64>,
    /// A request that costs the server little, if one was found.
    pub cheap: Option<Cheap>,
    /// Throughput by connections.
    pub ladder: Ladder,
    /// A light load of cheap requests while the target was just saturated.
    pub beside: Option<Beside>,
    /// The signals of the server's machine under the user's load. CPU includes what the hypervisor took.
    pub signals: Option<Signals>,
    /// The utilisation of the generator's busiest thread under the user's load, 0 to 1.
    /// `None` until that load has run, and if the agents that sent it reported no thread.
    pub generator_busy: Option<f64>,
    /// CPU that the generator used, in cores.
    pub generator_cores: Option<f64>,
    /// Whether the server's machine is observed, and is the generator's.
    pub same_machine: bool,
    /// Threads of the generator.
    pub generator_threads: usize,
    /// The generator's CPU quota, if it has one.
    pub own_quota: Option<QuotaUse>,
    /// The number of workers that idled under the user's load while another was saturated, but worked under other loads.
    pub idle_workers: usize,
    /// The throughput of the user's load when workers idled, if they did not with other connections; in responses per second.
    pub uneven_rps: Option<f64>,
    /// The proxy that requests pass through, if it takes CPU that the service behind it could use.
    pub before: Option<Before>,
    /// The services behind the proxy, if these are examined as the server.
    pub behind: Vec<String>,
    /// The requests that wait for these services, as evidence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues_behind: Vec<Fact>,
    /// The disturbance of the experiments by other programs. `None` if the server's machine is not visible.
    pub weather: Option<Weather>,
}

/// A proxy and the service behind it on a saturated machine.
#[derive(Debug, Clone, Serialize)]
pub struct Before {
    /// The names of the proxy's processes.
    pub proxy: String,
    /// CPU that the proxy used, in cores.
    pub proxy_cores: f64,
    /// The names of the service behind it.
    pub behind: String,
    /// CPU that the service used, in cores.
    pub behind_cores: f64,
    /// The ratio of throughput without the proxy.
    pub contrast: Speedup,
}

/// A request that the server handles without the target's work.
#[derive(Debug, Clone, Serialize)]
pub struct Cheap {
    /// The request, for the report.
    pub what: CheapRequest,
    /// The median response time of single requests in seconds, with connecting.
    pub alone_s: f64,
    /// The part of that time for connecting, in seconds.
    pub connect_s: f64,
}

/// The times of a light load beside the target's load.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Beside {
    /// The connections of the target's load.
    pub connections: usize,
    /// The light load's median time to connect, in seconds.
    pub connect_s: f64,
    /// The light load's median time from connecting to the response, in seconds; `None` if there was no response.
    pub response_s: Option<f64>,
}

impl Figures {
    /// Returns the service time of a single request in seconds, without the network. Where the network takes most of the response time,
    /// the remainder is uncertain, and an upper bound is returned.
    pub fn service_s(&self) -> f64 {
        self.service_of(self.alone_mean_s)
    }

    /// Returns the part of a single request's response time that is not the network's, in seconds.
    fn service_of(&self, alone_s: f64) -> f64 {
        let way = self.round_trip_s.unwrap_or(0.0);
        (alone_s - way).max(alone_s * LEAST_WORK).max(1e-6)
    }

    /// Returns the number of requests in service at the highest throughput.
    pub fn parallelism(&self) -> f64 {
        self.ladder.parallelism(Duration::from_secs_f64(self.service_s()))
    }

    /// Returns the bounds of the number of requests in service, by the middle half of the response times of single requests.
    pub fn parallelism_range(&self) -> Option<(f64, f64)> {
        let (low, high) = self.alone_middle_s?;
        let held = |alone_s| self.ladder.parallelism(Duration::from_secs_f64(self.service_of(alone_s)));
        Some((held(low), held(high)))
    }

    /// Returns the throughput of the user's load.
    pub fn rps(&self) -> f64 {
        self.ladder.at(self.connections).unwrap_or_else(|| self.ladder.most())
    }

    /// Returns the share of the user's requests that are in service rather than in a queue: 1 where each response takes as long as that
    /// of a single request.
    pub fn utilisation(&self) -> f64 {
        self.rps() * self.alone_mean_s / self.in_flight.max(1) as f64
    }

    /// Returns the messages to a peer for each request.
    pub fn trips_per_request(&self, peer: &PeerUse) -> Option<f64> {
        Some(peer.sends_per_s? / self.rps().max(1e-9))
    }

    /// Makes the services behind the proxy the server of these figures.
    pub fn look_behind(&mut self, behind: &[PeerUse]) {
        self.behind = behind.iter().map(PeerUse::label).collect();
        if let Some(signals) = &mut self.signals {
            signals.processes = behind.iter().flat_map(|peer| peer.processes.clone()).collect();
            signals.processes.dedup_by_key(|process| process.pid);
            signals.peers.retain(|other| behind.iter().all(|peer| peer.address != other.address));
            let further = behind.iter().flat_map(|peer| &peer.peers);
            let further: Vec<_> = further
                .filter(|further| signals.peers.iter().all(|peer| peer.address != further.address))
                .cloned()
                .collect();
            signals.peers.extend(further);
            let sides = behind.iter().map(|peer| Some((peer.accepted?, unread(peer)?)));
            let sides: Option<Vec<_>> = sides.collect();
            signals.clients = sides.map(|sides| ClientsUse {
                established: sides.iter().map(|(accepted, _)| accepted).sum(),
                unread: sides.iter().map(|(_, unread)| unread).sum(),
                ..ClientsUse::default()
            });
        }
        self.queues_behind = behind.iter().filter_map(queue).collect();
        // These figures were the proxy's.
        (self.cheap, self.beside, self.idle_workers) = (None, None, 0);
    }

    /// Returns whether the target's load delays a light load, so that both share the limited resource. `None` if that is unknown.
    pub fn others_wait(&self) -> Option<bool> {
        let (cheap, beside) = (self.cheap.as_ref()?, self.beside?);
        if cheap.alone_s > CHEAP * self.alone_median_s {
            return None;
        }
        let Some(response) = beside.response_s else { return Some(true) };
        let (held, service) = (response - cheap.alone_s, self.service_s());
        match held / service {
            share if share >= HELD_UP => Some(true),
            share if share <= NOT_HELD_UP => Some(false),
            _ => None,
        }
    }

    /// Returns the increase of the time to connect while the target is saturated, in seconds. A saturated link delays connecting; a busy
    /// application does not, since the kernel accepts.
    pub fn connect_delay_s(&self) -> Option<f64> {
        Some((self.beside?.connect_s - self.cheap.as_ref()?.connect_s).max(0.0))
    }

    /// Returns whether most of what the target's load delays a light load by is the time to connect.
    pub fn connecting_waits(&self) -> bool {
        let response = self.beside.and_then(|beside| beside.response_s);
        let alone = self.cheap.as_ref().map(|cheap| cheap.alone_s);
        let held = response.zip(alone).map(|(response, alone)| response - alone).filter(|held| *held > 0.0);
        self.connect_delay_s().zip(held).is_some_and(|(delay, held)| delay >= MOSTLY_CONNECTING * held)
    }

    /// Returns the server's CPU in cores, if its processes are visible.
    pub fn server_cores(&self) -> Option<f64> {
        self.signals.as_ref().filter(|signals| !signals.processes.is_empty()).map(Signals::server_cores)
    }

    /// Returns the generator's CPU in cores on the server's machine.
    pub fn generator_there(&self) -> f64 {
        self.generator_cores.filter(|_| self.same_machine).unwrap_or(0.0)
    }

    /// Returns the factor of throughput for which the machine has CPU, at least 1, if the server can use all that is free, and its peers
    /// and the generator on the same machine grow in proportion. `None` if the machine is not visible.
    pub fn room(&self) -> Option<f64> {
        let cores = self.cores()? as f64;
        let machine = self.signals.as_ref()?.machine?;
        let used = self.server_cores()? + self.peer_cores() + self.generator_there();
        let foreign = (machine.cpu_share * machine.cores as f64 - used).max(0.0);
        Some(((cores - foreign).max(0.0) / used.max(0.01)).max(1.0))
    }

    /// Returns the CPU in cores of the server's peers on the same machine.
    pub fn peer_cores(&self) -> f64 {
        self.signals.as_ref().map_or(0.0, Signals::peer_cores)
    }

    /// Returns the number of CPUs that the server may use.
    pub fn cores(&self) -> Option<usize> {
        let signals = self.signals.as_ref()?;
        let machine = signals.machine?.cores;
        let allowed = signals.processes.iter().filter_map(|process| process.allowed_cores).max();
        Some(allowed.map_or(machine, |allowed| allowed.min(machine)))
    }

    /// Returns the share of the server's machine's CPU that all programs use.
    pub fn machine_share(&self) -> Option<f64> {
        self.signals.as_ref()?.machine.map(|machine| machine.cpu_share)
    }

    /// Returns the share of the server's machine's CPU that the hypervisor gave to others.
    pub fn stolen_share(&self) -> f64 {
        self.signals.as_ref().map_or(0.0, Signals::stolen_share)
    }

    /// Returns the CPU in cores that the server got, without what the hypervisor took.
    pub fn least_server_cores(&self) -> Option<f64> {
        Some(self.server_cores()? / self.signals.as_ref().map_or(1.0, Signals::steal_factor))
    }

    /// Returns the largest share of the time in which a working thread of the server was ready but had no CPU.
    pub fn server_waits_for_cpu(&self) -> Option<f64> {
        let busiest = self.busiest_thread()?.queued?;
        let workers = self.threads().filter(|thread| thread.cores >= WORKING_THREAD);
        Some(workers.filter_map(|thread| thread.queued).fold(busiest, f64::max))
    }

    /// Returns whether a working thread of the server other than the busiest one was starved of CPU.
    pub fn another_starves(&self) -> bool {
        let busiest = self.busiest_thread().map(|thread| thread.tid);
        self.threads()
            .filter(|thread| Some(thread.tid) != busiest && thread.cores >= WORKING_THREAD)
            .any(|thread| thread.queued.is_some_and(|queued| queued >= STARVED_THREAD))
    }

    /// Returns whether the server needs more CPU than it gets: the machine is saturated, and the server's threads wait for a CPU.
    pub fn wants_cpu(&self) -> bool {
        self.machine_share().is_some_and(|share| share >= MACHINE_FULL)
            && self.server_waits_for_cpu().is_none_or(|share| share >= SERVED)
    }

    /// Returns whether the server has most of a full machine: without another limit it could have a tenth more CPU at most.
    pub fn has_most_of_full_machine(&self) -> bool {
        self.machine_share().is_some_and(|share| share >= MACHINE_FULL)
            && self
                .server_cores()
                .zip(self.cores())
                .is_some_and(|(used, cores)| used >= MOST_OF_FULL_MACHINE * cores as f64)
    }

    /// Returns the CPU that one thread wanted which does most of the server's work, in cores: a thread that computes does not wait.
    /// 0 if the work is spread over several threads.
    pub fn worker_demand(&self) -> f64 {
        let busiest = self.busiest_thread().filter(|thread| {
            thread.cores >= FULL_THREAD_USES && thread.cores >= MOST_OF_THE_WORK * self.server_cores().unwrap_or(0.0)
        });
        busiest.map_or(0.0, ThreadUse::demand)
    }

    /// Returns the number of the server's saturated threads.
    pub fn full_threads(&self) -> usize {
        self.threads().filter(|thread| thread.demand() >= FULL_THREAD && thread.cores >= FULL_THREAD_USES).count()
    }

    /// Returns the server's thread that used most CPU.
    pub fn busiest_thread(&self) -> Option<&ThreadUse> {
        self.threads().max_by(|a, b| a.cores.total_cmp(&b.cores))
    }

    fn threads(&self) -> impl Iterator<Item = &ThreadUse> {
        self.signals.iter().flat_map(Signals::threads)
    }

    /// Returns the server's processes.
    pub fn processes(&self) -> impl Iterator<Item = &ProcessUse> {
        self.signals.iter().flat_map(|signals| &signals.processes)
    }

    /// Returns a database or a cache with many messages for each request, and their number.
    pub fn many_trips(&self) -> Option<(&PeerUse, f64)> {
        let queried = self.databases().filter_map(|peer| Some((peer, self.trips_per_request(peer)?)));
        queried.max_by(|(_, a), (_, b)| a.total_cmp(b)).filter(|(_, trips)| *trips >= MANY_TRIPS)
    }

    /// A database from which far more comes for each request than goes to the client, while it is the server that computes; and how
    /// many bytes that are. `answered` is what goes to the client.
    pub fn much_fetched(&self, answered: f64) -> Option<(&PeerUse, f64)> {
        let peer = self.databases().find(|peer| peer.role == Role::Database)?;
        let fetched = peer.bytes_per_s? / self.rps().max(1e-9);
        let computes = self.server_cores()? > SERVER_COMPUTES * peer.cores();
        (computes && fetched > MUCH_FETCHED && fetched > FETCHED_FOR_LITTLE * answered).then_some((peer, fetched))
    }

    /// Databases and caches that the server talks to.
    pub fn databases(&self) -> impl Iterator<Item = &PeerUse> {
        self.peers().filter(|peer| peer.role != Role::Other)
    }

    /// All that the server talks to.
    pub fn peers(&self) -> impl Iterator<Item = &PeerUse> {
        self.signals.iter().flat_map(|signals| &signals.peers)
    }

    /// Returns the mean number of the user's requests in the application. The others waited in the kernel
    /// to be accepted or read. `None` if the kernel does not tell.
    pub fn in_service(&self) -> Option<f64> {
        self.signals.as_ref()?.in_service()
    }

    /// Returns the throughput of a null service, per second. `None` if it was not measured, or if it was slower than the target:
    /// what is slower than the thing that it is to measure is no yardstick.
    pub fn yardstick(&self) -> Option<f64> {
        self.null_rps.filter(|&null| null >= self.rps())
    }

    /// Returns as evidence what a null service reaches beside the target, if it is a yardstick.
    pub fn null_service(&self) -> Option<Fact> {
        Some(Fact::NullService { null_rps: self.yardstick()?, rps: self.rps() })
    }

    /// Returns as evidence the CPU that the server used, if its processes are visible.
    pub fn server_cpu(&self) -> Option<Fact> {
        Some(Fact::ServerCpu { used_cores: self.server_cores()?, cores: self.cores(), busiest_thread: None })
    }

    /// Returns as evidence the CPU of the server's machine that all programs used.
    pub fn machine_cpu(&self) -> Option<Fact> {
        let machine = self.signals.as_ref()?.machine?;
        Some(Fact::MachineCpu { share: machine.cpu_share, cores: Some(machine.cores) })
    }

    /// The share of what this machine can do in which it opened connections, if it opened so many per request. `None` if the service
    /// that does nothing does not tell: it was not measured, or opened fewer connections than the target under its load.
    pub fn connecting_share(&self, opened_per_request: f64) -> Option<f64> {
        let (null, connecting) = (self.null_rps?, self.null_rps_connecting?);
        let opened = self.rps() * opened_per_request;
        let share = (1.0 / connecting - 1.0 / null) * opened;
        (connecting <= null && opened <= connecting).then(|| share.clamp(0.0, 1.0))
    }
}

/// Returns the mean number of connections that a service has accepted and not read from. A process for each connection has read its request,
/// though bytes may be left: FastCGI ends a request with a record that PHP does not read.
fn unread(peer: &PeerUse) -> Option<f64> {
    let has_process_for_each = peer.processes.len() as f64 >= peer.accepted?;
    if has_process_for_each { Some(0.0) } else { peer.unread }
}

/// Returns the requests that wait for a service behind the server, if there are any.
fn queue(peer: &PeerUse) -> Option<Fact> {
    let (accepted, unread, queued) = (peer.accepted?, peer.unread?, peer.queued()?);
    (queued + unread >= 1.0).then(|| Fact::PeerQueue { peer: peer.label(), accepted, unread, queued })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::Rung;
    use torr_signals::{ListenerUse, MachineUse};

    /// A service that takes 5 ms for a request, of which so many go on at a time.
    fn figures(held: f64) -> Figures {
        let rung = |connections: usize| Rung {
            connections,
            rps: 200.0 * held.min(connections as f64),
            median_s: 0.005 * (connections as f64 / held).max(1.0),
        };
        Figures {
            connections: 100,
            in_flight: 100,
            alone_least_s: 0.005,
            alone_mean_s: 0.005,
            alone_median_s: 0.005,
            ladder: Ladder([1, 2, 4, 8, 100].map(rung).into()),
            cheap: Some(Cheap { what: CheapRequest::AbsentPath, alone_s: 0.0002, connect_s: 0.0001 }),
            ..Figures::default()
        }
    }

    fn beside(response_s: Option<f64>) -> Option<Beside> {
        Some(Beside { connections: 6, connect_s: 0.0001, response_s })
    }

    #[test]
    fn parallelism_and_utilisation_follow_from_the_ladder() {
        let four = figures(4.0);
        assert!((four.parallelism() - 4.0).abs() < 0.01 && (four.utilisation() - 0.04).abs() < 0.001);
        assert!((figures(1000.0).utilisation() - 1.0).abs() < 0.001, "nobody queues");
    }

    #[test]
    fn where_the_way_is_most_of_a_request_no_parallelism_below_one_is_made_up() {
        let far = Figures { round_trip_s: Some(0.0052), ..figures(1.0) };
        assert!(far.service_s() > 0.0005, "{}", far.service_s());
    }

    #[test]
    fn others_wait_if_a_light_load_is_held_up_and_who_is_never_answered_waits() {
        for (response, expected) in
            [(Some(0.0003), Some(false)), (Some(0.004), Some(true)), (None, Some(true)), (Some(0.0011), None)]
        {
            assert_eq!(Figures { beside: beside(response), ..figures(4.0) }.others_wait(), expected, "{response:?}");
        }
        assert_eq!(figures(4.0).others_wait(), None, "nothing was measured");
        let dear = Cheap { what: CheapRequest::WithoutHost, alone_s: 0.005, connect_s: 0.0001 };
        assert_eq!(Figures { cheap: Some(dear), beside: beside(Some(0.02)), ..figures(4.0) }.others_wait(), None);
    }

    #[test]
    fn threads_that_take_turns_differ_from_idle_ones_and_from_workers() {
        let thread = |name: &str, wait: &str, share, waits_per_s| ThreadUse {
            name: name.into(),
            waiting: [(wait.to_owned(), share)].into(),
            waits_per_s: Some(waits_per_s),
            ..ThreadUse::default()
        };
        let threads = vec![
            thread("worker-1", "futex_do_wait", 0.7, 60.0),
            thread("worker-12", "locks_lock_inode_wait", 0.6, 60.0),
            thread("worker-15", "futex_do_wait", 1.0, 3.0),
            thread("worker-13", "futex_do_wait", 1.0, 0.0),
            thread("clock", "futex_do_wait", 1.0, 20.0),
            thread("loop", "do_epoll_wait", 0.9, 60.0),
            thread("worker-14", "hrtimer_nanosleep", 1.0, 200.0),
        ];
        let processes = vec![ProcessUse { threads, ..ProcessUse::default() }];
        let clients = Some(ClientsUse { established: 100.0, unread: 84.0, ..ClientsUse::default() });
        let signals = Some(Signals { processes, clients, ..Signals::default() });
        let figures = Figures { signals, ..figures(1.0) };
        assert_eq!((figures.taking_turns(), figures.holding(), figures.in_service()), (2, 1, Some(16.0)));
        let past = |held| figures.past_lock(held);
        assert!(past(1.8).is_some_and(|past| (past - 0.7).abs() < 1e-9), "{:?}", past(1.8));
        assert_eq!(past(2.5), None, "more requests are in service than threads contend");
        assert_eq!(Figures::default().in_service(), None, "unknown is not none");
    }

    #[test]
    fn what_is_behind_a_proxy_is_not_judged_by_the_proxys_workers() {
        let mut figures = Figures { idle_workers: 1, beside: beside(Some(0.001)), ..figures(1.0) };
        figures.look_behind(&[]);
        assert!(figures.idle_workers == 0 && figures.beside.is_none() && figures.cheap.is_none());
    }

    #[test]
    fn bytes_that_a_process_for_each_connection_leaves_are_no_unread_requests() {
        let front = |processes: usize, accepted, bytes| {
            let mut figures = Figures { signals: Some(Signals::default()), ..figures(1.0) };
            let processes = vec![ProcessUse::default(); processes];
            let listener = Some(ListenerUse { queued_mean: Some(90.0), ..ListenerUse::default() });
            let (accepted, unread) = (Some(accepted), Some(bytes));
            figures.look_behind(&[PeerUse { processes, accepted, unread, listener, ..PeerUse::default() }]);
            (figures.in_service(), figures.queues_behind.len())
        };
        assert_eq!(front(9, 8.0, 8.0), (Some(8.0), 1), "eight processes with a request each");
        assert_eq!(front(1, 60.0, 50.0), (Some(10.0), 1), "an event loop");
    }

    #[test]
    fn a_worker_without_cpu_differs_from_a_helper() {
        let figures = |others: &[(f64, f64)]| {
            let threads = [(0.96, 0.02)].iter().chain(others).zip(1..);
            let thread = |(&(cores, queued), tid): (&(f64, f64), i32)| ThreadUse {
                tid,
                cores,
                queued: Some(queued),
                ..ThreadUse::default()
            };
            let processes = vec![ProcessUse { threads: threads.map(thread).collect(), ..ProcessUse::default() }];
            Figures { signals: Some(Signals { processes, ..Signals::default() }), ..figures(1.0) }
        };
        let starved =
            |others: &[(f64, f64)]| (figures(others).another_starves(), figures(others).server_waits_for_cpu());
        assert_eq!(starved(&[]), (false, Some(0.02)));
        assert_eq!(starved(&[(0.03, 0.9)]), (false, Some(0.02)), "it has next to nothing to do");
        assert_eq!(starved(&[(0.17, 0.81)]), (true, Some(0.81)));
        assert_eq!(starved(&[(0.5, 0.05)]), (false, Some(0.05)));
    }

    #[test]
    fn the_cost_of_connections_is_that_of_a_service_that_does_nothing() {
        let figures = Figures { null_rps: Some(100_000.0), null_rps_connecting: Some(25_000.0), ..figures(1.0) };
        // 30 us for a connection, 200 of them a second.
        let share = figures.connecting_share(1.0).expect("both were measured");
        assert!((share - 0.006).abs() < 1e-6, "{share}");
        // A target that opens more connections than the service that does nothing could is not measured by it.
        let fast = Figures {
            ladder: Ladder(vec![Rung { connections: 100, rps: 26_000.0, median_s: 0.004 }]),
            ..figures.clone()
        };
        assert_eq!((fast.connecting_share(1.0), fast.connecting_share(0.5).is_some()), (None, true));
        assert_eq!(Figures::default().connecting_share(1.0), None);
    }

    #[test]
    fn what_is_slower_than_the_thing_it_measures_is_no_yardstick() {
        let with = |null_rps| Figures { null_rps, ..figures(4.0) };
        assert_eq!(with(Some(1_000.0)).yardstick(), Some(1_000.0), "the target reaches 800/s");
        let fact = Fact::NullService { null_rps: 1_000.0, rps: 800.0 };
        assert_eq!(with(Some(1_000.0)).null_service(), Some(fact));
        assert_eq!((with(Some(799.0)).yardstick(), with(Some(799.0)).null_service()), (None, None));
        assert_eq!(with(None).yardstick(), None);
    }

    #[test]
    fn a_machine_that_both_fill_is_the_servers_down_to_four_fifths() {
        for (server, generator, is_servers) in
            [(1.1, 0.9, true), (0.9, 1.1, true), (0.8, 1.1, false), (0.2, 1.8, false)]
        {
            assert_eq!(server_fills(server, generator), is_servers, "{server} {generator}");
        }
    }

    #[test]
    fn a_server_that_the_hypervisor_paused_used_between_what_it_got_and_what_it_wanted() {
        let machine = MachineUse { cores: 2, cpu_share: 0.5, steal_share: Some(0.2), cpu_pressure: None };
        let processes = vec![ProcessUse { cores: 0.6, ..ProcessUse::default() }];
        let seen = Signals { machine: Some(machine), processes, ..Signals::default() };
        let figures = Figures { signals: Some(seen.without_steal()), ..figures(1.0) };
        let (wanted, got) =
            (figures.server_cores().expect("it is seen"), figures.least_server_cores().expect("it is seen"));
        assert!((wanted - 1.0).abs() < 1e-9 && (got - 0.6).abs() < 1e-9, "{wanted} {got}");
        assert_eq!(figures.stolen_share(), 0.2);
    }
}
