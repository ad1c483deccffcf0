//! What other programs make of the command line: completions of shells, and man pages.

use crate::exit::CliError;
use crate::output;
use clap::{Args, Command};
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;
use torr_net::errors::describe;

const COMPLETIONS: &str = "\
Examples:
  torr completions bash > ~/.local/share/bash-completion/completions/torr
  torr completions zsh > ~/.zfunc/_torr
  torr completions fish > ~/.config/fish/completions/torr.fish";

const MAN: &str = "\
Examples:
  torr man ~/.local/share/man/man1";

/// `torr completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub struct CompletionsArgs {
    /// Print the script for this shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `torr man`.
#[derive(Debug, Args)]
#[command(after_help = MAN)]
pub struct ManArgs {
    /// Write the man pages to this folder
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// Prints the completions of a shell.
pub fn completions(args: &CompletionsArgs, mut grammar: Command) -> Result<ExitCode, CliError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut grammar, "torr", &mut text);
    output::print(&String::from_utf8_lossy(&text));
    Ok(ExitCode::SUCCESS)
}

/// Writes a man page for the program and one for each command.
pub fn man(args: &ManArgs, grammar: Command) -> Result<ExitCode, CliError> {
    let folder = args.folder.display();
    let written = std::fs::create_dir_all(&args.folder).and_then(|()| clap_mangen::generate_to(grammar, &args.folder));
    written.map_err(|error| CliError::Usage(format!("cannot write man pages to '{folder}': {}", describe(&error))))?;
    output::note(&format!("man pages written: man {folder}/torr.1"));
    Ok(ExitCode::SUCCESS)
}
