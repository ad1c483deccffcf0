//! The files that a command line reads, each with the flag that names it.

use clap::{Arg, ArgMatches, Command};
use std::path::PathBuf;
use torr_load::{Given, Reads, given};
use torr_plan::{data, form};

/// The name of a value that is a file.
const FILE: &str = "FILE";
/// The name of a value that is a file or a command.
const COMMAND_OR_FILE: &str = "COMMAND|FILE";

/// A file that a command line reads, after the flag that names it, or what else names it.
pub type InputFile = (String, PathBuf);

/// Returns the files that a command reads: those of its flags but for `outputs`, and those that are its words.
pub fn of_command(command: &Command, matches: &ArgMatches, outputs: &[&str]) -> Vec<InputFile> {
    let (words, flags): (Vec<_>, Vec<_>) =
        given(command.get_arguments(), matches).into_iter().partition(|given| given.name.is_empty());
    let (settings, own): (Vec<_>, Vec<_>) = flags.into_iter().partition(|flag| flag.setting().is_some());
    let arg = |given: &Given| command.get_arguments().find(|arg| arg.get_id() == given.id.as_str());
    let is_input = |flag: &Given| {
        let reads = |arg: &Arg| is_named(arg, FILE) || is_named(arg, COMMAND_OR_FILE);
        !outputs.contains(&flag.name.as_str()) && arg(flag).is_some_and(reads)
    };
    let of_flags = own.into_iter().filter(is_input).filter_map(|flag| Some((flag.name, flag.value?.into())));
    let what = |id: &str| if id == "versions" { "a version" } else { "the target" };
    let of_words = words.into_iter().filter_map(|word| Some((what(&word.id).to_owned(), word.value?.into())));
    files(&settings).into_iter().chain(of_flags).chain(of_words).collect()
}

/// Returns the files that settings read; `-` is standard input.
pub fn files(given: &[Given]) -> Vec<InputFile> {
    given.iter().filter_map(|given| Some((given.name.clone(), file(given)?.into()))).collect()
}

/// Returns the file that a setting reads, if it reads one; `-` is standard input.
pub fn file(given: &Given) -> Option<&str> {
    let value = given.value.as_deref()?;
    match given.setting()?.reads {
        Reads::Nothing => None,
        Reads::File => Some(value),
        Reads::AfterAt => value.strip_prefix('@'),
        Reads::Encoded => data::file(value),
        Reads::Query => {
            if value.starts_with('+') {
                None
            } else {
                data::file(value)
            }
        }
        Reads::FormPart => form::file(value),
    }
}

/// Whether this is the name of a flag's value.
fn is_named(arg: &Arg, value: &str) -> bool {
    arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args;
    use torr_load::Load;

    #[test]
    fn every_way_to_name_a_file_is_known() {
        let command = Load::augment_args(Command::new("torr"));
        for (words, read) in [
            (&["--urls", "a", "--json", "b"][..], &[("--urls", "a")][..]),
            (&["--data", "@a", "--data-raw", "@b", "--data-binary", "@-"], &[("--data", "a"), ("--data-binary", "-")]),
            (&["--data-urlencode", "x@a", "--data-urlencode", "x=@b"], &[("--data-urlencode", "a")]),
            (&["--url-query", "@a", "--url-query", "+@b"], &[("--url-query", "a")]),
            (&["-F", "x=@a;type=t/u", "-F", "x=<b", "-F", "x=c"], &[("--form", "a"), ("--form", "b")]),
            (&["--json-body", "@a", "--expect-body", "@b"], &[("--json-body", "a"), ("--expect-body", "b")]),
            (&["--cert", "a", "--key", "b", "--cacert", "c"], &[("--cert", "a"), ("--key", "b"), ("--cacert", "c")]),
            (&["--script", "a", "--variables-file", "b"], &[("--script", "a"), ("--variables-file", "b")]),
            (&["-H", "@a", "--request", "FILE"], &[]),
        ] {
            let all = [&["torr", "http://h/"][..], words].concat();
            let matches =
                command.clone().try_get_matches_from(all).unwrap_or_else(|error| panic!("{words:?}: {error}"));
            let flags = given(command.get_arguments(), &matches);
            let found = files(&flags);
            let expected: Vec<_> = read.iter().map(|(flag, path)| ((*flag).to_owned(), PathBuf::from(path))).collect();
            assert_eq!(found, expected, "{words:?}");
        }
    }
}
