//! The command line: each command goes to the module that runs it.

mod commands;
mod foreign;
mod grammar;
mod help;
mod shell;
mod units;

use crate::check::Planned;
use crate::command_line;
use crate::exit::{self, CliError};
use crate::flags::needs;
use crate::flags::reads::{self, InputFile};
use crate::fronts;
use crate::output;
use crate::plan_file::{self, Merged};
use crate::sink;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};
use grammar::{Cli, Command};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use torr_fronts::Front;
use torr_gauge::redact;
use torr_load::{Load, Mistake, values};
use torr_plan::checks::inspection;
use torr_plan::target::{RunFile, TargetKind, plan_as_target};
use torr_plan::{PlanError, url};
use torr_press::Plan;

/// Runs a command line, whose first word is the program's name.
pub fn run(args: &[OsString]) -> Result<ExitCode, CliError> {
    let first = args.get(1).and_then(|word| word.to_str());
    if let Some(mistake) = first.and_then(commands::mistyped) {
        return Err(mistake);
    }
    // What a unit alone was taken for is of no interest then.
    let ready = prepare(args).map_err(|stop| units::apart(args).unwrap_or(stop))?;
    ready.execute()
}

/// A command line that was checked.
enum Ready {
    /// Help or a version, which clap shows.
    Help(clap::Error),
    /// A command, with the load of `torr fleet run`.
    Command(Box<Command>, Option<Box<Load>>),
    /// A plan is to be printed.
    PlanText(String),
    Target(Box<Load>, Loaded),
}

/// What a load is sent to.
enum Loaded {
    Url(Box<Plan>),
    Sessions(Vec<RunFile>),
    Script(PathBuf),
    K6(PathBuf),
}

/// Checks a command line as far as that is possible without sending anything.
fn prepare(words: &[OsString]) -> Result<Ready, CliError> {
    let matches = match help::parse(words) {
        Err(error) if exit::is_help(&error) => return Ok(Ready::Help(error)),
        parsed => parsed.map_err(|error| refusal(words, &error))?,
    };
    let cli = Cli::from_arg_matches(&matches).map_err(|error| refusal(words, &error))?;
    let Some(mut command) = cli.command else {
        if let Some(mistake) = apart_from_dashboard(&cli.load, &matches) {
            return Err(mistake);
        }
        return prepare_target(cli.load, true);
    };
    let (grammar, below) = (help::grammar(), matches.subcommand());
    let own = below.and_then(|(name, below)| grammar.find_subcommand(name).zip(Some(below)));
    let plan = match own {
        Some((grammar, below)) if command.takes_plans() => Merged::of_command(grammar, below)?,
        _ => None,
    };
    let located = |stop| match (&plan, stop) {
        (Some(plan), CliError::Usage(mistake)) => CliError::Usage(format!("{}: {mistake}", plan.path().display())),
        (_, stop) => stop,
    };
    if let Some(plan) = &plan {
        command.take(plan.load_of_command());
        sink::check_inputs(command.outputs().into_iter(), &plan.inputs()).map_err(located)?;
    }
    if let Some(load) = command.load() {
        check_for(load, &help::of_words(words)).map_err(located)?;
    }
    check_command(&command, &matches)?;
    let load = command.words_of_load().map(fleet_load).transpose()?;
    let repeats = match (&plan, own) {
        (Some(plan), Some((grammar, _))) => {
            Some(command_line::of_plan(grammar, plan.given(), &plan.load_of_command().arguments))
        }
        _ => command_line::of_command(grammar, &matches, load.as_ref()),
    };
    repeats.into_iter().for_each(command_line::note);
    Ok(Ready::Command(Box::new(command), load.map(Box::new)))
}

/// Finds what does not go together in the load of a command.
fn check_for(load: Load, help: &str) -> Result<(), CliError> {
    let kind = TargetKind::of(&load.targets)?;
    let Some(work) = kind.work(load.script.is_some()) else { return Ok(()) };
    load.check(work).map_err(|mistake| CliError::Usage(line(&mistake, help)))
}

/// Returns a mistake with a hint to the help, where that tells more.
fn line(mistake: &Mistake, help: &str) -> String {
    if mistake.is_in_help { format!("{mistake} (see '{help}')") } else { mistake.to_string() }
}

