//! The entries of sessions: a table, and below an entry what failed there.

use crate::human::{count, cut, micros, plural, printable};
use crate::streams;
use crate::style::{BAD, FAINT, paint};
use crate::table::{align, align_within, visible, width as table_width};
use std::collections::BTreeMap;
use std::fmt::Write;
use torr_gauge::sessions::{AssertExample, AssertResult, EntryCause, EntryResult};

/// The limit of entries in the table, unless more failed.
const MOST_ENTRIES: usize = 50;
/// The least columns of an entry's name.
const LEAST_NAME: usize = 16;
/// The limit of an expected or actual value in characters. With its label it fits a terminal of 80 columns.
const MOST_CHARS: usize = 60;

/// Returns a title for each entry: its name, and where several have one name, its position in the file too.
pub fn titles(entries: &[EntryResult]) -> Vec<String> {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    entries.iter().for_each(|entry| *uses.entry(&entry.name).or_default() += 1);
    let title = |entry: &EntryResult| match uses[entry.name.as_str()] {
        1 => entry.name.clone(),
        _ => format!("{} ({}:{})", entry.name, entry.file, entry.line),
    };
    entries.iter().map(title).collect()
}

/// Returns the table of entries in at most `width` columns, with what failed below each entry.
pub fn section(entries: &[EntryResult], width: usize) -> String {
    let shown: Vec<usize> = (0..entries.len()).filter(|&at| at < MOST_ENTRIES || failed(&entries[at])).collect();
    let titles = titles(entries);
    let all_rows = |most: usize| {
        let row = |&at: &usize| row(&entries[at], &titles[at], most);
        std::iter::once(heads()).chain(shown.iter().map(row)).collect::<Vec<_>>()
    };
    let rows = all_rows(name_width(entries, &shown, width));
    let mut text = String::new();
    if table_width(&rows) <= width {
        let table = align(&rows);
        let mut lines = table.lines();
        let _ = writeln!(text, "{}", lines.next().unwrap_or_default());
        for (line, &at) in lines.zip(&shown) {
            let _ = writeln!(text, "{line}");
            details(&entries[at]).iter().for_each(|detail| text.extend(["  ", detail, "\n"]));
        }
    } else {
        text.push_str(&align_within(&rows, width));
        for &at in &shown {
            let details = details(&entries[at]);
            if !details.is_empty() {
                let _ = writeln!(text, "{}", printable(&titles[at]));
            }
            details.iter().for_each(|detail| text.extend(["  ", detail, "\n"]));
        }
    }
    if shown.len() < entries.len() {
        let left_out = format!("and {} more entries without failures (--json has all)", entries.len() - shown.len());
        let _ = writeln!(text, "{}", paint(FAINT, left_out));
    }
    text
}

/// Returns why an entry counts as failed: asserts, or sessions that ended there although requests had responses. `None`
/// otherwise; failed requests alone are errors, as in a run without sessions.
pub fn failure(entry: &EntryResult) -> Option<String> {
    let asserts = entry.asserts.iter().filter(|assert| assert.failed > 0);
    let asserts: Vec<_> = asserts.map(|assert| assert_failure(assert, entry.requests)).collect();
    match asserts.is_empty() {
        false => Some(asserts.join("; ")),
        true if entry.sessions_failed > entry.request_failures => Some(ended_here(entry)),
        true => None,
    }
}

/// Returns in how many responses an assert failed.
fn assert_failure(assert: &AssertResult, responses: u64) -> String {
    format!("{} failed in {} of {}", printable(&assert.assert), count(assert.failed), plural(responses, "response"))
}

/// Returns the lines of a failed assert with its examples, without colours.
pub fn assert_lines(assert: &AssertResult, responses: u64) -> Vec<String> {
    let share = format!("{} of {} failed", count(assert.failed), plural(responses, "response"));
    let mut lines = vec![format!("{share}: {}", printable(&assert.assert))];
    lines.extend(assert.examples.iter().flat_map(example));
    lines
}

/// Returns an example on one line, or on two where it is long.
fn example(example: &AssertExample) -> Vec<String> {
    let [expected, actual] = [&example.expected, &example.actual].map(|text| cut(&printable(text), MOST_CHARS));
    if expected.chars().count() + actual.chars().count() <= MOST_CHARS - 10 {
        return vec![format!("  expected {expected}, was {actual}")];
    }
    vec![format!("  expected {expected}"), format!("  was      {actual}")]
}

