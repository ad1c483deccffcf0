//! Response times as an HdrHistogram interval log, written during the run.

use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError};
use hdrhistogram::serialization::{V2DeflateSerializeError, V2DeflateSerializer};
use std::io::{self, Write};
use std::time::{Duration, SystemTime};
use torr_gauge::Latency;
use torr_gauge::collector::{Measurement, Progress};

/// The comment by which other programs recognise the format.
const FORMAT: &str = "[Histogram log format version 1.3]";
const LEGEND: &str = "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// An open log. Its intervals together hold each response time once.
pub struct HistogramLog<W> {
    out: W,
    serializer: V2DeflateSerializer,
    /// The end of the last interval, from the start of the run.
    end: Duration,
}

impl<W: Write> HistogramLog<W> {
    /// Writes the head of the log of a run against `target` that starts at `start`.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn begin(mut out: W, target: &str, start: SystemTime) -> io::Result<Self> {
        let mut serializer = V2DeflateSerializer::new();
        IntervalLogWriterBuilder::new()
            .add_comment(FORMAT)
            .add_comment(&format!("[Logged by torr {}: {target}]", env!("CARGO_PKG_VERSION")))
            .add_comment("[Values and maxima are response times in microseconds]")
            .with_start_time(start)
            .begin_log_with(&mut out, &mut serializer)?;
        out.write_all(LEGEND.as_bytes())?;
        out.flush()?;
        Ok(Self { out, serializer, end: Duration::ZERO })
    }

    /// Writes the response times since the previous interval.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn interval(&mut self, progress: &Progress) -> io::Result<()> {
        let end = Duration::from_secs_f64(progress.elapsed_s).max(self.end);
        self.append(&progress.latency, end - self.end).map_err(|error| match error {
            IntervalLogWriterError::IoError(error) => error,
            IntervalLogWriterError::SerializeError(error) => io::Error::other(error),
        })?;
        self.end = end;
        self.out.flush()
    }

    /// Writes the last interval, which is shorter than the others.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn finish(&mut self, run: &Measurement) -> io::Result<()> {
        match &run.rest {
            Some(rest) if rest.latency.count() > 0 => self.interval(rest),
            _ => Ok(()),
        }
    }

    fn append(&mut self, latency: &Latency, length: Duration) -> Result<(), LineError> {
        // A new writer per line adds nothing but the line, because it has no comments to write.
        let mut writer = IntervalLogWriterBuilder::new().begin_log_with(&mut self.out, &mut self.serializer)?;
        writer.write_histogram(latency.histogram(), self.end, length, None)
    }
}

type LineError = IntervalLogWriterError<V2DeflateSerializeError>;