/// Refuses outputs of a command that would overwrite what it reads.
fn check_command(command: &Command, matches: &ArgMatches) -> Result<(), CliError> {
    let outputs = command.outputs();
    let Some((name, matches)) = matches.subcommand().filter(|_| !outputs.is_empty()) else { return Ok(()) };
    let Some(grammar) = help::grammar().find_subcommand(name) else { return Ok(()) };
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
            load_without_dashes(words, error).or_else(|| unknown_flag(words, error)).unwrap_or_else(plain)
        }
        _ => plain(),
    }
}

/// Returns the mistake of giving a flag without one that it needs, if it is so.
fn unmet(words: &[OsString]) -> Option<CliError> {
    let grammar = help::grammar();
    let is_command = words.get(1).and_then(|word| grammar.find_subcommand(word)).is_some();
    let sentence = needs::unmet(grammar, words, if is_command { 2 } else { 1 })?;
    Some(CliError::Usage(format!("{sentence} (see '{}')", help::of_words(words))))
}

/// Returns the mistake of giving `torr fleet run` a load without the `--` before it, if it is so.
fn load_without_dashes(words: &[OsString], error: &clap::Error) -> Option<CliError> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_run = words.get(1..3).is_some_and(|command| command == ["fleet", "run"]);
    let is_typo = word.starts_with("--") && error.get(ContextKind::SuggestedArg).is_some();
    (is_run && !is_typo && !words.iter().any(|word| word == "--")).then(|| {
        CliError::Usage(format!(
            "'{}' belongs to the load, which must follow '--': torr fleet run -- URL FLAGS",
            redact::url(word)
        ))
    })
}

/// Returns the mistake of giving a flag to a command that another program or another command has, if it is so.
fn unknown_flag(words: &[OsString], error: &clap::Error) -> Option<CliError> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let command = words.get(1).and_then(|word| help::grammar().find_subcommand(word));
    foreign::flag(flag, command.unwrap_or(help::grammar())).or_else(|| {
        let owner = commands::with_flag(flag.strip_prefix("--")?)?;
        Some(CliError::Usage(format!("unknown flag '{flag}': it is a flag of '{owner}'")))
    })
}

/// Checks the targets and settings of a load, after a plan among them was replaced by its settings. `notes` is whether the load is what
/// this process is for.
fn prepare_target(load: Load, notes: bool) -> Result<Ready, CliError> {
    let Some(plan) = Merged::of(&load)? else {
        return prepare_load(load, None, notes);
    };
    let load = plan.load();
    sink::check_inputs(load.output.files(), &[("the plan".to_owned(), plan.path())])?;
    prepare_load(load, Some(&plan), notes)
}

/// Checks the targets and settings of a load without a plan, or of that which a plan became.
fn prepare_load(mut load: Load, plan: Option<&Merged>, notes: bool) -> Result<Ready, CliError> {
    // To look through a plan sends nothing, as to print one does.
    load.output.print_plan |= !notes && (load.grpc.reflection || load.transport.alt_svc);
    let located = |stop| match (plan, stop) {
        (Some(plan), CliError::Usage(mistake)) => plan.find(&mistake, mistake_of),
        (_, stop) => stop,
    };
    let kind = check_targets(&load).map_err(located)?;
    check_settings(&load, &kind, plan)?;
    if notes {
        command_line::note(command_line::of_load(&load));
    }
    loaded(load, kind).map_err(located)
}

/// Finds out what the targets are, and that none is a command.
fn check_targets(load: &Load) -> Result<TargetKind, CliError> {
    if let Some(mistake) = load.targets.iter().find_map(|word| commands::misplaced(word)) {
        return Err(mistake);
    }
    if let [first, _, ..] = &load.targets[..]
        && commands::is_bare(first)
    {
        return Err(commands::unknown(first));
    }
    Ok(TargetKind::of(&load.targets)?)
}

/// Finds what does not go together in a load, or what it cannot do without.
fn check_settings(load: &Load, kind: &TargetKind, plan: Option<&Merged>) -> Result<(), CliError> {
    let Some(work) = kind.work(load.script.is_some()) else { return Ok(()) };
    load.check(work).map_err(|mistake| match plan {
        Some(plan) => plan.locate(&mistake),
        None => CliError::Usage(line(&mistake, "torr --help-all")),
    })
}