/// Returns the columns that names may take beside the other columns.
fn name_width(entries: &[EntryResult], shown: &[usize], width: usize) -> usize {
    let unnamed = shown.iter().map(|&at| row(&entries[at], "", 0));
    let rows: Vec<_> = std::iter::once(heads()).chain(unnamed).collect();
    let others = table_width(&rows) - visible(&rows[0][0]);
    width.saturating_sub(others).max(LEAST_NAME)
}

fn failed(entry: &EntryResult) -> bool {
    entry.failed > 0 || entry.sessions_failed > 0 || entry.asserts_failed > 0
}

fn heads() -> Vec<String> {
    ["entry", "requests", "failed", "p50", "p99", "max"].map(|name| paint(FAINT, name)).to_vec()
}

/// Returns the row of an entry, with the requests that ended, whose title takes at most `most` characters.
fn row(entry: &EntryResult, title: &str, most: usize) -> Vec<String> {
    let known = |us: Option<u64>| us.map_or_else(|| "-".to_owned(), |us| micros(us as f64));
    let times = entry.latency_us.as_ref();
    let failed = match entry.failed {
        0 => "0".to_owned(),
        n => paint(BAD, count(n)),
    };
    vec![
        shortened(entry, title, most),
        count(entry.requests + entry.request_failures),
        failed,
        known(times.and_then(|times| times.p50)),
        known(times.and_then(|times| times.p99)),
        known(times.map(|times| times.max)),
    ]
}

/// Returns a title of at most `most` characters. Of a title with a position the end stays, which tells it from others.
fn shortened(entry: &EntryResult, title: &str, most: usize) -> String {
    if printable(title).chars().count() <= most || title == entry.name {
        return without_middle(&printable(title), most);
    }
    let file = entry.file.rsplit('/').next().unwrap_or_default();
    let (whole, short) = (format!(" ({file}:{})", entry.line), format!(" (:{})", entry.line));
    let end = if whole.chars().count() + LEAST_NAME <= most { whole } else { short };
    format!("{}{end}", without_middle(&printable(&entry.name), most.saturating_sub(end.chars().count())))
}

/// Returns a text of at most `most` characters with `...` for its middle, since paths differ at their ends.
fn without_middle(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(3);
    let (front, back) = (kept / 2, kept - kept / 2);
    text.chars().take(front).chain("...".chars()).chain(text.chars().skip(length - back)).collect()
}

/// Returns the streams of an entry and what failed there, line by line with colours; nothing where all is well.
fn details(entry: &EntryResult) -> Vec<String> {
    let mut lines: Vec<String> = entry.streams.iter().map(streams::of_entry).collect();
    for assert in entry.asserts.iter().filter(|assert| assert.failed > 0) {
        let mut of_assert = assert_lines(assert, entry.requests).into_iter();
        lines.extend(of_assert.next().map(|line| paint(BAD, line)));
        lines.extend(of_assert);
    }
    if entry.failed > 0 && entry.status.keys().any(|&status| status >= 400) {
        let statuses = entry.status.iter().map(|(status, n)| format!("{status} x {}", count(*n)));
        lines.push(format!("status {}", statuses.collect::<Vec<_>>().join(", ")));
    }
    if !entry.grpc.is_empty() {
        let calls = entry.grpc.iter().map(|(status, n)| format!("{status} x {}", count(*n)));
        lines.push(format!("calls that failed: {}", calls.collect::<Vec<_>>().join(", ")));
    }
    if entry.request_failures > 0 {
        lines.push(paint(BAD, format!("{} without a response", plural(entry.request_failures, "request"))));
    }
    if entry.sessions_failed > 0 {
        lines.push(ended_here(entry));
    }
    if entry.retries > 0 {
        lines.push(if entry.retries == 1 { "1 retry".to_owned() } else { format!("{} retries", count(entry.retries)) });
    }
    lines
}

/// Returns how many sessions ended at an entry, and why.
pub fn ended_here(entry: &EntryResult) -> String {
    let cause = |cause: &EntryCause| match cause.count == entry.sessions_failed {
        true => printable(&cause.what).into_owned(),
        false => format!("{} x {}", count(cause.count), printable(&cause.what)),
    };
    let causes: Vec<_> = entry.causes.iter().map(cause).collect();
    let why = if causes.is_empty() { String::new() } else { format!(": {}", causes.join(", ")) };
    format!("{} ended here{why}", plural(entry.sessions_failed, "session"))
}

#[cfg(test)]
mod tests;
