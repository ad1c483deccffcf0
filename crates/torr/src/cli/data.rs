//! `--data` and its like, in the order in which they stand on the command line: together they are one body.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// What a piece of data means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataKind {
    /// `@FILE` reads a file, without its line breaks.
    Plain,
    /// `@` means nothing.
    Raw,
    /// `@FILE` reads a file as it is.
    Binary,
    /// To be percent-encoded.
    UrlEncode,
}

/// Each option with what it means.
const OPTIONS: [(&str, &str, DataKind, &str); 4] = [
    (
        "data",
        "data",
        DataKind::Plain,
        "A body; @FILE reads it from a file, without line breaks, @- from standard input; several are joined by '&'",
    ),
    ("data_raw", "data-raw", DataKind::Raw, "The same, with nothing special about '@'"),
    ("data_binary", "data-binary", DataKind::Binary, "The same, with files as they are, line breaks included"),
    (
        "data_urlencode",
        "data-urlencode",
        DataKind::UrlEncode,
        "The same, percent-encoded: content, =content, name=content, @FILE or name@FILE",
    ),
];

/// The pieces of a body in their order.
#[derive(Debug, Clone, Default)]
pub struct DataArgs {
    pub pieces: Vec<(DataKind, String)>,
}

impl Args for DataArgs {
    fn augment_args(command: Command) -> Command {
        command.args(OPTIONS.map(|(id, name, _, help)| {
            let arg = Arg::new(id).long(name).value_name("TEXT").action(ArgAction::Append).help(help);
            arg.allow_hyphen_values(true).conflicts_with_all(["json_body", "form"]).help_heading("Request")
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DataArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut pieces = vec![];
        for (id, _, kind, _) in OPTIONS {
            let indices = matches.indices_of(id).into_iter().flatten();
            let values = matches.get_many::<String>(id).into_iter().flatten();
            pieces.extend(indices.zip(values).map(|(at, value)| (at, kind, value.clone())));
        }
        pieces.sort_by_key(|&(at, ..)| at);
        Ok(Self { pieces: pieces.into_iter().map(|(_, kind, value)| (kind, value)).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
