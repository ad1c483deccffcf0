//! A comparison as text: what follows from it, then the table.

use super::written::WrittenComparison;
use crate::output;
use std::fmt::Write;
use torr_doctor::Ratio;
use torr_doctor::compare::{Comparison, Kind, Row, Secured};
use torr_report::human::{count, micros, per_second, plural, rate, times};
use torr_report::style::{BAD, FAINT, GOOD, STRONG, paint};
use torr_report::table;

/// All that is shown.
pub fn text(WrittenComparison { comparison, conclusion, .. }: &WrittenComparison) -> String {
    let mut out = format!("{}  {}\n\n", paint(STRONG, &comparison.target), paint(FAINT, how(comparison)));
    let _ = writeln!(out, "  {}       {}", paint(STRONG, "result"), conclusion.summary);
    let mut line = |name: String, what: &str| {
        let _ = writeln!(out, "  {:<12} {name} {what}", "");
    };
    conclusion.because.iter().for_each(|reason| line(paint(FAINT, "because"), reason));
    conclusion.advice.iter().for_each(|advice| line(paint(GOOD, "->"), advice));
    conclusion.verify.iter().for_each(|command| line(paint(FAINT, "verify"), command));
    if comparison.kind == Kind::Tls {
        out += &section(&by_connection(&comparison.rows));
    }
    out += &section(&all(comparison));
    out
}

fn how(comparison: &Comparison) -> String {
    let what = match comparison.kind {
        Kind::Workers => "numbers of workers",
        Kind::Via => "directly and through a proxy",
        Kind::Tls => "TLS",
        Kind::Paths => "paths",
    };
    format!(
        "{what} compared, {}, {} in turns, {:.0} s{}",
        plural(comparison.connections as u64, "connection"),
        plural(comparison.rounds as u64, "round"),
        comparison.seconds,
        if comparison.interrupted { ", interrupted" } else { "" }
    )
}

fn section(rows: &[Vec<String>]) -> String {
    table::align_within(rows, output::columns_of_table())
        .lines()
        .fold("\n".into(), |text, line| text + "  " + line + "\n")
}

/// A column: its head, and what stands in it for a row, if anything does.
type Column = (&'static str, fn(&Row) -> Option<String>);

const COLUMNS: [Column; 8] = [
    ("requests/s", |row| Some(rate(row.rps))),
    ("lowest-highest", |row| Some(format!("{}-{}", rate(row.rps_min), rate(row.rps_max)))),
    ("to the first", |row| row.ratio.map(interval)),
    ("p50", |row| row.p50_us.map(|us| micros(us as f64))),
    ("p99", |row| row.p99_us.map(|us| micros(us as f64))),
    ("server CPU", |row| row.server_us.map(micros)),
    ("proxy CPU", |row| row.proxy_us.map(micros)),
    ("upstream connections", |row| row.upstream_opened_per_request.map(|opened| format!("{opened:.2}"))),
];

/// A line for each way; columns in which nothing stands are left out.
fn all(comparison: &Comparison) -> Vec<Vec<String>> {
    let rows = &comparison.rows;
    let shown: Vec<_> = COLUMNS.iter().filter(|(_, cell)| rows.iter().any(|row| cell(row).is_some())).collect();
    let head = [String::new()].into_iter().chain(shown.iter().map(|(name, _)| paint(FAINT, name)));
    let mut lines = vec![head.collect::<Vec<_>>()];
    for row in rows {
        let recommended = row.workers.is_some() && row.workers == comparison.workers;
        let name = if recommended { paint(STRONG, &row.name) } else { row.name.clone() };
        let cells = shown.iter().map(|(_, cell)| cell(row).unwrap_or_else(|| "-".into()));
        lines.push([name].into_iter().chain(cells).chain(note(row, recommended)).collect());
    }
    lines
}

fn note(row: &Row, recommended: bool) -> Option<String> {
    match row.failed_share {
        share if share > 0.001 => Some(paint(BAD, format!("{:.1}% failed", share * 100.0))),
        _ => recommended.then(|| paint(GOOD, "<- recommended")),
    }
}

fn interval(Ratio { ratio, low, high, pairs }: Ratio) -> String {
    match pairs {
        1 => times(ratio),
        _ => format!("{} ({}-{})", times(ratio), times(low), times(high)),
    }
}

/// Transports down, kept and not kept across.
fn by_connection(rows: &[Row]) -> Vec<Vec<String>> {
    let heads = ["", "kept alive", "", "one per request", "", "handshake", "full", "resumed"];
    let mut lines = vec![heads.map(|head| paint(FAINT, head)).to_vec()];
    for secured in [Secured::Plain, Secured::Full, Secured::Resumed] {
        let at = |keep_alive: bool| {
            rows.iter().find(|row| row.transport.is_some_and(|t| t.secured == secured && t.keep_alive == keep_alive))
        };
        let (Some(kept), Some(once)) = (at(true), at(false)) else { continue };
        let of_first = |row: &Row| times(row.ratio.map_or(1.0, |ratio| ratio.ratio));
        let known = |count_of: Option<u64>| count_of.map_or("-".into(), count);
        lines.push(vec![
            secured.to_string(),
            per_second(kept.rps),
            of_first(kept),
            per_second(once.rps),
            of_first(once),
            once.handshake_us.map_or("-".into(), micros),
            known(once.full_handshakes),
            known(once.resumed_handshakes),
        ]);
    }
    lines
}
