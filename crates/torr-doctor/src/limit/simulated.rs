//! Services that exist only in numbers, for tests of the search: requests, queues and clocks, and no socket.

use super::ask::{Ask, Bench, Load};
use fastrand::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;
use torr_gauge::collector::{Measurement, Progress, RunFacts};
use torr_gauge::generator::ThreadCost;
use torr_gauge::result::{Arrivals, PlanSummary};
use torr_gauge::sessions::SessionsEnded;
use torr_gauge::{Collector, Failure, FailureKind, FailureSide, Sample};
use torr_press::RunError;
use torr_signals::{MachineUse, ProcessUse, Signals};

/// Nanoseconds.
type Nanos = u64;
const SECOND: Nanos = 1_000_000_000;
/// How often the run is sampled.
const INTERVAL: Nanos = SECOND / 2;

/// A service and the generator before it. Times in seconds, rates per second.
pub struct Simulated {
    /// The service time of a request.
    pub service_s: f64,
    /// The increase of the service time with each other request in flight.
    pub contention: f64,
    /// A delay during which the server is available to other requests.
    pub delay_s: f64,
    /// The rate of a limiter, which responds 429 above it.
    pub limiter: Option<f64>,
    /// The period of hangs, and the length of a hang.
    pub hangs: Option<(f64, f64)>,
    /// The probability that a step of an open loop contains one pause of the service, of this many seconds, at a random time.
    pub pauses: (f64, f64),
    /// The load of other programs: its period, its length in each period, and the factor by which it makes requests slower.
    pub others: Option<(f64, f64, f64)>,
    /// The rate from which the service responds no more.
    pub breaks_at: Option<f64>,
    /// The highest rate of the generator.
    pub generator: Option<f64>,
    /// The connections of the open loop, each with one request in flight.
    pub connections: usize,
    /// The number of steps after which the search is interrupted.
    pub stop_after: Option<usize>,
    pub asks: Vec<Ask>,
    pub clock: Nanos,
    pub free: BinaryHeap<Reverse<Nanos>>,
    pub tokens: f64,
    pub tokens_at: Nanos,
    pub random: Rng,
    /// The pause of the current step: its beginning and its end.
    pub pause: (Nanos, Nanos),
}

impl Simulated {
    /// Returns a service with a number of servers and a service time.
    pub fn new(servers: usize, service_s: f64) -> Self {
        Self {
            service_s,
            contention: 0.0,
            delay_s: 0.0,
            limiter: None,
            hangs: None,
            pauses: (0.0, 0.0),
            others: None,
            breaks_at: None,
            generator: None,
            connections: 64,
            stop_after: None,
            asks: Vec::new(),
            clock: 0,
            free: (0..servers).map(|_| Reverse(0)).collect(),
            tokens: 10.0,
            tokens_at: 0,
            random: Rng::with_seed(7),
            pause: (0, 0),
        }
    }

    /// Returns the time and the status of the response to a request.
    fn respond(&mut self, due: Nanos, others: usize) -> (Nanos, u16) {
        if let Some(rate) = self.limiter {
            let passed = due.saturating_sub(self.tokens_at) as f64 / SECOND as f64;
            self.tokens = (self.tokens + passed * rate).min(rate * 0.1);
            self.tokens_at = due;
            if self.tokens < 1.0 {
                return (due + SECOND / 5_000, 429);
            }
            self.tokens -= 1.0;
        }
        let Reverse(free) = self.free.pop().expect("there is at least one server");
        let mut start = free.max(due);
        if let Some((every, long)) = self.hangs {
            let at = start as f64 / SECOND as f64 % every;
            start += if at < long { nanos(long - at) } else { 0 };
        }
        if (self.pause.0..self.pause.1).contains(&start) {
            start = self.pause.1;
        }
        let slower = if self.others_work_at(start) { self.others.map_or(1.0, |(.., times)| times) } else { 1.0 };
        let end = start + nanos(self.service_s * slower * (1.0 + self.contention * others as f64));
        self.free.push(Reverse(end));
        (end + nanos(self.delay_s), 200)
    }

