//! The experiments that every assignment undergoes, gentle ones first, and the figures that come of them.

use crate::acks::{self, Acks};
use crate::figures::{Beside, CHEAP, Cheap, Figures};
use crate::gain::Bounds;
use crate::laboratory::{Halt, Laboratory};
use crate::ladder::{Rung, rungs};
use crate::observation::{Observation, quantile};
use crate::spread;
use std::time::Duration;
use torr_gauge::Signals;
use torr_press::request::Options;
use torr_press::{Plan, Requests, RunError, ThinkTime};

/// Pauses between requests that are to meet an idle server, unless those take longer.
const PAUSE: Duration = Duration::from_millis(12);
/// How long connections are opened before it counts, unless responses take so long that it hardly matters.
const WARMUP: Duration = Duration::from_millis(100);
const LONG_S: f64 = 0.02;
/// Once throughput has not grown by more than this over two doublings, the ladder goes on with the user's connections.
const FLAT: f64 = 1.08;
/// How often a cheap request is tried.
const TRIES: u64 = 12;

/// The share of the machine that others may use before the decisive experiment is made again.
const DISTURBED: f64 = 0.2;

/// The share of the connections that must have come about for a load to be the one that was meant.
const MOST_CAME: f64 = 0.9;
/// When all but a few connections that found an accept queue full have come about.
const SYN_AGAIN: Duration = Duration::from_millis(1300);

/// A assignment, what is known of it, and the laboratory.
pub struct Ward<'l> {
    /// Where experiments are made.
    pub lab: Laboratory<'l>,
    /// What is known.
    pub figures: Figures,
    /// What acknowledging at once brought, if answers wait for acknowledgements.
    pub acks: Option<Acks>,
    /// Where in the trail the first and the decisive experiment stand.
    alone: usize,
    full: usize,
}

impl<'l> Ward<'l> {
    /// A assignment of whom nothing is known yet.
    pub fn new(lab: Laboratory<'l>) -> Self {
        let asked = lab.assignment.plan.connections.min(lab.assignment.max_connections);
        let in_flight = asked * usize::from(lab.assignment.plan.depth);
        let figures = Figures {
            connections: asked,
            in_flight,
            generator_threads: lab.assignment.plan.threads.clamp(1, asked),
            ..Figures::default()
        };
        Self { lab, figures, acks: None, alone: 0, full: 0 }
    }

