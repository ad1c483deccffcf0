//! What the handlers of requests to `torr watch` share: who may send them, for which service, and how refusals are written.

use super::origin::Names;
use super::query::Target;
use super::watchers::Watchers;
use std::sync::Arc;
use tokio::sync::Semaphore;
use torr_doctor::locate::ServerSurvey;
use torr_serve::http::HeaderValue;
use torr_serve::http::header::WWW_AUTHENTICATE;
use torr_serve::{Request, Response};
use torr_signals::Reading;

/// The number of requests whose signals are read at a time; others wait.
pub const READERS: usize = 2;

/// What the handlers of requests share.
pub struct WatchContext {
    /// The token that requests need, if they do.
    pub token: Option<String>,
    /// The hosts that requests may name if there is no token.
    pub names: Names,
    /// The ports that may be watched; all if there are none.
    pub ports: Vec<u16>,
    /// The watchers of services.
    pub watchers: Watchers,
    /// The right to read signals on a thread apart, of which there are [`READERS`].
    pub readers: Arc<Semaphore>,
    /// How services are surveyed; `None` if they are not.
    pub survey: Option<ServerSurvey>,
    /// The right to survey a service, which one request has at a time.
    pub surveys: Arc<Semaphore>,
}

impl WatchContext {
    /// Returns the service that a request asks for, `None` for the machine alone, or the request's refusal.
    pub fn admit(&self, request: &Request<'_>) -> Result<Option<Target>, Box<Response>> {
        self.admit_client(request)?;
        self.target(request.query().unwrap_or_default())
    }

    /// Refuses a request of a client without the right to make it.
    pub fn admit_client(&self, request: &Request<'_>) -> Result<(), Box<Response>> {
        // A token is more than a page could know.
        if self.token.is_none()
            && let Err(foreign) = self.names.check(request)
        {
            return Err(refusal(foreign.status(), foreign.line()).into());
        }
        if !self.admits(request) {
            let challenge = HeaderValue::from_static("Bearer");
            return Err(refusal(401, "the token is missing or wrong").header(WWW_AUTHENTICATE, challenge).into());
        }
        Ok(())
    }

    /// Returns the service of a query, `None` for the machine alone, or a refusal.
    pub fn target(&self, query: &str) -> Result<Option<Target>, Box<Response>> {
        let target = Target::of_query(query).map_err(|why| Box::new(refusal(400, &why)))?;
        if let Some(target) = target.filter(|target| !self.ports.is_empty() && !self.ports.contains(&target.port())) {
            return Err(refusal(403, &format!("port {} may not be watched: add it with --port", target.port())).into());
        }
        Ok(target)
    }

    /// Reads the signals, which may take as long as a scan of all processes.
    pub fn read(&self, target: Option<Target>, show: impl Fn(&Reading, &str) -> Response) -> Response {
        let Some(target) = target else { return show(&Reading::of_machine(), "") };
        match self.watchers.reading(target) {
            Ok(reading) => show(&reading, &target.to_string()),
            Err(why) => refusal(why.status(), &why.line(target)),
        }
    }

    fn admits(&self, request: &Request<'_>) -> bool {
        let Some(token) = self.token.as_ref().map(String::as_bytes) else { return true };
        let shown = request.header("Authorization").and_then(|value| value.split_at_checked(7));
        // Takes as long for one that is nearly right.
        let same =
            |shown: &[u8]| shown.len() == token.len() && shown.iter().zip(token).fold(0, |d, (a, b)| d | (a ^ b)) == 0;
        shown.is_some_and(|(scheme, shown)| scheme.eq_ignore_ascii_case(b"Bearer ") && same(shown))
    }
}

/// Returns a refusal in one line, which clients recognise.
pub fn refusal(status: u16, why: &str) -> Response {
    Response::error(status, format!("torr watch: {why}\n"))
}
