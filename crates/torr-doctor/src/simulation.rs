//! A simulated service, so that whole diagnoses run in milliseconds: a closed queueing network of which each fault is one station, as a
//! runner. Throughput follows from the bounds of operational analysis (Denning and Buzen, 1978): the population over the response time
//! without queues, and the capacity of each station.

pub mod neighbours;
mod service;
mod signals;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod weather;

use crate::experiment::{NullContent, Request};
use crate::halt::Halt;
use crate::observation::Observation;
use crate::runner::{ExperimentRunner, Order};
use crate::setting::Setting;
use crate::times::{Spread, Times};
use neighbours::{Neighbours, Pressure};
use serde_json::json;
use service::{Fault, Service};
use std::sync::Arc;
use std::time::Duration;

/// What a simulated experiment did.
#[derive(Debug, Clone, Copy)]
struct Load {
    /// Connections at a time.
    connections: f64,
    /// Responses per second.
    rps: f64,
    /// The share of them that a limiter refused.
    refused: f64,
    /// The share of them that found a queue full and failed.
    failed: f64,
    /// The mean response time in seconds.
    response_s: f64,
    /// Connections opened for each request.
    opened: f64,
    /// The accept queue and what it dropped.
    accepting: Accepting,
}

/// What became of connections before they were accepted.
#[derive(Debug, Clone, Copy, Default)]
struct Accepting {
    /// The mean length of the accept queue.
    queued: f64,
    /// Connections that came about only when their SYN was sent again.
    late: f64,
    /// Connections that were dropped all the time.
    dropped: f64,
    /// Connections that found the queue full, each time that they tried.
    overflows: f64,
}

/// When a SYN is sent again, in seconds since the first (RFC 6298, section 5).
const SYN_AGAIN_S: [f64; 3] = [1.0, 3.0, 7.0];

/// The runner of a simulated service. Its clock advances by the length of each experiment.
struct Simulation {
    service: Service,
    neighbours: Neighbours,
    /// What the neighbours do to the experiment that is carried out.
    pressure: Pressure,
    elapsed: Duration,
    random: fastrand::Rng,
}

