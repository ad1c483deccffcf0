//! Sessions as a whole: their rate, and how they ended.

use crate::human::{count, percent, printable, rate as per_second};
use crate::style::{BAD, FAINT, STRONG, paint};
use torr_gauge::RunResult;
use torr_gauge::sessions::SessionSummary;

/// The limit of files that a title names.
const MOST_FILES: usize = 3;

/// Returns the files that the entries are from, and the servers that the requests went to.
pub fn title(run: &RunResult) -> String {
    let mut files: Vec<&str> = Vec::new();
    for entry in &run.entries {
        if !files.contains(&entry.file.as_str()) {
            files.push(&entry.file);
        }
    }
    let files = match files.len() {
        0..=MOST_FILES => files.join(", "),
        n => format!("{} files", count(n as u64)),
    };
    let servers = match &run.plan.origins[..] {
        [first, second] => format!("{first} and {second}"),
        [first, others @ ..] if !others.is_empty() => format!("{first} and {} others", others.len()),
        _ => origin(&run.target).to_owned(),
    };
    format!("{} at {}", printable(&files), printable(&servers))
}

/// Returns the scheme and the host of a URL: its path is only that of the first request.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find(['/', '?', '#']).map_or(url, |at| &url[..host + at])
}

/// Returns the finished sessions per second. A planned rate is that of sessions that are begun, which stand beside it then.
pub fn rate(sessions: &SessionSummary, run: &RunResult) -> String {
    let finished = per_second(sessions.per_second);
    paint(
        STRONG,
        match run.plan.rate {
            None => format!("{finished} sessions/s"),
            Some(planned) => {
                let begun = per_second(sessions.started as f64 / run.duration_s.max(1e-3));
                format!("{begun} of {} sessions/s begun, {finished} finished", per_second(planned))
            }
        },
    )
}

/// Returns how many sessions failed; `None` without failures.
pub fn failed(sessions: &SessionSummary) -> Option<String> {
    let failed = sessions.failed;
    let share = percent(failed as f64 / sessions.started.max(1) as f64);
    let noun = if failed == 1 { "session" } else { "sessions" };
    (failed > 0).then(|| paint(BAD, format!("{} {noun} failed ({share})", count(failed))))
}

/// Returns the rate of sessions and how they ended.
pub fn counts(sessions: &SessionSummary, run: &RunResult) -> String {
    let failed = match sessions.failed {
        0 => String::new(),
        n => {
            let share = percent(n as f64 / sessions.started.max(1) as f64);
            format!(", {}", paint(BAD, format!("{} failed ({share})", count(n))))
        }
    };
    let unfinished = match sessions.unfinished {
        0 => String::new(),
        n => paint(FAINT, format!(", {} unfinished", count(n))),
    };
    format!("{}   {} finished{failed}{unfinished}", rate(sessions, run), count(sessions.finished))
}
