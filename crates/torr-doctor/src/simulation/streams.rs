//! Services of streams of events that exist only in numbers, as a runner.

mod tests;

use crate::experiment::{NullContent, Request};
use crate::halt::Halt;
use crate::observation::{Observation, Seen};
use crate::runner::{ExperimentRunner, Order};
use std::time::Duration;
use torr_gauge::collector::RunFacts;
use torr_gauge::generator::ThreadCost;
use torr_gauge::result::PlanSummary;
use torr_gauge::{Collector, Factor, Latency, Sample};
use torr_signals::{ClientsUse, MachineUse, ProcessUse, QuotaUse, Signals, ThreadUse};

/// What limits a service.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    /// Nothing.
    None,
    /// All CPUs, by as many threads.
    Cpu,
    /// One thread that sends all events.
    OneThread,
    /// So many threads that each have a stream, and other requests.
    Workers(usize),
    /// So many streams have events; other requests do not wait.
    Semaphore(usize),
    /// So many streams are open; others get 429.
    Refuses(usize),
    /// So many events per second of all streams, though nothing is busy.
    Source(f64),
    /// A quota of so many CPUs.
    Quota(f64),
}

/// A service, its machine and the generator.
#[derive(Debug, Clone, Copy)]
struct Service {
    limit: Limit,
    /// The gap of a stream by design in seconds; 0 for as soon as possible.
    gap_s: f64,
    /// The time to the first event of one stream in seconds.
    first_s: f64,
    /// The number of events of a stream; `None` if it is endless.
    events: Option<f64>,
    /// The CPU time of the server and of the generator for each event in seconds.
    cpu_s: f64,
    generator_s: f64,
    cores: usize,
    streams: usize,
    /// Whether the server's machine is the generator's, and is seen.
    is_seen: bool,
    noise: f64,
}

const HEALTHY: Service = Service {
    limit: Limit::None,
    gap_s: 0.02,
    first_s: 0.001,
    events: None,
    cpu_s: 20e-6,
    generator_s: 4e-6,
    cores: 4,
    streams: 64,
    is_seen: true,
    noise: 0.01,
};

/// The load that a number of streams makes.
struct Load {
    /// The streams that have events, and those that wait.
    open: f64,
    waiting: f64,
    /// Events per second of all streams.
    per_s: f64,
    /// The seconds to the first event, and between two.
    first_s: f64,
    gap_s: f64,
}

impl Service {
    /// Returns the mean time that a stream alone has for each event.
    fn each_s(&self) -> f64 {
        let gap_s = self.gap_s.max(self.cpu_s).max(self.generator_s);
        self.events.map_or(gap_s, |events| (self.first_s + (events - 1.0) * gap_s) / events)
    }

    /// Returns the events per second that all of them together can have.
    fn capacity(&self, limit: Limit, cpu_s: f64) -> f64 {
        let on_machine_s = cpu_s + if self.is_seen { self.generator_s } else { 0.0 };
        let machine = self.cores as f64 / on_machine_s;
        let generator = 1.0 / self.generator_s;
        let own = match limit {
            Limit::OneThread => 1.0 / cpu_s,
            Limit::Source(per_s) => per_s,
            Limit::Quota(cores) => cores / cpu_s,
            _ => f64::INFINITY,
        };
        machine.min(generator).min(own)
    }

    fn load(&self, streams: usize, limit: Limit, cpu_s: f64) -> Load {
        let streams = streams as f64;
        let most = match limit {
            Limit::Workers(most) | Limit::Semaphore(most) | Limit::Refuses(most) => most as f64,
            _ => f64::INFINITY,
        };
        let open = streams.min(most);
        let per_s = (open / self.each_s()).min(self.capacity(limit, cpu_s));
        let stretch = open / self.each_s() / per_s;
        // Streams that follow each other wait their turn.
        let first_s = match self.events {
            Some(_) => self.first_s * stretch + (streams - open) / open * self.each_s() * self.events.unwrap_or(1.0),
            None => self.first_s * stretch,
        };
        Load { open, waiting: streams - open, per_s, first_s, gap_s: self.gap_s.max(self.each_s()) * stretch }
    }

