//! A history as text and as Markdown.

use crate::shown::shown;
use std::fmt::Write;
use torr_gauge::redact::printable;
use torr_lab::history::{Beside, Change, History};
use torr_report::human::{difference, plural};
use torr_report::style::{FAINT, STRONG, paint};

/// The most differences beside the code that a change lists.
const MOST_BESIDE: usize = 5;

/// Returns all as text.
pub fn text(history: &History) -> String {
    let mut out = format!("{} {}\n", paint(STRONG, "history"), paint(FAINT, runs(history)));
    if history.changes.is_empty() {
        out += "\n  no change\n";
    }
    for change in &history.changes {
        let _ = writeln!(
            out,
            "\n  {} {} at {}: from {} to {}\n    {}",
            change.metric.name(),
            by(change),
            printable(&change.run),
            shown(change.metric, change.before),
            shown(change.metric, change.since),
            paint(
                FAINT,
                printable(&format!("the run of {}, after {}; p = {:.3}", change.started_at, change.after, change.p))
            ),
        );
        for line in beside(history, change) {
            let _ = writeln!(out, "    {}", paint(FAINT, printable(&line)));
        }
    }
    out
}

/// Returns the changes as Markdown, the newest first.
pub fn markdown(history: &History) -> String {
    let mut out = format!("### torr history: {}\n\n{}\n", plain(&conclusion(history)), runs(history));
    if history.changes.is_empty() {
        return out;
    }
    out += "\n| metric | change | from | to | first run | changed as well |\n|---|---|---|---|---|---|\n";
    let mut changes: Vec<_> = history.changes.iter().collect();
    changes.sort_by_key(|change| std::cmp::Reverse(&change.started_at));
    for change in changes {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {}, {} | {} |",
            change.metric.name(),
            by(change),
            shown(change.metric, change.before),
            shown(change.metric, change.since),
            plain(change.started_at.get(..10).unwrap_or_default()),
            plain(&change.run),
            plain(&beside(history, change).join("; ")),
        );
    }
    out
}

/// Returns a text as Markdown that shows it as it is: file names and results may have any characters.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        if "\\`*_<>[]|@#&".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns the number of runs, and of those left out.
fn runs(history: &History) -> String {
    let left_out = match history.left_out {
        0 => String::new(),
        count => format!(", {count} left out as invalid"),
    };
    format!("{}{left_out}", plural(history.runs as u64, "run"))
}

/// Returns the newest change in a sentence.
fn conclusion(history: &History) -> String {
    match history.changes.iter().max_by_key(|change| &change.started_at) {
        None => "no metric has changed".into(),
        Some(change) => format!("{} {} at {}", change.metric.name(), by(change), change.run),
    }
}

fn by(change: &Change) -> String {
    let direction = if change.ratio > 1.0 { "rose" } else { "fell" };
    format!("{direction} by {}", difference((change.ratio - 1.0).abs()))
}

/// Returns what else changed at the run of a change, a line each.
fn beside(history: &History, change: &Change) -> Vec<String> {
    let at: Vec<&Beside> = history.beside.iter().filter(|other| other.run == change.run).collect();
    let mut lines: Vec<_> = at
        .iter()
        .take(MOST_BESIDE)
        .map(|other| format!("{} changed as well, from {} to {}", other.what, other.before, other.since))
        .collect();
    if at.len() > MOST_BESIDE {
        lines.push(format!("{} more settings changed as well", at.len() - MOST_BESIDE));
    }
    lines
}