    /// Makes the experiments that are always made. `null` is a service that does nothing, with answers of the size given.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn admit(&mut self, null: Option<&dyn Fn(u64) -> Result<Plan, Halt>>) -> Result<(), Halt> {
        self.alone()?;
        self.round_trip();
        self.acks = acks::look(self)?;
        if self.acks.is_some() {
            self.lab.acknowledge_at_once();
            self.alone()?;
        }
        self.cheap()?;
        self.round_trip();
        self.ladder()?;
        // Ours speaks neither TLS nor HTTP/2, and cannot be compared with what does.
        if let Some(null) =
            null.filter(|_| !self.lab.assignment.plan.protocol.http2 && self.lab.assignment.plan.depth == 1)
        {
            self.null(null)?;
        }
        self.beside()
    }

    /// Returns what bounds throughput once the present limit is lifted. The load of the user acknowledges as usual.
    pub fn bounds(&self) -> Bounds {
        Bounds::of(&self.figures, self.acks.map_or(self.figures.alone_mean_s, |acks| acks.medians_s.0))
    }

    /// One request at a time.
    pub fn alone_observation(&self) -> &Observation {
        &self.lab.trail[self.alone]
    }

    /// The user's load.
    pub fn full_observation(&self) -> &Observation {
        &self.lab.trail[self.full]
    }

    /// The user's load, for so many seconds of a budget of a minute.
    pub fn user_plan(&self, seconds: f64) -> Plan {
        self.plan_with(self.figures.connections, seconds)
    }

    /// The user's load with another number of connections.
    pub fn plan_with(&self, connections: usize, seconds: f64) -> Plan {
        let alone = self.figures.alone_mean_s;
        let queued = connections as f64 / self.figures.ladder.most().max(1e-3);
        // What is begun while warming up does not count, and where requests queue for long that would be nearly all.
        let warmup = if alone.max(queued.min(60.0)) > LONG_S { Duration::ZERO } else { WARMUP };
        Plan {
            connections,
            duration: Some(self.lab.length(seconds, Duration::from_secs_f64(alone))),
            warmup,
            ..self.lab.plan()
        }
    }

    /// Whether what is asked for changes nothing, as far as its method tells (RFC 9110, section 9.2.1).
    pub fn is_read_only(&self) -> bool {
        let options = &self.lab.assignment.options;
        options.body.is_none() && options.method.as_deref().is_none_or(|method| ["GET", "HEAD"].contains(&method))
    }

    /// The user's load with another request.
    ///
    /// # Errors
    /// What [`Laboratory::plan_for`] has.
    pub fn variation(&self, change: impl FnOnce(&mut Options), seconds: f64) -> Result<Plan, Halt> {
        let other = self.lab.plan_for(self.lab.assignment.plan.target.path(), change)?;
        let user = self.user_plan(seconds);
        Ok(Plan { request: other.request, keep_alive: other.keep_alive, ..user })
    }

    /// The user's load with the heads of the answers alone.
    ///
    /// # Errors
    /// What [`Laboratory::plan_for`] has.
    pub fn heads(&self, seconds: f64) -> Result<Plan, Halt> {
        self.variation(|options| options.method = Some("HEAD".into()), seconds)
    }

    fn alone(&mut self) -> Result<(), Halt> {
        let plan = Plan {
            connections: 1,
            depth: 1,
            threads: 1,
            duration: Some(self.lab.length(1.2, Duration::ZERO)),
            think: Some(ThinkTime { range: PAUSE / 2..=PAUSE }),
            ..self.lab.plan()
        };
        let first = self.lab.run("one request at a time", "what a request takes when nothing else is asked", &plan)?;
        let mut answered = first.sample.answered.count();
        if answered < 3 {
            // So slow a service needs longer to show itself.
            let plan = Plan { duration: Some(self.lab.assignment.budget / 8), ..plan };
            let again =
                self.lab.run("one request at a time, longer", "hardly one was answered in so short a time", &plan)?;
            answered = again.sample.answered.count();
        }
        self.alone = self.lab.trail.len() - 1;
        let observation = &self.lab.trail[self.alone];
        let latency = if answered > 0 { &observation.sample.answered } else { &observation.sample.unanswered };
        let Some(summary) = latency.summary() else { return Ok(()) };
        let median_s = quantile(latency, 0.5).unwrap_or_default().as_secs_f64();
        let mean_s = summary.mean / 1e6;
        let paused_s = observation.stolen_s() / latency.count().max(1) as f64;
        let figures = &mut self.figures;
        figures.alone_least_s = summary.min as f64 / 1e6;
        figures.alone_mean_s = unpaused(mean_s, median_s, paused_s);
        figures.alone_median_s = median_s;
        Ok(())
    }

    /// Looks for a request that the server answers without the target's work.
    fn cheap(&mut self) -> Result<(), Halt> {
        let why = "whether there is a request that costs the server little";
        for (what, plan) in self.cheap_plans()? {
            let plan = Plan { requests: Some(TRIES), duration: Some(self.lab.length(0.6, Duration::ZERO)), ..plan };
            let Some(observation) = reached(self.lab.run(what, why, &plan))? else { continue };
            let (Some(response), Some(connect)) = (observation.median(), observation.connect_median()) else {
                continue;
            };
            let found = Cheap { what: what.into(), alone_s: response.as_secs_f64(), connect_s: connect.as_secs_f64() };
            let best = self.figures.cheap.as_ref().is_none_or(|best| found.alone_s < best.alone_s);
            let enough = found.alone_s < CHEAP * self.figures.alone_median_s;
            if best {
                self.figures.cheap = Some(found);
            }
            if enough {
                break;
            }
        }
        Ok(())
    }

    /// What may be cheap: a path that is not there, and a request that a server refuses before it looks at the path.
    fn cheap_plans(&self) -> Result<Vec<(&'static str, Plan)>, Halt> {
        let light = |plan: Plan| Plan {
            connections: 1,
            depth: 1,
            threads: 1,
            keep_alive: false,
            think: Some(ThinkTime { range: PAUSE / 3..=PAUSE / 2 }),
            ..plan
        };
        let absent = self.lab.plan_for("/torr-looks-for-what-is-not-there", |options| {
            options.keep_alive = false;
            (options.method, options.body) = (None, None);
        })?;
        let target = self.lab.assignment.plan.target.at("/");
        let refused = Requests::raw(&target, "GET", b"GET / HTTP/1.1\r\n\r\n".to_vec())?;
        let refused = Plan { request: refused, ..self.lab.plan() };
        let mut plans = vec![("a path that is not there", light(absent))];
        if !self.lab.assignment.plan.protocol.http2 {
            plans.push(("a request without a Host", light(refused)));
        }
        Ok(plans)
    }

    /// The least that any connection took to come about or TCP has seen: a single one may have met a busy machine.
    fn round_trip(&mut self) {
        let seen = self.lab.trail.iter().flat_map(|observation| {
            let connect = observation.connect().map(|connect| connect.min);
            let measured = observation.run.sockets.and_then(|sockets| sockets.min_rtt_us);
            connect.into_iter().chain(measured)
        });
        self.figures.round_trip_s = seen.min().map(|us| us as f64 / 1e6);
    }

    fn ladder(&mut self) -> Result<(), Halt> {
        let asked = self.figures.connections;
        let mut skipping = false;
        for connections in rungs(asked) {
            let is_last = connections == asked;
            if skipping && !is_last {
                continue;
            }
            let plan = self.plan_with(connections, if is_last { 2.5 } else { 0.7 });
            let why = if is_last { "what the service does under your load" } else { "where throughput stops to grow" };
            self.climb(connections, why, &plan)?;
            let rungs = &self.figures.ladder.0;
            skipping = rungs.len() > 2 && rungs[rungs.len() - 1].rps < FLAT * rungs[rungs.len() - 3].rps;
        }
        if self.lab.sees_here() && disturbance(self.lab.trail.last()) > DISTURBED {
            // Who has something to do for a moment only should not spoil it all.
            self.lab.rest(self.lab.assignment.budget / 30, "other programs used the machine meanwhile")?;
            self.figures.ladder.0.pop();
            let plan = self.plan_with(asked, 2.5);
            self.climb(asked, "again, since other programs used the machine", &plan)?;
        }
        if self.idle_workers() > 0 {
            // Other connections may fall to other workers.
            let uneven = self.figures.ladder.0.pop();
            let plan = self.plan_with(asked, 2.5);
            self.climb(asked, "again, since one of the server's workers had nearly all connections", &plan)?;
            self.figures.idle_workers = self.idle_workers();
            self.figures.uneven_rps = uneven.map(|rung| rung.rps).filter(|_| self.figures.idle_workers == 0);
        }
        self.full = self.lab.trail.len() - 1;
        let full = &self.lab.trail[self.full];
        self.figures.generator_busy = full.run.generator.busy_share;
        self.figures.same_machine = self.lab.sees_here();
        let stretch = full.signals.as_ref().filter(|_| self.figures.same_machine).map_or(1.0, Signals::steal_factor);
        self.figures.generator_cores = full.generator_cores() * stretch;
        self.figures.signals = full.signals.clone().map(Signals::without_steal);
        self.figures.own_quota = full.own_quota.clone();
        let double = (2 * asked).min(self.lab.assignment.max_connections);
        if double > asked {
            let plan = self.plan_with(double, 1.0);
            self.climb(double, "whether more connections bring more", &plan)?;
            let came = self.lab.trail.last().map_or(0, |observation| observation.run.connections.peak);
            if (came as f64) < MOST_CAME * double as f64 {
                // A full accept queue drops connections, and those come again after a second: this was not the load that was meant.
                self.figures.ladder.0.pop();
                let plan = Plan { warmup: plan.warmup + SYN_AGAIN, ..plan };
                self.climb(double, "again, once all of them have come about", &plan)?;
            }
        }
        Ok(())
    }

    /// Workers that idled in the last experiment while another was full.
    fn idle_workers(&self) -> usize {
        let (last, others) = self.lab.trail.split_last().expect("the ladder's rungs were climbed");
        let others = others.iter().filter_map(|observation| observation.signals.as_ref());
        last.signals.as_ref().map_or(0, |seen| spread::idle_workers(seen, others))
    }

    fn climb(&mut self, connections: usize, why: &str, plan: &Plan) -> Result<(), Halt> {
        let name = crate::words::counted(connections, "connection");
        let observation = self.lab.run(&name, why, plan)?;
        let median_s = observation.median().unwrap_or_default().as_secs_f64();
        let rung = Rung { connections, rps: observation.good_rps(), median_s };
        self.figures.ladder.0.push(rung);
        Ok(())
    }

    fn null(&mut self, null: &dyn Fn(u64) -> Result<Plan, Halt>) -> Result<(), Halt> {
        let body = self.full_observation().run.bytes.body / self.full_observation().run.requests.max(1);
        let user = self.user_plan(0.8);
        let plan = |keep_alive| -> Result<Plan, Halt> {
            let null = null(body)?;
            let request = Requests::get(&null.target, keep_alive)?;
            Ok(Plan {
                connections: user.connections,
                threads: user.threads,
                duration: Some(self.lab.length(0.8, Duration::ZERO)),
                warmup: Duration::from_millis(100),
                keep_alive,
                request,
                ..null
            })
        };
        let (kept, connecting) = (plan(true)?, plan(false)?);
        let why = "what this generator reaches where the service costs nothing";
        self.figures.null_rps =
            reached(self.lab.run("a service that does nothing", why, &kept))?.map(Observation::good_rps);
        let name = "a service that does nothing, a connection for each request";
        let why = "what a connection costs here";
        self.figures.null_rps_connecting = reached(self.lab.run(name, why, &connecting))?.map(Observation::good_rps);
        Ok(())
    }

    /// A light load on the cheap path while the target is just saturated: with few connections more than it needs, so that
    /// not all that the server has is taken by those that wait.
    fn beside(&mut self) -> Result<(), Halt> {
        let (Some(cheap), Some(from)) = (self.figures.cheap.clone(), self.figures.ladder.saturated_from()) else {
            return Ok(());
        };
        // With the light load's own.
        let most = self.lab.assignment.max_connections.saturating_sub(1).min(self.figures.connections.max(from));
        let connections = (from + from / 2 + 1).min(most);
        if connections == 0 {
            return Ok(());
        }
        let target = self.plan_with(connections, 1.2);
        let Some((_, light)) = self.cheap_plans()?.into_iter().find(|(what, _)| *what == cheap.what) else {
            return Ok(());
        };
        let light =
            Plan { duration: target.duration, warmup: target.warmup, timeout: self.lab.plan().timeout, ..light };
        let name = format!("{} and beside them {}", crate::words::counted(connections, "connection"), cheap.what);
        let why = "whether others wait while the target is saturated";
        let Some((_, beside)) = reached(self.lab.run_beside(&name, why, &target, &light))? else {
            self.figures.beside = Some(Beside { connections, connect_s: 0.0, response_s: None });
            return Ok(());
        };
        let median = |latency| quantile(latency, 0.5).map(|time| time.as_secs_f64());
        self.figures.beside = Some(Beside {
            connections,
            connect_s: median(&beside.sample.connect).unwrap_or(0.0),
            response_s: median(&beside.sample.answered),
        });
        Ok(())
    }
}

