//! `torr install-links`: links by whose names Torr takes the command lines of other load generators.

use crate::exit::CliError;
use crate::output;
use clap::Args;
use std::env;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use torr_fronts::Front;
use torr_net::errors::describe;

const EXAMPLES: &str = "\
Examples:
  torr install-links               beside the program itself
  torr install-links ~/bin         in a folder at the front of PATH
  torr install-links ~/bin --only ab,wrk
  torr install-links ~/bin --remove";

/// `torr install-links`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LinksArgs {
    /// Create the links in this folder [default: the folder of this program]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Create or remove only links of these names
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Front::LINKS)]
    pub only: Vec<String>,
    /// Remove links to this program, and nothing else
    #[arg(long)]
    pub remove: bool,
}

/// What stands at the path of a link.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// A link to this program.
    Ours,
    /// Something that is to stay.
    Other,
}

/// Makes the links, or removes them. Something else of a link's name stays as it is, and makes the exit code 1.
pub fn run(args: &LinksArgs) -> Result<ExitCode, CliError> {
    let lost = |error| CliError::Failed(format!("cannot find this program: {}", describe(&error)));
    let program = env::current_exe().map_err(lost)?;
    let beside = || program.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
    let folder = args.folder.clone().unwrap_or_else(beside);
    let shown = folder.display();
    let fails = |error: io::Error| CliError::Usage(format!("cannot write to '{shown}': {}", describe(&error)));
    if !args.remove {
        fs::create_dir_all(&folder).map_err(fails)?;
    }
    let names =
        Front::LINKS.into_iter().filter(|name| args.only.is_empty() || args.only.iter().any(|only| only == name));
    let (mut lines, mut in_the_way) = (String::new(), Vec::new());
    for name in names {
        let link = folder.join(name);
        let found = at(&link, &program).map_err(fails)?;
        match (found, args.remove) {
            (Found::Nothing, false) => {
                symlink(&program, &link).map_err(fails)?;
                lines += &format!("{}{}\n", link.display(), hidden(name, &link));
            }
            (Found::Ours, false) => lines += &format!("{}{}\n", link.display(), hidden(name, &link)),
            (Found::Ours, true) => {
                fs::remove_file(&link).map_err(fails)?;
                lines += &format!("removed {}\n", link.display());
            }
            (Found::Nothing, true) => {}
            (Found::Other, _) => in_the_way.push(link.display().to_string()),
        }
    }
    output::print(&lines);
    if in_the_way.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(CliError::Failed(format!("left unchanged: not a link to this program: {}", in_the_way.join(", "))))
}

/// Returns what stands at a path.
fn at(link: &Path, program: &Path) -> io::Result<Found> {
    match fs::symlink_metadata(link) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error) => Err(error),
        Ok(metadata) if metadata.is_symlink() => {
            let leads_here = fs::canonicalize(link).is_ok_and(|end| Some(end) == fs::canonicalize(program).ok());
            Ok(if leads_here { Found::Ours } else { Found::Other })
        }
        Ok(_) => Ok(Found::Other),
    }
}

/// Returns a remark if a shell finds another program of a link's name first, or none.
fn hidden(name: &str, link: &Path) -> String {
    let folders = env::var_os("PATH").unwrap_or_default();
    let first = env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
    match first {
        Some(first) if fs::canonicalize(&first).ok() == fs::canonicalize(link).ok() => String::new(),
        Some(first) => format!(" (but the shell finds {} first)", first.display()),
        None => " (not in PATH)".to_owned(),
    }
}
