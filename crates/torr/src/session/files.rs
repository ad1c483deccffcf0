//! Hurl files, read and compiled for a run.

use crate::exit::CliError;
use crate::flags::input::{Input, file_name};
use crate::flags::variables::VariableArgs;
use crate::output;
use crate::target::RunFile;
use std::collections::BTreeMap;
use std::path::Path;
use torr_gauge::sessions::EntryName;
use torr_press::request::Feeder;
use torr_session::hurl::{self, ParseError};
use torr_session::users::{RunSettings, SessionFile};
use torr_session::{Entry, Folder, Session, Value};

/// Files of a run, compiled, with the variables that they begin with.
pub struct Prepared {
    pub files: Vec<SessionFile>,
    pub values: BTreeMap<String, Value>,
    pub secrets: Vec<String>,
}

impl Prepared {
    /// Returns the settings of a run of these files.
    pub fn settings(&self) -> RunSettings {
        let (variables, secrets) = (self.values.clone(), self.secrets.clone());
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
    variables: &VariableArgs,
    feeder: Option<&Path>,
    later: &[String],
) -> Result<Prepared, CliError> {
    let values: BTreeMap<_, _> = typed(variables.values(&mut Input::default())?).collect();
    let feeder = feeder.map(Feeder::read).transpose().map_err(CliError::usage)?;
    let fields = feeder.iter().flat_map(|feeder| feeder.names().map(str::to_owned).collect::<Vec<_>>());
    let given: Vec<String> = values.keys().chain(later).cloned().chain(fields).collect();
    let mut input = Input::default();
    let files = files.iter().map(|file| compile(file, &given, &mut input)).collect::<Result<_, _>>()?;
    Ok(Prepared { files, values, secrets: variables.secrets().collect() })
}

fn compile(file: &RunFile, given: &[String], input: &mut Input) -> Result<SessionFile, CliError> {
    let path = &file.path;
    let source = input.read_text(path, "requests")?;
    let at_position = |ParseError { at, message }: ParseError| CliError::Usage(format!("{path}:{at}: {message}"));
    let parsed = hurl::parse(&source).map_err(at_position)?;
    let session = Session::compile(&parsed, &Folder::of(Path::new(path)), given.iter().map(String::as_str));
    let session = session.map_err(at_position)?;
    if let Some((name, at)) = session.names.unassigned().first() {
        return Err(CliError::Usage(format!(
            "{path}:{at}: the variable '{name}' has no value here: give one by --variable {name}=VALUE"
        )));
    }
    if session.entries.is_empty() {
        return Err(CliError::Usage(format!("{path}: there is no request in it")));
    }
    for (at, what) in &session.ignored {
        output::note(&format!("{path}:{at}: {what}, it is passed over"));
    }
    Ok(SessionFile { name: file_name(path), source, session, weight: file.weight })
}

/// Returns variables by name, with the kinds that their texts have.
fn typed(values: impl IntoIterator<Item = (String, String)>) -> impl Iterator<Item = (String, Value)> {
    values.into_iter().map(|(name, text)| (name, Value::given(&text)))
}
