//! A service as a runner whose observations are made up: plausible ones of a healthy service, and what a row of a table changes of them.

use crate::diagnosis::Diagnosis;
use crate::driver;
use crate::experiment::{Load, Request};
use crate::halt::Halt;
use crate::observation::Observation;
use crate::runner::{ExperimentRunner, Order};
use crate::setting::Setting;
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::verdict::ExperimentId as Id;

/// Bytes of a response's header section, and of a request.
const HEADERS: f64 = 200.0;
/// CPUs of the server's machine.
pub const CPUS: usize = 4;

/// Some experiments of a diagnosis.
pub type Which = fn(Id) -> bool;
pub const ALL: Which = |_| true;
pub const ALONE: Which =
    |id| matches!(id, Id::Alone | Id::AloneLonger | Id::AloneUndisturbed | Id::AloneAcked | Id::AloneAckedLonger);
pub const FULL: Which = |id| id == Id::Full;
pub const HEADS: Which = |id| matches!(id, Id::HeadsOnly | Id::ConnectForHeads);
pub const LIGHT: Which = |id| matches!(id, Id::LightLoad(_));
pub const RUNGS: Which = |id| matches!(id, Id::Rung(_));

/// A service by what is observed of it.
#[derive(Debug, Clone)]
pub struct Case {
    setting: Setting,
    /// The response time of a request alone in seconds.
    alone_s: f64,
    /// The increase of the response time unless acknowledgements are sent at once.
    acks_s: f64,
    /// Requests per second at most.
    most: f64,
    /// The round-trip time in seconds.
    rtt_s: f64,
    /// The response time of a request that makes no work in seconds, and by how much the load of the target delays it.
    cheap_s: f64,
    held_up_s: f64,
    /// Requests per second of a service that does nothing, with connections that are kept and with one for each request.
    empty: (f64, f64),
    /// Bytes of a response's content.
    body: f64,
    /// The status of the requests above a rate, and that rate.
    refuses: Option<(u16, f64)>,
    /// Connections that the server closes for each request in some experiments. The last that fits counts.
    closes: Vec<(Which, f64)>,
    /// Factors of throughput in some experiments.
    rates: Vec<(Which, f64)>,
    /// What is different in the JSON of some observations; `None` for all of the target.
    changes: Vec<(Option<Which>, Value)>,
}

/// Returns a service that takes so many seconds for a request alone and does at most so many per second. The load is 64 connections; the
/// server's machine is the generator's, is seen, and idles.
pub fn service(alone_s: f64, most: f64) -> Case {
    let setting = Setting {
        connections: 64,
        max_connections: 128,
        depth: 1,
        threads: 1,
        generator_cpus: CPUS,
        keep_alive: true,
        is_read_only: true,
        is_plain: true,
        same_machine: true,
        has_null: true,
        budget_s: 60.0,
        timeout_s: 10.0,
        url: "http://described/".into(),
        ..Setting::default()
    };
    let (changes, rates, closes) = (vec![], vec![], vec![]);
    Case {
        setting,
        alone_s,
        acks_s: 0.0,
        most,
        rtt_s: 50e-6,
        cheap_s: 150e-6,
        held_up_s: 0.0,
        empty: (100_000.0, 20_000.0),
        body: 1000.0,
        refuses: None,
        closes,
        rates,
        changes,
    }
}

impl Case {
    /// Changes the load that is meant.
    pub fn load(mut self, change: impl FnOnce(&mut Setting)) -> Self {
        change(&mut self.setting);
        self
    }

    /// The server's machine is another one, and is not seen.
    pub fn unseen(self) -> Self {
        self.load(|setting| setting.same_machine = false).everywhere(json!({"signals": null}))
    }

    /// The round trip takes so many seconds.
    pub fn rtt(self, rtt_s: f64) -> Self {
        Self { rtt_s, ..self }
    }

    /// Responses take so many seconds more unless acknowledgements are sent at once.
    pub fn acks(self, acks_s: f64) -> Self {
        Self { acks_s, ..self }
    }

    /// A light load is delayed by so many seconds while the target is saturated.
    pub fn others_wait(self, held_up_s: f64) -> Self {
        Self { held_up_s, ..self }
    }

    /// A service that does nothing reaches so many requests per second here, with connections kept and without.
    pub fn empty(self, kept: f64, connecting: f64) -> Self {
        Self { empty: (kept, connecting), ..self }
    }

    /// A response has so many bytes of content.
    pub fn body(self, body: f64) -> Self {
        Self { body, ..self }
    }

    /// Requests above a rate are refused with a status.
    pub fn refuses(self, status: u16, per_second: f64) -> Self {
        Self { refuses: Some((status, per_second)), ..self }
    }

    /// The server closes so many connections for each request in some experiments.
    pub fn closes(mut self, which: Which, each: f64) -> Self {
        self.closes.push((which, each));
        self
    }

