//! The hurl files of a run, and what holds for all of its users.

use super::observer::SessionObserver;
use crate::expected::Expected;
use crate::hurl::Position;
use crate::operand::Operand;
use crate::options::Setting;
use crate::scope::Variables;
use crate::session::{Entry, Session};
use crate::value::Value;
use crate::walk::{Action, Walk};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use torr_gauge::Secrets;
use torr_gauge::sessions::EntryName;
use torr_press::learnt::LearntServers;
use torr_press::request::{Feeder, Order};
use torr_press::users::DecisionCount;
use torr_press::{Destination, ThinkTime};
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

/// The virtual users of a run, who walk through hurl files.
#[derive(Debug)]
pub struct HurlUsers {
    pub(super) files: Vec<PreparedFile>,
    pub(super) settings: RunSettings,
    pub(super) secrets: Secrets,
    /// The first URL that is known of each server.
    urls: Vec<Url>,
    /// The servers that requests go to, by number.
    pub(super) origins: Vec<Origin>,
    /// The servers that the users learn of; `None` where the files name them all.
    pub(super) learnt: Option<Arc<LearntServers>>,
    total_weight: u32,
    next_record: AtomicUsize,
    /// The decisions of each thread.
    pub(super) decisions: OnceLock<Vec<DecisionCount>>,
    /// Whether the run ended without a thread that was still evaluating a response.
    pub(super) is_given_up: AtomicBool,
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
    pub fn new(files: Vec<SessionFile>, settings: RunSettings) -> Self {
        let total_weight = files.iter().map(|file| file.weight).sum();
        let mut first_entry = 0;
        let prepare = |file: SessionFile| {
            let prepared = PreparedFile::new(file, &settings, first_entry);
            first_entry += prepared.places.len();
            prepared
        };
        let files: Vec<_> = files.into_iter().map(prepare).collect();
        let feeder = settings.feeder.as_ref();
        let first = files.iter().find_map(|file| file.first_url(feeder));
        let mut urls: Vec<Url> = Vec::new();
        for url in first.into_iter().chain(files.iter().flat_map(|file| file.known_urls(feeder))) {
            if urls.iter().all(|known| known.origin() != url.origin()) {
                urls.push(url);
            }
        }
        let origins = urls.iter().map(Url::origin).collect();
        let secrets = Secrets::new(settings.secrets.iter().cloned());
        Self {
            files,
            settings,
            secrets,
            urls,
            origins,
            learnt: None,
            total_weight,
            next_record: AtomicUsize::new(0),
            decisions: OnceLock::new(),
            is_given_up: AtomicBool::new(false),
        }
    }

    /// Lets requests go to servers that only responses name, or a feeder's later records, where the files can lead to such.
    /// `find` finds the way to the server of an origin, or says in one line why there is none.
    pub fn learn(&mut self, find: impl Fn(&str) -> Result<Destination, String> + Send + Sync + 'static) {
        let feeder = self.settings.feeder.as_ref();
        if self.files.iter().any(|file| file.may_learn(feeder)) {
            self.learnt = Some(Arc::new(LearntServers::new(self.origins.len(), find)));
        }
    }

    /// Returns the first URL of each server that is known before the run, without users and passwords. The first of them is that
    /// of the first request, as far as it is known.
    pub fn urls(&self) -> impl Iterator<Item = Url> {
        self.urls.iter().cloned().map(|mut url| {
            // Neither fails for a URL with a host.
            let _ = (url.set_username(""), url.set_password(None));
            url
        })
    }

    /// Returns why a request cannot go to a server.
    pub(super) fn unknown_server(&self, origin: &Origin) -> String {
        let known: Vec<_> = self.origins.iter().map(Origin::ascii_serialization).collect();
        format!(
            "the request goes to {}, which no URL named at the start of the run (servers: {})",
            origin.ascii_serialization(),
            known.join(", ")
        )
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
        let places = |entry: &Entry| entry.expected.as_ref().map(|expected| expected.places()).unwrap_or_default();
        let places = file.session.entries.iter().map(places).collect();
        Self { variables, fields, first_entry, places, file }
    }

    pub fn session(&self) -> &Session {
        &self.file.session
    }

    pub fn entry_names(&self) -> impl Iterator<Item = EntryName> {
        let lines: Vec<&str> = self.file.source.lines().map(str::trim).collect();
        let line = move |at: &Position| lines.get(at.line - 1).copied().unwrap_or_default().to_owned();
        let entries = self.file.session.entries.iter().zip(&self.places);
        entries.map(move |(entry, places)| EntryName {
            name: entry.name.clone(),
            file: self.file.name.clone(),
            line: entry.at.line,
            asserts: places.iter().map(&line).collect(),
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

    /// Whether a request may go to a server that no URL names before the run.
    fn may_learn(&self, feeder: Option<&Feeder>) -> bool {
        let entries = &self.file.session.entries;
        let mut changing: BTreeSet<usize> = BTreeSet::new();
        for entry in entries {
            changing.extend(entry.expected.iter().flat_map(Expected::captured));
            let definitions = entry.options.definitions.iter();
            changing.extend(definitions.filter(|(_, to)| !matches!(to, Operand::Value(_))).map(|(number, _)| *number));
        }
        let may = |setting: &Setting<bool>| !matches!(setting, Setting::Value(false));
        let leads_away = |entry: &Entry| {
            may(&entry.options.location)
                || may(&entry.options.location_trusted)
                || !entry.request.has_fixed_server(&changing)
        };
        let has_later_records = !self.fields.is_empty() && feeder.is_some_and(|feeder| feeder.records() > MOST_RECORDS);
        has_later_records || entries.iter().any(leads_away)
    }

    /// Returns the URLs of whose entries the server is known before the run. Of a feeder's records each may name another server.
    fn known_urls(&self, feeder: Option<&Feeder>) -> Vec<Url> {
        // Without fields that are variables, one record says as much as all of them.
        let records = if self.fields.is_empty() { 1 } else { feeder.map_or(1, Feeder::records).min(MOST_RECORDS) };
        let of_record = |record| {
            let mut variables = self.variables(feeder, Some(record));
            let mut urls = Vec::new();
            for entry in &self.file.session.entries {
                for (variable, operand) in &entry.options.definitions {
                    if let Ok(value) = operand.get(&variables) {
                        variables.set(*variable, value);
                    }
                }
                urls.extend(entry.request.known_url(&variables));
            }
            urls
        };
        (0..records).flat_map(of_record).collect()
    }
}

/// The number of a feeder's records in which servers are looked for before the run; those of later ones are learnt.
const MOST_RECORDS: usize = 1000;
