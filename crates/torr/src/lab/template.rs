//! `torr lab new-subject`: a description to be filled in.

use super::args::NewSubjectArgs;
use crate::exit::CliError;
use crate::output;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use torr_lab::subject::PLACEHOLDERS;
use torr_net::errors::describe;

const BEGIN: &str = "\
# A subject of 'torr lab'. Try it with: torr lab run webman-reference --scale 0.2 --subject NAME.toml
about = \"What it is, in one line\"

# The command starts it in the foreground and listens on 127.0.0.1:{port}. SIGTERM ends it.
command = \"{here}/server --listen 127.0.0.1:{port} --workers {workers}\"
";

const REST: &str = "
# Programs that must be on the PATH, and how to get them.
# needs = [\"node\"]
# get = \"apt-get install nodejs\"
# version = \"node --version\"

# Commands that build it, once, in {source}.
# build = [\"go build -o server .\"]

# With TLS, and arguments that follow where a row has a database.
# tls = \"./server --listen 127.0.0.1:{port} --cert {cert} --key {key}\"
# database = \"--database {database}\"
# databases = [\"postgres\", \"mysql\"]

# Where it has what the suites request; rows without a path here are left out.
[paths]
hello = \"/\"
# json = \"/json\"
# plaintext = \"/plaintext\"
# db = \"/db\"
# queries = \"/queries\"
# updates = \"/updates\"
# fortunes = \"/fortunes\"

# Variables of its environment. PORT, WORKERS and DATABASE_URL are set in any case.
# [environment]
# MODE = \"production\"

# Files that are written into {dir} before each start, with placeholders.
# [files]
# \"server.conf\" = \"port = {port}\"
";

/// Writes the description, unless there is such a file.
pub fn write(args: &NewSubjectArgs) -> Result<ExitCode, CliError> {
    let name = args.name.trim_end_matches(".toml");
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(CliError::Usage(format!("invalid name '{name}': use letters, digits and '-', such as my-server")));
    }
    let path = format!("{name}.toml");
    let placeholders = PLACEHOLDERS.iter().map(|(name, meaning)| format!("#   {name:<12} {meaning}\n"));
    let text = format!(
        "{}# Placeholders here and below:\n{}{REST}",
        BEGIN.replace("NAME", name),
        placeholders.collect::<String>()
    );
    let file = OpenOptions::new().write(true).create_new(true).open(Path::new(&path));
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => CliError::Usage(format!("{path} exists: use another name")),
        _ => CliError::Failed(format!("cannot write {path}: {}", describe(&error))),
    })?;
    output::note(&format!("{path} was written: fill in its command and paths"));
    Ok(ExitCode::SUCCESS)
}
