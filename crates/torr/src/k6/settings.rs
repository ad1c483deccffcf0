//! The settings of the run of a k6 script, out of k6's command line and of files.

use serde_json::{Map, Value};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use torr_fronts::k6::{LogArgs, OutputArg, RunArgs, SummaryMode};
use torr_k6::log::{LogFormat, LogOutput, LogSettings};
use torr_k6::outputs::{OutputSpec, TimeFormat};
use torr_k6::run::{NetworkSettings, RunSettings, ScriptSource, SummarySettings};
use torr_k6::summary::text::Mode;
use torr_k6::{ErrorKind, ScriptError};

/// The largest script that standard input may have, in bytes.
const MOST_SCRIPT: u64 = 16 << 20;

/// Returns the settings of a run. Standard input and the configuration file are read.
///
/// # Errors
/// If something of the command line cannot be used.
pub fn of(args: RunArgs) -> Result<RunSettings, ScriptError> {
    let no_color = args.log.no_color || !io::stdout().is_terminal();
    let mut config = config(args.config.as_deref())?;
    // The outputs of the configuration file are those of a command line that has none.
    let outputs = match (args.outputs.is_empty(), config.remove("out")) {
        (true, Some(Value::Array(words))) => words.iter().filter_map(Value::as_str).map(output_word).collect(),
        _ => args.outputs,
    };
    Ok(RunSettings {
        script: script(&args.script)?,
        env: args.env.into_iter().collect(),
        config,
        variables: args.variables,
        flags: args.flags,
        no_thresholds: args.no_thresholds,
        outputs: outputs.iter().map(output).collect::<Result<_, _>>()?,
        log: log(args.log)?,
        summary: SummarySettings { mode: mode(args.summary_mode), export: args.summary_export, no_color },
        network: NetworkSettings::of(|name| std::env::var(name).ok()),
        offline: args.offline,
        ..RunSettings::default()
    })
}

/// Returns the folder that keeps modules from other machines.
pub fn cache() -> Option<PathBuf> {
    let own = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    Some(own.or_else(home)?.join("torr/modules"))
}

fn script(path: &str) -> Result<ScriptSource, ScriptError> {
    if path != "-" {
        return Ok(ScriptSource::File(path.into()));
    }
    let mut text = Vec::new();
    let read = io::stdin().take(MOST_SCRIPT + 1).read_to_end(&mut text);
    read.map_err(|error| other(format!("cannot read the script from standard input: {error}")))?;
    if text.len() as u64 > MOST_SCRIPT {
        return Err(other(format!("the script on standard input is larger than {} MiB", MOST_SCRIPT >> 20)));
    }
    Ok(ScriptSource::Text(text))
}

/// Reads the configuration file: the one that was named, or the user's own if there is one.
fn config(named: Option<&Path>) -> Result<Map<String, Value>, ScriptError> {
    let own = || {
        let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let folder = folder.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
        Some(folder.join("k6/config.json")).filter(|path| path.is_file())
    };
    let Some(path) = named.map(Path::to_path_buf).or_else(own) else { return Ok(Map::new()) };
    let shown = path.display();
    let wrong = |what: String| ScriptError::config(format!("cannot read '{shown}': {what}"));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| wrong(format!("expected an object of JSON: {error}")))
}

fn output_word(word: &str) -> OutputArg {
    let (kind, argument) = word.split_once('=').unwrap_or((word, ""));
    OutputArg { kind: kind.to_owned(), argument: argument.to_owned(), time_format: None }
}

fn output(output: &OutputArg) -> Result<OutputSpec, ScriptError> {
    let path = output.argument.clone();
    match output.kind.as_str() {
        "json" => Ok(OutputSpec::Json(path)),
        "csv" => {
            let format = output.time_format.as_deref().unwrap_or("unix");
            let format = TimeFormat::named(format).ok_or_else(|| {
                ScriptError::config(format!(
                    "unknown time format '{format}': use unix, unix_milli, unix_micro, unix_nano, rfc3339 or rfc3339_nano"
                ))
            })?;
            Ok(OutputSpec::Csv(if path.is_empty() { "file.csv".to_owned() } else { path }, format))
        }
        kind => Err(other(format!("output '{kind}' is not supported: use json=FILE or csv=FILE"))),
    }
}

fn log(args: LogArgs) -> Result<LogSettings, ScriptError> {
    let format = match args.format.as_deref() {
        None | Some("" | "text") => LogFormat::Text,
        Some("json") => LogFormat::Json,
        Some("raw") => LogFormat::Raw,
        Some(unknown) => return Err(other(format!("unknown log format '{unknown}': use text, json or raw"))),
    };
    let output = match args.output.as_deref() {
        None | Some("" | "stderr") => LogOutput::Stderr,
        Some("stdout") => LogOutput::Stdout,
        Some("none") => LogOutput::None,
        Some("file") => LogOutput::File("k6.log".to_owned()),
        Some(word) => match word.strip_prefix("file=").and_then(|settings| settings.split(',').next()) {
            Some(path) if !path.is_empty() => LogOutput::File(path.to_owned()),
            _ => {
                let use_instead = "use stderr, stdout, none or file=PATH";
                return Err(other(format!("log output '{word}' is not supported: {use_instead}")));
            }
        },
    };
    let LogArgs { console_output, verbose, no_color, .. } = args;
    Ok(LogSettings { format, output, console_output, verbose, no_color })
}

fn mode(mode: SummaryMode) -> Option<Mode> {
    match mode {
        SummaryMode::Compact => Some(Mode::Compact),
        SummaryMode::Full => Some(Mode::Full),
        SummaryMode::Legacy => Some(Mode::Legacy),
        SummaryMode::Disabled => None,
    }
}

fn other(message: String) -> ScriptError {
    ScriptError::new(ErrorKind::Other, message)
}
