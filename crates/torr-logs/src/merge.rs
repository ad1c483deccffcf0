//! Several logs as one, in the order of their times: rotated files, and those of several servers.

use crate::error::LogError;
use crate::lines::LogLines;
use crate::logged::{Line, LogLine};

/// A log of several, and its next line.
struct Source {
    lines: LogLines,
    next: Option<Box<Line>>,
}

/// Several logs as one.
pub(crate) struct Merged {
    sources: Vec<Source>,
}

impl Merged {
    /// Returns the logs as one. `unreadable` is called with each line that is not of its log's format.
    pub fn of(logs: Vec<LogLines>, mut unreadable: impl FnMut(String)) -> Result<Self, LogError> {
        let mut sources = Vec::with_capacity(logs.len());
        for lines in logs {
            let mut source = Source { lines, next: None };
            source.advance(&mut unreadable)?;
            sources.push(source);
        }
        Ok(Self { sources })
    }

    /// Returns the next line: of the logs' next lines the one that was written first.
    pub fn next(&mut self, mut unreadable: impl FnMut(String)) -> Result<Option<Box<Line>>, LogError> {
        let written = |source: &Source| source.next.as_ref()?.stamp.map(|stamp| stamp.at);
        let times = self.sources.iter().enumerate().filter_map(|(at, source)| Some((written(source)?, at)));
        let Some((_, first)) = times.min() else { return Ok(None) };
        let source = &mut self.sources[first];
        let line = source.next.take();
        source.advance(&mut unreadable)?;
        Ok(line)
    }
}

impl Source {
    fn advance(&mut self, unreadable: &mut impl FnMut(String)) -> Result<(), LogError> {
        loop {
            match self.lines.next()? {
                Some(LogLine::Line(line)) => {
                    self.next = Some(line);
                    return Ok(());
                }
                Some(LogLine::Unreadable(text)) => unreadable(text),
                None => return Ok(()),
            }
        }
    }
}
