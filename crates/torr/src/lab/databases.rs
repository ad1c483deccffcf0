//! The databases of a suite: servers that are started when the first row needs them, with the tables filled.

use super::call::Ended;
use super::programs::{Program, fill};
use super::running::{Running, Setting};
use crate::exit::CliError;
use crate::own_server::Server;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_lab::shipped;

/// How long a database may take from listening to its first response.
const PATIENCE: Duration = Duration::from_secs(30);
const TICK: Duration = Duration::from_millis(200);

/// The databases that rows have needed so far.
pub struct Databases {
    given: BTreeMap<String, String>,
    started: BTreeMap<String, Result<Started, String>>,
}

struct Started {
    url: String,
    _running: Option<Running>,
}

impl Databases {
    /// Returns the databases whose URLs the user has given; all others will be started.
    pub fn new(given: &[(String, String)]) -> Self {
        Self { given: given.iter().cloned().collect(), started: BTreeMap::new() }
    }

    /// Returns the URL of a database with its tables filled, or why there is none.
    pub fn url(&mut self, name: &str, stop: &AtomicBool, tell: &dyn Fn(&str)) -> Result<String, Ended> {
        if !self.started.contains_key(name) {
            tell(&format!("the database {name} starts"));
            let started = match self.start(name, stop, tell) {
                Ok(started) => Ok(started),
                Err(Ended::Interrupted) => return Err(Ended::Interrupted),
                Err(Ended::Failed(why)) => Err(why),
            };
            self.started.insert(name.to_owned(), started);
        }
        match &self.started[name] {
            Ok(started) => Ok(started.url.clone()),
            Err(why) => Err(format!("database {name}: {why}").into()),
        }
    }

    fn start(&self, name: &str, stop: &AtomicBool, tell: &dyn Fn(&str)) -> Result<Started, Ended> {
        if let Some(url) = self.given.get(name) {
            // One that runs already responds at once.
            fill_tables(url, Duration::ZERO, stop)?;
            return Ok(Started { url: url.clone(), _running: None });
        }
        let subject = shipped::subject(name)?;
        let program = Program::find(&subject, stop, tell)?;
        let url = subject.url.clone().unwrap_or_default();
        if subject.command.is_empty() {
            // It is a library of the subjects.
            return Ok(Started { url, _running: None });
        }
        let setting = Setting { workers: 1, ..Setting::default() };
        let running = Running::start(&program, &setting, &BTreeMap::new(), stop)?;
        let url = fill(&url, &[("{port}", running.port.to_string())]);
        fill_tables(&url, PATIENCE, stop)?;
        Ok(Started { url, _running: Some(running) })
    }
}

/// Has the demo application make and fill its tables. A server that was just started may not take statements yet.
fn fill_tables(url: &str, patience: Duration, stop: &AtomicBool) -> Result<(), Ended> {
    let begun = Instant::now();
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Ended::Interrupted);
        }
        match Server::start(1, &["--database", url]) {
            Ok(_ended_again) => return Ok(()),
            Err(CliError::Unreachable(_)) if begun.elapsed() < patience => thread::sleep(TICK),
            Err(error) => return Err(error.into()),
        }
    }
}
