//! Hurl files, read and compiled for a run.

use crate::error::PlanError;
use crate::input::{self, Input, file_name};
use crate::target::RunFile;
use crate::variables;
use std::collections::BTreeMap;
use std::path::Path;
use torr_gauge::sessions::EntryName;
use torr_load::{FileSource, VariablePart};
use torr_net::errors::describe;
use torr_session::hurl::{self, ParseError, Position};
use torr_session::users::{RunSettings, SessionFile};
use torr_session::{Entry, Files, Folder, Session, Value, own_netrc};

/// Files of a run, compiled, with the variables that they begin with.
pub struct Prepared {
    /// The compiled files, in the order in which they were given.
    pub files: Vec<SessionFile>,
    /// The variables that the files begin with.
    pub given: Given,
}

/// The variables that sessions begin with.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The value of each variable, by name.
    pub values: BTreeMap<String, Value>,
    /// Values that no output shows.
    pub secrets: Vec<String>,
}

impl Given {
    /// Returns the variables of a command line, its files and the environment.
    ///
    /// # Errors
    /// If one has no value, or a file cannot be read.
    pub fn of(part: &VariablePart) -> Result<Self, PlanError> {
        let values = typed(variables::values(part, &mut Input::default())?).collect();
        Ok(Self { values, secrets: variables::secrets(part).collect() })
    }

    /// Returns variables that are texts.
    pub fn of_texts(values: BTreeMap<String, String>, secrets: Vec<String>) -> Self {
        let values = values.into_iter().map(|(name, text)| (name, Value::Text(text))).collect();
        Self { values, secrets }
    }

    /// Adds variables that were captured, and their secrets.
    pub fn extend(&mut self, captured: &Self) {
        self.values.extend(captured.values.clone());
        self.secrets.extend(captured.secrets.iter().cloned());
    }
}

impl Prepared {
    /// Returns the settings of a run of these files.
    pub fn settings(&self) -> RunSettings {
        let Given { values: variables, secrets } = self.given.clone();
        RunSettings { variables, secrets, ..RunSettings::default() }
    }

    /// Returns the names of all entries of the files.
    pub fn entries(&self) -> Vec<EntryName> {
        let of_file = |file: &SessionFile| -> Vec<EntryName> {
            let name = |entry: &Entry| EntryName {
                name: entry.name.clone(),
                file: file.name.clone(),
                line: entry.at.line,
                asserts: Vec::new(),
            };
            file.session.entries.iter().map(name).collect()
        };
        self.files.iter().flat_map(of_file).collect()
    }

    /// Returns the names of all variables of the files.
    pub fn names(&self) -> Vec<String> {
        let names = self.files.iter().flat_map(|file| file.session.names.iter());
        names.map(|(name, _)| name.to_owned()).collect()
    }
}

/// Reads and compiles files. `later` are the names of variables that will have a value when the sessions begin.
///
/// # Errors
/// For the first mistake, with its position.
pub fn prepare(
    files: &[RunFile],
    given: &Given,
    feeder: Option<&Path>,
    later: &[String],
    source: &FileSource,
) -> Result<Prepared, PlanError> {
    let feeder = feeder.map(|path| input::feeder(path, source)).transpose()?;
    let fields = feeder.iter().flat_map(|feeder| feeder.names().map(str::to_owned).collect::<Vec<_>>());
    let names: Vec<String> = given.values.keys().chain(later).cloned().chain(fields).collect();
    let files = files.iter().map(|file| compile(file, &names, source)).collect::<Result<_, _>>()?;
    Ok(Prepared { files, given: given.clone() })
}

fn compile(file: &RunFile, given: &[String], files: &FileSource) -> Result<SessionFile, PlanError> {
    let path = &file.path;
    let source = Input::of(files).read_text(path, "requests")?;
    let at_position = |ParseError { at, message }: ParseError| PlanError::Usage(format!("{path}:{at}: {message}"));
    let parsed = hurl::parse(&source).map_err(at_position)?;
    let named = NamedFiles { folder: Folder::of(Path::new(path)), source: files };
    let session = Session::compile(&parsed, &named, given.iter().map(String::as_str));
    let session = session.map_err(at_position)?;
    if let Some((name, at)) = session.names.unassigned().first() {
        return Err(PlanError::Usage(without_value(path, *at, name)));
    }
    if session.entries.is_empty() {
        return Err(PlanError::Usage(without_request(path)));
    }
    Ok(SessionFile { name: file_name(path), source, session, weight: file.weight })
}

/// Returns the sentence about a variable of a file that has no value.
pub fn without_value(path: &str, at: Position, name: &str) -> String {
    format!("{path}:{at}: the variable '{name}' has no value: set it with --variable {name}=VALUE")
}

/// Returns the sentence about a file that has no request.
pub fn without_request(path: &str) -> String {
    format!("{path}: no request in this file")
}

/// The files that a hurl file names.
struct NamedFiles<'s> {
    folder: Folder,
    source: &'s FileSource,
}

impl Files for NamedFiles<'_> {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.folder.path(name)?.to_string_lossy().into_owned();
        self.source.read(&path).map_err(|error| format!("cannot read '{path}': {}", describe(&error)))
    }

    fn netrc(&self) -> Result<Vec<u8>, String> {
        if self.source.is_of_fleet() {
            return Err("'netrc' is not supported in a fleet: use netrc-file, which is sent to the agents".to_owned());
        }
        own_netrc().map_err(|error| format!("cannot read ~/.netrc: {}", describe(&error)))
    }

    fn refuses_environment(&self) -> Option<&'static str> {
        let why = "is not supported in a fleet, whose agents have other environments: use a variable";
        self.source.is_of_fleet().then_some(why)
    }
}

/// Returns variables by name, with the kinds that their texts have.
fn typed(values: impl IntoIterator<Item = (String, String)>) -> impl Iterator<Item = (String, Value)> {
    values.into_iter().map(|(name, text)| (name, Value::given(&text)))
}
