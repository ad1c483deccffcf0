//! Samples as rows of CSV.

use super::file::OutputFile;
use super::point::MetricFacts;
use super::time::rfc3339;
use crate::metrics::Sample;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

/// The form of the times in CSV.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimeFormat {
    /// Seconds since 1970.
    #[default]
    Unix,
    /// Milliseconds since 1970.
    UnixMilli,
    /// Microseconds since 1970.
    UnixMicro,
    /// Nanoseconds since 1970.
    UnixNano,
    /// A date and a time.
    Rfc3339,
    /// A date and a time with decimals.
    Rfc3339Nano,
}

impl TimeFormat {
    /// Returns the form of this name in k6.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "unix" => Self::Unix,
            "unix_milli" => Self::UnixMilli,
            "unix_micro" => Self::UnixMicro,
            "unix_nano" => Self::UnixNano,
            "rfc3339" => Self::Rfc3339,
            "rfc3339_nano" => Self::Rfc3339Nano,
            _ => return None,
        })
    }

    fn text(self, time: SystemTime) -> String {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        match self {
            Self::Unix => since.as_secs().to_string(),
            Self::UnixMilli => since.as_millis().to_string(),
            Self::UnixMicro => since.as_micros().to_string(),
            Self::UnixNano => since.as_nanos().to_string(),
            Self::Rfc3339 => rfc3339(time, false),
            Self::Rfc3339Nano => rfc3339(time, true),
        }
    }
}

/// Samples as rows of CSV.
#[derive(Debug)]
pub struct Csv {
    rows: csv::Writer<OutputFile>,
    format: TimeFormat,
    /// The tags that have a column of their own, by name.
    columns: Vec<String>,
}

impl Csv {
    /// Writes the header row.
    pub fn begin(file: OutputFile, format: TimeFormat, system_tags: &[String]) -> io::Result<Self> {
        let mut columns = system_tags.to_vec();
        columns.sort_unstable();
        let mut rows = csv::Writer::from_writer(file);
        let fixed = ["metric_name", "timestamp", "metric_value"];
        let header = fixed.into_iter().chain(columns.iter().map(String::as_str)).chain(["extra_tags", "metadata"]);
        rows.write_record(header)?;
        Ok(Self { rows, format, columns })
    }

    /// Writes a sample of a metric.
    pub fn write(&mut self, metric: &MetricFacts, sample: &Sample) -> io::Result<()> {
        let tags = &sample.tags;
        let (time, value) = (self.format.text(sample.time), format!("{:.6}", sample.value));
        let of = |column: &String| tags.get(column).unwrap_or_default();
        // The tags are sorted by name.
        let extra = joined(tags.iter().filter(|(name, _)| self.columns.iter().all(|column| column != name)));
        let metadata = joined(tags.metadata().iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let fixed = [&*metric.name, &time, &value];
        let row = fixed.into_iter().chain(self.columns.iter().map(of)).chain([extra.as_str(), &metadata]);
        Ok(self.rows.write_record(row)?)
    }

    /// Closes the file.
    pub fn finish(self) -> io::Result<()> {
        self.rows.into_inner().map_err(csv::IntoInnerError::into_error)?.finish()
    }
}

fn joined<'p>(pairs: impl Iterator<Item = (&'p str, &'p str)>) -> String {
    pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}
