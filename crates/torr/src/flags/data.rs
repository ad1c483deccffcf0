//! `--data` and its like, in the order in which they stand on the command line: together they are one body.

use super::input::Input;
use crate::exit::CliError;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use torr_press::request::Data;

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

impl DataArgs {
    /// Reads the pieces, some of which are files.
    pub fn read(&self, input: &mut Input) -> Result<Vec<Data>, CliError> {
        self.pieces.iter().map(|(kind, text)| data(*kind, text, input)).collect()
    }
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

/// A piece of data, as with curl.
fn data(kind: DataKind, text: &str, input: &mut Input) -> Result<Data, CliError> {
    let what = "the body";
    Ok(Data::Plain(match kind {
        DataKind::Raw => text.as_bytes().to_vec(),
        DataKind::Binary => input.value(text, what)?,
        DataKind::Plain if text.starts_with('@') => {
            let mut bytes = input.value(text, what)?;
            bytes.retain(|byte| !b"\r\n\0".contains(byte));
            bytes
        }
        DataKind::Plain => text.as_bytes().to_vec(),
        DataKind::UrlEncode => return encoded(text, input),
    }))
}

/// Returns the file that a text names as [`encoded`] reads it, if it names one.
pub fn file(text: &str) -> Option<&str> {
    let at = text.find(['=', '@'])?;
    text[at..].strip_prefix('@')
}

/// `content`, `=content`, `name=content`, `@FILE` or `name@FILE`: whichever of `=` and `@` comes first.
pub fn encoded(text: &str, input: &mut Input) -> Result<Data, CliError> {
    let (name, content) = match text.find(['=', '@']) {
        None => ("", text.to_owned()),
        Some(at) if text[at..].starts_with('=') => (&text[..at], text[at + 1..].to_owned()),
        Some(at) => (&text[..at], input.read_text(&text[at + 1..], "the body")?),
    };
    Ok(Data::Encoded { name: (!name.is_empty()).then(|| name.to_owned()), content })
}
