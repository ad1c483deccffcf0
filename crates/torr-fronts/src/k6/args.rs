//! The command line of k6.

use super::env;
use super::mistake::Mistake;
use super::option_rows::Form;
use super::option_rows::{OPTIONS, OptionRow, of_flag, of_letter};
use super::option_values::{set, switch};
use super::run_args::{RunArgs, SummaryMode};
use crate::usage_error::{UsageError, text, utf8};
use lexopt::Parser;
use lexopt::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Run a script.
    Run(Box<RunArgs>),
    /// Print the options of a script.
    Inspect(Box<RunArgs>),
    /// Print the version.
    Version,
    /// Print the help.
    Help,
}

/// Flags without an option of scripts that have a value and no effect.
const IGNORED: [&str; 6] =
    ["address", "compatibility-mode", "secret-source", "traces-output", "upgrade", "cpu-profile"];

/// Flags without an option of scripts that have neither a value nor an effect.
const IGNORED_SWITCHES: [&str; 5] =
    ["linger", "no-usage-report", "profiling-enabled", "new-machine-readable-summary", "execution-requirements"];

/// Commands of k6 that are not part of this program.
const OTHER_COMMANDS: [&str; 10] =
    ["archive", "cloud", "completion", "deps", "login", "new", "pause", "resume", "stats", "status"];

/// Parses the command line behind the program's name.
///
/// # Errors
/// If a flag, a variable or the script has a mistake.
pub fn parse(args: Vec<OsString>, environment: &BTreeMap<String, String>) -> Result<Command, Mistake> {
    let mut parser = Parser::from_args(args);
    let mut command = None;
    let mut rest = Vec::new();
    let mut run = RunArgs::default();
    env::take(&mut run, environment).map_err(Mistake::of_variable)?;
    let mut state = State { run, env: Vec::new(), system_env: true, outputs: Vec::new() };
    if let Some(value) = environment.get("K6_INCLUDE_SYSTEM_ENV_VARS").filter(|value| !value.is_empty()) {
        let wrong = |mistake: String| UsageError::plain(format!("K6_INCLUDE_SYSTEM_ENV_VARS {mistake}"));
        state.system_env = switch(value).map_err(wrong).map_err(Mistake::of_variable)?;
    }
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') => return Ok(Command::Help),
            Long("help") => return Ok(Command::Help),
            Long("version") => return Ok(Command::Version),
            Short(letter) => state.short(letter, &mut parser)?,
            Long(name) => {
                let name = name.to_owned();
                state.long(&name, &mut parser)?;
            }
            Value(value) if command.is_none() => command = Some(utf8(value)?),
            Value(value) => rest.push(utf8(value)?),
        }
    }
    let State { mut run, env, system_env, outputs } = state;
    if !outputs.is_empty() {
        run.outputs = outputs;
    }
    env::describe_outputs(&mut run, environment);
    let named = |name: &String| env.iter().any(|(known, _)| known == name);
    let system = environment.iter().filter(|(name, _)| system_env && !named(name));
    run.env = system.map(|(name, value)| (name.clone(), value.clone())).collect();
    for (name, value) in env.iter().cloned() {
        // A name alone stands for the variable of the environment.
        let value = value.or_else(|| environment.get(&name).cloned()).unwrap_or_default();
        run.env.retain(|(known, _)| *known != name);
        run.env.push((name, value));
    }
    if system_env {
        // A variable of a flag is one of the environment, and sets an option as such.
        let own: BTreeMap<&str, &String> =
            env.iter().filter_map(|(name, value)| Some((&**name, value.as_ref()?))).collect();
        let text = |name: &str| own.get(name).copied().filter(|value| !value.is_empty());
        env::take_options(&mut run, text).map_err(Mistake::of_variable)?;
    }
    match command.as_deref() {
        None | Some("help") => Ok(Command::Help),
        Some("version") => Ok(Command::Version),
        Some("run") => Ok(Command::Run(script(run, rest)?.into())),
        Some("inspect") => Ok(Command::Inspect(script(run, rest)?.into())),
        Some(other) if OTHER_COMMANDS.contains(&other) => {
            Err(UsageError::plain(format!("'k6 {other}' is not supported: 'run', 'inspect' and 'version' are")).into())
        }
        Some(other) => Err(UsageError::plain(format!("unknown command '{other}': use 'k6 run FILE'")).into()),
    }
}

