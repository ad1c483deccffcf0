//! The command line: each command goes to the module that runs it.

mod commands;
mod grammar;
mod help;
mod shell;
mod units;

use crate::check::Planned;
use crate::command_line;
use crate::exit::{self, CliError};
use crate::flags::given::{GivenFlag, given};
use crate::flags::reads::{self, InputFile};
use crate::flags::{self, needs};
use crate::fleet::{FleetLoad, WordSource};
use crate::fronts;
use crate::output;
use crate::plan_file::{self, Expanded};
use crate::press::PressArgs;
use crate::sink;
use crate::target::{RunFile, TargetKind};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};
use grammar::{Cli, Command};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use torr_fronts::Front;
use torr_gauge::redact;
use torr_press::Plan;

/// Runs a command line, whose first word is the program's name.
pub fn run(args: &[OsString]) -> Result<ExitCode, CliError> {
    let first = args.get(1).and_then(|word| word.to_str());
    if let Some(mistake) = first.and_then(commands::mistyped) {
        return Err(mistake);
    }
    let is_command = first.is_some_and(|first| commands::names().any(|name| name == first));
    let plan = match first.filter(|_| is_command) {
        None => Expanded::of(args)?,
        Some(name) if ["doctor", "limit", "once"].contains(&name) => {
            let grammar = help::grammar();
            let command = grammar.find_subcommand(name).cloned();
            command.map(|command| Expanded::of_command(args, command)).transpose()?.flatten()
        }
        Some(_) => None,
    };
    let ready = match &plan {
        Some(plan) => prepare_plan(plan),
        None => prepare(args),
    };
    // What a unit alone was taken for is of no interest then.
    let ready = ready.map_err(|stop| units::apart(args).unwrap_or(stop))?;
    ready.execute()
}

/// Checks a command line with a plan in it.
fn prepare_plan(plan: &Expanded) -> Result<Ready, CliError> {
    let ready = prepare(&plan.words()).map_err(|stop| match stop {
        CliError::Usage(mistake) => plan.locate(&mistake, mistake_of),
        stop => stop,
    })?;
    sink::check_inputs(ready.outputs().into_iter(), &[("the plan".to_owned(), plan.path())])?;
    Ok(ready)
}

/// Returns the grammar of all commands.
pub fn whole_grammar() -> clap::Command {
    help::grammar()
}

/// A command line that was checked.
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

/// Checks a command line as far as that is possible without sending anything.
fn prepare(words: &[OsString]) -> Result<Ready, CliError> {
    let matches = match help::parse(words) {
        Err(error) if exit::is_help(&error) => return Ok(Ready::Help(error)),
        parsed => parsed.map_err(|error| refusal(words, &error))?,
    };
    let cli = Cli::from_arg_matches(&matches).map_err(|error| refusal(words, &error))?;
    command_line::note(whole_grammar, &matches);
    match cli.command {
        Some(command) => {
            check_command(&command, &matches)?;
            Ok(Ready::Command(Box::new(command)))
        }
        None => prepare_load(cli.press, &matches),
    }
}

/// Refuses outputs of a command that would overwrite what it reads.
fn check_command(command: &Command, matches: &ArgMatches) -> Result<(), CliError> {
    let outputs = command.outputs();
    let Some((name, matches)) = matches.subcommand().filter(|_| !outputs.is_empty()) else { return Ok(()) };
    let grammar = help::grammar();
    let Some(grammar) = grammar.find_subcommand(name) else { return Ok(()) };
    let flags: Vec<_> = outputs.iter().map(|(flag, _)| *flag).collect();
    sink::check_inputs(outputs.into_iter(), &reads::of_command(grammar, matches, &flags))
}

/// Returns what is wrong with a command line.
fn refusal(words: &[OsString], error: &clap::Error) -> CliError {
    let plain = || exit::from_clap(error, &help::of_words(words));
    match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        // clap takes any word after a URL for a command.
        (ErrorKind::ArgumentConflict, Some(ContextValue::String(_))) => {
            let mut words = words.iter().skip(1).filter_map(|word| word.to_str());
            words.find_map(commands::misplaced).unwrap_or_else(plain)
        }
        (ErrorKind::MissingRequiredArgument, _) => unmet(words).unwrap_or_else(plain),
        (ErrorKind::UnknownArgument, _) => {
            load_without_dashes(words, error).or_else(|| unknown_flag(error)).unwrap_or_else(plain)
        }
        _ => plain(),
    }
}

/// Returns the mistake of giving a flag without one that it needs, if it is so.
fn unmet(words: &[OsString]) -> Option<CliError> {
    let grammar = help::grammar();
    let is_command = words.get(1).and_then(|word| grammar.find_subcommand(word)).is_some();
    let sentence = needs::unmet(&grammar, words, if is_command { 2 } else { 1 })?;
    Some(CliError::Usage(format!("{sentence} (see '{}')", help::of_words(words))))
}

