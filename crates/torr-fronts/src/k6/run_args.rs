//! The command line of `k6 run`, parsed.

use serde_json::{Map, Value};
use std::path::PathBuf;

/// The command line of `k6 run`, with what the environment adds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunArgs {
    /// The path of the script, `-` for standard input.
    pub script: String,
    /// The options that flags set, by their names in scripts.
    pub flags: Map<String, Value>,
    /// The options that variables set, by their names in scripts.
    pub variables: Map<String, Value>,
    /// The configuration file, if one was named.
    pub config: Option<PathBuf>,
    /// The variables that scripts see.
    pub env: Vec<(String, String)>,
    /// The outputs of samples.
    pub outputs: Vec<OutputArg>,
    /// The file for the summary as JSON.
    pub summary_export: Option<PathBuf>,
    /// What the summary shows.
    pub summary_mode: SummaryMode,
    /// Whether thresholds are left out.
    pub no_thresholds: bool,
    /// Whether neither banner nor progress is printed.
    pub quiet: bool,
    /// What the log is to be.
    pub log: LogArgs,
    /// Whether scripts from other machines are taken from the cache only.
    pub offline: bool,
}

/// What the log is to be, as given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogArgs {
    /// `text`, `json` or `raw`.
    pub format: Option<String>,
    /// `stderr`, `stdout`, `none` or `file=PATH`.
    pub output: Option<String>,
    /// The file for lines of the script's console.
    pub console_output: Option<String>,
    /// Whether to show lines for debugging.
    pub verbose: bool,
    /// Whether to print without colours.
    pub no_color: bool,
}

/// An output of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputArg {
    /// The kind, such as `json`.
    pub kind: String,
    /// What follows the kind's `=`.
    pub argument: String,
    /// The form of times in CSV, as `K6_CSV_TIME_FORMAT` names it.
    pub time_format: Option<String>,
}

impl OutputArg {
    /// Returns the output as the banner shows it.
    pub fn shown(&self) -> String {
        match self.argument.as_str() {
            "" => self.kind.clone(),
            argument => format!("{} ({argument})", self.kind),
        }
    }
}

/// What the summary at the end shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SummaryMode {
    /// What most people look at.
    #[default]
    Compact,
    /// All metrics, also of groups and scenarios.
    Full,
    /// The layout before 1.0.
    Legacy,
    /// Nothing.
    Disabled,
}
