//! `torr once`: one user walks through a file, and every request and response is shown.

use super::files::{Prepared, prepare};
use super::{plan, transport};
use crate::exit::{self, Stop};
use crate::flags::transport::TransportArgs;
use crate::flags::values::duration;
use crate::flags::variables::VariableArgs;
use crate::target::RunFile;
use crate::{interrupt, output, press};
use clap::Args;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use torr_gauge::sessions::EntryName;
use torr_press::users::{Judged, ReceivedBy};
use torr_session::Value;
use torr_session::users::{Ended, RunSettings, Secrets, SessionObserver};

/// The longest content that is shown, in bytes.
const MAX_SHOWN: usize = 4096;

/// After how long a request of a setup or teardown has failed.
const SETUP_TIMEOUT: Duration = Duration::from_secs(30);

const EXAMPLES: &str = "\
Examples:
  torr once checkout.hurl --variable host=127.0.0.1:8080";

/// `torr once`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct OnceArgs {
    /// The hurl file
    #[arg(value_name = "FILE")]
    pub file: String,
    #[command(flatten)]
    pub variables: VariableArgs,
    /// After how long without a complete response a request has failed
    #[arg(long, default_value = "10s", value_parser = duration, value_name = "DURATION")]
    pub timeout: Duration,
    /// Open a connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    #[command(flatten)]
    pub transport: TransportArgs,
}

/// Walks one user through a file: exit code 1 if the session fails.
pub fn run(args: &OnceArgs) -> Result<ExitCode, Stop> {
    let prepared = prepare(&[RunFile::new(Path::new(&args.file))], &args.variables, None, &[])?;
    let outcome = walk(prepared, &args.transport, args.timeout, !args.no_keepalive, true)?;
    Ok(match outcome.end {
        Some(Ended::Finished) => ExitCode::SUCCESS,
        Some(Ended::Failed(..)) => ExitCode::from(1),
        None => exit::interrupted(),
    })
}

/// Walks one user through a file without showing it, and returns the variables that have a value at the end.
///
/// # Errors
/// If the session fails; `what` names it.
pub fn quietly(prepared: Prepared, transport: &TransportArgs, what: &str) -> Result<BTreeMap<String, Value>, Stop> {
    let outcome = walk(prepared, transport, SETUP_TIMEOUT, true, false)?;
    match outcome.end {
        Some(Ended::Finished) => Ok(outcome.variables),
        Some(Ended::Failed(entry, reason)) => {
            let entry =
                outcome.entries.get(entry).map_or_else(String::new, |entry| format!("{}:{}: ", entry.file, entry.line));
            Err(Stop::Failed(format!("the {what} failed: {entry}{reason}")))
        }
        None => Err(Stop::Failed(format!("the {what} was interrupted"))),
    }
}

/// What came of one session.
struct Outcome {
    end: Option<Ended>,
    variables: BTreeMap<String, Value>,
    entries: Vec<EntryName>,
}

fn walk(
    prepared: Prepared,
    flags: &TransportArgs,
    timeout: Duration,
    keep_alive: bool,
    shows: bool,
) -> Result<Outcome, Stop> {
    let stop = interrupt::flag()?;
    let transport = transport::with_options_of(&prepared.files, &prepared.values, flags)?;
    let settings = prepared.settings();
    let secrets = Secrets::new(settings.secrets.iter().cloned());
    let transcript = Arc::new(Transcript { shows, secrets, state: Mutex::default() });
    let observer: Arc<dyn SessionObserver> = Arc::clone(&transcript) as _;
    let settings = RunSettings { observer: Some(observer), ..settings };
    let mut plan = plan::of(prepared.files, settings, &transport, keep_alive)?;
    plan.connections = 1;
    plan.requests = Some(1);
    plan.timeout = timeout;
    plan.watch_server = false;
    let entries = plan.users.as_ref().map_or_else(Vec::new, |users| users.entries());
    transcript.state().entries.clone_from(&entries);
    torr_press::run(&plan, &stop, |_| ()).map_err(press::why_not)?;
    let mut state = transcript.state();
    Ok(Outcome { end: state.end.take(), variables: std::mem::take(&mut state.variables), entries })
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
    end: Option<Ended>,
    variables: BTreeMap<String, Value>,
}

impl Transcript {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, text: &str) {
        if self.shows {
            output::print(&self.secrets.mask(text.to_owned()));
        }
    }
}

/// Returns bytes as lines that begin with a mark, as far as they are text.
fn lines(mark: &str, bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(MAX_SHOWN)];
    if shown.contains(&0) {
        return format!("{mark} ({} bytes that are no text)\n", bytes.len());
    }
    let text = String::from_utf8_lossy(shown);
    // A terminal obeys what other control characters say.
    let clean = |line: &str| line.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}");
    let mut lines: String = text.lines().map(|line| format!("{mark} {}\n", clean(line)).replace(" \n", "\n")).collect();
    if shown.len() < bytes.len() {
        lines.push_str(&format!("{mark} ... ({} bytes in all)\n", bytes.len()));
    }
    lines
}

impl SessionObserver for Transcript {
    fn sent(&self, entry: usize, request: &[u8]) {
        let name = self.state().entries.get(entry).cloned().unwrap_or_default();
        self.show(&format!("{}:{}: {}\n{}", name.file, name.line, name.name, lines(">", request)));
    }

    fn received(&self, entry: usize, by: &ReceivedBy<'_>, judged: &Judged) {
        let response = by.response;
        let mut text = format!("< HTTP/{} {}\n", response.version, response.status);
        for (name, value) in response.fields() {
            text.push_str(&lines("<", format!("{name}: {}", String::from_utf8_lossy(value)).as_bytes()));
        }
        let content = response.decoded();
        if !content.is_empty() {
            text.push_str("<\n");
            text.push_str(&lines("<", &content));
        }
        text.push_str(&format!("  {:.1} ms\n", by.took as f64 / 1e6));
        let asserts = self.state().entries.get(entry).map_or_else(Vec::new, |entry| entry.asserts.clone());
        for unmet in &judged.unmet {
            let assert = asserts.get(unmet.assert).map_or("", String::as_str);
            text.push_str(&format!(
                "  failed: {assert}\n    expected: {}\n    actual:   {}\n",
                unmet.expected, unmet.actual
            ));
        }
        if judged.retries {
            text.push_str("  it is sent again\n");
        }
        text.push('\n');
        self.show(&text);
    }

    fn pauses(&self, pause: Duration) {
        self.show(&format!("  pause of {}\n\n", humantime::format_duration(pause)));
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