/// Checks a load whose settings go together.
fn loaded(load: Load, kind: TargetKind) -> Result<Ready, CliError> {
    let inputs = reads::files(&load.given());
    check_outputs(&load, &kind, &inputs)?;
    if let (TargetKind::Script(path), Some(_)) = (&kind, &load.script) {
        return Err(crate::script::stands_alone(path));
    }
    if let TargetKind::K6(path) = &kind {
        crate::k6::check_settings(path, &load)?;
    }
    if load.output.print_plan {
        check_printed(&load, &kind, &inputs)?;
        return plan_file::text(&load).map(Ready::PlanText);
    }
    let loaded = match kind {
        TargetKind::Url(url) => {
            let word = url.as_deref().unwrap_or_default();
            let plan = url::plan(&load, url.as_deref());
            Loaded::Url(Box::new(plan.map_err(|stop| commands::also_no_command(word, stop.into()))?))
        }
        TargetKind::Sessions(files) => Loaded::Sessions(files),
        TargetKind::Script(file) => Loaded::Script(file),
        TargetKind::K6(file) => Loaded::K6(file),
        TargetKind::Plan(path) => return Err(plan_as_target(&path).into()),
    };
    Ok(Ready::Target(Box::new(load), loaded))
}

/// Returns the mistake of giving the address of `--dashboard` as a word of its own, which is taken for a target.
fn apart_from_dashboard(load: &Load, matches: &ArgMatches) -> Option<CliError> {
    if matches.value_source("dashboard") != Some(ValueSource::CommandLine) || load.targets.len() < 2 {
        return None;
    }
    let at = matches.index_of("dashboard")?;
    let targets = matches.indices_of("target")?.zip(&load.targets);
    let address = targets.filter(|(index, _)| *index > at).map(|(_, word)| word).next()?;
    values::address(address)
        .is_ok()
        .then(|| CliError::Usage(format!("the address of --dashboard must follow '=': use --dashboard={address}")))
}

/// Refuses what a run would refuse, as far as that shows without sending anything, running a script or reading standard input.
fn check_printed(load: &Load, kind: &TargetKind, inputs: &[InputFile]) -> Result<(), CliError> {
    if inputs.iter().any(|(_, path)| path.as_os_str() == "-") {
        return Ok(());
    }
    // The server would have to offer it.
    let load = &load.without_alt_svc();
    match kind {
        // The server would have to describe its service.
        TargetKind::Url(_) if load.grpc.reflection => load.output.check(&[], false).map_err(CliError::Usage),
        TargetKind::Url(url) => match url::plan(load, url.as_deref()) {
            // A service that is not there now is no mistake of the plan.
            Ok(_) | Err(PlanError::Unreachable(_)) if load.script.is_none() => {
                load.output.check(&[], load.stream.has_streams()).map_err(CliError::Usage)
            }
            Ok(_) | Err(PlanError::Unreachable(_)) => Ok(()),
            Err(stop) => Err(stop.into()),
        },
        TargetKind::Sessions(files) => {
            inspection(&load.checks)?;
            crate::session::check(load, files)
        }
        TargetKind::Script(_) | TargetKind::K6(_) | TargetKind::Plan(_) => Ok(inspection(&load.checks).map(drop)?),
    }
}

/// Refuses outputs that would overwrite what the load is made of.
fn check_outputs(load: &Load, kind: &TargetKind, inputs: &[InputFile]) -> Result<(), CliError> {
    sink::check_inputs(load.output.files(), inputs)?;
    let targets: Vec<_> = kind.files().into_iter().map(|file| ("the target".to_owned(), file)).collect();
    sink::check_inputs(load.output.files(), &targets)
}

impl Ready {
    fn execute(self) -> Result<ExitCode, CliError> {
        match self {
            Self::Help(error) => Ok(exit::show_help(&error)),
            Self::Command(command, load) => execute(*command, load),
            Self::PlanText(text) => {
                output::print(&text);
                Ok(ExitCode::SUCCESS)
            }
            Self::Target(load, loaded) => match (loaded, &load.script) {
                (Loaded::Url(plan), Some(script)) => crate::press::run_script(&load, *plan, script),
                (Loaded::Url(plan), None) => crate::press::run(&load, &plan),
                (Loaded::Sessions(files), _) => crate::session::run(&load, &files),
                (Loaded::Script(file), _) => crate::press::run_script_file(&load, &file),
                (Loaded::K6(file), _) => crate::k6::run_load(&load, &file),
            },
        }
    }
}

