//! The files that a command line reads, each with the flag that names it.

use super::given::{GivenFlag, given};
use super::{data, form};
use clap::{Arg, ArgMatches, Command};
use std::path::PathBuf;

/// The name of a value that is a file.
const FILE: &str = "FILE";
/// The name of a value that is a file or a command.
const COMMAND_OR_FILE: &str = "COMMAND|FILE";

/// A file that a command line reads, after the flag that names it, or what else names it.
pub type InputFile = (String, PathBuf);

/// Returns the files that a command reads: those of its flags but for `outputs`, and those that are its words.
pub fn of_command(command: &Command, matches: &ArgMatches, outputs: &[&str]) -> Vec<InputFile> {
    let mut found = files(&given(command.get_arguments(), matches), command, outputs);
    for arg in command.get_arguments() {
        let name = match arg.get_long() {
            None if arg.get_id() == "versions" => "a version".to_owned(),
            None if arg.is_positional() => "the target".to_owned(),
            Some(long) if is_named(arg, COMMAND_OR_FILE) => format!("--{long}"),
            _ => continue,
        };
        let words = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
        found.extend(words.map(|word| (name.clone(), word.into())));
    }
    found
}

/// Returns the files that these flags of a command read, those of `outputs` excepted; `-` is standard input.
pub fn files(flags: &[GivenFlag], command: &Command, outputs: &[&str]) -> Vec<InputFile> {
    let inputs = flags.iter().filter(|flag| !outputs.contains(&flag.name.as_str()));
    inputs.filter_map(|flag| Some((flag.name.clone(), file(flag, command)?.into()))).collect()
}

/// Returns the file that a flag reads, if it reads one.
fn file<'f>(flag: &'f GivenFlag, command: &Command) -> Option<&'f str> {
    let value = flag.value.as_deref()?;
    match flag.id.as_str() {
        "data" | "data_binary" | "json_body" | "expect_body" => value.strip_prefix('@'),
        "data_urlencode" => data::file(value),
        "url_query" if !value.starts_with('+') => data::file(value),
        "form" => form::file(value),
        id => {
            let arg = command.get_arguments().find(|arg| arg.get_id() == id)?;
            is_named(arg, FILE).then_some(value)
        }
    }
}

/// Whether this is the name of a flag's value.
fn is_named(arg: &Arg, value: &str) -> bool {
    arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::checks::CheckArgs;
    use crate::flags::given::given;
    use crate::flags::load::LoadArgs;
    use crate::flags::output::OutputArgs;
    use crate::flags::request::RequestArgs;
    use crate::flags::script::ScriptArgs;
    use crate::flags::transport::TransportArgs;
    use crate::flags::variables::VariableArgs;
    use clap::Args;

    #[test]
    fn every_way_to_name_a_file_is_known() {
        let command = LoadArgs::augment_args(RequestArgs::augment_args(Command::new("torr")));
        let command = CheckArgs::augment_args(OutputArgs::augment_args(ScriptArgs::augment_args(command)));
        let command = TransportArgs::augment_args(VariableArgs::augment_args(command));
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
            let all = [&["torr"][..], words].concat();
            let matches =
                command.clone().try_get_matches_from(all).unwrap_or_else(|error| panic!("{words:?}: {error}"));
            let flags = given(command.get_arguments(), &matches);
            let found = files(&flags, &command, &["--json"]);
            let expected: Vec<_> = read.iter().map(|(flag, path)| ((*flag).to_owned(), PathBuf::from(path))).collect();
            assert_eq!(found, expected, "{words:?}");
        }
    }
}
