//! What a flag needs beside it, as the grammar has it.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// A target that any command takes, for command lines that are only tried.
pub const SOME_TARGET: &str = "http://h/";

/// Returns what a command line lacks, as clap names it; nothing if it lacks nothing, `None` if it has another mistake. The program's name
/// comes first.
pub fn missing(command: &Command, words: &[OsString]) -> Option<Vec<String>> {
    let Err(error) = command.clone().try_get_matches_from(words) else { return Some(Vec::new()) };
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) => Some(missing.clone()),
        _ => None,
    }
}

/// Returns the first flag of a command line that needs another one, and a sentence on it. `front` is how many words come before the flags:
/// the program's name, and that of a command.
pub fn unmet(command: &Command, words: &[OsString], front: usize) -> Option<String> {
    let start = [&words[..front], &[OsString::from(SOME_TARGET)]].concat();
    let always = missing(command, &start)?;
    let is_flag = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with('-'));
    (front..words.len()).filter(|&at| is_flag(&words[at])).find_map(|at| {
        // The value of a flag may be its next word.
        let with_value = (at + 1..=words.len().min(at + 2)).map(|end| [&start[..], &words[at..end]].concat());
        let lacks = with_value.filter_map(|words| missing(command, &words)).next()?;
        let lacks: Vec<_> = lacks.iter().filter(|what| !always.contains(what)).map(|what| flags(what)).collect();
        let flag = words[at].to_str()?.split('=').next()?;
        (!lacks.is_empty()).then(|| format!("{flag} needs {}", lacks.join(" and ")))
    })
}

/// Returns the flags of what clap misses, such as `<--rate <RATE>|--stages <STAGES>>`.
fn flags(missing: &str) -> String {
    let words = missing.split(['<', '>', '|', ' ', '[', '=']).filter(|word| word.starts_with("--"));
    words.collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, ArgAction, ArgGroup};

    #[test]
    fn the_flag_that_needs_another_is_named() {
        let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
        let command = Command::new("torr")
            .arg(Arg::new("target"))
            .args([switch("h2"), switch("h3"), switch("quiet")])
            .group(ArgGroup::new("new").args(["h2", "h3"]))
            .arg(Arg::new("streams").long("streams").requires("new"))
            .arg(Arg::new("cert").long("cert"))
            .arg(Arg::new("key").long("key").requires("cert"));
        for (words, sentence) in [
            (&["http://h/", "--quiet", "--streams", "10"][..], Some("--streams needs --h2 or --h3")),
            (&["--key=f", "http://h/"], Some("--key needs --cert")),
            (&["http://h/", "--quiet"], None),
        ] {
            let words: Vec<OsString> = ["torr"].iter().chain(words).map(OsString::from).collect();
            assert_eq!(unmet(&command, &words, 1).as_deref(), sentence, "{words:?}");
        }
    }
}
