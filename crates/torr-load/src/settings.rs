//! The one table of settings: a row for each, in the order of the help.

mod grpc;
mod output;
mod pace;
mod request;
mod session;
mod stream;
mod transport;

use crate::field::texts;
use crate::setting::{Kind, Part, Secret, Setting, Times, setting};

/// What is loaded.
const TARGET: [Setting; 1] = [setting(Part::Target, "target", Kind::Text("TARGET"), texts!(targets))
    .times(Times::Many)
    .help(
        "A URL, with or without 'http://', that of a WebSocket ('ws://'), or grpc://HOST:PORT/SERVICE/METHOD; or files: a.hurl, or a.hurl=7 b.hurl=1 with weights, script.lua, script.js, plan.toml",
    )
    .secret(Secret::Url)];

/// All settings.
pub const SETTINGS: &[Setting] = &joined::<{ COUNT }>(&[
    &TARGET,
    pace::ROWS,
    request::ROWS,
    grpc::ROWS,
    transport::ROWS,
    stream::ROWS,
    session::ROWS,
    output::ROWS,
]);

const COUNT: usize = 1
    + pace::ROWS.len()
    + request::ROWS.len()
    + grpc::ROWS.len()
    + transport::ROWS.len()
    + stream::ROWS.len()
    + session::ROWS.len()
    + output::ROWS.len();

/// Returns the rows of all lists as one list.
const fn joined<const N: usize>(lists: &[&[Setting]]) -> [Setting; N] {
    let mut rows = [TARGET[0]; N];
    let (mut to, mut list) = (0, 0);
    while list < lists.len() {
        let mut from = 0;
        while from < lists[list].len() {
            rows[to] = lists[list][from];
            to += 1;
            from += 1;
        }
        list += 1;
    }
    rows
}

/// Returns the setting of a name.
pub fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Load;
    use std::collections::BTreeSet;

    #[test]
    fn rows_are_sound() {
        let names: BTreeSet<_> = SETTINGS.iter().map(|setting| setting.name).collect();
        assert_eq!(names.len(), SETTINGS.len(), "a name stands once");
        let letters: Vec<_> = SETTINGS.iter().filter_map(|setting| setting.short).collect();
        assert_eq!(letters.iter().collect::<BTreeSet<_>>().len(), letters.len(), "a letter stands once");
        for setting in SETTINGS {
            let Setting { name, help, .. } = setting;
            assert!(!help.is_empty() && !help.ends_with('.'), "{name}: {help}");
            assert!(setting.brief.is_none_or(|brief| brief.chars().count() <= 50), "{name}: its line is too long");
            for other in setting.needs.iter().copied().flatten().chain(setting.excludes) {
                assert!(names.contains(other), "{name} names '{other}', which is none");
                assert!(find(other).is_some_and(|other| !other.excludes.contains(name)), "{name} and {other} twice");
            }
            if let Kind::Choice(_, words) = setting.kind {
                words.iter().for_each(|word| assert_eq!(setting.check(word), Ok(()), "{name}"));
                assert!(setting.check("none of these").is_err(), "{name}");
            }
            assert!(setting.default.is_none_or(|value| setting.check(value).is_ok()), "{name}");
        }
    }

    #[test]
    fn the_defaults_of_the_help_are_those_of_a_load() {
        let (mut said, load) = (Load::default(), Load::default());
        for setting in SETTINGS {
            if let Some(value) = setting.default {
                setting.set(&mut said, value).expect("a default can be set");
            }
        }
        assert_eq!(said.pace.timeout(), load.pace.timeout());
        assert_eq!(said.stream.idle_timeout(), load.stream.idle_timeout());
        assert_eq!(said.pace.pace(), load.pace.pace());
        assert_eq!(said.request.order(), load.request.order());
        assert_eq!(said.request.feeder_order(), load.request.feeder_order());
        assert_eq!(said.pace.timestamps.as_deref(), Some(&torr_press::Timestamps::default()));
        assert_eq!(said.transport.tls.resumption(), load.transport.tls.resumption());
    }
}
