//! Logs as requests in the order of their times, with counts of what was left out.

use crate::error::LogError;
use crate::format::Format;
use crate::lines::LogLines;
use crate::logged::LoggedRequest;
use crate::merge::Merged;
use crate::order::Ordered;
use crate::selection::{Selection, TimeRange};
use crate::time::SECOND;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The number of names of hosts or methods that are counted each; further ones count as `others`.
const MOST_NAMES: usize = 100;
/// The name of further ones.
const OTHERS: &str = "others";
/// How long behind the end of the range a log is read on: a line may be written that much later than its neighbours.
const BEHIND_END: i64 = 60 * SECOND;

/// What was read of logs, and what was left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogCounts {
    /// The number of lines.
    pub lines: u64,
    /// The number of lines that could not be read.
    pub unreadable: u64,
    /// The first of these as it stands in the log: it may hold secrets.
    pub first_unreadable: Option<String>,
    /// The number of lines outside the range of times.
    pub outside: u64,
    /// The number of requests left out for their method, by method.
    pub methods: BTreeMap<String, u64>,
    /// The number of requests left out for their host, by host.
    pub hosts: BTreeMap<String, u64>,
    /// The number of requests that began so long before their lines were written that they leave later than they were due.
    pub late: u64,
    /// Whether lines have whole seconds, so that the requests of a second are spread over it.
    pub spread: bool,
}

impl LogCounts {
    fn note_unreadable(&mut self, text: String) {
        self.lines += 1;
        self.unreadable += 1;
        self.first_unreadable.get_or_insert(text);
    }
}

fn count(names: &mut BTreeMap<String, u64>, name: &str) {
    let is_known = names.contains_key(name) || names.len() < MOST_NAMES;
    *names.entry(if is_known { name } else { OTHERS }.to_owned()).or_default() += 1;
}

/// Logs as requests in the order of their times.
pub struct LogReader {
    lines: Merged,
    selection: Selection,
    range: Option<TimeRange>,
    ordered: Ordered,
    counts: LogCounts,
    formats: Vec<&'static str>,
    is_end: bool,
}

