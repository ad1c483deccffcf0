//! The life of a script whose iterations are sessions: `setup`, the first iteration, any number of runs, `teardown`.

use super::entries::Entries;
use super::first_iteration::FirstIteration;
use super::session_run::{Part, Seen, SessionRun, stop_error};
use super::session_users::SessionUsers;
use crate::error::{ErrorKind, ScriptError};
use crate::http_settings::TIMEOUT;
use crate::modules::Program;
use crate::options::{Consolidated, Options};
use crate::shared::RunShared;
use crate::user::Exports;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use torr_gauge::machine::cpus;
use torr_press::learnt::LearntServers;
use torr_press::{Destination, Plan, ProtocolConfig, RunError, Target, Work};

/// The default of `setupTimeout` and `teardownTimeout`.
const STAGE_TIMEOUT: Duration = Duration::from_secs(60);

/// What finds the way to the server of an origin.
type Find = dyn Fn(&str) -> Result<Destination, String> + Send + Sync;

/// A script whose iterations are sessions.
pub struct ScriptSessions {
    run: Arc<RunShared>,
    program: Arc<Program>,
    exports: Exports,
    /// The number of the scenario whose function the iterations call.
    scenario: usize,
    find: Arc<Find>,
    /// The servers that `setup`, the first iteration and `teardown` send requests to.
    servers: Arc<LearntServers>,
    first: Seen,
    begun: Arc<AtomicU64>,
    /// Whether `setup` has ended, so that `teardown` is to follow.
    is_set_up: bool,
}

/// The reason why sessions of a script cannot run.
#[derive(Debug)]
pub enum SessionsError {
    /// An error of the script.
    Script(ScriptError),
    /// An error of the load engine.
    Run(RunError),
    /// The user has interrupted it.
    Interrupted,
}

impl Display for SessionsError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Script(error) => error.fmt(out),
            Self::Run(error) => error.fmt(out),
            Self::Interrupted => out.write_str("interrupted"),
        }
    }
}

impl std::error::Error for SessionsError {}

impl fmt::Debug for ScriptSessions {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("ScriptSessions").field("scenario", &self.scenario).finish_non_exhaustive()
    }
}

impl ScriptSessions {
    /// Returns the sessions of a script that is loaded, whose options are known. `find` finds the way to the server of an origin.
    pub(crate) fn new(
        run: Arc<RunShared>,
        program: Arc<Program>,
        exports: Exports,
        find: impl Fn(&str) -> Result<Destination, String> + Send + Sync + 'static,
    ) -> Self {
        let find: Arc<Find> = Arc::new(find);
        let scenarios = run.options.get().map_or(&[][..], |all| &all.scenarios);
        let scenario = scenarios.iter().position(|scenario| scenario.function() == "default").unwrap_or(0);
        let servers = Arc::new(LearntServers::new(1, finder(&find)));
        Self {
            run,
            program,
            exports,
            scenario,
            find,
            servers,
            first: Seen::default(),
            begun: Arc::default(),
            is_set_up: false,
        }
    }

    /// Returns the exported function that iterations call, and the name of its scenario.
    #[must_use]
    pub fn function(&self) -> (&str, &str) {
        let scenario = self.options().and_then(|all| all.scenarios.get(self.scenario));
        scenario.map_or(("default", "default"), |scenario| (scenario.function(), &scenario.name))
    }

    /// Returns the number of functions that the scenarios of the script call.
    #[must_use]
    pub fn functions(&self) -> usize {
        let scenarios = self.options().map_or(&[][..], |all| &all.scenarios);
        let mut names: Vec<_> = scenarios.iter().map(|scenario| scenario.function()).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    }

    /// Returns whether the script may have several requests of a virtual user in flight, which sessions send one after another.
    #[must_use]
    pub fn has_batches(&self) -> bool {
        self.program.mentions("batch") || self.program.mentions("asyncRequest")
    }

    /// Returns the servers that `setup`, the first iteration and `teardown` send requests to, so that rules can be added.
    #[must_use]
    pub fn servers(&self) -> &LearntServers {
        &self.servers
    }

    /// Runs `setup` and then one iteration, whose requests name the servers. `stop` ends it early.
    ///
    /// # Errors
    /// If the script throws an error, sends nothing, or gets no response.
    pub fn begin(&mut self, stop: &AtomicBool) -> Result<(), SessionsError> {
        let options = self.settings();
        if self.exports.has("setup") && options.no_setup != Some(true) {
            let limit = options.setup_timeout.unwrap_or(STAGE_TIMEOUT);
            self.single(Part::Setup(limit), stop)?;
        }
        let _ = self.run.setup_data.set(None);
        self.is_set_up = true;
        let first = self.single(Part::FirstIteration, stop)?;
        let failed = |why: String| SessionsError::Script(ScriptError::new(ErrorKind::Other, why));
        if first.entries.is_empty() && first.failure.is_none() {
            let why = format!("the function '{}' of the script sends no request", self.function().0);
            return Err(failed(why));
        }
        if !first.is_answered {
            let why = first.failure.unwrap_or_else(|| "no response".to_owned());
            return Err(failed(format!("the first iteration of the script had no response: {why}")));
        }
        self.first = first;
        Ok(())
    }

    /// Returns what other machines need to run the same sessions, after [`begin`](Self::begin).
    #[must_use]
    pub fn first_iteration(&self) -> FirstIteration {
        FirstIteration {
            data: self.run.setup_data.get().cloned().flatten().map(|data| data.to_string()),
            entries: self.first.entries.as_names().to_vec(),
            origins: self.first.origins.clone(),
        }
    }

