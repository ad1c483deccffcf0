//! One request of a URL, shown with its response.

use crate::base::Base;
use crate::exit::{self, CliError};
use crate::{interrupt, output, press, transcript};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use torr_gauge::secrets::Haystack;
use torr_gauge::sessions::EntryName;
use torr_gauge::{Failure, Secrets};
use torr_grpc::{Coding, Method};
use torr_press::request::{Cursor, sent_secrets};
use torr_press::users::{Judged, ReceivedBy, Step, ThreadPart, ThreadUsers, Users};
use torr_press::{Keep, Plan, RequestInfo, RequestParts, Requests, Work};

/// Sends one request: exit code 1 if it fails, or if the status of its response is 400 or more.
pub fn run(base: Base, timeout: Duration) -> Result<ExitCode, CliError> {
    let stop = interrupt::flag()?;
    if base.plan.work.is_websocket() {
        return Err(CliError::Usage("a single request must be of HTTP: load a WebSocket with 'torr URL -n 1'".into()));
    }
    let version = transcript::version(&base.plan);
    let Work::Requests(requests) = base.plan.work else {
        return Err(CliError::Usage("the target of a single request must be a URL".into()));
    };
    // Also those of the environment, which no name tells.
    let secrets = Secrets::new(requests.secrets(&Haystack::default()));
    let (method, passed) = (base.method, AtomicBool::default());
    let shown = Arc::new(ShownRequest { requests, secrets, method, version, passed });
    let once = Plan {
        work: Work::Users(Arc::<ShownRequest>::clone(&shown)),
        connections: 1,
        threads: 1,
        depth: 1,
        requests: Some(1),
        timeout,
        watch_server: false,
        ..base.plan
    };
    torr_press::run(&once, &stop, |_| ()).map_err(press::why_not)?;
    Ok(match (stop.load(Ordering::Relaxed), shown.passed.load(Ordering::Relaxed)) {
        (true, _) => exit::interrupted(),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    })
}

/// The one user, who sends one request of a URL and prints what is sent and received.
#[derive(Debug)]
struct ShownRequest {
    requests: Requests,
    secrets: Secrets,
    /// The method that is called, where the request is a call of gRPC.
    method: Option<Arc<Method>>,
    version: &'static str,
    /// Whether a response with a status below 400 arrived.
    passed: AtomicBool,
}

impl Users for ShownRequest {
    fn entries(&self) -> Vec<EntryName> {
        vec![EntryName::default()]
    }

    fn thread(&self, _part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        let (cursor, secrets) = (self.requests.cursor(0, 1), self.secrets.clone());
        let (method, version) = (self.method.as_deref(), self.version);
        Box::new(ShownThread { cursor, secrets, method, version, passed: &self.passed, is_sent: false })
    }

    fn has_sessions(&self) -> bool {
        false
    }
}

/// Returns the coding of the messages of a call.
fn coding(parts: &RequestParts) -> Coding {
    let field = parts.head.headers().get("grpc-encoding");
    field.and_then(|value| Coding::of(value.as_bytes())).unwrap_or_default()
}

/// The user's thread.
struct ShownThread<'r> {
    cursor: Cursor<'r>,
    /// What the request has that no output shows.
    secrets: Secrets,
    method: Option<&'r Method>,
    version: &'static str,
    passed: &'r AtomicBool,
    is_sent: bool,
}

impl ShownThread<'_> {
    fn show(&mut self, request: &[u8]) {
        self.secrets = self.secrets.with(sent_secrets(request));
        output::print(&transcript::request(request, &self.secrets));
    }
}

impl ThreadUsers for ShownThread<'_> {
    fn begin(&mut self, _user: usize) {
        self.is_sent = false;
    }

    fn next(&mut self, _user: usize) -> Step {
        if std::mem::replace(&mut self.is_sent, true) { Step::Finished } else { Step::Send(0) }
    }

    fn write(&mut self, _user: usize, out: &mut Vec<u8>) -> RequestInfo {
        let before = out.len();
        let info = self.cursor.write(out);
        self.show(&out[before..]);
        RequestInfo { keep: Keep::Content, ..info }
    }

    fn parts(&mut self, _user: usize) -> RequestParts {
        let mut parts = self.cursor.parts();
        parts.begun.keep = Keep::Content;
        self.show(&match self.method {
            Some(method) => transcript::of_call(&parts, method, coding(&parts)),
            None => transcript::of_parts(&parts, self.version),
        });
        parts
    }

    fn received(&mut self, _user: usize, received: &ReceivedBy<'_>) -> Judged {
        output::print(&match self.method {
            Some(method) => transcript::call_response(received, method, &self.secrets),
            None => transcript::response(received, &self.secrets),
        });
        let passed = received.response.status < 400;
        self.passed.store(passed, Ordering::Relaxed);
        Judged { passed, ..Judged::default() }
    }

    fn failed(&mut self, _user: usize, failure: &Failure) {
        output::print(&format!("The request failed: {}\n", failure.what));
    }
}