/// Returns the mistake of giving `torr fleet run` a load without the `--` before it, if it is so.
fn load_without_dashes(words: &[OsString], error: &clap::Error) -> Option<CliError> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_run = words.get(1..3).is_some_and(|command| command == ["fleet", "run"]);
    let is_typo = word.starts_with("--") && error.get(ContextKind::SuggestedArg).is_some();
    (is_run && !is_typo && !words.iter().any(|word| word == "--")).then(|| {
        CliError::Usage(format!(
            "'{}' is of the load, which stands after '--': torr fleet run -- URL FLAGS",
            redact::url(word)
        ))
    })
}

/// Returns the mistake of giving a flag to a command that another command has, if it is so.
fn unknown_flag(error: &clap::Error) -> Option<CliError> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let owner = commands::with_flag(flag.strip_prefix("--")?)?;
    Some(CliError::Usage(format!("{flag} is a flag of '{owner}' ('torr --help-all' and 'torr help COMMAND' list all)")))
}

/// Checks the targets and their flags.
fn prepare_load(mut args: PressArgs, matches: &ArgMatches) -> Result<Ready, CliError> {
    if let Some(mistake) = apart_from_dashboard(&args, matches) {
        return Err(mistake);
    }
    let arguments = args.take_arguments();
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
    let inputs = inputs(&args, &given, &grammar);
    check_outputs(&args, &kind, &inputs)?;
    match &kind {
        TargetKind::Script(path) if args.script.script.is_some() => return Err(crate::script::stands_alone(path)),
        TargetKind::Script(_) => flags::session::check_script(&given)?,
        TargetKind::Url(_) if args.script.script.is_some() => flags::session::check_script(&given)?,
        TargetKind::Url(_) => flags::session::check_url(&given)?,
        TargetKind::Sessions(_) => flags::session::check_sessions(&given)?,
        TargetKind::Plan(_) => {}
    }
    if args.print_plan {
        check_printed(&args, &kind, &inputs)?;
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
            Err(CliError::Usage(format!("'{}' is a plan, and the target of a plan cannot be one", path.display())))
        }
    }
}

/// Returns the mistake of giving the address of `--dashboard` as a word of its own, which is taken for a target.
fn apart_from_dashboard(args: &PressArgs, matches: &ArgMatches) -> Option<CliError> {
    if matches.value_source("dashboard") != Some(ValueSource::CommandLine) || args.targets.len() < 2 {
        return None;
    }
    let at = matches.index_of("dashboard")?;
    let targets = matches.indices_of("targets")?.zip(&args.targets);
    let address = targets.filter(|(index, _)| *index > at).map(|(_, word)| word).next()?;
    crate::press::is_dashboard_address(address)
        .then(|| CliError::Usage(format!("the address of --dashboard stands behind '=', as in --dashboard={address}")))
}

/// Refuses what a run would refuse, as far as that shows without sending anything, running a script or reading standard input.
fn check_printed(args: &PressArgs, kind: &TargetKind, inputs: &[InputFile]) -> Result<(), CliError> {
    if inputs.iter().any(|(_, path)| path.as_os_str() == "-") {
        return Ok(());
    }
    match kind {
        TargetKind::Url(url) => match crate::press::plan(args, url.as_deref()) {
            // A service that is not there now is no mistake of the plan.
            Ok(_) | Err(CliError::Unreachable(_)) if args.script.script.is_none() => args.output.check(&[]),
            Ok(_) | Err(CliError::Unreachable(_)) => Ok(()),
            Err(stop) => Err(stop),
        },
        TargetKind::Sessions(files) => {
            crate::press::check(args)?;
            crate::session::check(args, files)
        }
        TargetKind::Script(_) | TargetKind::Plan(_) => crate::press::check(args),
    }
}

/// Returns the files that the flags of a load read.
fn inputs(args: &PressArgs, given: &[GivenFlag], grammar: &clap::Command) -> Vec<InputFile> {
    reads::files(given, grammar, &args.output.outputs().map(|(flag, _)| flag))
}

/// Refuses outputs that would overwrite what the load is made of.
fn check_outputs(args: &PressArgs, kind: &TargetKind, inputs: &[InputFile]) -> Result<(), CliError> {
    sink::check_inputs(args.output.files(), inputs)?;
    let targets: Vec<_> = kind.files().into_iter().map(|file| ("the target".to_owned(), file)).collect();
    sink::check_inputs(args.output.files(), &targets)
}

impl Ready {
    /// Returns the files that are to be written, each with its flag.
    fn outputs(&self) -> Vec<(&'static str, &Path)> {
        match self {
            Self::Url(args, ..) | Self::Sessions(args, _) | Self::Script(args, _) => args.output.files().collect(),
            Self::Command(command) => command.outputs(),
            Self::Help(_) | Self::PlanText(_) => Vec::new(),
        }
    }

