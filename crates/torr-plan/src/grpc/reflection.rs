//! What a server tells of its services by reflection: requests of their own before the run, on the way of the run.

use super::way::{Way, encoded};
use crate::error::PlanError;
use crate::permit::Permit;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use torr_gauge::sessions::EntryName;
use torr_gauge::{Failure, GrpcStatus};
use torr_grpc::reflection::{PATHS, Reflection};
use torr_grpc::{Coding, GrpcError, Schema};
use torr_press::request::{Cursor, Encoder, Options};
use torr_press::users::{Judged, ReceivedBy, Step, ThreadPart, ThreadUsers, Users};
use torr_press::{GrpcMethod, Keep, Plan, RequestInfo, RequestParts, Requests, Work};

/// Requests the description of the service of a target.
///
/// # Errors
/// If there is no way to the server, if it does not describe the service, and those of `permit`.
pub(super) fn schema(way: Way<'_>, options: &Options, permit: Permit<'_>) -> Result<Schema, PlanError> {
    for path in PATHS {
        let mut reflection = Reflection::of(way.target.path()).map_err(PlanError::usage)?;
        match describe(way, options, path, &mut reflection, permit)? {
            Described::Whole => return reflection.schema().map_err(failed),
            Described::Unimplemented => {}
        }
    }
    Err(PlanError::Unreachable(
        "the server does not support reflection: use --proto FILE or --protoset FILE instead".to_owned(),
    ))
}

/// The end of the requests to one path.
enum Described {
    /// All files are there.
    Whole,
    /// The server does not have the method.
    Unimplemented,
}

fn describe(
    way: Way<'_>,
    options: &Options,
    path: &str,
    reflection: &mut Reflection,
    permit: Permit<'_>,
) -> Result<Described, PlanError> {
    while let Some(content) = reflection.next_request() {
        let received = exchange(way, options, path, content, permit)?;
        match received.status {
            Some(status) if status.is_ok() => reflection.take(&received.content, received.coding).map_err(failed)?,
            Some(GrpcStatus::UNIMPLEMENTED) => return Ok(Described::Unimplemented),
            Some(status) => {
                let line = format!("the server's reflection failed: {} {}", status.name(), received.message);
                return Err(PlanError::Unreachable(line.trim_end().to_owned()));
            }
            None => return Err(PlanError::Unreachable(format!("the server responded with status {}", received.http))),
        }
    }
    Ok(Described::Whole)
}

fn failed(error: GrpcError) -> PlanError {
    PlanError::Unreachable(error.to_string())
}

/// The response of the server.
#[derive(Debug)]
struct Received {
    http: u16,
    /// The status of gRPC; `None` for a response without one.
    status: Option<GrpcStatus>,
    message: String,
    content: Vec<u8>,
    coding: Option<Coding>,
}

/// Sends one request, and returns its response.
fn exchange(
    way: Way<'_>,
    options: &Options,
    path: &str,
    content: Vec<u8>,
    permit: Permit<'_>,
) -> Result<Received, PlanError> {
    let body = encoded(Vec::new(), Encoder::new(move |_| Ok(content.clone())));
    let options = Options { body: Some(body), ..options.clone() };
    let plan = way.plan(way.target.at(path), &options, GrpcMethod { returns_stream: true })?;
    let Work::Requests(requests) = &plan.work else {
        return Err(PlanError::Usage("a call is a request".to_owned()));
    };
    let one = Arc::new(OneRequest { requests: requests.clone(), outcome: Mutex::new(None) });
    let plan = Plan {
        work: Work::Users(Arc::<OneRequest>::clone(&one)),
        connections: 1,
        threads: 1,
        depth: 1,
        requests: Some(1),
        timeout: way.timeout(),
        watch_server: false,
        ..plan
    };
    permit(&plan)?;
    let unreachable = |line: String| PlanError::Unreachable(format!("cannot request the server's description: {line}"));
    torr_press::run(&plan, &AtomicBool::new(false), |_| ()).map_err(|error| unreachable(error.to_string()))?;
    let outcome = one.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
    outcome.unwrap_or_else(|| Err("no response".to_owned())).map_err(unreachable)
}

/// A user who sends one request and keeps its response.
#[derive(Debug)]
struct OneRequest {
    requests: Requests,
    outcome: Mutex<Option<Result<Received, String>>>,
}

impl OneRequest {
    fn end(&self, outcome: Result<Received, String>) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }
}

impl Users for OneRequest {
    fn entries(&self) -> Vec<EntryName> {
        vec![EntryName::default()]
    }

    fn thread(&self, _part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        Box::new(OneThread { of: self, cursor: self.requests.cursor(0, 1), is_sent: false })
    }

    fn has_sessions(&self) -> bool {
        false
    }
}

/// The user's thread.
struct OneThread<'r> {
    of: &'r OneRequest,
    cursor: Cursor<'r>,
    is_sent: bool,
}

impl ThreadUsers for OneThread<'_> {
    fn begin(&mut self, _user: usize) {
        self.is_sent = false;
    }

    fn next(&mut self, _user: usize) -> Step {
        if std::mem::replace(&mut self.is_sent, true) { Step::Finished } else { Step::Send(0) }
    }

    fn write(&mut self, _user: usize, out: &mut Vec<u8>) -> RequestInfo {
        RequestInfo { keep: Keep::Content, ..self.cursor.write(out) }
    }

    fn parts(&mut self, _user: usize) -> RequestParts {
        let mut parts = self.cursor.parts();
        parts.begun.keep = Keep::Content;
        parts
    }

    fn received(&mut self, _user: usize, received: &ReceivedBy<'_>) -> Judged {
        let response = received.response;
        let field = |name: &str| response.fields().find(|(known, _)| *known == name).map(|(_, value)| value);
        let status = field("grpc-status").and_then(GrpcStatus::of_field);
        self.of.end(Ok(Received {
            http: response.status,
            status,
            message: field("grpc-message").map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default(),
            content: response.content().to_vec(),
            coding: field("grpc-encoding").map_or(Some(Coding::Identity), Coding::of),
        }));
        Judged { passed: status.is_some_and(GrpcStatus::is_ok), ..Judged::default() }
    }

    fn failed(&mut self, _user: usize, failure: &Failure) {
        self.of.end(Err(failure.what.to_string()));
    }
}
