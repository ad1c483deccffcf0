//! Outputs and thresholds.

use crate::output_file::OutputFile;
use crate::parsed::Parsed;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use torr_gauge::ThresholdRule;
use torr_gauge::sessions::EntryName;
use torr_gauge::threshold::{AbortRule, MisplacedRuleError};
use torr_report::push::Receiver;

/// How often figures are sent, as the default of its setting.
const PUSH_INTERVAL: Duration = Duration::from_secs(5);

/// Outputs and thresholds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutputPart {
    pub files: BTreeMap<OutputFile, PathBuf>,
    pub otlp: Option<Parsed<Receiver>>,
    pub remote_write: Option<Parsed<Receiver>>,
    pub influxdb: Option<Parsed<Receiver>>,
    pub push_interval: Option<Parsed<Duration>>,
    pub fail_if: Vec<Parsed<Vec<ThresholdRule>>>,
    pub abort_if: Vec<Parsed<Vec<AbortRule>>>,
    pub quiet: bool,
    pub live: bool,
    pub dashboard: Option<Parsed<SocketAddr>>,
    pub dashboard_cert: Option<PathBuf>,
    pub dashboard_key: Option<PathBuf>,
    pub print_plan: bool,
}

impl OutputPart {
    /// Returns the programs that the figures are sent to.
    pub fn receivers(&self) -> impl Iterator<Item = &Receiver> {
        [&self.otlp, &self.remote_write, &self.influxdb].into_iter().filter_map(|receiver| receiver.as_deref())
    }

    /// Returns how often figures are sent while the run goes on.
    pub fn push_interval(&self) -> Duration {
        self.push_interval.as_deref().copied().unwrap_or(PUSH_INTERVAL)
    }

    /// Returns all rules of `--fail-if`.
    pub fn rules(&self) -> Vec<ThresholdRule> {
        self.fail_if.iter().flat_map(|rules| rules.iter().cloned()).collect()
    }

    /// Returns all rules of `--abort-if`.
    pub fn abort_rules(&self) -> Vec<AbortRule> {
        self.abort_if.iter().flat_map(|rules| rules.iter().cloned()).collect()
    }

    /// Finds what does not fit a run with these entries, none for a URL, whose responses are streams of events or not.
    ///
    /// # Errors
    /// With the first such rule or output.
    pub fn check(&self, entries: &[EntryName], has_streams: bool) -> Result<(), String> {
        if self.files.contains_key(&OutputFile::CsvEntries) && entries.is_empty() {
            return Err("--csv-entries needs a hurl file: a URL has no entries".into());
        }
        let misplaced = |error: MisplacedRuleError| format!("--abort-if {error}");
        self.abort_rules().iter().try_for_each(|rule| rule.check(entries, has_streams).map_err(misplaced))?;
        let misplaced = |error: MisplacedRuleError| format!("--fail-if {error}");
        self.rules().iter().try_for_each(|rule| rule.check(entries, has_streams).map_err(misplaced))
    }

    /// Returns the requested files, each with its flag.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.files.iter().map(|(file, path)| (file.flag(), path.as_path()))
    }
}