fn script(run: RunArgs, words: Vec<String>) -> Result<RunArgs, UsageError> {
    match <[String; 1]>::try_from(words) {
        Ok([script]) => Ok(RunArgs { script, ..run }),
        Err(words) if words.is_empty() => {
            Err(UsageError::plain("missing script: pass a file, or '-' for standard input"))
        }
        Err(words) => Err(UsageError::plain(format!("expected one script, found {}", words.len()))),
    }
}

struct State {
    run: RunArgs,
    /// Variables of flags, without a value where the environment has it.
    env: Vec<(String, Option<String>)>,
    system_env: bool,
    outputs: Vec<super::run_args::OutputArg>,
}

impl State {
    fn short(&mut self, letter: char, parser: &mut Parser) -> Result<(), UsageError> {
        if let Some(row) = of_letter(letter) {
            return self.option(row, &format!("-{letter}"), parser);
        }
        let name = match letter {
            'a' => "address",
            'c' => "config",
            'e' => "env",
            'l' => "linger",
            'o' => "out",
            'q' => "quiet",
            't' => "type",
            'v' => "verbose",
            _ => return Err(UsageError::plain(format!("unknown option '-{letter}'"))),
        };
        self.long(name, parser)
    }

    fn long(&mut self, name: &str, parser: &mut Parser) -> Result<(), UsageError> {
        if let Some(row) = of_flag(name) {
            return self.option(row, &format!("--{name}"), parser);
        }
        match name {
            "quiet" => self.run.quiet = yes(name, parser)?,
            "verbose" => self.run.log.verbose = yes(name, parser)?,
            "no-color" => self.run.log.no_color = yes(name, parser)?,
            "no-thresholds" => self.run.no_thresholds = yes(name, parser)?,
            "offline" => self.run.offline = yes(name, parser)?,
            "include-system-env-vars" => self.system_env = yes(name, parser)?,
            "no-summary" => {
                if yes(name, parser)? {
                    self.run.summary_mode = SummaryMode::Disabled;
                }
            }
            "summary-mode" => {
                let mode = env::summary_mode(&text(parser)?);
                self.run.summary_mode = mode.map_err(|mistake| UsageError::plain(format!("--{name} {mistake}")))?;
            }
            "summary-export" => self.run.summary_export = Some(text(parser)?.into()),
            "config" => self.run.config = Some(text(parser)?.into()),
            "log-format" => self.run.log.format = Some(text(parser)?),
            "log-output" => self.run.log.output = Some(text(parser)?),
            "console-output" => self.run.log.console_output = Some(text(parser)?),
            "env" => {
                let word = text(parser)?;
                let (name, value) = match word.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (word.as_str(), None),
                };
                self.env.push((name.to_owned(), value));
            }
            // A value may name several.
            "out" => self.outputs.extend([env::output(&text(parser)?)]),
            "type" => match text(parser)?.as_str() {
                "js" => {}
                other => {
                    return Err(UsageError::plain(format!("--type {other} is not supported: only js is")));
                }
            },
            ignored if IGNORED.contains(&ignored) => {
                text(parser)?;
            }
            ignored if IGNORED_SWITCHES.contains(&ignored) => {
                yes(ignored, parser)?;
            }
            unknown => return Err(UsageError::plain(format!("unknown option '--{unknown}'{}", near(unknown)))),
        }
        Ok(())
    }

    fn option(&mut self, row: &OptionRow, flag: &str, parser: &mut Parser) -> Result<(), UsageError> {
        let value = match row.form {
            Form::Switch => parser.optional_value().map_or_else(|| Ok("true".to_owned()), utf8)?,
            Form::Debug => parser.optional_value().map_or_else(|| Ok(String::new()), utf8)?,
            _ => text(parser)?,
        };
        set(&mut self.run.flags, row, &value).map_err(|mistake| UsageError::plain(format!("{flag} {mistake}")))
    }
}

