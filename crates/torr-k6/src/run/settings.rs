//! The settings of a run: the script, layers of options, outputs, the log, and what becomes of the summary.

use crate::log::LogSettings;
use crate::modules::SentFiles;
use crate::network::NetworkSettings;
use crate::outputs::OutputSpec;
use crate::summary::text::Mode;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The settings of a run.
#[derive(Debug, Clone, Default)]
pub struct RunSettings {
    /// The script.
    pub script: ScriptSource,
    /// The variables that scripts see as `__ENV`.
    pub env: BTreeMap<String, String>,
    /// The options of the configuration file, by their names in scripts.
    pub config: Map<String, Value>,
    /// The options that variables set.
    pub variables: Map<String, Value>,
    /// The options that flags set.
    pub flags: Map<String, Value>,
    /// Whether thresholds are left out.
    pub no_thresholds: bool,
    /// The outputs of samples.
    pub outputs: Vec<OutputSpec>,
    /// What the log is to be.
    pub log: LogSettings,
    /// What becomes of the summary.
    pub summary: SummarySettings,
    /// What the environment of the process says about the way to servers.
    pub network: NetworkSettings,
    /// The memory in bytes that virtual users may take; `None` for what is available when the script is loaded.
    pub memory: Option<u64>,
    /// Whether modules from other machines are taken from the cache only.
    pub offline: bool,
    /// Whether what the script reads is kept, to be sent to other machines.
    pub keeps_files: bool,
    /// The number of load threads, at least 1; `None` for one for each CPU, but not more than virtual users.
    pub threads: Option<usize>,
}

/// Where a script comes from.
#[derive(Debug, Clone)]
pub enum ScriptSource {
    /// A file.
    File(PathBuf),
    /// A text, such as that of standard input, whose imports are relative to the working directory.
    Text(Vec<u8>),
    /// A file that another machine has sent, with all that it reads.
    Sent {
        /// The name of the file among those that were sent.
        entry: String,
        /// The files.
        files: Arc<SentFiles>,
    },
}

impl Default for ScriptSource {
    fn default() -> Self {
        Self::Text(Vec::new())
    }
}

/// What becomes of the summary of a run.
#[derive(Debug, Clone, Default)]
pub struct SummarySettings {
    /// What the text shows; `None` for no text, and no call of `handleSummary`.
    pub mode: Option<Mode>,
    /// The file for the summary as JSON.
    pub export: Option<PathBuf>,
    /// Whether the text has no colours.
    pub no_color: bool,
}
