//! The hurl files of a run, and what holds for all of its users.

use super::observer::SessionObserver;
use super::secrets::Secrets;
use crate::hurl::Position;
use crate::scope::Variables;
use crate::session::Session;
use crate::value::Value;
use crate::walk::{Action, Walk};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use thiserror::Error;
use torr_gauge::sessions::EntryName;
use torr_press::ThinkTime;
use torr_press::request::{Feeder, Order};
use url::{Origin, Url};

/// A hurl file of a run.
#[derive(Debug)]
pub struct SessionFile {
    /// The file's name.
    pub name: String,
    /// The file's text, of which results quote asserts.
    pub source: String,
    /// The compiled file.
    pub session: Session,
    /// How many of all files' sessions are of this file, in proportion to the others' weights; more than 0.
    pub weight: u32,
}

/// What holds for all users of a run.
#[derive(Debug, Default)]
pub struct RunSettings {
    /// The variables that have a value from the beginning, by name.
    pub variables: BTreeMap<String, Value>,
    /// Values that no output shows.
    pub secrets: Vec<String>,
    /// Records, of which each session takes one: its fields are variables.
    pub feeder: Option<Feeder>,
    /// How records are chosen.
    pub feeder_order: Order,
    /// The think time between entries whose file names none.
    pub think: Option<ThinkTime>,
    /// The watcher of the sessions.
    pub observer: Option<Arc<dyn SessionObserver>>,
}

/// Requests to different servers in one run.
#[derive(Debug, Error)]
#[error("{file}:{at}: this request goes to {other}, the first one to {first}: a run has one server")]
pub struct MixedOrigins {
    /// The file of the other server.
    pub file: String,
    /// The place of the request.
    pub at: Position,
    /// The first request's server.
    pub first: String,
    /// This request's server.
    pub other: String,
}

/// The virtual users of a run, who walk through hurl files.
#[derive(Debug)]
pub struct HurlUsers {
    pub(super) files: Vec<PreparedFile>,
    pub(super) settings: RunSettings,
    pub(super) secrets: Secrets,
    first_url: Option<Url>,
    /// Where all requests go.
    pub(super) origin: Origin,
    total_weight: u32,
    next_record: AtomicUsize,
}

/// A file with what its users begin with.
#[derive(Debug)]
pub(super) struct PreparedFile {
    file: SessionFile,
    /// The variables that have a value from the beginning.
    pub variables: Variables,
    /// The feeder's fields that are variables of the file: positions of fields, numbers of variables.
    pub fields: Vec<(usize, usize)>,
    /// The number of the first entry, among those of all files.
    pub first_entry: usize,
    /// The places of each entry's expectations.
    pub places: Vec<Vec<Position>>,
}

impl HurlUsers {
    /// Prepares a run of files, of which there is at least one, all of them with at least one entry.
    ///
    /// # Errors
    /// [`MixedOrigins`] if it is known by now that requests go to different servers.
    pub fn new(files: Vec<SessionFile>, settings: RunSettings) -> Result<Self, MixedOrigins> {
        let total_weight = files.iter().map(|file| file.weight).sum();
        let mut first_entry = 0;
        let prepare = |file: SessionFile| {
            let prepared = PreparedFile::new(file, &settings, first_entry);
            first_entry += prepared.places.len();
            prepared
        };
        let files: Vec<_> = files.into_iter().map(prepare).collect();
        let feeder = settings.feeder.as_ref();
        let first_url = files.iter().find_map(|file| file.first_url(feeder));
        let origin = first_url.as_ref().map_or_else(Origin::new_opaque, Url::origin);
        for file in &files {
            file.check_origins(&origin, feeder)?;
        }
        let secrets = Secrets::new(settings.secrets.iter().cloned());
        Ok(Self { files, settings, secrets, first_url, origin, total_weight, next_record: AtomicUsize::new(0) })
    }

    /// Returns the URL of the first request, without a user and a password; `None` if it has no value before the run.
    pub fn first_url(&self) -> Option<Url> {
        let mut url = self.first_url.clone()?;
        // Neither fails for a URL with a host.
        let _ = (url.set_username(""), url.set_password(None));
        Some(url)
    }

