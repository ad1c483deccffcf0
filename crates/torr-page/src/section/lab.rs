//! The table of a suite: all rates at a glance, then each level with its subjects, the fastest first.

use super::published::published;
use crate::fields::{field, list, number, text, texts};
use crate::plot::bar::{bar_with_range, range_words};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{micros, percent, rate};

/// Returns the sections.
pub fn lab(value: &Value) -> Markup {
    let subjects: Vec<&str> = texts(value, "table.subjects").collect();
    let references: Vec<&str> = texts(value, "table.references").collect();
    let lines = list(value, "table.lines");
    html! {
        section {
            h2 { "Responses per second" }
            div.wide tabindex="0" role="group" aria-label="All levels and subjects" {
                table {
                    thead {
                        tr {
                            th scope="col" { "level" }
                            @for name in subjects.iter().chain(&references) { th scope="col" { (name) } }
                        }
                    }
                    tbody {
                        @for line in lines {
                            tr {
                                th scope="row" { (text(line, "level").unwrap_or_default()) }
                                @for cell in list(line, "cells") { td { (figure(cell)) } }
                                @for reference in texts(line, "references") { td.faint { (reference) } }
                            }
                        }
                    }
                }
            }
            @if !references.is_empty() {
                (published(&format!("The figures of {}", references.join(" and "))))
            }
        }
        @for line in lines { (level(line, &subjects)) }
        (reasons(value))
    }
}

/// Returns a level: its subjects with bars, the fastest first.
fn level(line: &Value, subjects: &[&str]) -> Markup {
    let rps = |cell: &Value| number(cell, "measured.rps");
    let mut cells: Vec<_> = subjects.iter().zip(list(line, "cells")).filter(|(_, cell)| rps(cell).is_some()).collect();
    cells.sort_by(|(_, a), (_, b)| rps(b).unwrap_or(0.0).total_cmp(&rps(a).unwrap_or(0.0)));
    let most = cells.iter().flat_map(|(_, cell)| rps(cell).into_iter().chain(rounds(cell).into_iter().flatten()));
    let most = most.fold(0.0, f64::max);
    let fastest = cells.first().map(|(_, cell)| *cell);
    let name = text(line, "level").unwrap_or_default();
    let time = |cell: &Value, path: &str| number(cell, path).map_or("–".into(), micros);
    html! {
        @if !cells.is_empty() {
            section {
                h2 { (name) }
                div.wide tabindex="0" role="group" aria-label=(format!("Subjects at {name}")) {
                    table {
                        thead {
                            tr {
                                th scope="col" { "subject" } th scope="col" { "responses/s" } td {} th scope="col" { "range" }
                                th scope="col" { "to the fastest" }
                                th scope="col" { "p99" } th scope="col" { "CPU per response" } th.left scope="col" { "limited by" }
                            }
                        }
                        tbody {
                            @for (subject, cell) in cells {
                                tr {
                                    th scope="row" { (subject) }
                                    td { (figure(cell)) }
                                    td.drawn { (bar_with_range(rps(cell).unwrap_or(0.0), rounds(cell), most, if is_doubtful(cell) { "f" } else { "a" })) }
                                    td { (range_words(rounds(cell))) }
                                    td { (behind(cell, fastest)) }
                                    td { (time(cell, "measured.p99_us")) } td { (time(cell, "measured.cpu_us")) }
                                    td.left { (limit(cell)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns what stands in a cell for its rate.
fn figure(cell: &Value) -> String {
    match cell.as_str() {
        Some("absent") => "not available".into(),
        Some("not_offered") => "–".into(),
        Some("missing") => "not run".into(),
        _ if field(cell, "failed").is_some() => "failed".into(),
        _ => number(cell, "measured.rps").map_or("–".into(), rate),
    }
}

/// Returns the smallest and the largest rate of several rounds.
fn rounds(cell: &Value) -> Option<[f64; 2]> {
    let of = |name: &str| number(cell, &format!("measured.{name}"));
    of("rounds").filter(|rounds| *rounds > 1.0)?;
    Some([of("least_rps")?, of("most_rps")?])
}

/// Returns how much slower a cell is than the fastest; ranges that overlap do not tell.
fn behind(cell: &Value, fastest: Option<&Value>) -> String {
    let Some(fastest) = fastest.filter(|fastest| !std::ptr::eq(*fastest, cell)) else { return "–".into() };
    match (rounds(cell), rounds(fastest)) {
        (Some([_, most]), Some([least, _])) if most >= least => "cannot tell".into(),
        (Some(_), Some(_)) => {
            let of = |cell| number(cell, "measured.rps");
            of(cell).zip(of(fastest)).map_or("–".into(), |(one, best)| format!("{:+.0}%", (one / best - 1.0) * 100.0))
        }
        _ => "–".into(),
    }
}

/// Whether a figure may be another one's than the subject's.
fn is_doubtful(cell: &Value) -> bool {
    texts(cell, "measured.invalid").next().is_some() || text(cell, "measured.limit") == Some("generator")
}

/// Returns what limited a cell, and what else is to be known of its figure.
fn limit(cell: &Value) -> String {
    let failed = number(cell, "measured.failed").map(|share| format!("{} failed", percent(share)));
    let limit = text(cell, "measured.limit").filter(|limit| *limit != "none").map(str::to_owned);
    let invalid = texts(cell, "measured.invalid").map(|reason| reason.replace('-', " "));
    let all: Vec<_> = limit.into_iter().chain(failed).chain(invalid).collect();
    if all.is_empty() { "–".into() } else { all.join("; ") }
}

/// Returns why cells have no figure, and the versions of subjects.
fn reasons(value: &Value) -> Markup {
    let of = |path: &str| -> Vec<(String, String)> {
        let pairs = field(value, path).and_then(Value::as_object).into_iter().flatten();
        pairs.filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned()))).collect()
    };
    let (absent, versions) = (of("table.absent"), of("table.versions"));
    let mut failed: Vec<(&str, &str)> = Vec::new();
    for line in list(value, "table.lines") {
        let names = texts(value, "table.subjects");
        let cells = names.zip(list(line, "cells")).filter_map(|(name, cell)| Some((name, text(cell, "failed")?)));
        // A subject that does not start fails at each level for the same reason.
        cells.for_each(|cell| failed.extend((!failed.contains(&cell)).then_some(cell)));
    }
    html! {
        @if !absent.is_empty() || !failed.is_empty() {
            section {
                h2 { "Not measured" }
                ul {
                    @for (name, why) in &absent { li { strong { (name) } " is not available: " (why) } }
                    @for (name, why) in failed { li { strong { (name) } " failed: " (why) } }
                }
            }
        }
        @if !versions.is_empty() {
            section {
                h2 { "Versions" }
                ul { @for (name, version) in &versions { li { strong { (name) } " " (version) } } }
            }
        }
    }
}
