//! Hurl files as load: from files and variables to a plan.

mod files;
mod once;
mod transport;

pub use files::{Prepared, RunFile, prepare};
pub use once::{OnceArgs, quietly, run as once};

use crate::exit::Stop;
use crate::flags::request::RequestArgs;
use crate::flags::transport::TransportArgs;
use crate::flags::variables::VariableArgs;
use std::path::Path;
use std::sync::Arc;
use torr_press::request::Feeder;
use torr_press::{Plan, Requests, Target, ThinkTime};
use torr_session::Value;
use torr_session::users::{HurlUsers, RunSettings};

/// Whether the text in the place of a URL names a hurl file.
pub fn is_hurl(target: &str) -> bool {
    target.ends_with(".hurl")
}

/// Returns the plan of one file's users, of which only how hard to press is left to say.
///
/// # Errors
/// As [`SessionSource::run`].
pub fn base(
    path: &str,
    variables: &VariableArgs,
    request: &RequestArgs,
    transport: &TransportArgs,
    keep_alive: bool,
) -> Result<Plan, Stop> {
    let files = [RunFile::new(Path::new(path))];
    let (setup, teardown, think) = (None, None, None);
    let source = SessionSource { files: &files, variables, setup, teardown, request, transport, think, keep_alive };
    source.run().map(|run| run.plan)
}

/// What a run of sessions is made of, beside its load.
pub struct SessionSource<'a> {
    /// The files, each with its weight.
    pub files: &'a [RunFile],
    pub variables: &'a VariableArgs,
    /// The file that one user runs before all others; its captures are everybody's variables.
    pub setup: Option<&'a Path>,
    /// The file that one user runs at the end.
    pub teardown: Option<&'a Path>,
    pub request: &'a RequestArgs,
    pub transport: &'a TransportArgs,
    pub think: Option<ThinkTime>,
    pub keep_alive: bool,
}

/// A run of sessions, ready to begin.
pub struct SessionRun {
    pub plan: Plan,
    /// What is run at the end, with the variables that the run began with.
    pub teardown: Option<Prepared>,
}

impl SessionSource<'_> {
    /// Runs the setup, if there is one, and returns the plan of the run: as `base` for a URL, of which only how hard to press is
    /// left to say.
    ///
    /// # Errors
    /// For a mistake in a file, with its place; and if the setup fails.
    pub fn run(&self) -> Result<SessionRun, Stop> {
        reject_request_flags(self.request)?;
        let mut prepared = prepare(self.files, self.variables, self.request.feeder.as_deref())?;
        if let Some(setup) = self.setup {
            let setup = prepare(&[RunFile::new(setup)], self.variables, None)?;
            let captured = once::quietly(setup, self.transport, "setup")?;
            prepared = prepared.with_more(captured.clone(), self.files, self.request.feeder.as_deref())?;
        }
        let values = prepared.values.clone();
        let plan = self.plan(prepared)?;
        let teardown = match self.teardown {
            Some(path) => Some(files::prepare_with(&[RunFile::new(path)], values, self.variables.secrets(), None)?),
            None => None,
        };
        Ok(SessionRun { plan, teardown })
    }

    fn plan(&self, prepared: Prepared) -> Result<Plan, Stop> {
        let feeder = self.request.feeder.as_deref().map(Feeder::read).transpose().map_err(Stop::usage)?;
        let transport = transport::with_options_of(&prepared.files, &prepared.values, self.transport)?;
        let settings = RunSettings {
            feeder,
            feeder_order: self.request.feeder_order.into(),
            think: self.think.clone(),
            ..prepared.settings()
        };
        plan(prepared.files, settings, &transport, self.keep_alive)
    }
}

/// Returns the plan of users who walk through files: a closed loop without end, with a thread for each CPU.
fn plan(
    files: Vec<torr_session::users::SessionFile>,
    settings: RunSettings,
    transport: &TransportArgs,
    keep_alive: bool,
) -> Result<Plan, Stop> {
    let first = files.first().map_or_else(String::new, |file| file.name.clone());
    let users = HurlUsers::new(files, settings).map_err(Stop::usage)?;
    let url = users.first_url().ok_or_else(|| {
        Stop::Usage(format!("{first}: the first request's URL is not known before the run: a run has one server"))
    })?;
    let target = Target::parse(url.as_str()).map_err(Stop::usage)?;
    let request = Requests::get(&target, keep_alive).map_err(Stop::usage)?;
    let route = transport.route(&target)?;
    if transport.http2.streams.is_some_and(|streams| streams > 1) {
        return Err(Stop::Usage("each user of a session has a connection of its own: leave out --streams".into()));
    }
    Ok(Plan {
        sources: route.sources,
        tunnel: route.tunnel,
        protocol: route.protocol,
        threads: crate::press::cpus(),
        keep_alive,
        users: Some(Arc::new(users)),
        ..Plan::new(target, route.addresses, request)
    })
}

/// Refuses the flags that say what a request of a URL is: in a session the file says it.
fn reject_request_flags(request: &RequestArgs) -> Result<(), Stop> {
    let given = [
        ("--header", !request.headers.is_empty()),
        ("--request", request.method.is_some()),
        ("--data", !request.data.pieces.is_empty()),
        ("--json-body", !request.json_body.is_empty()),
        ("--form", !request.form.is_empty()),
        ("--get", request.get),
        ("--head", request.head),
        ("--url-query", !request.url_query.is_empty()),
        ("--user", request.user.is_some()),
        ("--oauth2-bearer", request.oauth2_bearer.is_some()),
        ("--cookie", !request.cookies.is_empty()),
        ("--user-agent", request.user_agent.is_some()),
        ("--referer", request.referer.is_some()),
        ("--compressed", request.compressed),
        ("--urls", request.urls.is_some()),
        ("--no-template", request.no_template),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            Err(Stop::Usage(format!("{flag} is for a URL: what a session sends stands in its file, so put it there")))
        }
        None => Ok(()),
    }
}

/// Returns variables by name, with the kinds that their texts have.
fn typed(values: impl IntoIterator<Item = (String, String)>) -> impl Iterator<Item = (String, Value)> {
    values.into_iter().map(|(name, text)| (name, Value::given(&text)))
}