impl std::fmt::Debug for LogReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogReader").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl LogReader {
    /// Opens logs, which are merged by their times; `-` is standard input. Without a format each log's is recognised by its first lines.
    ///
    /// # Errors
    /// If a log cannot be read, is empty, or is of no known format.
    pub fn open(paths: &[PathBuf], format: Option<&Format>, selection: Selection) -> Result<Self, LogError> {
        let logs = paths.iter().map(|path| LogLines::open(path, format)).collect::<Result<Vec<_>, _>>()?;
        let mut formats: Vec<_> = logs.iter().map(|log| log.format().name()).collect();
        formats.sort_unstable();
        formats.dedup();
        let mut counts = LogCounts::default();
        let lines = Merged::of(logs, |text| counts.note_unreadable(text))?;
        Ok(Self { lines, selection, range: None, ordered: Ordered::default(), counts, formats, is_end: false })
    }

    /// Returns the names of the logs' formats.
    pub fn formats(&self) -> &[&'static str] {
        &self.formats
    }

    /// Returns what was read so far, and what was left out.
    pub fn counts(&self) -> LogCounts {
        let Ordered { late, has_whole_seconds: spread, .. } = self.ordered;
        LogCounts { late, spread, ..self.counts.clone() }
    }

    /// Returns the next request; `None` at the end of the logs, or of the range of times.
    ///
    /// # Errors
    /// If a log cannot be read on.
    pub fn next_request(&mut self) -> Result<Option<LoggedRequest>, LogError> {
        loop {
            if let Some(request) = self.ordered.take(self.is_end) {
                return Ok(Some(request));
            }
            if self.is_end {
                return Ok(None);
            }
            self.read_line()?;
        }
    }

    fn read_line(&mut self) -> Result<(), LogError> {
        let Self { lines, counts, .. } = self;
        let next = lines.next(|text| counts.note_unreadable(text))?;
        let Some(line) = next else {
            self.is_end = true;
            return Ok(());
        };
        let Some(stamp) = line.stamp else { return Ok(()) };
        let counts = &mut self.counts;
        counts.lines += 1;
        let selection = &self.selection;
        let range = *self.range.get_or_insert_with(|| TimeRange::of(selection, stamp));
        self.is_end = stamp.at.saturating_sub(BEHIND_END) > range.to;
        if stamp.at < range.from || stamp.at >= range.to {
            counts.outside += 1;
        } else if !selection.takes_method(&line) {
            count(&mut counts.methods, &line.method);
        } else if !selection.takes_host(&line) {
            count(&mut counts.hosts, line.host.as_deref().unwrap_or_default());
        } else {
            self.ordered.put(*line, stamp);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn selection() -> Selection {
        Selection { methods: vec!["GET".into()], hosts: vec!["shop.example".into()], from: None, to: None }
    }

    fn line(second: u32, request: &str) -> String {
        format!(
            "10.0.0.1 - - [29/Nov/2026:10:{:02}:{:02} +0000] \"{request} HTTP/1.1\" 200 5 \"-\" \"curl\"\n",
            second / 60,
            second % 60
        )
    }

    fn targets(reader: &mut LogReader) -> Vec<String> {
        std::iter::from_fn(|| reader.next_request().expect("it can be read")).map(|request| request.target).collect()
    }

    #[test]
    fn rotated_files_are_put_in_order_and_decompressed() {
        let folder = tempfile::tempdir().expect("there is room");
        let (new, old) = (folder.path().join("access.log"), folder.path().join("access.log.1.gz"));
        std::fs::write(&new, line(70, "GET /3") + &line(71, "POST /4") + "junk\n" + &line(72, "GET http://other/5"))
            .expect("there is room");
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all((line(1, "GET /1") + &line(2, "GET /2")).as_bytes()).expect("it is memory");
        std::fs::write(&old, gzip.finish().expect("it is memory")).expect("there is room");
        let mut reader = LogReader::open(&[new, old], None, selection()).expect("they are logs");
        assert_eq!(reader.formats(), ["combined"]);
        assert_eq!(targets(&mut reader), ["/1", "/2", "/3"]);
        let counts = reader.counts();
        assert_eq!((counts.lines, counts.unreadable, counts.spread), (6, 1, true));
        assert_eq!(counts.first_unreadable.as_deref(), Some("junk"));
        assert_eq!(counts.methods, [("POST".to_owned(), 1)].into());
        assert_eq!(counts.hosts, [("other".to_owned(), 1)].into());
    }

    #[test]
    fn a_range_of_times_is_taken() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("access.log");
        let all: String = (0..600).map(|second| line(second, &format!("GET /{second}"))).collect();
        std::fs::write(&path, all).expect("there is room");
        let bound = |text: &str| Some(crate::TimeBound::parse(text).expect("it is a time"));
        let selection = Selection { from: bound("10:01"), to: bound("10:01:03"), ..selection() };
        let mut reader = LogReader::open(&[path], None, selection).expect("it is a log");
        assert_eq!(targets(&mut reader), ["/60", "/61", "/62"]);
        assert!(reader.counts().lines < 200, "the log is not read to its end");
    }

    #[test]
    fn what_is_no_log_is_refused() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("x");
        let open = |path: &PathBuf| LogReader::open(std::slice::from_ref(path), None, selection());
        assert!(matches!(open(&path), Err(LogError::Read(_, why)) if why == "no such file"));
        std::fs::write(&path, "\n\n").expect("there is room");
        assert!(matches!(open(&path), Err(LogError::Empty(_))));
        std::fs::write(&path, "Hello\n").expect("there is room");
        assert!(matches!(open(&path), Err(LogError::Unknown { line, .. }) if line == "Hello"));
    }
}