/// A mean response time without the hypervisor's pauses, which are not the service's: they delayed a request by as much as was taken
/// for each at most, and the median hardly at all.
fn unpaused(mean_s: f64, median_s: f64, paused_s: f64) -> f64 {
    (mean_s - paused_s).max(median_s.min(mean_s))
}

/// What came of an experiment on a service that was reached before: nothing, if not one connection came about this time.
///
/// # Errors
/// Any other [`Halt`].
pub fn reached<T>(outcome: Result<T, Halt>) -> Result<Option<T>, Halt> {
    match outcome {
        Ok(observation) => Ok(Some(observation)),
        Err(Halt::Run(RunError::Unreachable { .. })) => Ok(None),
        Err(halt) => Err(halt),
    }
}

/// The share of the machine's CPU that neither server nor generator used, nor what the server talks to.
fn disturbance(observation: Option<&Observation>) -> f64 {
    let Some((observation, signals)) =
        observation.and_then(|observation| Some((observation, observation.signals.as_ref()?)))
    else {
        return 0.0;
    };
    let Some(machine) = signals.machine else { return 0.0 };
    let known = signals.server_cores() + signals.peer_cores() + observation.generator_cores();
    machine.cpu_share - known / machine.cores as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_loses_the_hypervisors_pauses_but_not_what_the_service_takes_now_and_then() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(unpaused(0.005, 0.0004, 0.0036), 0.0014);
        close(unpaused(0.005, 0.0004, 0.0), 0.005);
        close(unpaused(0.005, 0.0004, 0.02), 0.0004);
        // Mostly slow, and quick now and then.
        close(unpaused(0.003, 0.004, 0.002), 0.003);
    }
}