    /// Returns the factors that may be named with certainty.
    fn truths(&self) -> Vec<Factor> {
        let wanted = self.streams as f64 / self.each_s();
        let near = |capacity: f64| wanted > 0.7 * capacity;
        let mut truths = vec![];
        let (all, own) = (self.capacity(Limit::None, self.cpu_s), self.capacity(self.limit, self.cpu_s));
        if wanted < 1.3 * own {
            truths.push(Factor::None);
        }
        if near(self.cores as f64 / (self.cpu_s + self.generator_s)) && self.is_seen {
            truths.push(Factor::ServerCpu);
        }
        if near(1.0 / self.generator_s) || near(all) && self.generator_s > self.cpu_s {
            truths.push(Factor::Generator);
        }
        truths.extend(match self.limit {
            Limit::OneThread if near(own) => Some(Factor::SingleCore),
            Limit::Quota(_) if near(own) => Some(Factor::CpuQuota),
            Limit::Workers(most) if most < self.streams => Some(Factor::Workers),
            Limit::Semaphore(most) if most < self.streams => Some(Factor::Pool),
            Limit::Refuses(most) if most < self.streams => Some(Factor::RateLimit),
            _ => None,
        });
        let has_fewer = matches!(self.limit, Limit::Workers(most) | Limit::Semaphore(most) | Limit::Refuses(most) if most < self.streams);
        truths.retain(|factor| *factor != Factor::None || !has_fewer);
        truths
    }
}

struct Simulation {
    service: Service,
    clock: Duration,
    random: fastrand::Rng,
}

impl Simulation {
    fn of(service: Service, seed: u64) -> Self {
        Self { service, clock: Duration::ZERO, random: fastrand::Rng::with_seed(seed) }
    }

    fn rounded(seconds: f64) -> u64 {
        Latency::rounded((seconds * 1e9) as u64)
    }

    /// Returns an experiment with streams, of the target or of a service that does nothing.
    fn streams(&mut self, order: &Order<'_>) -> Observation {
        let plan = &order.experiment.load;
        let service = self.service;
        let seconds = order.duration.as_secs_f64();
        let (limit, cpu_s) = match plan.request {
            Request::Null(NullContent::Events { .. }) => (Limit::None, 5e-6),
            _ => (service.limit, service.cpu_s),
        };
        let mut load = service.load(plan.connections, limit, cpu_s);
        load.per_s *= 1.0 + service.noise * (self.random.f64() + self.random.f64() - 1.0);
        let mut sample = Sample::default();
        let ended = service.events.map_or(0, |events| (load.per_s * seconds / events) as u64);
        let begun = ended + load.open as u64;
        let streams = sample.streams.get_or_insert_default();
        streams.events = ((load.per_s * seconds) as u64).max(begun);
        streams.first_event.record_many(Self::rounded(load.first_s), begun);
        streams.gaps.record_many(Self::rounded(load.gap_s), streams.events - begun);
        streams.open = load.open as u64;
        streams.open_gaps.record_many(Self::rounded(load.gap_s / 2.0), load.open as u64);
        streams.longest_silence = (load.gap_s * 1e9) as u64;
        let length_s = service.events.map_or(seconds, |events| events * service.each_s());
        sample.answered.record_many(Self::rounded(length_s), ended);
        (0..ended).for_each(|_| sample.status.count(200));
        let refused = if matches!(limit, Limit::Refuses(_)) { load.waiting as u64 * 50 } else { 0 };
        sample.answered.record_many(Self::rounded(0.0005), refused);
        (0..refused).for_each(|_| sample.status.count(429));
        sample.unfinished = if refused > 0 { load.open as u64 } else { plan.connections as u64 };
        sample.unanswered.record_many(Self::rounded(seconds), sample.unfinished);
        let generator = (load.per_s * service.generator_s).min(1.0);
        let signals = service.is_seen.then(|| self.signals(limit, cpu_s, plan.connections, &load, seconds));
        self.observed(order, &sample, (begun + load.waiting as u64 + refused, generator), signals)
    }

    /// Returns an experiment with requests that the server responds to without a stream, beside streams or alone.
    fn light(&mut self, order: &Order<'_>, beside: usize) -> Observation {
        let (service, seconds) = (self.service, order.duration.as_secs_f64());
        let waits = matches!(service.limit, Limit::Workers(workers) if beside > workers);
        let mut sample = Sample::default();
        let count = if waits { 0 } else { order.experiment.load.requests.unwrap_or((seconds / 0.005) as u64) };
        sample.answered.record_many(Self::rounded(0.0003), count);
        sample.connect.record_many(Self::rounded(0.0001), count.max(1));
        (0..count).for_each(|_| sample.status.count(404));
        sample.unfinished = u64::from(waits);
        self.observed(order, &sample, (count.max(1), 0.01), None)
    }