/// Runs a command.
fn execute(command: Command, load: Option<Box<Load>>) -> Result<ExitCode, CliError> {
    match command {
        Command::Serve(args) => crate::serve::run(&args),
        Command::Doctor(args) => crate::doctor::run(*args),
        Command::Limit(args) => crate::limit::run(*args),
        Command::Compare(args) => crate::compare::run(&args),
        Command::History(args) => crate::history::run(&args),
        Command::Lab(args) => crate::lab::run(&args),
        Command::Report(args) => crate::report::run(&args),
        Command::Demo(args) => crate::demo::run(&args),
        Command::Fleet(args) => crate::fleet::run(&args, load.map(|load| *load)),
        Command::Mcp(args) => crate::mcp::run(&args),
        Command::Watch(args) => crate::watch::run(&args),
        Command::Check(args) => crate::check::run(&args, planned),
        Command::Once(args) => crate::once::run(&args),
        Command::Replay(args) => crate::replay::run(&args),
        Command::Import(args) => crate::import::run(&args),
        Command::Ab(args) => fronts::run(Front::Ab, args.args),
        Command::Wrk(args) => fronts::run(Front::Wrk, args.args),
        Command::Wrk2(args) => fronts::run(Front::Wrk2, args.args),
        Command::Httpress(args) => fronts::run(Front::Httpress, args.args),
        Command::Press(args) => fronts::run(Front::Press, args.args),
        Command::K6(args) => fronts::run(Front::K6, args.args),
        Command::PlanSchema => {
            output::print(&plan_file::schema());
            Ok(ExitCode::SUCCESS)
        }
        Command::InstallLinks(args) => crate::links::run(&args),
        Command::Completions(args) => shell::completions(&args, help::grammar().clone()),
        Command::Man(args) => shell::man(&args, help::grammar().clone()),
        Command::Help { command } => help_of(&command),
    }
}

/// Reads the load of `torr fleet run` from the words behind its dashes.
fn fleet_load(words: &[String]) -> Result<Load, CliError> {
    let words: Vec<OsString> =
        std::iter::once("torr").chain(words.iter().map(String::as_str)).map(Into::into).collect();
    let no_load =
        || CliError::Usage("a fleet needs a URL or hurl files to load: 'torr fleet run --nats ... -- URL ...'".into());
    let matches = help::parse(&words).map_err(|error| match exit::is_help(&error) {
        true => no_load(),
        false => refusal(&words, &error),
    })?;
    let Cli { load, command } = Cli::from_arg_matches(&matches).map_err(|error| refusal(&words, &error))?;
    if command.is_some() {
        return Err(no_load());
    }
    let plan = Merged::of(&load)?;
    let load = plan.as_ref().map_or(load, Merged::load);
    let kind = TargetKind::of(&load.targets)?;
    // What does not travel is a mistake, whatever else is.
    load.check_for_fleet().map_err(CliError::usage)?;
    check_settings(&load, &kind, plan.as_ref())?;
    check_outputs(&load, &kind, &reads::files(&load.given()))?;
    Ok(load)
}

/// Looks through a plan, and the hurl files that it names.
///
/// # Errors
/// With the position of the first mistake.
fn planned(path: &str) -> Result<Planned, CliError> {
    let mut load = Load::default();
    load.targets.push(path.to_owned());
    match prepare_target(load, false) {
        Ok(Ready::Target(load, loaded)) => match loaded {
            Loaded::Sessions(files) => crate::session::check(&load, &files).map(|()| Planned::Sessions),
            Loaded::Script(file) => Ok(Planned::Script(file)),
            Loaded::K6(file) => Ok(Planned::K6(file)),
            Loaded::Url(_) => Ok(load.script.map_or(Planned::Nothing, Planned::Script)),
        },
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

/// Returns the mistake of a load, if it has one.
fn mistake_of(load: Load) -> Option<String> {
    if load.given().is_empty() {
        return None;
    }
    if load.targets.is_empty() && load.request.urls.is_none() {
        return Some("missing target".to_owned());
    }
    let checked = check_targets(&load).and_then(|kind| {
        check_settings(&load, &kind, None)?;
        loaded(load, kind)
    });
    match checked {
        Err(CliError::Usage(mistake)) => Some(mistake),
        _ => None,
    }
}

/// Returns the command line that repeats a command line of Torr's own.
#[cfg(test)]
pub fn repeated(words: &[OsString]) -> Option<String> {
    let matches = help::parse(words).ok()?;
    let Cli { load, command } = Cli::from_arg_matches(&matches).ok()?;
    match command {
        None => Some(command_line::of_load(&load)),
        Some(command) => {
            let load = command.words_of_load().map(|words| fleet_load(words).expect("it is a load"));
            command_line::of_command(help::grammar(), &matches, load.as_ref())
        }
    }
}