impl Simulation {
    fn new(service: Service, seed: u64) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        let (neighbours, pressure) = (Neighbours::default(), Pressure::NONE);
        Self { service, neighbours, pressure, elapsed: Duration::ZERO, random }
    }

    /// Adds other programs to the machine of the service.
    fn beside(self, neighbours: Neighbours) -> Self {
        Self { neighbours, ..self }
    }

    /// Lets the time of an experiment pass, and notes what the neighbours do to it.
    fn pass(&mut self, order: &Order<'_>) {
        let from = self.elapsed + order.warmup;
        self.elapsed = from + order.duration;
        let load = &order.experiment.load;
        self.service = Service { slowdown: 1.0, wake_s: 0.0, ..self.service.clone() };
        let calm = self.load_of(order, 1.0);
        let service = &self.service;
        let (server_s, generator_s) = (calm.rps * service.cpu_s, calm.rps * service.generator_s);
        let own = server_s.min(service.worker_threads()).max(1.0) + generator_s.min(load.threads as f64).max(0.1);
        let time = (from, self.elapsed);
        let (cores, wanted) = (service.cores, (server_s + generator_s).min(service.cores as f64));
        self.pressure = self.neighbours.pressure(time, cores, own, wanted, &mut self.random);
        self.service.slowdown = self.pressure.slowdown;
        self.service.wake_s = self.pressure.wake_s;
    }

    /// Returns a factor that varies from run to run by some percent.
    fn noise(&mut self) -> f64 {
        let spread = self.service.noise;
        1.0 + spread * (self.random.f64() + self.random.f64() - 1.0)
    }

    /// Returns what an order's load does.
    fn load(&mut self, order: &Order<'_>) -> Load {
        let noise = self.noise();
        self.load_of(order, noise)
    }

    /// Returns what an order's load does, with a factor by which throughput varies.
    fn load_of(&self, order: &Order<'_>, noise: f64) -> Load {
        let load = &order.experiment.load;
        let service = &self.service;
        let alone_s = service.paced_alone_s(load, order.quick_ack);
        let think_s = load.think.map_or(0.0, |(least, most)| (least + most).as_secs_f64() / 2.0);
        let connections = load.connections as f64;
        let is_target = !matches!(load.request, Request::Absent | Request::WithoutHost | Request::Null(_));
        let capacity = if is_target {
            service.capacity(load)
        } else {
            service.empty_capacity(load).min(service.accepts_per_s(load))
        };
        // Where population and capacity are near each other, some requests wait for others by chance.
        let offered = load.rate.unwrap_or(connections / (alone_s + think_s));
        let ratio = offered / capacity;
        let rps = offered / (1.0 + ratio.powi(8)).powf(1.0 / 8.0);
        let opened = if service.keeps(load) { 0.0 } else { 1.0 };
        if let (Fault::Refuses { per_second, .. }, true) = (self.service.fault, is_target) {
            // Refusals come at once.
            let refusal_s = self.service.rtt_s + 0.000_1;
            let all = load.rate.unwrap_or(connections / (refusal_s + think_s)).min(self.service.empty_capacity(load));
            if offered > per_second {
                let refused = 1.0 - per_second / all.max(per_second);
                return Load {
                    connections,
                    rps: all * noise,
                    refused,
                    failed: 0.0,
                    response_s: refusal_s,
                    opened,
                    accepting: Accepting::default(),
                };
            }
        }
        if let (Fault::Overflows { workers, queue }, true) = (self.service.fault, is_target && load.rate.is_none()) {
            // Those beyond workers and queue fail, and try again at once.
            let beyond = (connections - (workers + queue) as f64).max(0.0);
            if beyond > 0.0 {
                let failure_s = self.service.rtt_s + 0.000_1;
                let failing = (beyond / failure_s).min(self.service.empty_capacity(load));
                let (rps, good) = ((failing + capacity) * noise, capacity);
                let failed = failing / (failing + good);
                let accepting = Accepting::default();
                return Load {
                    connections,
                    rps,
                    refused: 0.0,
                    failed,
                    response_s: connections / rps,
                    opened,
                    accepting,
                };
            }
        }
        let accepting = self.accepting(order, rps, connections);
        let left = match self.service.fault {
            Fault::Accepts { left, .. } if accepting.dropped > 0.0 => left,
            _ => 1.0,
        };
        let (rps, connections) = (rps * noise * left, connections - accepting.dropped);
        let rps = if load.rate.is_none() && !load.single { rps * self.settled_share(order, alone_s) } else { rps };
        let response_s = match load.rate {
            _ if ratio < 0.1 => alone_s * noise.clamp(0.99, 1.01),
            Some(_) if ratio < 0.8 => alone_s,
            Some(_) => alone_s * 3.0,
            None => (connections / rps - think_s).max(alone_s * noise.clamp(0.99, 1.01)),
        };
        Load { connections, rps, refused: 0.0, failed: 0.0, response_s, opened, accepting }
    }

    /// Returns the share of a measurement in which the load has settled: all connections are open, and the first responses are in.
    fn settled_share(&self, order: &Order<'_>, alone_s: f64) -> f64 {
        let settled_s = order.experiment.load.connections as f64 / self.service.opens_per_s + alone_s;
        let lost_s = (settled_s - order.warmup.as_secs_f64()).max(0.0);
        (1.0 - lost_s / order.duration.as_secs_f64()).max(0.1)
    }

    /// Returns what becomes of connections before they are accepted, if so many want `rps` requests per second.
    fn accepting(&self, order: &Order<'_>, rps: f64, connections: f64) -> Accepting {
        let load = &order.experiment.load;
        let Fault::Accepts { backlog, lucky, .. } = self.service.fault else { return Accepting::default() };
        if self.service.accepts_per_s(load).is_infinite() || load.rate.is_some() {
            return Accepting::default();
        }
        // Those that were accepted are worked on at once.
        let waiting = (connections - rps * self.service.alone_s(load, order.quick_ack)).max(0.0);
        let queued = waiting.min(backlog as f64 + 1.0);
        let lost = (waiting - queued).floor();
        let seconds = (order.duration + order.warmup).as_secs_f64();
        let again = SYN_AGAIN_S.iter().filter(|at| **at < seconds).count() as f64;
        let late = (lost * (1.0 - (1.0 - lucky).powf(again))).round();
        Accepting { queued, late, dropped: lost - late, overflows: lost * (1.0 + again) }
    }

    fn observation(&mut self, order: &Order<'_>, load: Load, is_light: bool) -> Observation {
        let plan = &order.experiment.load;
        let longest = order.duration.as_secs_f64();
        let requests =
            (load.rps * longest).floor().min(plan.requests.map_or(f64::INFINITY, |requests| requests as f64));
        let duration_s = if plan.requests.is_some() { (requests / load.rps).clamp(1e-3, longest) } else { longest };
        let service = &self.service;
        let body = match plan.request {
            Request::Target | Request::Gzip | Request::Identity | Request::ExplicitKeepAlive | Request::Http10 => {
                service.body
            }
            Request::Null(NullContent::Bytes(body)) => body as f64,
            Request::Null(NullContent::Events { .. }) => 0.0,
            Request::Head | Request::Absent | Request::WithoutHost => 0.0,
        };
        let refused = (requests * load.refused).round();
        let failed =
            if plan.request == Request::Target { (requests * service.failing.max(load.failed)).round() } else { 0.0 };
        let absent = matches!(plan.request, Request::Absent | Request::WithoutHost);
        let status = match () {
            () if absent => json!({"404": requests}),
            () => json!({"200": requests - refused - failed, "429": refused, "500": failed}),
        };
        let errors = if absent { requests } else { refused + failed };
        let warmup_s = order.warmup.as_secs_f64();
        let before = if warmup_s > 0.0 { (warmup_s * service.opens_per_s).min(load.connections).floor() } else { 0.0 };
        let opened = (load.connections - before + requests * load.opened).round();
        let warmup = json!({"requests": 0, "errors": 0, "p50": null});
        let generator_s = service.generator_s + load.opened * service.connect_cpu_s;
        let threads = if plan.single { 1 } else { plan.threads };
        let busy = (load.rps * generator_s / threads as f64).min(1.0);
        let run = json!({
            "schema": "torr.run/1", "torr": "0", "target": "http://simulated/", "started_at": "",
            "plan": {"connections": plan.connections, "threads": threads, "keep_alive": plan.keep_alive, "protocol": "http/1.1",
                "method": "GET", "timeout_s": order.timeout.as_secs_f64(), "duration_s": longest, "rate": plan.rate},
            "asked": requests, "requests": requests, "rps": requests / duration_s, "duration_s": duration_s,
            "status": status, "unfinished": 0,
            "bytes": {"sent": requests * 100.0, "received": requests * (body + 200.0), "body": requests * body},
            "errors": {"connect": 0, "tls": 0, "timeout": 0, "read": 0, "write": 0, "protocol": 0, "status": errors, "ports": 0},
            "latency_us": null, "phases_us": {"connect": null, "tls": null, "first_byte": null},
            "warmup": if warmup_s > 0.0 { warmup } else { json!(null) },
            "connections": {"opened": opened, "carried": before, "peak": load.connections,
                "closed_by_server": if plan.keep_alive { requests * load.opened } else { 0.0 },
                "requests_per_connection": requests / opened.max(1.0)},
            "series": [],
            "generator": {"cpu_us_per_request": generator_s * 1e6, "cpu_share": busy, "busy_share": busy,
                "queued_share": busy * (1.0 - 1.0 / service.generator_slowdown()), "saturated": busy > 0.9}
        });
        let spread = |seconds: f64, count: f64| Spread {
            count: count as u64,
            min_us: (seconds * 0.9 * 1e6) as u64,
            mean_us: seconds * 1e6,
            median_us: seconds * 1e6,
            quartiles_us: None,
        };
        let connect_s = service.connect_s(if is_light { load.connections } else { 0.0 });
        let delays = requests * f64::from(u8::from(service.waits_for_acks(order.quick_ack) && !absent));
        let signals =
            (service.is_seen && !is_light).then(|| signals::of(service, &self.pressure, plan, load, duration_s));
        Observation {
            id: order.experiment.id,
            variant: None,
            run: serde_json::from_value(whole(run)).expect("it has the schema's form"),
            signals,
            own_quota: None,
            times: Times {
                answered: (requests >= 1.0).then(|| spread(load.response_s, requests)),
                connect: Some(spread(connect_s, opened + before)),
                ack_delayed: delays as u64,
                late_connects: load.accepting.late as u64,
                first_tenth: self.service.burst(plan, load.rps, order.experiment.rest) as u64,
                ..Times::default()
            },
            ended_s: 0.0,
            sample: Arc::default(),
        }
    }
}

