//! Whether connections are kept alive, and what that depends on: compression, the version, a field, a number of requests, how
//! long nothing is asked.

use crate::laboratory::{Halt, Laboratory};
use crate::ward::{Ward, reached};
use serde::Serialize;
use std::time::Duration;
use torr_press::request::Options;
use torr_press::{Plan, Requests, ThinkTime};

/// Requests of an observation; kept alive they need one connection.
const REQUESTS: u64 = 6;
/// Connections per answer below which they are kept.
const KEPT: f64 = 0.5;
/// The share of the budget for which a connection is left idle: of a minute a little more than the 5 s of many servers.
const IDLE_SHARE: f64 = 0.11;
/// Waiting for less tells nothing: hardly a server ends connections so soon.
const LEAST_IDLE: Duration = Duration::from_secs(1);

/// What was found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct KeepAlive {
    /// Whether connections are kept for requests as the user sends them.
    pub kept: bool,
    /// Conditions under which that is otherwise, for people.
    pub depends_on: Vec<String>,
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
    /// As the end of a sentence.
    pub what: &'static str,
    /// The change.
    pub change: fn(&mut Options),
}

/// Each alone may be what a server makes it depend on.
const CONDITIONS: [Condition; 3] = [
    Condition { what: "if the client accepts gzip", change: |options| options.compressed = true },
    Condition {
        what: "if the request says 'Connection: keep-alive'",
        change: |options| options.headers.push("Connection: keep-alive".into()),
    },
    Condition {
        what: "if the client takes nothing compressed",
        change: |options| {
            options.compressed = false;
            options.headers.push("Accept-Encoding: identity".into());
        },
    },
];

/// Looks for conditions. Only of HTTP/1.1: in HTTP/2 there is nothing to keep alive.
pub fn look(ward: &mut Ward<'_>) -> Result<(), Halt> {
    let assignment = ward.lab.assignment;
    if assignment.plan.protocol.http2 || !assignment.plan.keep_alive || !ward.is_read_only() {
        return Ok(());
    }
    let kept = ward.alone_observation().opened_per_request() < KEPT || ward.alone_observation().run.requests < 2;
    let mut found = KeepAlive { kept, ..KeepAlive::default() };
    let why = "what keep-alive depends on";
    for condition in CONDITIONS {
        let plan = ward.lab.plan_for(assignment.plan.target.path(), condition.change)?;
        if let Some(otherwise) = keeps(&mut ward.lab, condition.what, why, plan)?.filter(|&other| other != kept) {
            let verb = if otherwise { "only kept" } else { "not kept" };
            found.depends_on.push(format!("connections are {verb} {}", condition.what));
            if otherwise {
                found.kept_if.push(condition);
            }
        }
    }
    if let Some(otherwise) = keeps_over_http_1_0(ward, why)?.filter(|&other| other != kept) {
        found.depends_on.push(match otherwise {
            true => "connections are only kept over HTTP/1.0".into(),
            false => "connections are not kept over HTTP/1.0, though it asks for it".into(),
        });
    }
    found.most_requests = most_requests(ward);
    ward.lab.keep_alive = Some(found);
    Ok(())
}

/// The same with the older version, which has to ask for it (RFC 9112, appendix C.2.2).
fn keeps_over_http_1_0(ward: &mut Ward<'_>, why: &str) -> Result<Option<bool>, Halt> {
    let target = &ward.lab.assignment.plan.target;
    if target.path().contains('{') {
        // A placeholder, which only the user's own request fills in.
        return Ok(None);
    }
    let old =
        format!("GET {} HTTP/1.0\r\nHost: {}\r\nConnection: keep-alive\r\n\r\n", target.path(), target.authority());
    let request = Requests::raw(target, "GET", old.into_bytes())?;
    let plan = Plan { request, ..ward.lab.plan() };
    keeps(&mut ward.lab, "HTTP/1.0 with keep-alive", why, plan)
}

/// Whether a few requests, one after another, share a connection. `None` if too few were answered to tell.
fn keeps(lab: &mut Laboratory<'_>, name: &str, why: &str, plan: Plan) -> Result<Option<bool>, Halt> {
    let length = lab.length(0.5, Duration::ZERO);
    let plan = Plan { connections: 1, threads: 1, requests: Some(REQUESTS), duration: Some(length), ..plan };
    let Some(observation) = reached(lab.run(name, why, &plan))? else { return Ok(None) };
    let refused = observation.run.errors.status > 0;
    Ok((observation.run.requests > 1 && !refused).then(|| observation.opened_per_request() < KEPT))
}

/// The server ends each connection after the same number of requests.
fn most_requests(ward: &Ward<'_>) -> Option<u64> {
    let run = &ward.full_observation().run;
    let (closed, opened) = (run.connections.closed_by_server, run.connections.opened);
    let ended_in_turn = closed as f64 / opened.max(1) as f64;
    let mean = run.requests as f64 / opened.max(1) as f64;
    // Those that were open at the end had not had theirs yet.
    (closed > 20 && ended_in_turn > 0.5 && mean > 1.5).then(|| (run.requests as f64 / closed as f64).round() as u64)
}

/// How long the server keeps a connection on which nothing is asked. It takes longer than all else and changes no verdict, so
/// it comes last.
pub fn look_at_idle(ward: &mut Ward<'_>) -> Result<(), Halt> {
    let wait = ward.lab.assignment.budget.mul_f64(IDLE_SHARE);
    let is_kept = ward.lab.keep_alive.as_ref().is_some_and(|found| found.kept && found.most_requests != Some(1));
    if !is_kept || wait < LEAST_IDLE || !ward.lab.has_time_for(wait) {
        return Ok(());
    }
    let plan = Plan {
        connections: 1,
        depth: 1,
        threads: 1,
        duration: Some(wait),
        think: Some(ThinkTime { range: wait..=wait }),
        ..ward.lab.plan()
    };
    let why = "how long the server keeps it";
    let Some(observation) = reached(ward.lab.run("an idle connection", why, &plan))? else { return Ok(()) };
    // Its life but for the one request.
    let (lived, asked) = (observation.sample.ended_idle.map(Duration::from_nanos), observation.median());
    let idle = lived.zip(asked).map(|(lived, asked)| lived.saturating_sub(asked).as_secs_f64());
    if let Some(found) = &mut ward.lab.keep_alive {
        found.idle_limit_s = idle;
    }
    Ok(())
}
