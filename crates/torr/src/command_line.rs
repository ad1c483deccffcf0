//! The user's command line as results keep it: it can be run again, has no secrets, and writes no outputs.

use crate::again;
use clap::{Arg, ArgMatches, Command};
use serde::Serialize;
use std::sync::OnceLock;
use torr_doctor::{SecretVariables, quoted};
use torr_gauge::machine::host_name;
use torr_load::{Given, Load, find, occurrences};

/// Arguments of commands that a repetition does not need: outputs, views, and what is read from the environment. Settings of a load
/// tell it by their rows.
const LEFT_OUT: [&str; 7] = ["archive", "database_url", "markdown", "nats", "resume", "summary", "watch_token"];

/// The command line of this process.
static GIVEN: OnceLock<String> = OnceLock::new();

/// Notes the command line of this process.
pub fn note(text: String) {
    // A process has one command line; a plan in it has been replaced by its settings before.
    let _ = GIVEN.set(text);
}

/// Returns the command line of this process. `None` for one whose grammar is another program's.
pub fn given() -> Option<String> {
    GIVEN.get().cloned()
}

/// A result with the command line that repeats it, and the machine that it was made on.
#[derive(Debug, Serialize)]
pub struct Repeatable<'r, T> {
    #[serde(flatten)]
    result: &'r T,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// The name of the machine on which this process runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    host_name: Option<String>,
}

impl<'r, T: Serialize> Repeatable<'r, T> {
    /// Returns a result of this process with the command line of this process.
    pub fn new(result: &'r T) -> Self {
        Self { result, command: given(), host_name: host_name() }
    }

    /// Returns the result as JSON on several lines.
    ///
    /// # Errors
    /// If the result cannot be written as JSON.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}

/// Returns the command line of a load.
pub fn of_load(load: &Load) -> String {
    format!("torr {}", words_of(load, &mut SecretVariables::default()).join(" "))
}

fn words_of(load: &Load, variables: &mut SecretVariables) -> Vec<String> {
    let repeated = load.given().into_iter().filter(|given| given.setting().is_some_and(|setting| setting.repeats));
    let mut words: Vec<_> = repeated
        .flat_map(|given| match (&given.value, given.setting().and_then(|setting| setting.short)) {
            (Some(value), _) if given.name.is_empty() => vec![again::word(&given.id, value, variables)],
            (_, letter) => again::words(&Given { name: short(letter, &given.name), ..given }, variables),
        })
        .collect();
    words.extend(behind_dashes(&load.arguments, variables));
    words
}

/// Returns the arguments of a script with the dashes before them, or nothing.
fn behind_dashes(arguments: &[String], variables: &mut SecretVariables) -> Vec<String> {
    let dashes = (!arguments.is_empty()).then(|| "--".to_owned());
    let words = arguments.iter().map(|argument| again::word("argument", argument, variables));
    dashes.into_iter().chain(words).collect()
}

/// Returns a flag, by its letter where every example has that.
fn short(letter: Option<char>, long: &str) -> String {
    letter.filter(|letter| "ctdnr".contains(*letter)).map_or_else(|| long.to_owned(), |letter| format!("-{letter}"))
}

/// Returns the command line of a command, behind whose dashes a load may stand; `None` for one whose grammar is another program's.
pub fn of_command(grammar: &Command, matches: &ArgMatches, load: Option<&Load>) -> Option<String> {
    let mut words = vec!["torr".to_owned()];
    let (mut command, mut given) = (grammar, matches);
    while let Some((name, below)) = given.subcommand() {
        words.push(name.to_owned());
        (command, given) = (command.find_subcommand(name)?, below);
    }
    let mut variables = SecretVariables::default();
    let (positionals, flags): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(|arg| !arg.is_last_set()).partition(|arg| arg.is_positional());
    for positional in positionals {
        let values = raw(positional, given).into_iter().flat_map(|(_, values)| values);
        words.extend(values.map(|value| again::word(positional.get_id().as_str(), &value, &mut variables)));
    }
    let mut all: Vec<_> =
        flags.into_iter().flat_map(|flag| raw(flag, given).into_iter().map(move |r| (r.0, flag, r.1))).collect();
    all.sort_by_key(|(at, _, _)| *at);
    for (_, flag, values) in all {
        words.extend(flag_words(flag, &values, &mut variables));
    }
    if let Some(load) = load {
        words.push("--".to_owned());
        words.extend(words_of(load, &mut variables));
    }
    Some(words.join(" "))
}

/// Returns the command line of a command whose target was a plan: the settings of the plan that hold, what stands
/// beside it, and the arguments of a script.
pub fn of_plan<'g>(command: &Command, given: impl Iterator<Item = &'g Given>, arguments: &[String]) -> String {
    let mut variables = SecretVariables::default();
    let (targets, flags): (Vec<_>, Vec<_>) = given.partition(|given| given.name.is_empty());
    let mut words = vec!["torr".to_owned(), command.get_name().to_owned()];
    // What stands behind the URL are the arguments.
    words.extend(targets.first().map(|target| again::word(&target.id, &target.word(), &mut variables)));
    for flag in flags {
        let of_flag = |arg: &&Arg| arg.get_long() == Some(&flag.id);
        if let Some(arg) = command.get_arguments().find(of_flag).filter(|arg| !is_left_out(arg.get_id().as_str())) {
            words.extend(flag_words(arg, flag.value.as_slice(), &mut variables));
        }
    }
    words.extend(behind_dashes(arguments, &mut variables));
    words.join(" ")
}