    /// Returns the position of the file for a session, drawn by weight.
    pub(super) fn draw_file(&self) -> usize {
        if self.files.len() == 1 {
            return 0;
        }
        let mut drawn = fastrand::u32(0..self.total_weight);
        let chosen = self.files.iter().position(|file| match drawn.checked_sub(file.file.weight) {
            Some(rest) => {
                drawn = rest;
                false
            }
            None => true,
        });
        chosen.expect("the number drawn is below the sum of all weights")
    }

    /// Returns the position of the record for a session, if there are records.
    pub(super) fn draw_record(&self) -> Option<usize> {
        let records = self.settings.feeder.as_ref()?.records();
        Some(match self.settings.feeder_order {
            Order::Random => fastrand::usize(0..records),
            Order::Sequence => self.next_record.fetch_add(1, Ordering::Relaxed) % records,
        })
    }
}

impl PreparedFile {
    fn new(file: SessionFile, settings: &RunSettings, first_entry: usize) -> Self {
        let names = &file.session.names;
        let mut variables = Variables::default();
        for (name, value) in &settings.variables {
            if let Some(number) = names.find(name) {
                variables.set(number, value.clone());
            }
        }
        let fields = settings.feeder.iter().flat_map(|feeder| feeder.names().enumerate().collect::<Vec<_>>());
        let fields = fields.filter_map(|(field, name)| Some((field, names.find(name)?))).collect();
        let places =
            |entry: &crate::Entry| entry.expected.as_ref().map(|expected| expected.places()).unwrap_or_default();
        let places = file.session.entries.iter().map(places).collect();
        Self { variables, fields, first_entry, places, file }
    }

    pub fn session(&self) -> &Session {
        &self.file.session
    }

    pub fn entry_names(&self) -> impl Iterator<Item = EntryName> {
        let line = |at: &Position| self.file.source.lines().nth(at.line - 1).unwrap_or_default().trim().to_owned();
        let entries = self.file.session.entries.iter().zip(&self.places);
        entries.map(move |(entry, places)| EntryName {
            name: entry.name.clone(),
            file: self.file.name.clone(),
            line: entry.at.line,
            asserts: places.iter().map(line).collect(),
        })
    }

    /// Returns the variables of a session that takes a record.
    pub fn variables(&self, feeder: Option<&Feeder>, record: Option<usize>) -> Variables {
        let mut variables = self.variables.clone();
        if let (Some(feeder), Some(record)) = (feeder, record) {
            for &(field, variable) in &self.fields {
                let text = String::from_utf8_lossy(feeder.value(record, field)).into_owned();
                variables.set(variable, Value::Text(text));
            }
        }
        variables
    }

    /// Returns the URL of the first request; `None` if it has no value before the run.
    fn first_url(&self, feeder: Option<&Feeder>) -> Option<Url> {
        let mut walk = Walk::new(self.variables(feeder, Some(0)));
        loop {
            match walk.next(&self.file.session) {
                Action::Send(_) => return walk.request().map(|request| request.url.clone()),
                Action::Pause(_) => {}
                Action::Finished | Action::Failed(..) => break,
            }
        }
        // Before an entry runs that is left out, or whose content has no value yet, the URL may be known all the same.
        let variables = self.variables(feeder, Some(0));
        self.file.session.entries.iter().find_map(|entry| entry.request.url(&variables).ok())
    }

    /// Checks the URLs that have their value before the run.
    fn check_origins(&self, origin: &Origin, feeder: Option<&Feeder>) -> Result<(), MixedOrigins> {
        let variables = self.variables(feeder, Some(0));
        for entry in &self.file.session.entries {
            let url = entry.request.url(&variables).ok();
            if let Some(other) = url.map(|url| url.origin()).filter(|other| other != origin) {
                return Err(MixedOrigins {
                    file: self.file.name.clone(),
                    at: entry.at,
                    first: origin.ascii_serialization(),
                    other: other.ascii_serialization(),
                });
            }
        }
        Ok(())
    }
}
