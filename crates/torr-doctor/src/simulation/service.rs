//! A service with one fault, and what operational analysis says of it.

use crate::experiment::{Load, Request};
use fastrand::Rng;
use std::time::Duration;
use torr_gauge::Factor;

/// What limits a service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// Nothing but the number of connections and the network.
    None,
    /// All CPUs, by as many threads.
    Cpu,
    /// One thread that does all the work.
    SingleThread,
    /// A number of workers that wait while they hold a request.
    Workers(usize),
    /// A lock that is held for so many seconds, by so many threads.
    Lock(f64, usize),
    /// A pool of so many connections to a database, whose queries take so many seconds.
    Pool(usize, f64),
    /// A semaphore of so many permits, held for so many seconds, in a server that reads all requests.
    Semaphore(usize, f64),
    /// A limiter that responds 429 above a rate.
    Refuses {
        /// Requests per second.
        per_second: f64,
    },
    /// A limiter that delays beyond a rate, with a bucket of so many requests.
    Delays {
        /// Requests per second.
        per_second: f64,
        /// The size of the bucket.
        bucket: f64,
    },
    /// A quota of so many CPUs.
    Quota(f64),
    /// A link of so many bytes per second.
    Link(f64),
    /// The server closes each connection.
    Closes,
    /// Responses wait for a delayed acknowledgement.
    Acks,
    /// A share of the requests fails.
    Fails,
    /// As many workers that wait while they hold a request, and a queue before them; what finds it full fails at once.
    Overflows {
        /// The number of workers.
        workers: usize,
        /// The length of the queue.
        queue: usize,
    },
    /// One connection for each request, which are accepted one by one.
    Accepts {
        /// The backlog: the accept queue takes one connection more (Linux).
        backlog: usize,
        /// The time between two accepted connections in seconds.
        every_s: f64,
        /// The part of the throughput that is left while connections are dropped.
        left: f64,
        /// The share of dropped connections that find room when their SYN is sent again.
        lucky: f64,
    },
}

/// A service, its machine and the generator.
#[derive(Debug, Clone)]
pub struct Service {
    /// What limits.
    pub fault: Fault,
    /// Whether its machine is seen.
    pub is_seen: bool,
    /// CPUs of the machine, which the generator shares if the machine is seen.
    pub cores: usize,
    /// Connections of the load.
    pub connections: usize,
    /// Threads of the generator.
    pub generator_threads: usize,
    /// The round-trip time in seconds.
    pub rtt_s: f64,
    /// The server's CPU time for each request in seconds.
    pub cpu_s: f64,
    /// The time in which a request waits without holding anything that is scarce, in seconds.
    pub wait_s: f64,
    /// The generator's CPU time for each request in seconds.
    pub generator_s: f64,
    /// The CPU time of both sides for each connection in seconds.
    pub connect_cpu_s: f64,
    /// Bytes of each response's content.
    pub body: f64,
    /// The share of failing requests.
    pub failing: f64,
    /// By how much throughput varies from run to run.
    pub noise: f64,
    /// Connections opened per second at most.
    pub opens_per_s: f64,
    /// The factor by which computing takes longer beside other programs.
    pub slowdown: f64,
    /// The mean time in seconds that a thread which becomes runnable waits for a CPU.
    pub wake_s: f64,
}