/// Returns whether a flag without a value, or with `=true` or `=false`, says yes.
fn yes(name: &str, parser: &mut Parser) -> Result<bool, UsageError> {
    let Some(value) = parser.optional_value() else { return Ok(true) };
    switch(&utf8(value)?).map_err(|mistake| UsageError::plain(format!("--{name} {mistake}")))
}

/// Returns a hint to the flag that an unknown one may have been meant for.
fn near(unknown: &str) -> String {
    let own =
        ["quiet", "verbose", "no-color", "no-thresholds", "summary-mode", "summary-export", "config", "env", "out"];
    let known = OPTIONS.iter().map(|row| row.flag).chain(own).filter(|flag| !flag.is_empty());
    let rated = known.map(|flag| (strsim::osa_distance(unknown, flag), flag)).min();
    rated
        .filter(|(distance, _)| *distance <= 2)
        .map_or(String::new(), |(_, flag)| format!(" (did you mean '--{flag}'?)"))
}

#[cfg(test)]
mod tests {
    use super::super::usage::USAGE;
    use super::*;
    use serde_json::json;

    fn parsed(line: &str, environment: &[(&str, &str)]) -> Result<Command, Mistake> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        parse(line.split(' ').map(OsString::from).collect(), &environment.iter().map(owned).collect())
    }

    fn run(line: &str, environment: &[(&str, &str)]) -> RunArgs {
        match parsed(line, environment) {
            Ok(Command::Run(args)) => *args,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn flags_and_variables_become_layers_of_options() {
        let args = run(
            "run -u 10 -d 30s --tag a=b --tag c=d -w --http-debug -e NAME=ann --env=HOME -o json=a.json --out csv s.js",
            &[
                ("K6_VUS", "5"),
                ("K6_STAGES", "5s:10,1m:20"),
                ("HOME", "/h"),
                ("NAME", "other"),
                ("K6_CSV_TIME_FORMAT", "rfc3339"),
            ],
        );
        assert_eq!(args.script, "s.js");
        let flags =
            json!({"vus": 10, "duration": "30s", "tags": {"a": "b", "c": "d"}, "throw": true, "httpDebug": "headers"});
        assert_eq!(serde_json::Value::Object(args.flags), flags);
        let stages = json!([{"duration": "5s", "target": 10}, {"duration": "1m", "target": 20}]);
        assert_eq!(serde_json::Value::Object(args.variables), json!({"vus": 5, "stages": stages}));
        let tags = run("run s.js", &[("K6_TAGS", "a:b:c, d=e:f")]).variables;
        assert_eq!(serde_json::Value::Object(tags), json!({"tags": {"a": "b:c", "d": "e:f"}}));
        // k6 takes the variables of -e for those of the environment.
        let set = run("run -e K6_VUS=7 -e K6_RPS= s.js", &[("K6_VUS", "5"), ("K6_ITERATIONS", "8")]);
        assert_eq!(serde_json::Value::Object(set.variables), json!({"vus": 7, "iterations": 8}));
        let unset = run("run -e K6_VUS=7 --include-system-env-vars=false s.js", &[]);
        assert!(unset.variables.is_empty());
        let error = parsed("run -e K6_VUS=ten a.js", &[]).expect_err("a variable is wrong");
        assert_eq!(error.message, "K6_VUS must be a whole number, found 'ten'");
        let of = |name: &str| args.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!((of("NAME"), of("HOME"), of("K6_VUS"), of("NONE")), (Some("ann"), Some("/h"), Some("5"), None));
        let [json, csv] = &args.outputs[..] else { panic!("two outputs: {:?}", args.outputs) };
        assert_eq!((json.kind.as_str(), json.argument.as_str()), ("json", "a.json"));
        assert_eq!((csv.kind.as_str(), csv.time_format.as_deref()), ("csv", Some("rfc3339")));
    }

    #[test]
    fn settings_of_the_run_stand_anywhere() {
        let environment = [("K6_NO_THRESHOLDS", "true"), ("K6_OUT", "json=x"), ("A", "1")];
        let args = run(
            "-q run --no-color - --summary-mode=full --include-system-env-vars=false --linger -c x.json",
            &environment,
        );
        assert_eq!((args.script.as_str(), args.quiet, args.log.no_color, args.no_thresholds), ("-", true, true, true));
        assert_eq!((args.summary_mode, args.env.len(), args.outputs.len()), (SummaryMode::Full, 0, 1));
        assert_eq!(args.config, Some("x.json".into()));
        assert_eq!(run("run --no-summary s.js", &[]).summary_mode, SummaryMode::Disabled);
        assert!(matches!(parsed("inspect s.ts", &[]), Ok(Command::Inspect(_))));
        assert_eq!(parsed("version", &[]), Ok(Command::Version));
        assert_eq!(parsed("run --help", &[]), Ok(Command::Help));
        let csv = run("run --out csv=fileName=a.csv,timeFormat=unix_nano s.js", &[]).outputs.remove(0);
        assert_eq!((csv.argument.as_str(), csv.time_format.as_deref()), ("a.csv", Some("unix_nano")));
    }

    #[test]
    fn mistakes() {
        for (line, what) in [
            ("run", "missing script"),
            ("run a.js b.js", "expected one script, found 2"),
            ("run --nonsense a.js", "unknown option '--nonsense'"),
            ("run --durration 5s a.js", "did you mean '--duration'?"),
            ("run -Z a.js", "unknown option '-Z'"),
            ("run -u ten a.js", "-u must be a whole number, found 'ten'"),
            ("run -d 5 a.js", "needs a unit"),
            ("run --summary-mode odd a.js", "--summary-mode must be"),
            ("run --throw=maybe a.js", "--throw must be true or false"),
            ("run -t archive a.tar", "--type archive is not supported"),
            ("archive a.js", "'k6 archive' is not supported"),
            ("frob a.js", "unknown command 'frob'"),
            ("run a.js -u", "missing value of option '-u'"),
        ] {
            let error = parsed(line, &[]).expect_err(line);
            assert!(error.message.contains(what) && !error.is_of_variable, "{line}: {error:?}");
        }
        let error = parsed("run a.js", &[("K6_VUS", "ten")]).expect_err("a variable is wrong");
        assert_eq!(
            (error.message.as_str(), error.is_of_variable),
            ("K6_VUS must be a whole number, found 'ten'", true)
        );
        for (name, value) in [("K6_INCLUDE_SYSTEM_ENV_VARS", "maybe"), ("K6_TAGS", "alone"), ("K6_SUMMARY_MODE", "odd")]
        {
            let error = parsed("run a.js", &[(name, value)]).expect_err(name);
            assert!(error.is_of_variable && error.message.starts_with(name), "{error:?}");
        }
    }

    #[test]
    fn the_help_has_every_flag() {
        for row in OPTIONS.iter().filter(|row| !row.flag.is_empty()) {
            assert!(USAGE.contains(&format!("--{}", row.flag)), "{}", row.flag);
        }
        for flag in IGNORED_SWITCHES.iter().chain(&IGNORED) {
            let hidden = ["execution-requirements", "upgrade", "cpu-profile"].contains(flag);
            assert!(hidden || USAGE.contains(&format!("--{flag}")), "{flag}");
        }
    }
}
