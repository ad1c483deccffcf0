//! The demo's tables.

use super::reference::{self, Reference};
use super::result::{Demo, QUERY_CONNECTIONS, Row};
use crate::output;
use std::fmt::Write;
use std::path::Path;
use torr_gauge::RunResult;
use torr_gauge::verdict::Advice;
use torr_report::human::{self, plural};
use torr_report::sentence::advice;
use torr_report::style::{BAD, FAINT, STRONG, paint};
use torr_report::{table, text};

/// Returns the report, with the name of the JSON file, if there is one.
pub fn text(demo: &Demo, json: Option<&Path>) -> String {
    let mut out = String::new();
    let disturbed = disturbed(&demo.rows).map_or(String::new(), |disturbed| format!("; {}", paint(BAD, disturbed)));
    let _ = writeln!(out, "{}{disturbed}\n", paint(STRONG, "torr serve, loaded by torr"));
    let (hello, queries): (Vec<_>, Vec<_>) = demo.rows.iter().partition(|row| row.setting.path == "/");
    append(&mut out, hello_table(&hello));
    for (kept, rows) in queries.chunk_by(|one, other| one.setting.keep_alive == other.setting.keep_alive).map(kept) {
        let _ = writeln!(out, "\n  one row of 100,000 as JSON, {QUERY_CONNECTIONS} connections, {kept}\n");
        append(&mut out, query_table(rows));
    }
    let _ = writeln!(out, "\n  {}", paint(FAINT, note(&demo.rows)));
    let machine = &demo.machine;
    let _ = writeln!(
        out,
        "\n  here    {}, {}, {} GiB, {}; server and generator share it, {}; {}",
        machine.cpu,
        plural(machine.cores as u64, "CPU"),
        machine.memory_gib,
        machine.kernel,
        plural(demo.workers as u64, "worker"),
        demo.database
    );
    for (name, machine) in reference::MACHINES {
        let _ = writeln!(out, "  {name:<7} {machine}");
    }
    if let Some(verdict) = &demo.verdict {
        let _ = write!(out, "\n{}", text::verdict(verdict));
    }
    let figures = match json {
        Some(file) => format!("all figures are in {}", file.display()),
        None => "'torr demo --json FILE' keeps all figures".into(),
    };
    let _ = writeln!(out, "\n  {}", paint(FAINT, figures));
    out
}

/// Returns what the reader should know of the figures.
fn note(rows: &[Row]) -> String {
    let rounds = rows.iter().map(|row| row.rounds).max().unwrap_or(0);
    match rounds {
        1 => "each figure is of one run; there is no range".to_owned(),
        _ => format!("each figure is the median of {rounds} runs in turns, with the smallest and the largest"),
    }
}

/// Returns what took CPU time from the rows, if something did.
fn disturbed(rows: &[Row]) -> Option<String> {
    let taken = rows.iter().find_map(|row| row.disturbed.as_ref())?;
    let disturbed = rows.iter().filter(|row| row.disturbed.is_some()).count();
    let of_rows = plural(rows.len() as u64, "row");
    Some(format!("disturbed, {disturbed} of {of_rows}: {taken}; {}", advice(&Advice::StopOthers)))
}

/// Returns rows that are all with keep-alive or all without, and the words for that.
fn kept<'r, 'd>(rows: &'r [&'d Row]) -> (&'static str, &'r [&'d Row]) {
    let keep_alive = rows.first().is_some_and(|row| row.setting.keep_alive);
    (if keep_alive { "keep-alive" } else { "no keep-alive" }, rows)
}

fn append(out: &mut String, rows: Vec<Vec<String>>) {
    out.extend(table::align_within(&rows, output::columns_of_table()).lines().map(|line| format!("  {line}\n")));
}

fn hello_table(rows: &[&Row]) -> Vec<Vec<String>> {
    let heading = ["hello world", "requests/s", "range", "p50", "p99", "errors", "limit", "webman", "Drogon", "nginx"];
    let row = |row: &&Row| {
        let limit = row.run.verdict.as_ref().map_or("-".into(), |verdict| verdict.factor.to_string());
        let column = |name| row.setting.references.iter().find(|r| r.system == name);
        let column = |(name, _)| paint(FAINT, column(name).map_or("-".into(), Reference::range));
        let own = [measured(row), vec![limit]].concat();
        own.into_iter().chain(reference::MACHINES.map(column)).collect()
    };
    heading_of(&heading).chain(rows.iter().map(row)).collect()
}

fn query_table(rows: &[&Row]) -> Vec<Vec<String>> {
    let heading = ["by", "requests/s", "range", "p50", "p99", "errors", "of raw", "webman"];
    let raw = rows.first();
    let row = |row: &&Row| {
        let ratio = |of: f64, whole: Option<f64>| whole.map_or("-".into(), |whole| format!("{:.2}", of / whole));
        let known_raw = raw.and_then(|raw| raw.setting.references.first()).map(|known| f64::from(known.most));
        let theirs =
            row.setting.references.first().map_or("-".into(), |known| match row.setting.path.ends_with("/raw") {
                true => format!("{} ({})", known.range(), known.system),
                false => {
                    format!("{} ({}, {} of raw)", known.range(), known.system, ratio(known.most.into(), known_raw))
                }
            });
        let way = row.setting.path.rsplit('/').next().unwrap_or_default().to_owned();
        let of_raw = match raw {
            Some(raw) if !std::ptr::eq(*raw, *row) && row.overlaps(raw) => "cannot tell".to_owned(),
            _ => ratio(row.run.rps, raw.map(|raw| raw.run.rps)),
        };
        let own = [vec![way], measured(row)[1..].to_vec(), vec![of_raw]].concat();
        own.into_iter().chain([paint(FAINT, theirs)]).collect()
    };
    heading_of(&heading).chain(rows.iter().map(row)).collect()
}

fn heading_of(cells: &[&str]) -> impl Iterator<Item = Vec<String>> {
    std::iter::once(cells.iter().map(|cell| paint(FAINT, *cell)).collect())
}

/// Returns the columns that every table has.
fn measured(row: &Row) -> Vec<String> {
    let run: &RunResult = &row.run;
    let micros = |us: Option<u64>| us.map_or("-".into(), |us| human::micros(us as f64));
    vec![
        row.setting.name.clone(),
        paint(STRONG, human::rate(run.rps)),
        paint(FAINT, row.rps_range.map(human::rate).join("-")),
        micros(run.latency_us.and_then(|latency| latency.p50)),
        micros(run.latency_us.and_then(|latency| latency.p99)),
        human::count(run.errors.total()),
    ]
}
