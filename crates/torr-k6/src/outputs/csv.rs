//! Samples as rows of CSV.

use super::file::OutputFile;
use super::point::Point;
use super::time::rfc3339;
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

    /// Writes a sample.
    pub fn write(&mut self, point: &Point) -> io::Result<()> {
        let tags = &point.tags;
        let (time, value) = (self.format.text(point.time), format!("{:.6}", point.value));
        let of =
            |column: &String| tags.tags.iter().find(|(name, _)| name == column).map_or("", |(_, value)| value.as_str());
        let mut extra: Vec<_> = tags.tags.iter().filter(|(name, _)| !self.columns.contains(name)).collect();
        extra.sort_unstable();
        let (extra, metadata) = (joined(extra), joined(&tags.metadata));
        let fixed = [point.metric.name.as_str(), &time, &value];
        let row = fixed.into_iter().chain(self.columns.iter().map(of)).chain([extra.as_str(), &metadata]);
        Ok(self.rows.write_record(row)?)
    }

    /// Closes the file.
    pub fn finish(self) -> io::Result<()> {
        self.rows.into_inner().map_err(csv::IntoInnerError::into_error)?.finish()
    }
}

fn joined<'p>(pairs: impl IntoIterator<Item = &'p (String, String)>) -> String {
    let pairs = pairs.into_iter().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join("&")
}
