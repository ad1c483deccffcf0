//! Whether connections are kept alive, and what that depends on: compression, the version, a field, a number of requests, idle
//! time.

use crate::evidence::Evidence;
use crate::experiment::{Experiment, Length, Request, Step};
use crate::observation::Observation;
use crate::thresholds::KEPT_ALIVE;
use serde::Serialize;
use std::time::Duration;
use torr_gauge::verdict::{ExperimentId, Fact, KeepAliveCondition};

/// Requests of a trial; kept alive they need one connection.
const REQUESTS: u64 = 6;
/// The share of the budget for which a connection is left idle: of a minute a little more than the 5 s of many servers.
const IDLE_SHARE: f64 = 0.11;
/// Waiting for less tells nothing: hardly a server ends connections so soon.
const LEAST_IDLE: Duration = Duration::from_secs(1);

/// The conditions of keep-alive that were found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct KeepAlive {
    /// Whether connections are kept for requests as the user sends them.
    pub kept: bool,
    /// Conditions under which that is otherwise, each as a fact.
    #[serde(skip)]
    pub depends_on: Vec<Fact>,
    /// After how many requests the server ends each connection.
    pub most_requests: Option<u64>,
    /// After how many seconds without a request the server ends a connection, if it does so while it is waited for.
    pub idle_limit_s: Option<f64>,
    /// Changes of the request that make the server keep connections.
    #[serde(skip)]
    pub kept_if: Vec<Condition>,
}

/// A change of the request.
#[derive(Debug, Clone, Copy)]
pub struct Condition {
    /// The condition.
    pub is: KeepAliveCondition,
    /// The changed request.
    pub request: Request,
}

/// Each alone may be what a server makes it depend on.
const CONDITIONS: [Condition; 3] = [
    Condition { is: KeepAliveCondition::AcceptsGzip, request: Request::Gzip },
    Condition { is: KeepAliveCondition::ConnectionField, request: Request::ExplicitKeepAlive },
    Condition { is: KeepAliveCondition::Uncompressed, request: Request::Identity },
];

/// Looks for conditions. Only of HTTP/1.1: in HTTP/2 there is nothing to keep alive.
pub fn rule(evidence: &Evidence) -> Step {
    if is_looked_at(evidence) {
        for experiment in experiments(evidence) {
            evidence.observe_if_reached(experiment)?;
        }
    }
    Ok(None)
}

/// Returns what keep-alive depends on. `None` if it was not looked at.
pub fn found(evidence: &Evidence) -> Option<KeepAlive> {
    let has_ended = |tried: &Experiment| evidence.last(tried.id).is_some() || evidence.is_unreached(tried.id);
    if !is_looked_at(evidence) || !experiments(evidence).iter().all(has_ended) {
        return None;
    }
    let alone = evidence.alone();
    let kept = alone.opened_per_request() < KEPT_ALIVE || alone.run.requests < 2;
    let mut found = KeepAlive { kept, most_requests: most_requests(evidence), ..KeepAlive::default() };
    let otherwise = |is| evidence.last(ExperimentId::KeptIf(is)).and_then(keeps).filter(|&other| other != kept);
    for condition in CONDITIONS {
        if let Some(otherwise) = otherwise(condition.is) {
            found.depends_on.push(Fact::KeepAliveDepends { condition: condition.is, kept: otherwise });
            if otherwise {
                found.kept_if.push(condition);
            }
        }
    }
    if let Some(otherwise) = otherwise(KeepAliveCondition::Http10) {
        found.depends_on.push(Fact::KeepAliveDepends { condition: KeepAliveCondition::Http10, kept: otherwise });
    }
    found.idle_limit_s = idle(evidence).and_then(|idle| evidence.last(idle.id)).and_then(|seen| {
        // Its life but for the one request.
        Some((seen.times.ended_idle_s? - seen.median_s()?).max(0.0))
    });
    Some(found)
}

fn is_looked_at(evidence: &Evidence) -> bool {
    let setting = &evidence.setting;
    !setting.http2 && setting.keep_alive && setting.is_read_only && setting.streams.is_none()
}

fn experiments(evidence: &Evidence) -> Vec<Experiment> {
    let few = |is, request| {
        evidence.setting.single(ExperimentId::KeptIf(is), Length::Seconds(0.5)).with(|load| {
            load.request = request;
            load.requests = Some(REQUESTS);
        })
    };
    let mut all: Vec<_> = CONDITIONS.iter().map(|condition| few(condition.is, condition.request)).collect();
    if !evidence.setting.has_placeholders && evidence.setting.agents.is_none() {
        // The older version has to ask for it (RFC 9112, appendix C.2.2).
        all.push(few(KeepAliveCondition::Http10, Request::Http10));
    }
    all
}

/// Whether a few requests, one after another, shared a connection. `None` if too few were answered to tell.
fn keeps(seen: &Observation) -> Option<bool> {
    let refused = seen.run.errors.status > 0;
    (seen.run.requests > 1 && !refused).then(|| seen.opened_per_request() < KEPT_ALIVE)
}

/// The server ends each connection after the same number of requests.
fn most_requests(evidence: &Evidence) -> Option<u64> {
    let run = &evidence.full().run;
    let (closed, opened) = (run.connections.closed_by_server, run.connections.opened);
    let ended_in_turn = closed as f64 / opened.max(1) as f64;
    let mean = run.requests as f64 / opened.max(1) as f64;
    // Those that were open at the end had not had theirs yet.
    (closed > 20 && ended_in_turn > 0.5 && mean > 1.5).then(|| (run.requests as f64 / closed as f64).round() as u64)
}

/// Returns the experiment that shows how long the server keeps an idle connection, if that can be waited for. It takes longer than all
/// others and changes no verdict, so it comes last.
pub fn idle(evidence: &Evidence) -> Option<Experiment> {
    let wait = Duration::from_secs_f64(evidence.setting.budget_s * IDLE_SHARE);
    let experiment = evidence.setting.single(ExperimentId::Idle, Length::Share(IDLE_SHARE));
    (wait >= LEAST_IDLE).then(|| experiment.with(|load| load.think = Some((wait, wait))))
}