/// Whether a repetition does not need an argument.
fn is_left_out(id: &str) -> bool {
    LEFT_OUT.contains(&id) || find(id).is_some_and(|setting| !setting.repeats)
}

/// Returns each occurrence of an argument on the command line, with its position and its values.
fn raw(arg: &Arg, matches: &ArgMatches) -> Vec<(usize, Vec<String>)> {
    let id = arg.get_id().as_str();
    if is_left_out(id) {
        return Vec::new();
    }
    let all = occurrences(id, arg.get_action().takes_values(), matches);
    all.into_iter().map(|one| (one.first(), one.values)).collect()
}

fn flag_words(flag: &Arg, values: &[String], variables: &mut SecretVariables) -> Vec<String> {
    let id = flag.get_id().as_str();
    let long = flag.get_long().map(|long| format!("--{long}"));
    let name = short(flag.get_short(), &long.unwrap_or_default());
    let value = match (values, flag.get_value_delimiter()) {
        ([], _) => return vec![name],
        ([one], _) => one.clone(),
        (several, Some(delimiter)) => several.join(&delimiter.to_string()),
        (several, None) => {
            let values = several.iter().map(|value| again::word(id, value, variables));
            return std::iter::once(name).chain(values).collect();
        }
    };
    if flag.is_require_equals_set() {
        return vec![format!("{name}={}", quoted(&value))];
    }
    again::words(&Given { id: id.to_owned(), name, value: Some(value) }, variables)
}

#[cfg(test)]
mod tests {
    use super::of_plan;
    use crate::cli;
    use crate::once::OnceArgs;
    use clap::{Args, Command};
    use torr_load::{Given, find};

    /// Returns the command line that results keep of this one.
    fn kept(line: &str) -> String {
        let words: Vec<_> = shlex::split(line).expect("its quotes are closed").into_iter().map(Into::into).collect();
        cli::repeated(&words).unwrap_or_else(|| panic!("{line} is no command of Torr's own"))
    }

