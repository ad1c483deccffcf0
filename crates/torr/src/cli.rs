//! The command line: each command goes to the module that runs it.

mod commands;
mod grammar;
mod help;
mod shell;

use crate::exit::{self, Stop};
use crate::flags::{self, given::given};
use crate::fronts::Front;
use crate::output;
use crate::plan_file::{self, Expanded};
use crate::press::PressArgs;
use crate::target::{RunFile, TargetKind};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, FromArgMatches};
use grammar::{Cli, Command};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use torr_press::Plan;

/// Does what a command line asks for; the program's name comes first.
pub fn run(args: &[OsString]) -> Result<ExitCode, Stop> {
    let first = args.get(1).and_then(|word| word.to_str());
    if let Some(mistake) = first.and_then(commands::mistyped) {
        return Err(mistake);
    }
    let is_command = first.is_some_and(|first| commands::names().any(|name| name == first));
    let plan = if is_command { None } else { Expanded::of(args)? };
    let words = plan.as_ref().map_or_else(|| args.to_vec(), Expanded::words);
    let ready = prepare(&words).map_err(|stop| match (&plan, stop) {
        (Some(plan), Stop::Usage(mistake)) => plan.locate(&mistake, mistake_of),
        (_, stop) => stop,
    })?;
    ready.execute()
}

/// What a command line asks for, looked through.
enum Ready {
    /// Help or a version, which clap shows.
    Help(clap::Error),
    Command(Box<Command>),
    /// A plan is to be printed.
    PlanText(String),
    /// A URL, with the arguments of its script.
    Url(Box<PressArgs>, Box<Plan>, Vec<String>),
    Sessions(Box<PressArgs>, Vec<RunFile>),
    Script(Box<PressArgs>, PathBuf),
}

/// Looks through a command line as far as that is possible without sending anything.
fn prepare(words: &[OsString]) -> Result<Ready, Stop> {
    let matches = match help::parse(words) {
        Err(error) if exit::is_help(&error) => return Ok(Ready::Help(error)),
        parsed => parsed.map_err(|error| refusal(words, &error))?,
    };
    let cli = Cli::from_arg_matches(&matches).map_err(|error| refusal(words, &error))?;
    match cli.command {
        Some(command) => Ok(Ready::Command(Box::new(command))),
        None => prepare_load(cli.press, &matches),
    }
}

/// Returns what is wrong with a command line.
fn refusal(words: &[OsString], error: &clap::Error) -> Stop {
    match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        // clap takes whatever stands behind a URL for a command.
        (ErrorKind::ArgumentConflict, Some(ContextValue::String(_))) => {
            let mut words = words.iter().skip(1).filter_map(|word| word.to_str());
            words.find_map(commands::misplaced).unwrap_or_else(|| exit::from_clap(error))
        }
        (ErrorKind::UnknownArgument, _) => match unknown_flag(error) {
            Some(mistake) => mistake,
            None => exit::from_clap(error),
        },
        _ => exit::from_clap(error),
    }
}

/// Returns the mistake of giving a flag to a command that another command has, if it is so.
fn unknown_flag(error: &clap::Error) -> Option<Stop> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let owner = commands::with_flag(flag.strip_prefix("--")?)?;
    Some(Stop::Usage(format!("{flag} is a flag of '{owner}' ('torr --help-all' and 'torr help COMMAND' list all)")))
}

