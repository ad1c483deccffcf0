//! The orders of the driver as real load.

use super::{LoadRunner, Watch};
use crate::agents::Agents;
use crate::experiment::Request;
use crate::halt::Halt;
use crate::locate::{Site, with_kept};
use crate::observation::{Observation, Seen};
use crate::runner::{ExperimentRunner, Order};
use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::verdict::Located;
use torr_press::{Arrivals, Pace, Plan, ProtocolConfig, Requests, Schedule, ThinkTime};

/// The two source addresses for a service on this machine. All of 127.0.0.0/8 is loopback (RFC 1122, section 3.2.1.3).
const SOURCES: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2))];

impl ExperimentRunner for LoadRunner<'_> {
    fn elapsed(&self) -> Duration {
        Self::elapsed(self)
    }

    fn run(&mut self, order: &Order<'_>) -> Result<Observation, Halt> {
        self.let_drain()?;
        let plan = self.plan_of(order)?;
        let (measured, seen) = self.observed(self.observer, |stop| {
            let all = self.agents.map_or(0, Agents::count);
            let agents = 0..order.experiment.load.agents.map_or(all, |some| some.min(all));
            press(self.agents, order, &plan, agents, (stop, self.watch))
        });
        self.taken(order, measured?, seen)
    }

    fn run_beside(&mut self, order: &Order<'_>, light: &Order<'_>) -> Result<[Observation; 2], Halt> {
        self.let_drain()?;
        let (plan, light_plan) = (self.plan_of(order)?, self.plan_of(light)?);
        // An agent carries out one load at a time: the light one has an agent of its own.
        let (agents, watch) = (self.agents, self.watch);
        let all = agents.map_or(0, Agents::count);
        let last = all.saturating_sub(1);
        let ((measured, other), seen) = self.observed(self.observer, |stop| {
            thread::scope(|scope| {
                let other = scope.spawn(|| press(agents, light, &light_plan, last..all, (stop, None)));
                let measured = press(agents, order, &plan, 0..last, (stop, watch));
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                (measured, other)
            })
        });
        let other = self.taken(light, other?, Seen::default())?;
        Ok([self.taken(order, measured?, seen)?, other])
    }

    fn locate(&mut self, order: &Order<'_>, site: &Site) -> Result<Option<Located>, Halt> {
        let Some(locator) = self.locator else { return Ok(None) };
        self.let_drain()?;
        let plan = self.plan_of(order)?;
        let (agents, stop, watch) = (self.agents, self.stop, self.watch);
        let all = agents.map_or(0, Agents::count);
        let site = Site { length: order.duration, ..site.clone() };
        let mut sampling = locator.prepare(&site);
        let measured = thread::scope(|scope| {
            let sampled = scope.spawn(|| sampling.sample(order.warmup, stop));
            let measured = press(agents, order, &plan, 0..all, (stop, watch));
            sampled.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            measured
        });
        let run = measured?.result;
        self.go_on()?;
        let located = sampling.located();
        let done = run.streams.as_ref().map_or(run.rps, |streams| streams.events_per_s);
        Ok(Some(if site.rps > 0.0 { with_kept(located, done / site.rps) } else { located }))
    }

    fn rest(&mut self, time: Duration) -> Result<(), Halt> {
        self.pause(time)
    }
}