    #[test]
    fn what_makes_a_result_is_kept_and_is_kept_again() {
        for line in [
            "torr http://h/ -c 50 -d 2s --fail-if 'p99>5s' --fail-if 'errors>1%'",
            "torr http://h/ --warmup 1s -X PUT --data a=b --data-urlencode 'c=d e' -c 3",
            "torr shop.hurl=7 login.hurl=1 -c 5",
            "torr limit http://h/ --slo 'p99<5s' --budget 20s --max-connections 9",
            "torr compare http://h/a http://h/b --budget 14s --seed 7",
            "torr compare --a './base --port {port}' --b './head --port {port}' --url 'http://127.0.0.1:{port}/'",
            "torr compare --a a1.json a2.json --b b1.json b2.json",
            "torr fleet run --fleet team --agents 3 -- http://h/ -r 900 -d 3s",
            "torr lab run techempower --subject torr --rounds 2",
            "torr demo --quick",
            "torr doctor --tls https://h/ -c 4",
            "torr doctor http://h/ --fleet=team --agents 2",
        ] {
            let once = kept(line);
            let sorted = |text: &str| {
                let mut words = shlex::split(text).expect("its quotes are closed");
                words.sort();
                words
            };
            let long = |text: &str| text.replace("--request", "-X");
            assert_eq!(sorted(&long(&once)), sorted(&long(line)), "{line}");
            assert_eq!(kept(&once), once, "the same again");
        }
    }

    #[test]
    fn the_arguments_of_a_plans_script_stand_behind_dashes() {
        let once = OnceArgs::augment_args(Command::new("once"));
        let given = |name: &str, value: &str| Given::of(find(name).expect("it is a setting"), Some(value.to_owned()));
        let plan = [given("target", "http://h/"), given("target", "a b"), given("script", "s.lua")];
        let line = of_plan(&once, plan.iter(), &["a b".to_owned()]);
        assert_eq!(line, "torr once http://h/ --script s.lua -- 'a b'");
        assert_eq!(of_plan(&once, plan[..1].iter(), &[]), "torr once http://h/");
    }

    #[test]
    fn outputs_are_left_out_and_secrets_are_variables() {
        for (line, expected) in [
            ("torr http://h/ --json r.json --report r.html -q --live", None),
            ("torr http://me:s3cret@h/ -c 2", Some("torr \"http://$TORR_URL_USER@h/\" -c 2")),
            (
                "torr 'http://u:s3cret@h/?a=$1&token=s3cret&page=2'",
                Some("torr \"http://$TORR_URL_USER@h/?a=\\$1&token=$TORR_URL_TOKEN&page=2\""),
            ),
            (
                "torr compare http://h/?token=s3cret1 http://h/?token=s3cret2",
                Some("torr compare \"http://h/?token=$TORR_URL_TOKEN\" \"http://h/?token=$TORR_URL_TOKEN_2\""),
            ),
            (
                "torr doctor http://h/?token=s3cret1 --via http://p/?token=s3cret2",
                Some("torr doctor \"http://h/?token=$TORR_URL_TOKEN\" --via \"http://p/?token=$TORR_URL_TOKEN_2\""),
            ),
            ("torr http://h/ -u me:s3cret", Some("torr http://h/ --user \"$TORR_USER\"")),
            ("torr http://h/ --data password=s3cret", Some("torr http://h/ --data \"$TORR_DATA\"")),
            (
                "torr http://h/ -H 'Authorization: s3cret'",
                Some("torr http://h/ --header \"Authorization: $TORR_AUTHORIZATION\""),
            ),
            (
                "torr fleet run --nats nats://u:s3cret@h -- http://h/ -u a:s3cret",
                Some("torr fleet run -- http://h/ --user \"$TORR_USER\""),
            ),
            ("torr demo --database mysql://u:s3cret@h/d", Some("torr demo --database \"mysql://$TORR_URL_USER@h/d\"")),
        ] {
            let kept = kept(&line.replace(" --live", ""));
            assert!(!kept.contains("s3cret"), "{kept}");
            assert_eq!(kept, expected.unwrap_or("torr http://h/"), "{line}");
        }
    }
}
