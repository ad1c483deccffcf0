//! Hurl files, read and compiled for a run.

use super::typed;
use crate::exit::Stop;
use crate::flags::input::{Input, file_name};
use crate::flags::variables::VariableArgs;
use crate::output;
use std::collections::BTreeMap;
use std::path::Path;
use torr_press::request::Feeder;
use torr_session::hurl::{self, ParseError};
use torr_session::users::{RunSettings, SessionFile};
use torr_session::{Folder, Session, Value};

/// A hurl file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    pub path: String,
    /// How many of all sessions are of this file, in proportion to the others' weights; more than 0.
    pub weight: u32,
}

impl RunFile {
    /// Returns a file that stands alone.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_string_lossy().into_owned(), weight: 1 }
    }
}

/// Files of a run, compiled, with the variables that they begin with.
pub struct Prepared {
    pub files: Vec<SessionFile>,
    pub values: BTreeMap<String, Value>,
    secrets: Vec<String>,
}

impl Prepared {
    /// Returns the settings of a run of these files.
    pub fn settings(&self) -> RunSettings {
        let (variables, secrets) = (self.values.clone(), self.secrets.clone());
        RunSettings { variables, secrets, ..RunSettings::default() }
    }

    /// Compiles the files again, with more variables that have a value from the beginning.
    pub fn with_more(
        self,
        more: BTreeMap<String, Value>,
        files: &[RunFile],
        feeder: Option<&Path>,
    ) -> Result<Self, Stop> {
        let mut values = self.values;
        values.extend(more);
        prepare_with(files, values, self.secrets.into_iter(), feeder)
    }
}

/// Reads and compiles files.
///
/// # Errors
/// For the first mistake, with its place.
pub fn prepare(files: &[RunFile], variables: &VariableArgs, feeder: Option<&Path>) -> Result<Prepared, Stop> {
    let values = typed(variables.values(&mut Input::default())?).collect();
    prepare_with(files, values, variables.secrets(), feeder)
}

/// Reads and compiles files with these variables.
///
/// # Errors
/// As [`prepare`].
pub fn prepare_with(
    files: &[RunFile],
    values: BTreeMap<String, Value>,
    secrets: impl Iterator<Item = String>,
    feeder: Option<&Path>,
) -> Result<Prepared, Stop> {
    let feeder = feeder.map(Feeder::read).transpose().map_err(Stop::usage)?;
    let fields = feeder.iter().flat_map(|feeder| feeder.names().map(str::to_owned).collect::<Vec<_>>());
    let given: Vec<String> = values.keys().cloned().chain(fields).collect();
    let mut input = Input::default();
    let files = files.iter().map(|file| compile(file, &given, &mut input)).collect::<Result<_, _>>()?;
    Ok(Prepared { files, values, secrets: secrets.collect() })
}

fn compile(file: &RunFile, given: &[String], input: &mut Input) -> Result<SessionFile, Stop> {
    let path = &file.path;
    let source = input.read_text(path, "requests")?;
    let at_place = |ParseError { at, message }: ParseError| Stop::Usage(format!("{path}:{at}: {message}"));
    let parsed = hurl::parse(&source).map_err(at_place)?;
    let session = Session::compile(&parsed, &Folder::of(Path::new(path)), given.iter().map(String::as_str));
    let session = session.map_err(at_place)?;
    if let Some((name, at)) = session.names.unassigned().first() {
        return Err(Stop::Usage(format!(
            "{path}:{at}: the variable '{name}' has no value here: give one by --variable {name}=VALUE"
        )));
    }
    if session.entries.is_empty() {
        return Err(Stop::Usage(format!("{path}: there is no request in it")));
    }
    for (at, what) in &session.ignored {
        output::note(&format!("{path}:{at}: {what}, it is passed over"));
    }
    Ok(SessionFile { name: file_name(path), source, session, weight: file.weight })
}
