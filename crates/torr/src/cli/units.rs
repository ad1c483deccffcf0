//! Durations whose unit was given as a word of its own, as in `-d 10 min`.

use crate::exit::CliError;
use std::ffi::OsString;

/// The units that a duration may have.
const UNITS: [&str; 20] = [
    "us", "ms", "msec", "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h", "hr",
    "hrs", "hour", "hours", "d", "days",
];

/// Returns the mistake of giving the unit of a flag's number as a word of its own, if a command line has it.
pub fn apart(words: &[OsString]) -> Option<CliError> {
    let words: Vec<_> = words.iter().map_while(|word| word.to_str()).take_while(|word| *word != "--").collect();
    (2..words.len()).find_map(|at| {
        let unit = words[at];
        let flag = number_of(words[at - 1], words[at - 2]).filter(|_| UNITS.contains(&unit))?;
        Some(CliError::Usage(format!("unexpected '{unit}': write the unit directly after the number: {flag}{unit}")))
    })
}

/// Returns a flag with its number, both in one word or in two.
fn number_of(word: &str, before: &str) -> Option<String> {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok();
    let glued = match word.strip_prefix("--") {
        Some(long) => long.split_once('=').map(|(_, value)| value),
        None => word.strip_prefix('-').and_then(|short| short.get(1..)),
    };
    match glued {
        Some(value) => is_number(value).then(|| word.to_owned()),
        None => (is_number(word) && before.starts_with('-')).then(|| format!("{before} {word}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_behind_the_number_of_a_flag_is_found() {
        for (words, expected) in [
            ("-d 10 min http://h/", Some("-d 10min")),
            ("http://h/ --warmup 0.5 s", Some("--warmup 0.5s")),
            ("http://h/ -d10 m", Some("-d10m")),
            ("http://h/ --duration=10 h", Some("--duration=10h")),
            ("-d 10min http://h/", None),
            ("-d 10 http://s/", None),
            ("-n 10 host", None),
            ("10 s", None),
            ("http://h/ --script x.lua -- -d 10 s", None),
        ] {
            let words: Vec<_> = ["torr"].into_iter().chain(words.split(' ')).map(OsString::from).collect();
            let line = apart(&words).map(CliError::into_line);
            assert_eq!(line.as_deref().and_then(|line| line.split(": ").last()), expected, "{words:?}");
        }
    }
}