    /// Throughput is so many times as high in some experiments.
    pub fn times(mut self, which: Which, factor: f64) -> Self {
        self.rates.push((which, factor));
        self
    }

    /// Observations of the target are different.
    pub fn everywhere(mut self, change: Value) -> Self {
        self.changes.push((None, change));
        self
    }

    /// Observations of some experiments are different.
    pub fn at(mut self, which: Which, change: Value) -> Self {
        self.changes.push((Some(which), change));
        self
    }

    /// Diagnoses the service.
    pub fn diagnose(&self) -> Diagnosis {
        let mut runner = Described { case: self, elapsed: Duration::ZERO };
        let finding = driver::diagnose(self.setting.clone(), &mut runner, &AtomicBool::new(false), &mut |_| {});
        Diagnosis::of(finding.expect("a described service is reached"), runner.elapsed.as_secs_f64())
    }

    fn observation(&self, order: &Order<'_>, is_light: bool) -> Observation {
        let experiment = order.experiment;
        let load = &experiment.load;
        let id = experiment.id;
        let is_target = !matches!(load.request, Request::Absent | Request::WithoutHost | Request::Null(_));
        let think_s = load.think.map_or(0.0, |(least, most)| (least + most).as_secs_f64() / 2.0);
        let connections = load.connections as f64;
        let (alone_s, most) = match load.request {
            Request::Absent | Request::WithoutHost => (self.cheap_s + if is_light { self.held_up_s } else { 0.0 }, 1e9),
            Request::Null(_) => (1e-5, if load.keep_alive { self.empty.0 } else { self.empty.1 }),
            _ => (self.alone_s + if order.quick_ack { 0.0 } else { self.acks_s }, self.most),
        };
        let mut rps = load.rate.unwrap_or(connections / (alone_s + think_s));
        let mut refused = 0.0;
        if let Some((_, allowed)) = self.refuses.filter(|(_, allowed)| is_target && rps > *allowed) {
            // Refusals come at once.
            rps = load.rate.unwrap_or(connections / 1e-3);
            refused = 1.0 - allowed / rps;
        } else {
            rps = rps.min(most);
        }
        if is_target {
            rps *= self.rates.iter().filter(|(which, _)| which(id)).map(|(_, factor)| factor).product::<f64>();
        }
        let longest = order.duration.as_secs_f64();
        let requests = (rps * longest).floor().max(1.0).min(load.requests.map_or(f64::INFINITY, |most| most as f64));
        let duration_s = requests / rps;
        let response_s = if load.rate.is_some() { alone_s } else { (connections / rps - think_s).max(alone_s) };
        let closes = self.closes.iter().rev().find(|(which, _)| which(id)).map_or(0.0, |(_, each)| *each);
        let closed = if is_target && load.keep_alive { (requests * closes).round() } else { 0.0 };
        let opened = connections + if load.keep_alive { closed } else { requests };
        let counts = Counts { requests, refused, closed, opened, duration_s };
        let mut observation = json!({
            "id": id,
            "run": self.run(order, &counts),
            "times": {
                "answered": spread(requests, response_s),
                "connect": spread(opened, if is_light { self.cheap_s / 3.0 } else { self.rtt_s }),
                "first_tenth": (rps * 0.1) as u64
            }
        });
        if !is_light && self.setting.same_machine {
            observation["signals"] = json!({
                "seconds": duration_s,
                "machine": {"cores": CPUS, "cpu_share": 0.1},
                "network": {"active_opens": opened as u64, "listen_overflows": 0, "half_open_drops": 0},
                "clients": {"established": connections, "unread": 0.0},
                "processes": [{"pid": 1, "name": "app", "cores": 0.1, "allowed_cores": CPUS}]
            });
        }
        // What a row says of the target in general is not meant for other requests.
        let fits = |which: &Option<Which>| which.map_or(is_target, |which| which(id));
        for (_, change) in self.changes.iter().filter(|(which, _)| fits(which)) {
            merge(&mut observation, change.clone());
        }
        serde_json::from_value(observation).unwrap_or_else(|error| panic!("{id:?}: {error}"))
    }