    /// Whether other programs use the machine at this time.
    fn others_work_at(&self, at: Nanos) -> bool {
        self.others.is_some_and(|(every, long, _)| at as f64 / SECOND as f64 % every < long)
    }

    /// What the machine's counters say of a step: an idle service, and the other programs' CPU.
    fn signals(&self, from: Nanos, until: Nanos) -> Option<Signals> {
        self.others?;
        let looks = 100;
        let at = |look: Nanos| from + (until - from) * look / looks;
        let share = (0..looks).filter(|&look| self.others_work_at(at(look))).count() as f64 / looks as f64;
        let machine = MachineUse { cores: 4, cpu_share: 0.1 + 0.8 * share, steal_share: Some(0.0), cpu_pressure: None };
        let processes = vec![ProcessUse { name: "service".into(), cores: 0.2, ..ProcessUse::default() }];
        Some(Signals { seconds: 1.0, machine: Some(machine), processes, ..Signals::default() })
    }

    fn busy(&self, at: Nanos) -> usize {
        self.free.iter().filter(|free| free.0 > at).count()
    }

    /// Runs an open loop. Returns the number of requests, the most in flight, and the time of the step's end.
    fn open(
        &mut self,
        rate: f64,
        (counts, end): (Nanos, Nanos),
        samples: &mut Samples,
        fails: &mut dyn FnMut(&Progress) -> bool,
    ) -> (u64, usize, Nanos) {
        let (mut due, mut issued) = (self.clock, 0);
        let (mut under_way, mut peak) = (BinaryHeap::new(), 0);
        let mut looks = 0;
        loop {
            due += nanos(-(1.0 - self.random.f64()).ln() / rate);
            if due >= end {
                return (issued, peak, end);
            }
            if due >= counts + (looks as u64 + 1) * INTERVAL {
                looks += 1;
                if fails(&samples.progress(looks)) {
                    return (issued, peak, counts + looks as u64 * INTERVAL);
                }
            }
            let late = self.generator.filter(|most| rate > *most).map_or(0, |_| SECOND / 5);
            let others = self.busy(due);
            // Where all connections are busy it waits for the first that is not, its clock running.
            let mut sent = due;
            while under_way.peek().is_some_and(|Reverse(done)| *done <= due) {
                under_way.pop();
            }
            if under_way.len() >= self.connections {
                let Reverse(done) = under_way.pop().expect("there are as many as connections");
                sent = done;
            }
            if sent >= end {
                // It was never sent.
                under_way.push(Reverse(sent));
                issued += 1;
                samples.record(due.max(counts), end + 1, end, 0);
                continue;
            }
            let (done, status) = self.respond(sent, others);
            under_way.push(Reverse(done));
            peak = peak.max(under_way.len());
            if due < counts {
                continue;
            }
            issued += 1;
            samples.record(due, done + late, end, status);
        }
    }

    fn closed(
        &mut self,
        connections: usize,
        most: Option<u64>,
        (counts, end): (Nanos, Nanos),
        samples: &mut Samples,
    ) -> (u64, Nanos) {
        let mut clients: BinaryHeap<_> = (0..connections).map(|_| Reverse(self.clock)).collect();
        let mut issued = 0;
        while let Some(Reverse(due)) = clients.pop() {
            if due >= end || most.is_some_and(|most| issued >= most) {
                return (issued, due.min(end));
            }
            let (done, status) = self.respond(due, connections - 1);
            if due >= counts {
                issued += 1;
                samples.record(due, done, end, status);
            }
            clients.push(Reverse(done));
        }
        (issued, end)
    }
}

fn nanos(seconds: f64) -> Nanos {
    (seconds * SECOND as f64) as Nanos
}

/// What happened in each interval.
struct Samples {
    from: Nanos,
    each: Vec<Sample>,
}

impl Samples {
    fn new(from: Nanos, end: Nanos) -> Self {
        let intervals = (end - from).div_ceil(INTERVAL).max(1);
        Self { from, each: (0..intervals).map(|_| Sample::default()).collect() }
    }