/// Looks through the targets and their flags.
fn prepare_load(mut args: PressArgs, matches: &ArgMatches) -> Result<Ready, Stop> {
    // What follows the URL of a script is the script's.
    let has_arguments = args.script.script.is_some() && args.targets.len() > 1;
    let arguments = if has_arguments { args.targets.split_off(1) } else { Vec::new() };
    if let Some(mistake) = args.targets.iter().find_map(|word| commands::misplaced(word)) {
        return Err(mistake);
    }
    if let [first, _, ..] = &args.targets[..]
        && commands::is_bare(first)
    {
        return Err(commands::unknown(first));
    }
    let kind = TargetKind::of(&args.targets)?;
    let grammar = help::grammar();
    let given = given(grammar.get_arguments(), matches);
    match &kind {
        TargetKind::Script(_) => flags::session::check_script(&given)?,
        TargetKind::Url(_) if args.script.script.is_some() => flags::session::check_script(&given)?,
        TargetKind::Url(_) => flags::session::check_url(&given)?,
        TargetKind::Sessions(_) => flags::session::check_sessions(&given)?,
        TargetKind::Plan(_) => {}
    }
    if args.print_plan {
        return plan_file::text(matches).map(Ready::PlanText);
    }
    match kind {
        TargetKind::Url(url) => {
            let word = url.as_deref().unwrap_or_default();
            let plan =
                crate::press::plan(&args, url.as_deref()).map_err(|stop| commands::also_no_command(word, stop))?;
            Ok(Ready::Url(Box::new(args), Box::new(plan), arguments))
        }
        TargetKind::Sessions(files) => Ok(Ready::Sessions(Box::new(args), files)),
        TargetKind::Script(file) => Ok(Ready::Script(Box::new(args), file)),
        TargetKind::Plan(path) => {
            Err(Stop::Usage(format!("'{}' is a plan, and the target of a plan cannot be one", path.display())))
        }
    }
}

impl Ready {
    fn execute(self) -> Result<ExitCode, Stop> {
        match self {
            Self::Help(error) => Ok(exit::show_help(&error)),
            Self::Command(command) => execute(*command),
            Self::PlanText(text) => {
                output::print(&text);
                Ok(ExitCode::SUCCESS)
            }
            Self::Url(args, plan, arguments) => match &args.script.script {
                Some(script) => crate::press::run_script(&args, *plan, script, &arguments),
                None => crate::press::run(&args, &plan),
            },
            Self::Sessions(args, files) => crate::session::run(&args, &files),
            Self::Script(args, file) => crate::press::run_script_file(&args, &file),
        }
    }
}

/// Runs a command.
fn execute(command: Command) -> Result<ExitCode, Stop> {
    match command {
        Command::Serve(args) => crate::serve::run(&args),
        Command::Doctor(args) => crate::doctor::run(&args),
        Command::Limit(args) => crate::limit::run(&args),
        Command::Demo(args) => crate::demo::run(&args),
        Command::Watch(args) => crate::watch::run(&args),
        Command::Check(args) => crate::check::run(&args),
        Command::Once(args) => crate::session::once(&args),
        Command::Import(args) => crate::import::run(&args),
        Command::Ab(args) => Front::Ab.run(args.args),
        Command::Wrk(args) => Front::Wrk.run(args.args),
        Command::Wrk2(args) => Front::Wrk2.run(args.args),
        Command::Httpress(args) => Front::Httpress.run(args.args),
        Command::Press(args) => Front::Press.run(args.args),
        Command::PlanSchema => {
            output::print(&plan_file::schema());
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions(args) => shell::completions(&args, help::grammar()),
        Command::Man(args) => shell::man(&args, help::grammar()),
        Command::Help { command } => help_of(command.as_deref()),
    }
}

/// Shows the help of a command, or that of the program.
fn help_of(command: Option<&str>) -> Result<ExitCode, Stop> {
    if let Some(unknown) = command.filter(|command| commands::names().all(|name| name != *command)) {
        return Err(commands::unknown(unknown));
    }
    // What other programs' flags mean only they know.
    let flag = if command.is_some_and(Front::is_called) { "-h" } else { "--help" };
    let args: Vec<OsString> = ["torr"].into_iter().chain(command).chain([flag]).map(OsString::from).collect();
    run(&args)
}

/// Returns the mistake of a command line, if it has one.
fn mistake_of(words: Vec<OsString>) -> Option<String> {
    match prepare(&words) {
        Err(Stop::Usage(mistake)) => Some(mistake),
        _ => None,
    }
}
