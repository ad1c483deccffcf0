//! Random loads go through each way in which a load is printed and read.

use crate::given::Given;
use crate::load::Load;
use crate::setting::{Kind, Setting, Times};
use crate::settings::SETTINGS;
use clap::{Args, Command, FromArgMatches};

/// Texts, of which each setting takes at least one.
const TEXTS: [&str; 19] = [
    "5",
    "1.5k",
    "10s",
    "150us",
    "50ms..150ms",
    "10s:100,5s:0",
    "10s:3c",
    "http://h/?a=$b&c='d'",
    "a=b c",
    "Name: \"value\"",
    "h:80:127.0.0.1",
    "127.0.0.1:8089",
    "p99>50ms,errors>0.1%",
    "data == \"[DONE]\"",
    "openai",
    "-x",
    "@file",
    "é,1",
    "",
];

/// Returns a random value that a setting takes.
fn value(setting: &Setting, random: &mut fastrand::Rng) -> Option<String> {
    match setting.kind {
        Kind::Switch => return None,
        Kind::Choice(_, words) => return random.choice(words).map(|word| (*word).to_owned()),
        _ => {}
    }
    // No word that is a target may look like a flag.
    let is_taken = |text: &&&str| setting.check(text).is_ok() && !(setting.is_positional() && text.len() < 3);
    let taken: Vec<_> = TEXTS.iter().filter(is_taken).collect();
    Some((**random.choice(&taken).unwrap_or_else(|| panic!("no text is a value of {}", setting.name))).to_owned())
}

/// Returns a random load.
fn random_load(random: &mut fastrand::Rng) -> Load {
    let mut given = Vec::new();
    for setting in SETTINGS {
        let most = if setting.times == Times::Many { 3 } else { 1 };
        let least = usize::from(setting.is_positional());
        for _ in 0..random.usize(least..=most) {
            given.push(Given::of(setting, value(setting, random)));
        }
    }
    // The order of the pieces of a body counts.
    random.shuffle(&mut given);
    let mut load = Load::of(&given).expect("each setting takes its value");
    load.take_arguments();
    load
}

fn parsed(words: &[String]) -> Load {
    let command = Load::augment_args(Command::new("torr")).no_binary_name(true);
    let matches = command.try_get_matches_from(words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    Load::from_arg_matches(&matches).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

fn words(load: &Load) -> Vec<String> {
    load.given().iter().map(Given::word).chain(load.arguments.iter().cloned()).collect()
}

#[test]
fn a_load_is_what_its_words_and_its_json_say() {
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..300 {
        let load = random_load(&mut random);
        assert_eq!(parsed(&words(&load)), load);
        assert_eq!(words(&parsed(&words(&load))), words(&load));
        let json = serde_json::to_string(&load).expect("it can be written");
        assert_eq!(serde_json::from_str::<Load>(&json).expect("it can be read"), load, "{json}");
        assert_eq!(load.without(|_| false), load);
        assert_eq!(load.travelling().check_travelled().is_ok(), load.check_for_fleet().is_ok());
    }
}

#[test]
fn no_json_makes_a_load_that_no_command_line_makes() {
    for (json, words) in [
        (r#"{"schema": "torr.load/2", "settings": []}"#, "torr.load/1"),
        (r#"{"schema": "torr.load/1", "settings": [["nothing", "1"]]}"#, "unknown setting"),
        (r#"{"schema": "torr.load/1", "settings": [["connections", "0"]]}"#, "must be a whole number"),
        (r#"{"schema": "torr.load/1", "settings": [["connections", null]]}"#, "missing value"),
        (r#"{"schema": "torr.load/1", "settings": [["no-keepalive", "yes"]]}"#, "must not have a value"),
        (r#"{"schema": "torr.load/1", "settings": [["timeout", "1000000 years"]]}"#, "must be a duration"),
        (r#"{"schema": "torr.load/1", "settings": [], "files": []}"#, "unknown field"),
        (r#"{"settings": []}"#, "missing field"),
    ] {
        let error = serde_json::from_str::<Load>(json).expect_err(json).to_string();
        assert!(error.contains(words), "{json}: {error}");
    }
}