    fn observed(
        &mut self,
        order: &Order<'_>,
        sample: &Sample,
        (started, generator): (u64, f64),
        server: Option<Signals>,
    ) -> Observation {
        let plan = &order.experiment.load;
        let mut collector = Collector::new(1, order.duration);
        collector.take(0, 0, sample, true);
        let measured = collector.finish(RunFacts {
            plan: PlanSummary {
                connections: plan.connections,
                keep_alive: true,
                threads: Some(1),
                ..PlanSummary::default()
            },
            duration: order.duration,
            started,
            peak: Some(plan.connections as u64),
            threads: vec![ThreadCost {
                wall: order.duration,
                cpu: order.duration.mul_f64(generator),
                queued: Some(Duration::ZERO),
                idle: order.duration.mul_f64(1.0 - generator),
            }],
            ..RunFacts::default()
        });
        Observation::new(order.experiment.id, None, measured, Seen { server, own_quota: None })
    }

    fn signals(&self, limit: Limit, cpu_s: f64, streams: usize, load: &Load, seconds: f64) -> Signals {
        let service = self.service;
        let used = load.per_s * cpu_s;
        let (count, waits_in) = match limit {
            Limit::OneThread => (1, "ep_poll"),
            Limit::Workers(workers) => (workers, "hrtimer_nanosleep"),
            _ => (service.cores, "ep_poll"),
        };
        let cores = (used / count as f64).min(1.0);
        let share = (used + load.per_s * service.generator_s) / service.cores as f64;
        let queued = if share > 0.9 { 0.3 } else { 0.01 };
        let thread = |tid| ThreadUse {
            tid,
            name: format!("worker-{tid}"),
            cores,
            queued: Some(queued),
            waits_per_s: Some(load.per_s / count as f64),
            running: Some(cores),
            waiting: [(waits_in.to_owned(), 1.0 - cores)].into(),
        };
        let quota = match limit {
            Limit::Quota(cores) => {
                let periods = (seconds * 10.0) as u64 + 1;
                let throttled_periods = if used > 0.95 * cores { periods * 9 / 10 } else { 0 };
                Some(QuotaUse { cgroup: "/q".into(), cores, used_cores: Some(used), periods, throttled_periods })
            }
            _ => None,
        };
        let unread = if matches!(limit, Limit::Workers(_)) { load.waiting } else { 0.0 };
        Signals {
            seconds,
            machine: Some(MachineUse { cores: service.cores, cpu_share: share.min(1.0), ..MachineUse::default() }),
            clients: Some(ClientsUse { established: streams as f64, unread, ..ClientsUse::default() }),
            processes: vec![ProcessUse {
                pid: 1,
                name: "service".into(),
                cores: used,
                thread_count: count,
                threads: (1..).take(count).map(thread).collect(),
                quota,
                ..ProcessUse::default()
            }],
            ..Signals::default()
        }
    }
}

impl ExperimentRunner for Simulation {
    fn elapsed(&self) -> Duration {
        self.clock
    }

    fn run(&mut self, order: &Order<'_>) -> Result<Observation, Halt> {
        self.clock += order.warmup + order.duration;
        let request = order.experiment.load.request;
        let is_light = matches!(request, Request::Absent | Request::WithoutHost);
        assert!(is_light || matches!(request, Request::Target | Request::Null(_)), "{:?}", order.experiment);
        let load = &order.experiment.load;
        assert!(load.rate.is_none() && (is_light || load.think.is_none() && order.warmup.is_zero()), "{load:?}");
        Ok(if is_light { self.light(order, 0) } else { self.streams(order) })
    }

    fn run_beside(&mut self, order: &Order<'_>, light: &Order<'_>) -> Result<[Observation; 2], Halt> {
        self.clock += order.warmup + order.duration;
        Ok([self.streams(order), self.light(light, order.experiment.load.connections)])
    }

    fn rest(&mut self, time: Duration) -> Result<(), Halt> {
        self.clock += time;
        Ok(())
    }
}