impl Service {
    /// Returns a random service.
    pub fn random(random: &mut Rng) -> Self {
        // Evenly over the orders of magnitude.
        let mut between = |least: f64, most: f64| least * (most / least).powf(random.f64());
        let (cpu_s, wait_s, hold_s) = (between(20e-6, 3e-3), between(1e-4, 3e-2), between(5e-4, 2e-2));
        let (rate, share, wide) = (between(50.0, 2000.0), between(0.2, 0.9), between(1e5, 1e7));
        let rtt_s = if share < 0.4 { between(1e-3, 5e-2) } else { between(2e-5, 2e-4) };
        let body = between(100.0, 1e5);
        let noise = between(0.01, 0.06);
        let bucket = between(1.0, 200.0);
        let (every_s, left, lucky) = (between(1e-3, 5e-2), between(0.3, 1.5), between(0.01, 0.3));
        let cores = [2, 4, 8][random.usize(..3)];
        let fault = match random.u8(..14) {
            0 => Fault::None,
            1 => Fault::Cpu,
            2 => Fault::SingleThread,
            3 => Fault::Workers(random.usize(1..17)),
            4 => Fault::Lock(hold_s, random.usize(8..64)),
            5 if share < 0.4 => Fault::Semaphore(random.usize(1..17), hold_s),
            5 => Fault::Pool(random.usize(1..17), hold_s),
            // The CPUs must be able to do what the limiter accepts.
            6 => Fault::Refuses { per_second: rate.min(0.5 * cores as f64 / cpu_s) },
            7 => Fault::Delays { per_second: rate, bucket },
            8 => Fault::Quota(share),
            9 => Fault::Link(wide),
            10 => Fault::Closes,
            11 => Fault::Acks,
            12 => {
                let backlog = 1 << random.u8(0..8);
                Fault::Accepts { backlog, every_s, left: left.min(1.0), lucky }
            }
            _ => Fault::Fails,
        };
        Self {
            fault,
            is_seen: random.u8(..4) > 0,
            cores,
            connections: 1 << random.u8(0..9),
            generator_threads: random.usize(1..cores.min(4)),
            rtt_s,
            cpu_s,
            wait_s: if random.bool() { wait_s } else { 1e-5 },
            generator_s: 4e-6,
            connect_cpu_s: 3e-5,
            body,
            failing: if fault == Fault::Fails { 0.1 + share / 2.0 } else { 0.0 },
            noise,
            opens_per_s: f64::INFINITY,
            slowdown: 1.0,
            wake_s: 0.0,
        }
    }

    /// Returns the number of threads of the server that can compute at a time.
    pub fn worker_threads(&self) -> f64 {
        match self.fault {
            Fault::SingleThread => 1.0,
            Fault::Workers(workers) | Fault::Overflows { workers, .. } => workers as f64,
            Fault::Lock(_, threads) => threads as f64,
            _ => self.cores as f64,
        }
    }

    /// Returns the factor by which the generator's work takes longer beside other programs: 1 on a machine of its own.
    pub fn generator_slowdown(&self) -> f64 {
        if self.is_seen { self.slowdown } else { 1.0 }
    }

    /// Returns the time in which a request is computed in seconds, with the waits for a CPU.
    fn computed_s(&self) -> f64 {
        self.cpu_s * self.slowdown + self.wake_s
    }

    /// Returns the time in which a request holds what limits, beside its CPU time.
    fn hold_s(&self) -> f64 {
        match self.fault {
            Fault::Lock(hold_s, _) | Fault::Pool(_, hold_s) | Fault::Semaphore(_, hold_s) => hold_s,
            _ => 0.0,
        }
    }

    /// Returns the response time without queues in seconds, connecting included where connections are not kept.
    pub fn alone_s(&self, load: &Load, quick_ack: bool) -> f64 {
        let connect_s = if self.keeps(load) { 0.0 } else { self.rtt_s + self.connect_cpu_s };
        match load.request {
            Request::Absent | Request::WithoutHost => self.rtt_s + connect_s + 50e-6 + self.wake_s,
            Request::Null(_) => 30e-6 + connect_s + if self.is_seen { self.wake_s } else { 0.0 },
            _ => {
                let on_link_s = match self.fault {
                    Fault::Link(per_second) => self.bytes(load.request) / per_second,
                    _ => 0.0,
                };
                let ack_s = if self.waits_for_acks(quick_ack) { 0.04 } else { 0.0 };
                self.rtt_s + connect_s + self.computed_s() + self.wait_s + self.hold_s() + on_link_s + ack_s
            }
        }
    }

    /// Returns the response time without others' requests in seconds, with the wait of a connection to be accepted after the one before.
    pub fn paced_alone_s(&self, load: &Load, quick_ack: bool) -> f64 {
        let think_s = load.think.map_or(0.0, |(least, most)| (least + most).as_secs_f64() / 2.0);
        let alone_s = self.alone_s(load, quick_ack);
        alone_s.max((1.0 / self.accepts_per_s(load)) - think_s)
    }

