//! Lua scripts as load, those of `torr wrk -s` and of `--script`: from a file to what a plan sends, and to the script's last word.

use crate::exit::{self, CliError};
use crate::{interrupt, output};
use std::path::Path;
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use torr_gauge::collector::Measurement;
use torr_gauge::secrets::Haystack;
use torr_load::{FileSource, StreamPart};
use torr_press::learnt::Find;
use torr_press::request::{Feeder, Order};
use torr_press::users::Users;
use torr_press::{EventPlan, Plan, Requests, Target, Work};
use torr_script::session::SessionUsers;
use torr_script::wrk::{Outcome, WrkUsers};
use torr_script::{Facts, FileReader, LoadedScript, Printing, ScriptFile};

/// How often an interruption is looked for while a script runs before the load and after it.
const INTERRUPT_POLL: Duration = Duration::from_millis(50);

/// After how long a script that has not returned is spoken of.
pub const SLOW: Duration = Duration::from_secs(5);

/// A script that is ready to run.
#[derive(Debug)]
pub enum Script {
    /// One of wrk.
    Wrk {
        users: Arc<WrkUsers>,
        /// The only request of a script that decides nothing during the load.
        constant: Option<Requests>,
    },
    /// One with sessions.
    Sessions {
        users: Arc<SessionUsers>,
        /// What is awaited of the streams among their responses.
        events: EventPlan,
    },
}

/// What a script is given beside the plan.
pub struct ScriptSettings<'a> {
    pub path: &'a Path,
    /// Where its file comes from, and modules beside it.
    pub files: &'a FileSource,
    pub arguments: &'a [String],
    /// Variables of sessions.
    pub variables: Vec<(String, String)>,
    /// Values that no output shows.
    pub secrets: Vec<String>,
    /// Records, of which each session takes one.
    pub feeder: Option<Feeder>,
    pub feeder_order: Order,
    pub printing: Printing,
    /// When the streams of sessions end.
    pub stream: &'a StreamPart,
    /// Finds the way to servers beside the target that sessions send requests to.
    pub find: Find,
}

impl Script {
    /// Runs the file of a script for the threads of a plan, whose request is the one that the script starts from.
    ///
    /// # Errors
    /// If the script ends in an error, or does not go with the plan.
    pub fn load(plan: &Plan, settings: ScriptSettings<'_>) -> Result<Self, CliError> {
        let target = &plan.target;
        if plan.work.is_websocket() {
            return Err(CliError::Usage("a script needs an http:// or https:// URL".into()));
        }
        let Some(base) = plan.work.requests().filter(|requests| requests.is_constant()) else {
            return Err(CliError::Usage(
                "a script needs one URL without placeholders: vary the requests in the script".into(),
            ));
        };
        let mut request = Vec::new();
        base.cursor(0, 1).write(&mut request);
        // Also those of the command line's own fields and credentials.
        let secrets = settings.secrets.into_iter().chain(base.secrets(&Haystack::default())).collect();
        let facts = Facts {
            arguments: settings.arguments.to_vec(),
            addresses: plan.addresses.iter().filter_map(torr_net::Address::tcp).collect(),
            threads: plan.threads.clamp(1, plan.connections),
            variables: settings.variables,
            printing: settings.printing,
            http2: plan.protocol.http2,
            http3: plan.protocol.http3,
            ..Facts::new(&target.url, target, &request).map_err(CliError::Usage)?
        };
        let file = ScriptFile::read(settings.path, module_reader(settings.files)).map_err(CliError::usage)?;
        let name = file.name.clone();
        let (origin, default_address) = (facts.origin.clone(), facts.addresses.first().copied());
        let Some(loaded) = interruptible(&name, move || LoadedScript::load(&file, &facts, output::note))? else {
            process::exit(exit::INTERRUPTED.into())
        };
        let script = match loaded.map_err(CliError::usage)? {
            LoadedScript::Sessions(script) => {
                let url = origin.parse().map_err(CliError::usage)?;
                let mut users = SessionUsers::new(script, url, secrets, settings.find);
                if let Some(feeder) = settings.feeder {
                    users.feed(feeder, settings.feeder_order);
                }
                Self::Sessions { users: Arc::new(users), events: settings.stream.in_sessions() }
            }
            LoadedScript::Wrk(_) if settings.feeder.is_some() => {
                let hint = "records need a function session(user), as user.vars";
                return Err(CliError::Usage(format!("--feeder is not supported for a wrk script ({hint})")));
            }
            LoadedScript::Wrk(_) if settings.stream.given().is_some() => {
                let name = settings.stream.given().unwrap_or_default();
                let hint = "streams need a function session(user)";
                return Err(CliError::Usage(format!("--{name} is not supported for a wrk script ({hint})")));
            }
            LoadedScript::Wrk(script) => {
                if plan.protocol.multiplexes() && script.depth > 1 {
                    let only = "a script that returns several requests at once needs HTTP/1.1";
                    return Err(CliError::Usage(only.into()));
                }
                let bytes = script.constant().map(<[u8]>::to_vec);
                let users = WrkUsers::new(script, origin, default_address, secrets);
                let bytes = bytes.filter(|_| !users.chooses_addresses() && !plan.protocol.multiplexes());
                let constant = bytes.map(|bytes| raw(target, bytes)).transpose()?;
                Self::Wrk { users: Arc::new(users), constant }
            }
        };
        if plan.depth > 1 && !matches!(script, Self::Wrk { constant: Some(_), .. }) {
            let own = "a script itself controls the requests in flight";
            return Err(CliError::Usage(format!("{own}: drop --pipeline and --streams")));
        }
        Ok(script)
    }