    fn execute(self) -> Result<ExitCode, CliError> {
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
fn execute(command: Command) -> Result<ExitCode, CliError> {
    match command {
        Command::Serve(args) => crate::serve::run(&args),
        Command::Doctor(args) => crate::doctor::run(*args),
        Command::Limit(args) => crate::limit::run(*args),
        Command::Compare(args) => crate::compare::run(&args),
        Command::History(args) => crate::history::run(&args),
        Command::Lab(args) => crate::lab::run(&args),
        Command::Report(args) => crate::report::run(&args),
        Command::Demo(args) => crate::demo::run(&args),
        Command::Fleet(args) => crate::fleet::run(&args, fleet_load),
        Command::Watch(args) => crate::watch::run(&args),
        Command::Check(args) => crate::check::run(&args, planned),
        Command::Once(args) => crate::once::run(&args),
        Command::Import(args) => crate::import::run(&args),
        Command::Ab(args) => fronts::run(Front::Ab, args.args),
        Command::Wrk(args) => fronts::run(Front::Wrk, args.args),
        Command::Wrk2(args) => fronts::run(Front::Wrk2, args.args),
        Command::Httpress(args) => fronts::run(Front::Httpress, args.args),
        Command::Press(args) => fronts::run(Front::Press, args.args),
        Command::PlanSchema => {
            output::print(&plan_file::schema());
            Ok(ExitCode::SUCCESS)
        }
        Command::InstallLinks(args) => crate::links::run(&args),
        Command::Completions(args) => shell::completions(&args, help::grammar()),
        Command::Man(args) => shell::man(&args, help::grammar()),
        Command::Help { command } => help_of(&command),
    }
}

/// Reads the load of a fleet from words of a command line. A plan's file is read only for those who give one, not for words
/// that came from elsewhere.
fn fleet_load(words: &[String], source: WordSource) -> Result<FleetLoad, CliError> {
    let words: Vec<OsString> =
        std::iter::once("torr").chain(words.iter().map(String::as_str)).map(Into::into).collect();
    let plan = if matches!(source, WordSource::User) { Expanded::of(&words)? } else { None };
    let words = plan.as_ref().map_or(words, Expanded::words);
    let no_load =
        || CliError::Usage("a fleet loads a URL or hurl files: 'torr fleet run --nats ... -- URL ...'".into());
    let matches = help::parse(&words).map_err(|error| match exit::is_help(&error) {
        true => no_load(),
        false => refusal(&words, &error),
    })?;
    let Cli { press: mut args, command, .. } =
        Cli::from_arg_matches(&matches).map_err(|error| refusal(&words, &error))?;
    if command.is_some() {
        return Err(no_load());
    }
    let grammar = help::grammar();
    let given = given(grammar.get_arguments(), &matches);
    let arguments = args.take_arguments();
    if matches!(source, WordSource::User) {
        check_outputs(&args, &TargetKind::of(&args.targets)?, &inputs(&args, &given, &grammar))?;
    }
    FleetLoad::of(args, &arguments, &given, source)
}

/// Looks through a plan, and the hurl files that it names.
///
/// # Errors
/// With the position of the first mistake.
fn planned(path: &str) -> Result<Planned, CliError> {
    let Some(plan) = Expanded::of(&["torr".into(), path.into()])? else { return Ok(Planned::Nothing) };
    match prepare_plan(&plan) {
        Ok(Ready::Sessions(args, files)) => crate::session::check(&args, &files).map(|()| Planned::Sessions),
        Ok(Ready::Script(_, file)) => Ok(Planned::Script(file)),
        Ok(Ready::Url(args, ..)) => Ok(args.script.script.map_or(Planned::Nothing, Planned::Script)),
        // A service that is not there now is no mistake of the plan.
        Ok(_) | Err(CliError::Unreachable(_)) => Ok(Planned::Nothing),
        Err(stop) => Err(stop),
    }
}

/// Shows the help of a command, of one that belongs to it, or that of the program.
fn help_of(command: &[String]) -> Result<ExitCode, CliError> {
    let first = command.first().map(String::as_str);
    if let Some(unknown) = first.filter(|first| commands::names().all(|name| name != *first)) {
        return Err(commands::unknown(unknown));
    }
    // What other programs' flags mean only they know.
    let flag = if first.is_some_and(Front::is_called) { "-h" } else { "--help" };
    let words = command.iter().map(String::as_str);
    let args: Vec<OsString> = ["torr"].into_iter().chain(words).chain([flag]).map(OsString::from).collect();
    run(&args)
}

/// Returns the mistake of a command line, if it has one.
fn mistake_of(words: Vec<OsString>) -> Option<String> {
    match prepare(&words) {
        Err(CliError::Usage(mistake)) => Some(mistake),
        _ => None,
    }
}
