//! The lines of one log, or the requests of a recording: a file, compressed or not, or standard input.

use crate::error::LogError;
use crate::format::Format;
use crate::gor::{self, Recording};
use crate::logged::LogLine;
use flate2::read::MultiGzDecoder;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The length of the longest line that is read, in bytes; of a longer one the end is skipped, and the line cannot be read.
const LONGEST_LINE: u64 = 64 * 1024;
/// The number of lines that the format is recognised by.
const SAMPLE: usize = 100;

/// The lines of one log, or the requests of a recording.
pub(crate) struct LogLines {
    name: String,
    format: Format,
    source: Source,
}

enum Source {
    Text {
        input: Box<dyn BufRead + Send>,
        /// Lines that were read before the format was known.
        sample: VecDeque<String>,
    },
    Recording(Recording),
}

impl LogLines {
    /// Opens a log; `-` is standard input.
    pub fn open(path: &Path, format: Option<&Format>) -> Result<Self, LogError> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let failed = |error: &io::Error| LogError::Read(name.clone(), why(error));
        let input: Box<dyn Read + Send> = match is_stdin {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path).map_err(|error| failed(&error))?),
        };
        let mut plain = BufReader::with_capacity(64 * 1024, input);
        let is_gzip = plain.fill_buf().map_err(|error| failed(&error))?.starts_with(&[0x1f, 0x8b]);
        let mut input: Box<dyn BufRead + Send> = match is_gzip {
            true => Box::new(BufReader::with_capacity(64 * 1024, MultiGzDecoder::new(plain))),
            false => Box::new(plain),
        };
        if format.is_none() && gor::is_recording(input.fill_buf().map_err(|error| failed(&error))?) {
            return Ok(Self { name, format: Format::GoReplay, source: Source::Recording(Recording::new(input)) });
        }
        let mut sample = VecDeque::new();
        while sample.len() < SAMPLE
            && let Some(line) = next_line(&mut input).map_err(|error| failed(&error))?
        {
            sample.push_back(line);
        }
        let first = sample.front().ok_or_else(|| LogError::Empty(name.clone()))?;
        let recognised = format.cloned().or_else(|| Format::recognise(sample.iter().map(String::as_str)));
        let format = recognised.ok_or_else(|| LogError::Unknown { file: name.clone(), line: first.clone() })?;
        Ok(Self { name, format, source: Source::Text { input, sample } })
    }

    /// Returns the log's format.
    pub const fn format(&self) -> &Format {
        &self.format
    }

    /// Returns the next line; `None` at the end.
    pub fn next(&mut self) -> Result<Option<LogLine>, LogError> {
        let next = match &mut self.source {
            Source::Recording(recording) => recording.next(),
            Source::Text { input, sample } => {
                let text = sample.pop_front().map_or_else(|| next_line(input), |text| Ok(Some(text)));
                let line = |text: String| match self.format.line(&text) {
                    Some(line) => LogLine::Line(Box::new(line)),
                    None => LogLine::Unreadable(text),
                };
                text.map(|text| text.map(line))
            }
        };
        next.map_err(|error| LogError::Read(self.name.clone(), why(&error)))
    }
}

/// Returns the next line that is not empty.
fn next_line(input: &mut Box<dyn BufRead + Send>) -> io::Result<Option<String>> {
    loop {
        let mut bytes = Vec::new();
        if input.take(LONGEST_LINE).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        if bytes.len() as u64 == LONGEST_LINE && !bytes.ends_with(b"\n") {
            input.skip_until(b'\n')?;
        }
        let text = String::from_utf8_lossy(&bytes);
        // Other programs' comments begin so.
        let text = text.trim();
        if !text.is_empty() && !text.starts_with('#') {
            return Ok(Some(text.to_owned()));
        }
    }
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::UnexpectedEof => "the compressed data ends early".to_owned(),
        _ => error.to_string(),
    }
}
