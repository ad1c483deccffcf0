//! The interval log of a run: a file keeps its former content until the run has begun.

use crate::sink::Sink;
use std::io;
use std::time::SystemTime;
use torr_gauge::collector::{Measurement, Progress};
use torr_report::hlog::HistogramLog;

/// The interval log of a run.
pub enum IntervalLog {
    /// None is wanted, or writing one has failed, which was said.
    None,
    /// The log before the run.
    Opened(Sink),
    /// The log of a run against a target that began at a time. No request has ended so far.
    Waiting(Sink, String, SystemTime),
    /// The log of this name, with its head.
    Begun(String, HistogramLog<Sink>),
}

impl IntervalLog {
    /// Begins the log of a run that begins now. What has no former content gets the head of the log at once, so that one that cannot
    /// be written shows before the run.
    ///
    /// # Errors
    /// With a line that says what could not be written.
    pub fn begin(&mut self, target: &str) -> Result<(), String> {
        if let Self::Opened(sink) = std::mem::replace(self, Self::None) {
            let keeps_former = sink.keeps_former();
            *self = Self::Waiting(sink, target.to_owned(), SystemTime::now());
            if !keeps_former {
                self.log()?;
            }
        }
        Ok(())
    }

    /// Writes the response times since the previous interval.
    ///
    /// # Errors
    /// With a line that says what could not be written; only once.
    pub fn interval(&mut self, progress: &Progress) -> Result<(), String> {
        // A target that is not reached has no ends of requests.
        match self {
            Self::Waiting(..) if progress.latency.count() == 0 => Ok(()),
            _ => self.write(|log| log.interval(progress)),
        }
    }

    /// Writes the last interval.
    ///
    /// # Errors
    /// With a line that says what could not be written, unless it was said before.
    pub fn finish(&mut self, run: &Measurement) -> Result<(), String> {
        self.write(|log| log.finish(run))
    }

    fn write(&mut self, write: impl FnOnce(&mut HistogramLog<Sink>) -> io::Result<()>) -> Result<(), String> {
        let Some((name, log)) = self.log()? else { return Ok(()) };
        let written = write(log).map_err(|error| trouble(name, &error));
        if written.is_err() {
            *self = Self::None;
        }
        written
    }

    /// Returns the log with its name, if one is wanted. Its head is written where it was not.
    fn log(&mut self) -> Result<Option<(&str, &mut HistogramLog<Sink>)>, String> {
        *self = match std::mem::replace(self, Self::None) {
            Self::Waiting(sink, target, start) => {
                let name = sink.name().to_owned();
                let log = HistogramLog::begin(sink, &target, start).map_err(|error| trouble(&name, &error))?;
                Self::Begun(name, log)
            }
            other => other,
        };
        Ok(match self {
            Self::Begun(name, log) => Some((name.as_str(), log)),
            _ => None,
        })
    }
}

fn trouble(name: &str, error: &io::Error) -> String {
    format!("cannot write the interval log {name}: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::time::Duration;
    use torr_gauge::collector::RunFacts;
    use torr_gauge::{Collector, Sample};

    fn opened(path: &Path) -> IntervalLog {
        IntervalLog::Opened(Sink::open(path).expect("it can be opened"))
    }

    #[test]
    fn a_file_keeps_its_former_content_until_a_request_has_ended() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("run.hlog");
        let content = || std::fs::read_to_string(&path).expect("it is there");
        std::fs::write(&path, "former").expect("there is room");
        let mut log = opened(&path);
        log.begin("http://h/").expect("nothing is written");
        let mut collector = Collector::new(1, Duration::from_secs(1));
        let progress = collector.take(0, 0, &Sample::default(), false).expect("the interval is complete");
        log.interval(&progress).expect("nothing is written");
        assert_eq!(content(), "former");
        let mut sample = Sample::default();
        sample.answered.record(1_000_000);
        let progress = collector.take(0, 1, &sample, false).expect("the interval is complete");
        log.interval(&progress).expect("there is room");
        log.finish(&collector.finish(RunFacts::default())).expect("there is room");
        let text = content();
        assert!(text.starts_with("#[Histogram log format version 1.3]") && !text.contains("former"), "{text}");
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with(['#', '"'])).collect();
        assert!(lines.len() == 1 && lines[0].starts_with("0."), "one line for both seconds: {text}");
    }

    #[test]
    fn one_that_cannot_be_written_is_named_before_the_run() {
        let line = opened(Path::new("/dev/full")).begin("http://h/").expect_err("it is full");
        assert!(line.starts_with("cannot write the interval log /dev/full: No space left"), "{line}");
    }
}
