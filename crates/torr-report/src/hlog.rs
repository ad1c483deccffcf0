//! The response times as an HdrHistogram interval log, written while the run goes on.

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriter, IntervalLogWriterBuilder, IntervalLogWriterError};
use std::io::{self, Write};
use std::time::{Duration, SystemTime};
use torr_gauge::Latency;
use torr_gauge::collector::{Measured, Progress};

/// Other programs tell by these lines what they have before them.
const FORMAT: &str = "[Histogram log format version 1.3]";
const LEGEND: &str = "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// A log under way. All intervals together hold each response time once.
pub struct Log<W> {
    out: W,
    serializer: V2DeflateSerializer,
    /// Where the last interval ended.
    end: Duration,
    written: Latency,
}

impl<W: Write> Log<W> {
    /// Begins the log of a run of this target that starts at this time.
    ///
    /// # Errors
    /// If it cannot be written.
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
        Ok(Self { out, serializer, end: Duration::ZERO, written: Latency::default() })
    }

    /// Writes what has come about since the last progress.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn interval(&mut self, progress: &Progress) -> io::Result<()> {
        self.append(&progress.latency, Duration::from_secs_f64(progress.elapsed_s))
    }

    /// Writes the rest: an interval that the end of the run cut short is no progress.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self, run: &Measured) -> io::Result<()> {
        let mut rest = run.total.latency();
        rest.subtract(&self.written);
        if rest.count() == 0 {
            return Ok(());
        }
        self.append(&rest, Duration::from_secs_f64(run.result.duration_s))
    }

    fn append(&mut self, latency: &Latency, end: Duration) -> io::Result<()> {
        let length = end.saturating_sub(self.end);
        self.write_line(latency, length).map_err(|error| match error {
            IntervalLogWriterError::IoError(error) => error,
            IntervalLogWriterError::SerializeError(error) => io::Error::other(error),
        })?;
        self.out.flush()?;
        self.end = self.end.max(end);
        self.written.add(latency);
        Ok(())
    }

    fn write_line(&mut self, latency: &Latency, length: Duration) -> Result<(), LineError> {
        // A writer of its own for each line: it adds nothing to a log where it has no head to write.
        let mut writer: IntervalLogWriter<'_, '_, W, _> =
            IntervalLogWriterBuilder::new().begin_log_with(&mut self.out, &mut self.serializer)?;
        writer.write_histogram(latency.histogram(), self.end, length, None)
    }
}

type LineError = IntervalLogWriterError<hdrhistogram::serialization::V2DeflateSerializeError>;
