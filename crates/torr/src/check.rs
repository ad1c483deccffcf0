//! `torr check`: reads hurl files, scripts and plans and says what is wrong with them; nothing is sent.

use crate::exit::CliError;
use crate::{output, session};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use torr_load::{OnlyVariables, TransportPart};
use torr_plan::input::Input;
use torr_plan::session::files::{self, Given, Prepared};
use torr_plan::target;
use torr_report::human::plural;
use torr_script::{FileReader, ScriptFile};
use torr_session::hurl::{self, ParseError};
use torr_session::users::SessionFile;
use torr_session::{Folder, Session};

const EXAMPLES: &str = "\
Examples:
  torr check checkout.hurl --variable host=127.0.0.1:8080
  HURL_VARIABLE_token=secret torr check tests/*.hurl
  torr check post.lua                    compile it without running it
  torr check shop.js                     run only its top level
  torr check plan.toml                   check the files that it names, too";

/// `torr check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// Hurl files, Lua scripts, k6 scripts or plans
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    #[command(flatten)]
    pub load: OnlyVariables,
}

/// What a plan that has no mistake itself would run.
pub enum Planned {
    /// Only what stands in the plan.
    Nothing,
    /// Hurl files, of which all was looked through.
    Sessions,
    /// A script.
    Script(PathBuf),
    /// A script of k6.
    K6(PathBuf),
}

/// Checks each file: exit code 2 if anything is wrong with one of them. `look_through` looks through a plan.
pub fn run(args: &CheckArgs, look_through: impl Fn(&str) -> Result<Planned, CliError>) -> Result<ExitCode, CliError> {
    let mut input = Input::default();
    let given = Given::of(&args.load.session.variables)?;
    let mut mistakes = 0;
    for path in &args.files {
        let is_plan = target::is_plan(path);
        if is_plan || target::is_script(path) || target::is_k6(path) {
            let checked = match (is_plan, target::is_k6(path)) {
                (true, _) => plan(path, &look_through),
                (_, true) => k6(Path::new(path), &args.load),
                (_, false) => script(Path::new(path)),
            };
            match checked {
                Ok(what) => output::report(&format!("{path}: {what}\n")),
                Err(CliError::Usage(mistake)) => {
                    output::note(&mistake);
                    mistakes += 1;
                }
                Err(other) => return Err(other),
            }
            continue;
        }
        let source = input.read_text(path, "requests")?;
        let names = given.values.keys().map(String::as_str);
        let session =
            hurl::parse(&source).and_then(|file| Session::compile(&file, &Folder::of(Path::new(path)), names));
        match session {
            Ok(session) => mistakes += report(path, source, session, &given)?,
            Err(ParseError { at, message }) => {
                output::note(&format!("{path}:{at}: {message}"));
                mistakes += 1;
            }
        }
    }
    Ok(if mistakes == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// Compiles a script.
fn script(path: &Path) -> Result<&'static str, CliError> {
    let file = ScriptFile::read(path, FileReader::default()).map_err(CliError::usage)?;
    torr_script::compile(&file).map_err(CliError::usage)?;
    Ok("no mistakes; run it with 'torr once'")
}

/// Loads a script of k6, runs its top level, and reads its options.
fn k6(path: &Path, load: &OnlyVariables) -> Result<&'static str, CliError> {
    crate::k6::check(path, load)?;
    Ok("no mistakes; run it with 'torr once'")
}

/// Looks through a plan and the files that it names.
fn plan(path: &str, look_through: impl Fn(&str) -> Result<Planned, CliError>) -> Result<&'static str, CliError> {
    Ok(match look_through(path)? {
        Planned::Nothing => "no mistakes",
        Planned::Sessions => "no mistakes in the plan or in its files",
        Planned::Script(path) => {
            script(&path)?;
            "no mistakes, and its script compiles"
        }
        Planned::K6(path) => {
            k6(&path, &OnlyVariables::default())?;
            "no mistakes, and its script compiles"
        }
    })
}

/// Prints what there is to say of a file that can be read, and returns the number of mistakes.
fn report(path: &str, source: String, session: Session, given: &Given) -> Result<usize, CliError> {
    if session.entries.is_empty() {
        output::note(&files::without_request(path));
        return Ok(1);
    }
    let count = session.entries.len();
    let unassigned = session.names.unassigned();
    for (name, at) in unassigned {
        output::note(&files::without_value(path, *at, name));
    }
    session::note_ignored(path, &session);
    if !unassigned.is_empty() {
        return Ok(unassigned.len());
    }
    let file = SessionFile { name: path.to_owned(), source, session, weight: 1 };
    match session::preflight(Prepared { files: vec![file], given: given.clone() }, &TransportPart::default()) {
        Ok(()) => {
            output::report(&format!("{path}: {}, no mistakes\n", plural(count as u64, "request")));
            Ok(0)
        }
        Err(CliError::Usage(mistake)) => {
            output::note(&mistake);
            Ok(1)
        }
        Err(other) => Err(other),
    }
}