    /// Takes what another machine has seen instead of running `setup` and the first iteration. That machine runs `teardown`.
    pub fn follow(&mut self, first: FirstIteration) {
        let FirstIteration { data, entries, origins } = first;
        let _ = self.run.setup_data.set(data.map(Into::into));
        self.first = Seen { entries: Entries::named(entries), origins, ..Seen::default() };
    }

    /// Returns the plan of a closed loop whose sessions are iterations, after [`begin`](Self::begin): the target is the server of the first
    /// request. The log has no lines of the script from now on, as there may be thousands of iterations a second.
    ///
    /// # Errors
    /// If there is no way to one of the servers.
    pub fn plan(&self) -> Result<Plan, SessionsError> {
        self.run.log.mute(true);
        let origins = &self.first.origins;
        let way = |origin: &String| {
            (self.find)(origin).map_err(|why| {
                SessionsError::Script(ScriptError::new(ErrorKind::Other, format!("cannot use {origin}: {why}")))
            })
        };
        let mut ways = origins.iter().map(way).collect::<Result<Vec<_>, _>>()?.into_iter();
        let Some(Destination { target, addresses, tunnel, tls }) = ways.next() else {
            return Err(SessionsError::Script(ScriptError::new(ErrorKind::Other, "the script sends no request")));
        };
        let known = origins.iter().enumerate().map(|(number, origin)| (origin.clone(), number)).collect();
        let learnt = LearntServers::new(origins.len(), finder(&self.find));
        let run = self.shared(Part::Iterations, self.first.entries.clone(), known, Arc::new(learnt));
        Ok(Plan {
            further: ways.collect(),
            tunnel,
            protocol: ProtocolConfig { http2: false, http3: false, tls, grpc: None },
            threads: cpus(),
            keep_alive: self.settings().no_connection_reuse != Some(true),
            timeout: TIMEOUT,
            ..Plan::new(target, addresses, Work::Users(Arc::new(SessionUsers(run))))
        })
    }

    /// Returns the error by which the script has ended the runs, if it has: `exec.test.abort()`, or a user who could not be created.
    #[must_use]
    pub fn stopped(&self) -> Option<ScriptError> {
        stop_error(&self.run)
    }

    /// Runs `teardown`, if `setup` has ended. `stop` ends it early.
    ///
    /// # Errors
    /// If the script throws an error.
    pub fn finish(&mut self, stop: &AtomicBool) -> Result<(), SessionsError> {
        self.run.log.mute(false);
        let options = self.settings();
        let has_teardown = self.exports.has("teardown") && options.no_teardown != Some(true);
        if !std::mem::take(&mut self.is_set_up) || !has_teardown {
            return Ok(());
        }
        let limit = options.teardown_timeout.unwrap_or(STAGE_TIMEOUT);
        self.single(Part::Teardown(limit), stop).map(drop)
    }

    /// Runs a part of the script once, and returns what it has shown.
    fn single(&self, part: Part, stop: &AtomicBool) -> Result<Seen, SessionsError> {
        let failed = |why: String| SessionsError::Script(ScriptError::new(ErrorKind::Other, why));
        // The servers are learnt of; nothing is sent to this one.
        let target = Target::parse("http://127.0.0.1:9").map_err(|error| failed(error.to_string()))?;
        let address = torr_net::address::resolve("127.0.0.1", 9).map_err(|error| failed(error.to_string()))?;
        let addresses = address.into_iter().map(torr_net::Address::Tcp).collect();
        let is_teardown = matches!(part, Part::Teardown(_));
        let run = self.shared(part, Entries::default(), BTreeMap::new(), self.servers.clone());
        let plan = Plan {
            connections: 1,
            requests: Some(1),
            keep_alive: self.settings().no_connection_reuse != Some(true),
            timeout: Duration::from_secs(86_400),
            watch_server: false,
            ..Plan::new(target, addresses, Work::Users(Arc::new(SessionUsers(run.clone()))))
        };
        let pressed = torr_press::run(&plan, stop, |_| {});
        drop(plan);
        if let Some(error) = run.seen().error.take() {
            return Err(SessionsError::Script(error));
        }
        if let Some(error) = self.stopped().filter(|_| !is_teardown) {
            return Err(SessionsError::Script(error));
        }
        if stop.load(Ordering::Relaxed) {
            return Err(SessionsError::Interrupted);
        }
        pressed.map_err(SessionsError::Run)?;
        let seen = std::mem::take(&mut *run.seen());
        Ok(seen)
    }

    fn shared(
        &self,
        part: Part,
        entries: Entries,
        known: BTreeMap<String, usize>,
        learnt: Arc<LearntServers>,
    ) -> Arc<SessionRun> {
        Arc::new(SessionRun {
            run: self.run.clone(),
            program: self.program.clone(),
            part,
            scenario: self.scenario,
            function: self.function().0.to_owned(),
            entries,
            known,
            learnt,
            begun: self.begun.clone(),
            ended: AtomicUsize::new(0),
            seen: Mutex::default(),
        })
    }

    fn options(&self) -> Option<&Consolidated> {
        self.run.options.get()
    }

    fn settings(&self) -> Options {
        self.options().map(|all| all.options.clone()).unwrap_or_default()
    }
}

fn finder(find: &Arc<Find>) -> impl Fn(&str) -> Result<Destination, String> + Send + Sync + 'static {
    let find = find.clone();
    move |origin| find(origin)
}