    /// Returns how many connections a second are accepted.
    pub fn accepts_per_s(&self, load: &Load) -> f64 {
        match self.fault {
            Fault::Accepts { every_s, .. } if !self.keeps(load) && !matches!(load.request, Request::Null(_)) => {
                1.0 / every_s
            }
            _ => f64::INFINITY,
        }
    }

    fn bytes(&self, request: Request) -> f64 {
        200.0 + if request == Request::Head { 0.0 } else { self.body }
    }

    /// Whether responses wait for acknowledgements.
    pub fn waits_for_acks(&self, quick_ack: bool) -> bool {
        self.fault == Fault::Acks && !quick_ack
    }

    /// Whether connections are used again.
    pub fn keeps(&self, load: &Load) -> bool {
        load.keep_alive && (self.fault != Fault::Closes || matches!(load.request, Request::Null(_)))
    }

    /// Returns the capacity of the station that the fault is, in requests per second.
    fn fault_capacity(&self, load: &Load) -> f64 {
        match self.fault {
            // A thread that always has something to do need not be woken.
            Fault::SingleThread => 1.0 / (self.cpu_s * self.slowdown),
            Fault::Workers(workers) | Fault::Overflows { workers, .. } => {
                workers as f64 / (self.computed_s() + self.wait_s)
            }
            Fault::Lock(hold_s, _) => 1.0 / (hold_s + self.wake_s),
            Fault::Pool(many, hold_s) | Fault::Semaphore(many, hold_s) => many as f64 / (hold_s + self.wake_s),
            Fault::Delays { per_second, .. } | Fault::Refuses { per_second } => per_second,
            Fault::Quota(cores) => cores / self.cpu_s,
            Fault::Link(per_second) => per_second / self.bytes(load.request),
            Fault::Accepts { .. } => self.accepts_per_s(load),
            _ => f64::INFINITY,
        }
    }

    /// Returns the capacity of the CPUs in requests per second, which the generator shares if it is on this machine.
    fn cpu_capacity(&self, load: &Load) -> f64 {
        let connect_s = if self.keeps(load) { 0.0 } else { self.connect_cpu_s };
        let each_s = self.cpu_s + connect_s + if self.is_seen { self.generator_s + connect_s } else { 0.0 };
        self.cores as f64 / (each_s * self.slowdown)
    }

    fn generator_capacity(&self, load: &Load) -> f64 {
        let connect_s = if self.keeps(load) { 0.0 } else { self.connect_cpu_s };
        load.threads as f64 / ((self.generator_s + connect_s) * self.generator_slowdown())
    }

    /// Returns the most requests per second that the target takes.
    pub fn capacity(&self, load: &Load) -> f64 {
        let limited = match self.fault {
            // Refusals are answered as well; a limiter is no station.
            Fault::Refuses { .. } => f64::INFINITY,
            _ => self.fault_capacity(load),
        };
        limited.min(self.cpu_capacity(load)).min(self.generator_capacity(load))
    }

    /// Returns the most requests per second of a service that does nothing.
    pub fn empty_capacity(&self, load: &Load) -> f64 {
        let connect_s = if load.keep_alive { 0.0 } else { self.connect_cpu_s };
        let shared = self.cores as f64 / ((2.0 * self.generator_s + 2.0 * connect_s) * self.generator_slowdown());
        shared.min(self.generator_capacity(load))
    }

    /// Returns the time to connect in seconds, beside so many connections of another load.
    pub fn connect_s(&self, beside: f64) -> f64 {
        let queue_s = match self.fault {
            Fault::Link(per_second) => beside * self.bytes(Request::Target) / per_second,
            _ => 0.0,
        };
        self.rtt_s + queue_s
    }

