//! `--help` on one screen, and `--help-all`.

mod brief;

use super::grammar::{Cli, STYLES};
use crate::exit;
use brief::BRIEFS;
use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, Error};
use std::ffi::OsString;
use std::sync::LazyLock;
use torr_fronts::Front;

/// Flags of help itself.
const OWN: [&str; 2] = ["help", "help_all"];
/// The flag that shows everything.
const ALL: &str = "--help-all";
/// The commands whose whole help has the exit codes.
const CODED: [&[&str]; 9] =
    [&[], &["doctor"], &["limit"], &["compare"], &["once"], &["check"], &["demo"], &["lab", "run"], &["fleet", "run"]];

/// The grammar of the command line with [`ALL`], which is made once.
static GRAMMAR: LazyLock<Command> = LazyLock::new(|| CODED.iter().fold(plain(), |command, path| coded(command, path)));

/// Returns the grammar of the command line.
pub fn grammar() -> &'static Command {
    &GRAMMAR
}

/// Returns the grammar with [`ALL`], without exit codes.
fn plain() -> Command {
    let all = || {
        Arg::new("help_all")
            .long("help-all")
            .action(ArgAction::SetTrue)
            .help_heading(None::<&str>)
            .help("Show all flags, commands and exit codes")
    };
    Cli::command().arg(all()).mut_subcommands(|command| match is_brief(command.get_name()) {
        true => command.arg(all().help("Show all flags and exit codes")),
        false => command,
    })
}

/// Returns whether `--help` shows only a part of a command.
fn is_brief(name: &str) -> bool {
    BRIEFS.iter().any(|brief| brief.command == name)
}

/// Adds the exit codes below the help of a command.
fn coded(command: Command, path: &[&str]) -> Command {
    match path {
        [] => {
            let existing = command.get_after_help().map(StyledStr::to_string);
            let below = existing.into_iter().chain([exit::CODES.to_owned()]);
            command.after_help(below.collect::<Vec<_>>().join("\n\n"))
        }
        [first, rest @ ..] => command.mut_subcommand(*first, |command| coded(command, rest)),
    }
}

/// Parses a command line. If help is requested, the error is that help: one screen of it, or everything.
pub fn parse(args: &[OsString]) -> Result<ArgMatches, Error> {
    let front = args.get(1).and_then(|word| word.to_str()).is_some_and(Front::is_called);
    let is_all = |word: &OsString| word == ALL;
    let before_dashes = args.iter().take_while(|word| *word != "--");
    if !front && before_dashes.clone().any(is_all) {
        let args = args.iter().map(|word| if is_all(word) { OsString::from("--help") } else { word.clone() });
        return grammar().clone().try_get_matches_from(args);
    }
    match grammar().clone().try_get_matches_from(args) {
        Err(error) if exit::is_help(&error) => short().try_get_matches_from(args),
        parsed => parsed,
    }
}

/// Returns the command line that shows all flags of the command of these words, the first of which is the program's name.
pub fn of_words(words: &[OsString]) -> String {
    let (mut command, mut names) = (grammar(), vec!["torr"]);
    for word in words.iter().skip(1) {
        let Some(one) = command.find_subcommand(word) else { break };
        names.push(one.get_name());
        command = one;
    }
    let has_brief = command.get_arguments().any(|arg| arg.get_id() == "help_all");
    names.push(if has_brief { ALL } else { "--help" });
    names.join(" ")
}

/// Returns the grammar with the help of one screen. A command whose whole help fits a screen has all of it there, with
/// its exit codes.
fn short() -> Command {
    let shortened = |command: Command| match BRIEFS.iter().find(|brief| brief.command == command.get_name()) {
        Some(brief) => flags_of(command, |id| brief.line(id)),
        None => command,
    };
    let is_whole = |path: &&&[&str]| path.first().is_some_and(|name| !is_brief(name));
    let grammar = CODED.iter().filter(is_whole).fold(plain(), |command, path| coded(command, path));
    program(grammar.mut_subcommands(shortened))
}

/// Shortens the help of the program itself: examples first, then the flags and commands that most runs need.
fn program(command: Command) -> Command {
    let (h, reset) = (STYLES.get_header().render(), STYLES.get_header().render_reset());
    let layout = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}\n\n{h}Flags:{reset}\n{{options}}\n\n\
         {h}Commands:{reset}\n{{subcommands}}{{after-help}}",
        brief::EXAMPLES
    );
    let is_shown = |name: &str| brief::COMMANDS.iter().find(|(shown, _)| *shown == name);
    let names = command.get_subcommands().map(|command| command.get_name().to_owned());
    let others: Vec<_> = names.filter(|name| is_shown(name).is_none() && name != "help").collect();
    let command = command.mut_subcommands(|command| match is_shown(command.get_name()) {
        Some((_, Some(about))) => command.about(*about),
        Some((_, None)) => command,
        None => command.hide(true),
    });
    let command = flags_of(command, brief::line_of_setting);
    let command = command.mut_args(|arg| if arg.is_positional() { arg.hide(true) } else { arg });
    // These replace clap's own flags, whose lines cannot be hidden.
    let hidden = |name, letter, action| Arg::new(name).short(letter).long(name).action(action).hide(true);
    let help = hidden("help", 'h', ArgAction::Help).global(true);
    let own = [help, hidden("version", 'V', ArgAction::Version)];
    let command = command.disable_help_flag(true).disable_version_flag(true).args(own);
    let more = format!("More commands: {}.\n'torr help COMMAND' shows the flags of a command.", others.join(", "));
    command.override_usage(brief::USAGE).help_template(layout).after_help(more)
}

/// Hides the flags that a short help does not have, and gives the others one line each. `line_of` returns that line and
/// its position.
fn flags_of(command: Command, line_of: impl Fn(&str) -> Option<(usize, &'static str)>) -> Command {
    command.mut_args(|arg| {
        let id = arg.get_id().as_str().to_owned();
        match line_of(&id) {
            Some((at, line)) => {
                let line = with_default(line, arg.get_help());
                let arg = arg.help(line).help_heading(None::<&str>).display_order(at);
                if arg.get_action().takes_values() { arg.hide_possible_values(true) } else { arg }
            }
            None if arg.is_positional() || OWN.contains(&id.as_str()) => arg,
            None => arg.hide(true),
        }
    })
}

/// Returns a short line with the default that the whole help ends with, if it ends with one.
fn with_default(line: &str, help: Option<&StyledStr>) -> String {
    let help = help.map(StyledStr::to_string).unwrap_or_default();
    match help.rsplit_once(" [default: ") {
        Some((_, default)) if !line.contains("[default: ") => format!("{line} [default: {default}"),
        _ => line.to_owned(),
    }
}
