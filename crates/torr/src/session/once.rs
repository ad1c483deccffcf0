//! `torr once` for hurl files: one user walks through a file, and every request and response is shown.

use super::ignored;
use crate::exit::{self, CliError};
use crate::{interrupt, output, press, transcript};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use torr_gauge::Secrets;
use torr_gauge::sessions::EntryName;
use torr_load::{FileSource, Load};
use torr_plan::session::files::{Given, Prepared, prepare};
use torr_plan::session::{plan, transport};
use torr_plan::target::RunFile;
use torr_press::users::{Judged, ReceivedBy};
use torr_report::human::micros;
use torr_session::Value;
use torr_session::users::{Ended, RunSettings, SessionObserver};

/// After how long a request of a setup or teardown has failed.
const SETUP_TIMEOUT: Duration = Duration::from_secs(30);

/// What one session is made of.
pub struct Walk<'a> {
    pub file: RunFile,
    pub load: &'a Load,
    /// After how long without a complete response a request has failed.
    pub timeout: Duration,
}

/// Walks one user through a file, and shows all requests and responses: exit code 1 if the session fails.
pub fn run(session: Walk<'_>) -> Result<ExitCode, CliError> {
    let given = Given::of(&session.load.session.variables)?;
    let files = [session.file];
    let prepared = prepare(&files, &given, None, &[], &FileSource::Here)?;
    ignored::note_all(&files, &prepared);
    let outcome = walk(prepared, session.load, session.timeout, session.load.keep_alive(), true)?;
    Ok(match outcome.end {
        Some(Ended::Finished) => ExitCode::SUCCESS,
        Some(Ended::Failed(..)) => ExitCode::from(1),
        None => exit::interrupted(),
    })
}

/// Walks one user through a file without showing it, and returns the variables that have a value at the end, and the values that
/// were captured as secrets.
///
/// # Errors
/// If the session fails; `what` names it.
pub fn quietly(prepared: Prepared, load: &Load, what: &str) -> Result<Given, CliError> {
    let outcome = walk(prepared, load, SETUP_TIMEOUT, true, false)?;
    match outcome.end {
        Some(Ended::Finished) => Ok(Given { values: outcome.variables, secrets: outcome.secrets }),
        Some(Ended::Failed(entry, reason)) => {
            let entry =
                outcome.entries.get(entry).map_or_else(String::new, |entry| format!("{}:{}: ", entry.file, entry.line));
            Err(CliError::Failed(format!("the {what} failed: {entry}{reason}")))
        }
        None => Err(CliError::Failed(format!("the {what} was interrupted"))),
    }
}

/// What came of one session.
struct Outcome {
    end: Option<Ended>,
    variables: BTreeMap<String, Value>,
    /// The values that were captured as secrets.
    secrets: Vec<String>,
    entries: Vec<EntryName>,
}

fn walk(
    prepared: Prepared,
    load: &Load,
    timeout: Duration,
    keep_alive: bool,
    shows: bool,
) -> Result<Outcome, CliError> {
    let stop = interrupt::flag()?;
    let transport = transport::with_options_of(&prepared.files, &prepared.given.values, &load.transport)?;
    let settings = prepared.settings();
    let secrets = Secrets::new(settings.secrets.iter().cloned());
    let transcript = Arc::new(Transcript { shows, secrets, state: Mutex::default() });
    let observer: Arc<dyn SessionObserver> = Arc::clone(&transcript) as _;
    let settings = RunSettings { observer: Some(observer), ..settings };
    let mut plan = plan::of(prepared.files, settings, &transport, keep_alive)?;
    plan.events = Some(load.stream.in_sessions());
    plan.connections = 1;
    plan.requests = Some(1);
    plan.timeout = timeout;
    plan.watch_server = false;
    let entries = plan.work.users().map_or_else(Vec::new, |users| users.entries());
    transcript.state().entries.clone_from(&entries);
    torr_press::run(&plan, &stop, |_| ()).map_err(press::why_not)?;
    let mut state = transcript.state();
    let (variables, secrets) = (std::mem::take(&mut state.variables), std::mem::take(&mut state.secrets));
    Ok(Outcome { end: state.end.take(), variables, secrets, entries })
}

/// What is shown of a session, and how it ended.
#[derive(Debug)]
struct Transcript {
    shows: bool,
    secrets: Secrets,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: Vec<EntryName>,
    /// The values that were captured as secrets.
    secrets: Vec<String>,
    end: Option<Ended>,
    variables: BTreeMap<String, Value>,
}

impl Transcript {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, text: &str) {
        if self.shows {
            output::print(&self.known().mask(text.to_owned()));
        }
    }

    /// Returns the secrets of the run, and those that were captured.
    fn known(&self) -> Secrets {
        self.secrets.with(self.state().secrets.iter().cloned())
    }
}

impl SessionObserver for Transcript {
    fn sent(&self, entry: usize, request: &[u8]) {
        let name = self.state().entries.get(entry).cloned().unwrap_or_default();
        let shown = transcript::lines(">", request, &self.known());
        self.show(&format!("{}:{}: {}\n{shown}", name.file, name.line, name.name));
    }

    fn captured_secret(&self, value: &str) {
        let mut state = self.state();
        if !state.secrets.iter().any(|known| known == value) {
            state.secrets.push(value.to_owned());
        }
    }

    fn received(&self, entry: usize, by: &ReceivedBy<'_>, judged: &Judged) {
        let mut text = transcript::response(by, &self.known());
        let asserts = self.state().entries.get(entry).map_or_else(Vec::new, |entry| entry.asserts.clone());
        for unmet in &judged.unmet {
            let assert = asserts.get(unmet.assert).map_or("", String::as_str);
            text.push_str(&format!(
                "  failed: {assert}\n    expected: {}\n    actual:   {}\n",
                unmet.expected, unmet.actual
            ));
        }
        if judged.retries {
            text.push_str("  Torr sends it again\n");
        }
        text.push('\n');
        self.show(&text);
    }

    fn retried(&self, _entry: usize, failure: &str) {
        self.show(&format!("  failed: {failure}\n  Torr sends it again\n\n"));
    }

    fn pauses(&self, pause: Duration) {
        self.show(&format!("  pause of {}\n\n", micros(pause.as_secs_f64() * 1e6)));
    }

    fn ended(&self, end: &Ended, variables: Vec<(&str, &Value)>) {
        let mut state = self.state();
        let text = match end {
            Ended::Finished => "The session finished.\n".to_owned(),
            Ended::Failed(entry, reason) => {
                let name = state.entries.get(*entry).cloned().unwrap_or_default();
                format!("The session failed at {}:{} ({}): {reason}\n", name.file, name.line, name.name)
            }
        };
        state.variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        state.end = Some(end.clone());
        drop(state);
        self.show(&text);
    }
}
