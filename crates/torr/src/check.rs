//! `torr check`: reads hurl files and says what is wrong with them; nothing is sent.

use crate::exit::Stop;
use crate::flags::input::Input;
use crate::flags::variables::VariableArgs;
use crate::output;
use clap::Args;
use std::path::Path;
use std::process::ExitCode;
use torr_session::hurl::{self, ParseError};
use torr_session::{Folder, Session};

const EXAMPLES: &str = "\
Examples:
  torr check checkout.hurl --variable host=127.0.0.1:8080
  HURL_VARIABLE_token=secret torr check tests/*.hurl";

/// `torr check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// The hurl files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    #[command(flatten)]
    pub variables: VariableArgs,
}

/// Checks each file: exit code 2 if anything is wrong with one of them.
pub fn run(args: &CheckArgs) -> Result<ExitCode, Stop> {
    let mut input = Input::default();
    let given = args.variables.values(&mut input)?;
    let mut mistakes = 0;
    for path in &args.files {
        let source = input.read_text(path, "requests")?;
        let session = hurl::parse(&source)
            .and_then(|file| Session::compile(&file, &Folder::of(Path::new(path)), given.keys().map(String::as_str)));
        match session {
            Ok(session) => mistakes += report(path, &session),
            Err(ParseError { at, message }) => {
                output::note(&format!("{path}:{at}: {message}"));
                mistakes += 1;
            }
        }
    }
    Ok(if mistakes == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// Prints what there is to say of a file that can be read, and returns the number of mistakes.
fn report(path: &str, session: &Session) -> usize {
    let unassigned = session.names.unassigned();
    for (name, at) in unassigned {
        output::note(&format!(
            "{path}:{at}: the variable '{name}' has no value here: give one by --variable {name}=VALUE"
        ));
    }
    for (at, what) in &session.ignored {
        output::note(&format!("{path}:{at}: {what}, it is passed over"));
    }
    if unassigned.is_empty() {
        let count = session.entries.len();
        output::report(&format!("{path}: {count} {}, no mistakes\n", if count == 1 { "request" } else { "requests" }));
    }
    unassigned.len()
}