/// Sends the load of an order, from this program or from a range of agents.
fn press(
    agents: Option<&dyn Agents>,
    order: &Order<'_>,
    plan: &Plan,
    range: Range<usize>,
    (stop, watch): (&AtomicBool, Option<&Watch<'_>>),
) -> Result<Measurement, Halt> {
    match agents {
        None => {
            let progress = |progress: &Progress| watch.iter().for_each(|watch| watch(progress));
            let measured = torr_press::run(plan, stop, |complete| progress(&complete))?;
            measured.rest.iter().for_each(progress);
            Ok(measured)
        }
        Some(agents) => agents.run(plan, order.experiment.load.request, range, stop),
    }
}

impl LoadRunner<'_> {
    fn taken(&mut self, order: &Order<'_>, measured: Measurement, seen: Seen) -> Result<Observation, Halt> {
        self.keep(order.experiment.id, None, measured, seen)?;
        let mut observation = self.trail.pop().expect("it was just kept");
        // A run's course is most of its result, and no rule reads it.
        observation.run.series.clear();
        Ok(observation)
    }

    fn plan_of(&self, order: &Order<'_>) -> Result<Plan, Halt> {
        let load = &order.experiment.load;
        let requested = self.requested(load.request, load.keep_alive)?;
        let is_null = matches!(load.request, Request::Null(_));
        // Of virtual users it is sessions that a plan counts and paces.
        let requests_each = requested.work.users().map_or(1, |users| users.entries().len().max(1));
        let pace = match load.rate.map(|rate| Schedule::constant(rate / requests_each as f64)) {
            Some(schedule) => {
                Pace::Open(schedule.expect("a setting gives rates that a schedule takes"), Arrivals::Constant)
            }
            None => Pace::closed(order.max_rate.filter(|_| !is_null).map(|rate| rate / requests_each as f64)),
        };
        let plan = Plan {
            connections: load.connections,
            threads: if load.single { 1 } else { load.threads },
            depth: if load.single { 1 } else { requested.depth },
            keep_alive: load.keep_alive,
            duration: Some(order.duration),
            warmup: order.warmup,
            requests: load.requests.map(|requests| requests.div_ceil(requests_each as u64)),
            think: load.think.map(|(least, most)| ThinkTime { range: least..=most }),
            interval: load.interval.unwrap_or(requested.interval),
            quick_ack: order.quick_ack,
            pace,
            timeout: if is_null { requested.timeout } else { order.timeout },
            ..requested
        };
        let plan = if load.two_sources { Plan { sources: SOURCES.into(), ..plan } } else { plan };
        Ok(match load.direct[..] {
            [] => plan,
            // Services behind a proxy usually have no TLS.
            _ => Plan {
                addresses: load.direct.iter().map(|&address| address.into()).collect(),
                protocol: ProtocolConfig { tls: None, ..plan.protocol.clone() },
                ..plan
            },
        })
    }

    /// Returns a plan with what is requested, without an end.
    fn requested(&self, request: Request, keep_alive: bool) -> Result<Plan, Halt> {
        let user = &self.assignment.plan;
        let path = user.target.path();
        match request {
            // Of messages the plan alone says whether connections are used again.
            Request::Target if user.work.users().is_some() || user.work.is_websocket() => Ok(self.plan()),
            Request::Target if keep_alive == user.keep_alive => Ok(self.plan()),
            Request::Target => self.plan_for(path, |options| options.keep_alive = keep_alive),
            Request::Head => self.plan_for(path, |options| options.method = Some("HEAD".into())),
            Request::Gzip => self.plan_for(path, |options| options.compressed = true),
            Request::ExplicitKeepAlive => {
                self.plan_for(path, |options| options.headers.push("Connection: keep-alive".into()))
            }
            Request::Identity => self.plan_for(path, |options| {
                options.compressed = false;
                options.headers.push("Accept-Encoding: identity".into());
            }),
            Request::Http10 => {
                let authority = user.target.authority();
                let old = format!("GET {path} HTTP/1.0\r\nHost: {authority}\r\nConnection: keep-alive\r\n\r\n");
                let request = Requests::raw(&user.target, "GET", old.into_bytes())?;
                Ok(Plan { work: request.into(), ..self.plan() })
            }
            Request::Absent => {
                let plan = self.plan_for("/torr-looks-for-what-is-not-there", |options| {
                    options.keep_alive = keep_alive;
                    (options.method, options.body) = (None, None);
                })?;
                // No stream, whatever the target has.
                Ok(Plan { events: None, ..plan })
            }
            Request::WithoutHost => {
                let request = Requests::raw(&user.target.at("/"), "GET", b"GET / HTTP/1.1\r\n\r\n".to_vec())?;
                Ok(Plan { work: request.into(), events: None, ..self.plan() })
            }
            Request::Null(content) => {
                let null = self.null.map(|null| null(content));
                let null = null.ok_or_else(|| {
                    Halt::Command("cannot compare with a service that does nothing: none is available here".into())
                })??;
                let request = Requests::get(&null.target, keep_alive)?;
                Ok(Plan { work: request.into(), ..null })
            }
        }
    }
}