    /// Returns by how much a light load on a cheap path is held up while `connections` have the responses of the target taking so long.
    pub fn held_up_s(&self, connections: f64, response_s: f64) -> f64 {
        let queued_s = (response_s - self.rtt_s - self.computed_s() - self.wait_s - self.hold_s()).max(0.0);
        match self.fault {
            Fault::SingleThread | Fault::Workers(_) | Fault::Overflows { .. } => queued_s,
            Fault::Cpu => queued_s / 2.0,
            Fault::Accepts { backlog, every_s, .. } => every_s * connections.min(backlog as f64 + 1.0),
            Fault::Link(_) => self.connect_s(connections),
            Fault::Quota(_) => 0.05,
            _ => 0.0,
        }
    }

    /// Returns the responses in the first tenth of a second after a pause.
    pub fn burst(&self, load: &Load, rps: f64, rest: Option<Duration>) -> f64 {
        match (self.fault, rest) {
            (Fault::Delays { per_second, bucket }, Some(rest)) => {
                rps * 0.1 + bucket.min(per_second * rest.as_secs_f64()).min(load.connections as f64 * 10.0)
            }
            _ => rps * 0.1,
        }
    }

    /// Returns the factors that a diagnosis may name with certainty: those whose bound is within this ratio of the lowest.
    pub fn truths(&self, load: &Load, ratio: f64) -> Vec<Factor> {
        if self.fault == Fault::Fails {
            return vec![Factor::Errors];
        }
        let alone_s = self.alone_s(load, false);
        let connections = if self.rtt_s > 0.4 * alone_s { Factor::NetworkDelay } else { Factor::Connections };
        let mut bounds = vec![
            (connections, load.connections as f64 / alone_s),
            (Factor::ServerCpu, self.cpu_capacity(load)),
            (Factor::Generator, self.generator_capacity(load)),
        ];
        if (0.4..0.6).contains(&(self.rtt_s / alone_s)) {
            bounds.push((Factor::Connections, load.connections as f64 / alone_s));
        }
        bounds.extend(self.factor().map(|factor| (factor, self.fault_capacity(load))));
        if !load.keep_alive {
            // Keeping connections lifts what opening them costs, in time on the way and at the listener.
            let kept = Load { keep_alive: true, ..load.clone() };
            let reached =
                |load: &Load| self.capacity(load).min(load.connections as f64 / self.paced_alone_s(load, false));
            if reached(&kept) > 1.2 * reached(load) {
                bounds.push((Factor::KeepAlive, reached(load)));
            }
        }
        let least = bounds.iter().map(|(_, bound)| *bound).fold(f64::INFINITY, f64::min);
        let mut truths: Vec<_> =
            bounds.iter().filter(|(_, bound)| *bound <= ratio * least).map(|(factor, _)| *factor).collect();
        match self.fault {
            Fault::Closes => truths.push(Factor::KeepAlive),
            Fault::Acks => truths.push(Factor::DelayedAck),
            // A single worker that computes is a full thread.
            Fault::Workers(1) if self.cpu_s > self.wait_s / 2.0 && truths.contains(&Factor::Workers) => {
                truths.push(Factor::SingleCore);
            }
            // While the accept queue has room for all, the pace of accepting is a limiter like any other.
            Fault::Accepts { backlog, .. } if load.connections <= backlog + 2 => truths.push(Factor::RateLimit),
            // A pool of one and a single worker are one thing at a time, whatever it is called.
            Fault::Pool(1, _) if truths.contains(&Factor::Database) => truths.push(Factor::Lock),
            Fault::Semaphore(1, _) if truths.contains(&Factor::Pool) => truths.push(Factor::Lock),
            _ => {}
        }
        truths
    }

    fn factor(&self) -> Option<Factor> {
        Some(match self.fault {
            Fault::SingleThread => Factor::SingleCore,
            Fault::Workers(_) | Fault::Overflows { .. } => Factor::Workers,
            Fault::Lock(..) => Factor::Lock,
            Fault::Pool(..) => Factor::Database,
            Fault::Semaphore(..) => Factor::Pool,
            Fault::Refuses { .. } | Fault::Delays { .. } => Factor::RateLimit,
            Fault::Quota(_) => Factor::CpuQuota,
            Fault::Link(_) => Factor::Bandwidth,
            Fault::Accepts { .. } => Factor::AcceptBacklog,
            _ => return None,
        })
    }
}