/// Makes counts whole numbers, as they are in results.
fn whole(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    const COUNTS: [&str; 15] = [
        "asked",
        "requests",
        "200",
        "404",
        "429",
        "500",
        "sent",
        "received",
        "body",
        "status",
        "opened",
        "carried",
        "peak",
        "closed_by_server",
        "unfinished",
    ];
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| match value.as_f64().filter(|_| COUNTS.contains(&name.as_str())) {
                    Some(count) => (name, (count.max(0.0).round() as u64).into()),
                    None => (name, whole(value)),
                })
                .collect(),
        ),
        other => other,
    }
}

impl ExperimentRunner for Simulation {
    fn elapsed(&self) -> Duration {
        self.elapsed
    }

    fn run(&mut self, order: &Order<'_>) -> Result<Observation, Halt> {
        self.pass(order);
        let load = self.load(order);
        Ok(self.observation(order, load, false))
    }

    fn run_beside(&mut self, order: &Order<'_>, light: &Order<'_>) -> Result<[Observation; 2], Halt> {
        self.pass(order);
        let load = self.load(order);
        let alone_s = self.service.paced_alone_s(&light.experiment.load, false);
        let response_s = alone_s + self.service.held_up_s(load.connections, load.response_s);
        let beside = Load { rps: 1.0 / (response_s + 0.005), response_s, ..load };
        Ok([self.observation(order, load, false), self.observation(light, beside, true)])
    }

    fn rest(&mut self, time: Duration) -> Result<(), Halt> {
        self.elapsed += time;
        Ok(())
    }
}

/// Returns the setting of a simulated service.
fn setting(service: &Service) -> Setting {
    Setting {
        connections: service.connections,
        max_connections: 2 * service.connections,
        depth: 1,
        threads: service.generator_threads,
        generator_cpus: service.cores,
        keep_alive: !matches!(service.fault, Fault::Accepts { .. }),
        is_read_only: true,
        has_second_source: false,
        is_plain: true,
        same_machine: service.is_seen,
        has_null: true,
        budget_s: 60.0,
        timeout_s: 10.0,
        url: "http://simulated/".into(),
        ..Setting::default()
    }
}