    /// Returns the result of a run.
    fn run(&self, order: &Order<'_>, counts: &Counts) -> Value {
        let load: &Load = &order.experiment.load;
        let &Counts { requests, closed, opened, duration_s, .. } = counts;
        let is_absent = matches!(load.request, Request::Absent | Request::WithoutHost);
        let body = match load.request {
            Request::Head | Request::Absent | Request::WithoutHost => 0.0,
            _ => self.body,
        };
        let refused = if is_absent { requests } else { (requests * counts.refused).round() };
        let refusal = if is_absent { 404 } else { self.refuses.map_or(429, |(status, _)| status) };
        let mut status = json!({});
        for (status_code, count) in [(200, requests - refused), (refusal, refused)] {
            if count > 0.0 {
                status[status_code.to_string()] = json!(count as u64);
            }
        }
        json!({
            "schema": "torr.run/1", "torr": "0", "target": "http://described/", "started_at": "",
            "plan": {"connections": load.connections, "threads": load.threads, "keep_alive": load.keep_alive, "protocol": "http/1.1",
                "method": "GET", "timeout_s": order.timeout.as_secs_f64(), "duration_s": order.duration.as_secs_f64(), "rate": load.rate},
            "asked": requests as u64, "requests": requests as u64, "rps": requests / duration_s, "duration_s": duration_s,
            "status": status, "unfinished": 0,
            "bytes": {"sent": (requests * HEADERS) as u64, "received": (requests * (body + HEADERS)) as u64,
                "body": (requests * body) as u64},
            "errors": {"connect": 0, "tls": 0, "timeout": 0, "read": 0, "write": 0, "protocol": 0, "status": refused as u64, "ports": 0},
            "latency_us": null, "phases_us": {"connect": null, "tls": null, "first_byte": null},
            "connections": {"opened": opened as u64, "peak": load.connections, "closed_by_server": closed as u64,
                "requests_per_connection": requests / opened},
            "series": [],
            "generator": {"cpu_us_per_request": 4.0, "cpu_share": 0.1, "busy_share": 0.1, "saturated": false}
        })
    }
}

/// What an experiment counted.
struct Counts {
    requests: f64,
    /// The share of refused requests.
    refused: f64,
    /// Connections that the server closed.
    closed: f64,
    opened: f64,
    duration_s: f64,
}

/// The runner of a service as described. Its clock advances by the length of each experiment.
struct Described<'c> {
    case: &'c Case,
    elapsed: Duration,
}

impl ExperimentRunner for Described<'_> {
    fn elapsed(&self) -> Duration {
        self.elapsed
    }

    fn run(&mut self, order: &Order<'_>) -> Result<Observation, Halt> {
        self.elapsed += order.duration + order.warmup;
        Ok(self.case.observation(order, false))
    }

    fn run_beside(&mut self, order: &Order<'_>, light: &Order<'_>) -> Result<[Observation; 2], Halt> {
        self.elapsed += order.duration + order.warmup;
        Ok([self.case.observation(order, false), self.case.observation(light, true)])
    }

    fn rest(&mut self, time: Duration) -> Result<(), Halt> {
        self.elapsed += time;
        Ok(())
    }
}

/// Returns times that are all alike.
pub fn spread(count: f64, seconds: f64) -> Value {
    let us = seconds * 1e6;
    json!({"count": count as u64, "min_us": us as u64, "mean_us": us, "median_us": us})
}

/// Returns the change of a server whose threads use so much CPU on a machine that is used to `share`.
pub fn uses(share: f64, threads: Vec<Value>) -> Value {
    let cores: f64 = threads.iter().filter_map(|thread| thread["cores"].as_f64()).sum();
    let app = json!({"pid": 1, "name": "app", "cores": cores, "allowed_cores": CPUS, "threads": threads});
    json!({"signals": {"machine": {"cpu_share": share}, "processes": [app]}})
}

/// Returns a thread that uses so much of a CPU, and waits for one in a share of the time.
pub fn thread(tid: i32, cores: f64, queued: f64) -> Value {
    json!({"tid": tid, "name": format!("worker-{tid}"), "cores": cores, "queued": queued, "waits_per_s": 1000.0,
        "waiting": {"ep_poll": 1.0 - cores}})
}

/// Returns so many threads that hardly use a CPU and wait in a function of the kernel nearly all of the time.
pub fn waiting(count: i32, function: &str) -> Vec<Value> {
    let thread = |tid| {
        json!({"tid": tid, "name": format!("worker-{tid}"), "cores": 0.02, "queued": 0.0, "waits_per_s": 200.0, "running": 0.05,
            "waiting": {function: 0.9}})
    };
    (1..=count).map(thread).collect()
}

/// Returns a peer with the CPU of its one process.
pub fn peer(role: &str, cores: f64, threads: Vec<Value>, more: Value) -> Value {
    let process = json!({"pid": 2, "name": "peer", "cores": cores, "threads": threads});
    let mut peer = json!({"address": "127.0.0.1:9000", "role": role, "connections": 8.0, "connections_max": 8, "kept": 1.0,
        "processes": [process]});
    merge(&mut peer, more);
    json!({"signals": {"peers": [peer]}})
}

fn merge(into: &mut Value, changes: Value) {
    match changes {
        // What is not there is not changed.
        Value::Object(_) if into.is_null() => *into = changes,
        Value::Object(fields) => fields.into_iter().for_each(|(name, value)| merge(&mut into[name], value)),
        value => *into = value,
    }
}