    fn record(&mut self, due: Nanos, done: Nanos, end: Nanos, status: u16) {
        let at = ((done.min(end) - self.from) / INTERVAL) as usize;
        let at = at.min(self.each.len() - 1);
        let sample = &mut self.each[at];
        if done <= end {
            sample.answered.record(done - due);
            sample.status.count(status);
        } else {
            sample.unfinished += 1;
            sample.unanswered.record(end - due);
        }
    }
}

impl Samples {
    /// What is known after so many intervals.
    fn progress(&self, intervals: usize) -> Progress {
        let past = &self.each[..intervals];
        let last = past.last().expect("there is an interval");
        let requests = past.iter().map(|sample| sample.answered.count()).sum();
        let refused = past.iter().map(|sample| sample.status.errors()).sum();
        Progress {
            elapsed_s: (intervals as u64 * INTERVAL) as f64 / SECOND as f64,
            requests,
            ended: requests,
            errors: refused,
            sessions: SessionsEnded::default(),
            latency: last.answered.clone(),
            events: 0,
            events_per_s: 0.0,
            rps: 0.0,
            p99_us: None,
            connections: 0,
            busy_share: Some(0.0),
            cpu: None,
        }
    }
}

impl Bench for Simulated {
    fn press(&mut self, ask: &Ask, fails: &mut dyn FnMut(&Progress) -> bool) -> Result<Measurement, RunError> {
        self.asks.push(ask.clone());
        let counts = self.clock + nanos(ask.warmup.as_secs_f64());
        let end = counts + nanos(ask.length.as_secs_f64());
        let mut samples = Samples::new(counts, end);
        let mut plan = PlanSummary { keep_alive: true, threads: Some(1), ..PlanSummary::default() };
        if let (Load::Rate(rate), Some(breaks_at)) = (ask.load, self.breaks_at)
            && rate >= breaks_at
        {
            self.clock = end;
            let failure = Failure::new(FailureKind::Connect, FailureSide::Server, "connection refused");
            return Err(RunError::Unreachable { target: "simulated".into(), failure });
        }
        let mut idle = 0.5;
        let (issued, until, peak) = match ask.load {
            Load::Rate(rate) => {
                (plan.rate, plan.arrivals) = (Some(rate), Some(Arrivals::Poisson));
                if self.generator.is_some_and(|most| rate > most) {
                    idle = 0.0;
                }
                if self.random.f64() < self.pauses.0 {
                    let begin = counts + self.random.u64(0..(end - counts).max(1));
                    self.pause = (begin, begin + nanos(self.pauses.1));
                }
                let (issued, peak, until) = self.open(rate, (counts, end), &mut samples, fails);
                (issued, until, peak)
            }
            Load::Streams(_) => panic!("its responses are no streams: {ask:?}"),
            Load::Connections(connections) => {
                let (issued, until) = self.closed(connections, ask.requests, (counts, end), &mut samples);
                (issued, until, connections)
            }
        };
        // What a step that ended early did not wait for is not part of it.
        samples.each.truncate(((until - counts.min(until)).div_ceil(INTERVAL) as usize).max(1));
        let signals = self.signals(self.clock, until.max(counts));
        self.pause = (0, 0);
        self.clock = until.max(counts);
        let duration = Duration::from_nanos(self.clock - counts);
        let mut collector = Collector::new(1, Duration::from_nanos(INTERVAL));
        let last = samples.each.len() - 1;
        for (at, sample) in samples.each.iter().enumerate() {
            collector.take(0, at as u64, sample, at == last);
        }
        let thread = ThreadCost { wall: duration, cpu: duration / 10, queued: None, idle: duration.mul_f64(idle) };
        Ok(collector.finish(RunFacts {
            plan,
            duration,
            started: issued,
            peak: Some(peak as u64),
            signals,
            threads: vec![thread],
            ..RunFacts::default()
        }))
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.clock)
    }

    fn pause(&mut self, length: Duration) {
        self.clock += nanos(length.as_secs_f64());
    }

    fn stopped(&self) -> bool {
        self.stop_after.is_some_and(|steps| self.asks.len() >= steps)
    }
}
