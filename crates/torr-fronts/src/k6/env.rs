//! The variables of the environment that stand for flags.

use super::option_rows::OPTIONS;
use super::option_values::{set_variable, switch};
use super::run_args::{OutputArg, RunArgs, SummaryMode};
use crate::usage_error::UsageError;
use std::collections::BTreeMap;

/// Takes what variables say, which flags then replace.
pub fn take(args: &mut RunArgs, environment: &BTreeMap<String, String>) -> Result<(), UsageError> {
    let text = |name: &str| environment.get(name).filter(|value| !value.is_empty());
    take_options(args, text)?;
    let is_set = |name: &str| text(name).map_or(Ok(false), |value| switch(value).map_err(wrong(name)));
    args.no_thresholds = is_set("K6_NO_THRESHOLDS")?;
    args.log.no_color = is_set("K6_NO_COLOR")? || environment.contains_key("NO_COLOR");
    args.log.verbose = is_set("K6_VERBOSE")?;
    args.quiet = is_set("K6_QUIET")?;
    if is_set("K6_NO_SUMMARY")? {
        args.summary_mode = SummaryMode::Disabled;
    }
    if let Some(mode) = text("K6_SUMMARY_MODE") {
        args.summary_mode = summary_mode(mode).map_err(wrong("K6_SUMMARY_MODE"))?;
    }
    args.config = text("K6_CONFIG").map(Into::into);
    args.summary_export = text("K6_SUMMARY_EXPORT").map(Into::into);
    args.log.format = text("K6_LOG_FORMAT").cloned();
    args.log.output = text("K6_LOG_OUTPUT").cloned();
    args.log.console_output = text("K6_CONSOLE_OUTPUT").cloned();
    if let Some(outputs) = text("K6_OUT") {
        args.outputs = outputs.split(',').map(output).collect();
    }
    Ok(())
}

/// Takes the options that variables set.
pub fn take_options<'v>(args: &mut RunArgs, text: impl Fn(&str) -> Option<&'v String>) -> Result<(), UsageError> {
    for row in &OPTIONS {
        if let Some(value) = text(row.variable) {
            set_variable(&mut args.variables, row, value).map_err(wrong(row.variable))?;
        }
    }
    Ok(())
}

/// Returns the error of a variable that has a mistake.
fn wrong(name: &str) -> impl FnOnce(String) -> UsageError {
    let name = name.to_owned();
    move |mistake| UsageError::plain(format!("{name} {mistake}"))
}

/// Returns the output of a word such as `json=file`.
pub fn output(word: &str) -> OutputArg {
    let (kind, argument) = word.split_once('=').unwrap_or((word, ""));
    OutputArg { kind: kind.trim().to_owned(), argument: argument.to_owned(), time_format: None }
}

/// Returns the mode of this name.
pub fn summary_mode(name: &str) -> Result<SummaryMode, String> {
    Ok(match name {
        "compact" => SummaryMode::Compact,
        "full" => SummaryMode::Full,
        "legacy" => SummaryMode::Legacy,
        "disabled" => SummaryMode::Disabled,
        _ => return Err(format!("must be compact, full, legacy or disabled, found '{name}'")),
    })
}

/// Gives outputs what variables say about their kind.
pub fn describe_outputs(args: &mut RunArgs, environment: &BTreeMap<String, String>) {
    for output in args.outputs.iter_mut().filter(|output| output.kind == "csv") {
        output.time_format = environment.get("K6_CSV_TIME_FORMAT").cloned();
        if output.argument.is_empty()
            && let Some(path) = environment.get("K6_CSV_FILENAME")
        {
            output.argument.clone_from(path);
        }
        // The argument may be a list of settings as well.
        let settings: Vec<_> = output.argument.split(',').filter_map(|setting| setting.split_once('=')).collect();
        let of = |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let (path, format) = (of("fileName").or_else(|| of("file_name")), of("timeFormat"));
        if let Some(format) = format {
            output.time_format = Some(format);
        }
        if let Some(path) = path {
            output.argument = path;
        }
    }
}
