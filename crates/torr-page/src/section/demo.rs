//! The demo: what was loaded, beside the figures of others.

use super::figures::failures;
use super::published::published;
use crate::fields::{field, flag, list, number, text};
use crate::plot::bar::{bar_with_range, range_words};
use crate::plot::percentiles::{CLASSES, Counts, plot};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, micros, rate};

/// Returns the table of all settings with bars, and the distributions of the first ones.
pub fn demo(value: &Value) -> Markup {
    let rows = list(value, "rows");
    let (pages, queries): (Vec<_>, Vec<_>) = rows.iter().partition(|row| text(row, "path") == Some("/"));
    let counts = |row: &&Value| {
        let words = text(row, "run.latency_histogram")?;
        Some((text(row, "name").unwrap_or_default().to_owned(), Counts::parse(words)?))
    };
    let distributions: Vec<_> = pages.iter().filter_map(counts).take(CLASSES.len()).collect();
    html! {
        section {
            h2 { "A page with one line of text" }
            (table(&pages, "setting"))
            @if distributions.len() > 1 { @if let Some(plot) = plot(&distributions) { (plot) } }
        }
        @if !queries.is_empty() {
            section {
                h2 { "A row of 100,000 from the database" }
                (table(&queries, "by"))
            }
        }
        p.sub {
            (text(value, "machine.cpu").unwrap_or("an unknown CPU")) ", "
            (number(value, "machine.cores").unwrap_or(0.0)) " CPUs, shared by server and generator; "
            (number(value, "workers").unwrap_or(0.0)) " workers; " (text(value, "database").unwrap_or_default()) "."
        }
        @if let Some(disturbed) = rows.iter().find_map(|row| text(row, "disturbed")) {
            p { "Disturbed: " (disturbed) "." }
        }
        (published("The other figures"))
    }
}

fn table(rows: &[&Value], first: &str) -> Markup {
    let figures =
        |row: &&Value| number(row, "run.rps").into_iter().chain(rounds(row).into_iter().flatten()).collect::<Vec<_>>();
    let most = rows.iter().flat_map(figures).fold(0.0, f64::max);
    let time = |row: &Value, name: &str| number(row, &format!("run.latency_us.{name}")).map_or("–".into(), micros);
    html! {
        div.wide tabindex="0" role="group" aria-label=(format!("Throughput by {first}")) {
            table {
                thead {
                    tr {
                        th scope="col" { (first) } th scope="col" { "requests/s" } td {} th scope="col" { "range" } th scope="col" { "p50" }
                        th scope="col" { "p99" }
                        th scope="col" { "errors" } th.left scope="col" { "limit" } th.left scope="col" { "others" }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { (text(row, "name").unwrap_or_default()) }
                            td { (number(row, "run.rps").map_or("–".into(), rate)) }
                            td.drawn { (bar_with_range(number(row, "run.rps").unwrap_or(0.0), rounds(row), most, if flag(row, "keep_alive") { "a" } else { "b" })) }
                            td { (range_words(rounds(row))) }
                            td { (time(row, "p50")) } td { (time(row, "p99")) }
                            td { (field(row, "run").map_or("–".into(), |run| count(failures(run) as u64))) }
                            td.left { (text(row, "run.verdict.factor").unwrap_or("–")) }
                            td.left { @for other in others(row) { span { (other) } " " } }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the smallest and the largest throughput of the rounds.
fn rounds(row: &Value) -> Option<[f64; 2]> {
    let [least, most] = list(row, "rps_range") else { return None };
    Some([least.as_f64()?, most.as_f64()?])
}

/// Returns the figures of other systems.
fn others(row: &Value) -> Vec<String> {
    let one = |reference: &Value| {
        let figure = |name| number(reference, name).map_or(String::new(), |figure| count(figure as u64));
        let (least, most) = (figure("least"), figure("most"));
        let range = if least == most { most } else { format!("{least} to {most}") };
        Some(format!("{} {range}", text(reference, "system")?))
    };
    list(row, "references").iter().filter_map(one).collect()
}