    /// Returns a plan that sends what the script says.
    pub fn plan(&self, plan: Plan) -> Plan {
        match self {
            Self::Wrk { constant: Some(request), .. } => Plan { work: request.clone().into(), ..plan },
            _ => self.plan_of_users(plan),
        }
    }

    /// Returns a plan whose users call the script for each request.
    pub fn plan_of_users(&self, plan: Plan) -> Plan {
        let events = match self {
            Self::Sessions { events, .. } => Some(events.clone()),
            Self::Wrk { .. } => None,
        };
        Plan { work: Work::Users(self.users()), events, ..plan }
    }

    /// Returns the users whose requests are the script's.
    pub fn users(&self) -> Arc<dyn Users> {
        match self {
            Self::Wrk { users, .. } => Arc::clone(users) as _,
            Self::Sessions { users, .. } => Arc::clone(users) as _,
        }
    }

    /// Returns the error that ended a run, if one did.
    pub fn error(&self) -> Option<String> {
        self.users().error()
    }

    /// Returns what the script will hear of a run.
    pub fn outcome(measured: &Measurement) -> Outcome {
        Outcome::of(measured)
    }

    /// Calls `done` after a run that was reported, unless the script has ended it. Returns the exit code, if it is not that of the
    /// run: 1 if the script failed, 130 if `done` was interrupted.
    ///
    /// # Errors
    /// If the system refuses a thread or signals.
    pub fn finish(self, outcome: Outcome) -> Result<Option<ExitCode>, CliError> {
        if let Some(error) = self.error() {
            return Ok(exit::failed(&[error]));
        }
        let Self::Wrk { users, .. } = self else { return Ok(None) };
        let name = users.script().name().to_owned();
        match interruptible(&name, move || users.script().done(outcome))? {
            Some(done) => Ok(done.err().and_then(|error| exit::failed(&[error.to_string()]))),
            None => Ok(Some(exit::interrupted())),
        }
    }
}

/// Returns the URL that a script names itself.
///
/// # Errors
/// If the script ends in an error, or names none.
pub fn target(path: &Path, files: &FileSource, printing: Printing) -> Result<String, CliError> {
    let file = ScriptFile::read(path, module_reader(files)).map_err(CliError::usage)?;
    let name = file.name.clone();
    match interruptible(&name, move || torr_script::target(&file, printing))? {
        Some(target) => target.map_err(CliError::usage),
        None => process::exit(exit::INTERRUPTED.into()),
    }
}

/// Returns what reads the modules of a script.
fn module_reader(source: &FileSource) -> FileReader {
    let source = source.clone();
    FileReader::new(move |path| source.read(path))
}

/// Returns the sentence about a script that has run for [`SLOW`] without what it should do.
pub fn slow(without: &str) -> String {
    format!("the script has run for {} s without {without}; stop it with Ctrl-C", SLOW.as_secs())
}

/// Returns the mistake of giving `--script` beside a target that is a script.
pub fn stands_alone(path: &Path) -> CliError {
    CliError::Usage(format!("'{}' is already a script: --script needs a URL", path.display()))
}

/// Runs code of the script with this name on a thread of its own, since it may never return. Returns `None` if it was interrupted.
fn interruptible<T: Send + 'static>(
    name: &str,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>, CliError> {
    let failed = |what: &dyn std::fmt::Display| CliError::Failed(format!("the script's thread failed: {what}"));
    let (sender, ended) = mpsc::channel();
    let run = move || {
        // The caller may have stopped waiting.
        let _ = sender.send(call());
    };
    let stop = interrupt::flag()?;
    thread::Builder::new().name("script".into()).spawn(run).map_err(|error| failed(&error))?;
    let (begun, mut is_noted) = (Instant::now(), false);
    loop {
        if !is_noted && begun.elapsed() > SLOW {
            is_noted = true;
            output::note(&format!("{name}: {}", slow("returning")));
        }
        match ended.recv_timeout(INTERRUPT_POLL) {
            Ok(outcome) => return Ok(Some(outcome)),
            Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
            Err(error) => return Err(failed(&error)),
        }
    }
}

fn raw(target: &Target, bytes: Vec<u8>) -> Result<Requests, CliError> {
    let method = bytes.split(|&byte| byte == b' ').next().unwrap_or_default();
    let method = String::from_utf8_lossy(method).into_owned();
    Requests::raw(target, &method, bytes).map_err(CliError::usage)
}
