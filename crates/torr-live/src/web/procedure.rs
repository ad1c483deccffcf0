//! A procedure as the subject of a dashboard.

use super::panel::Tiles;
use super::subject::{Found, Subject};
use super::{page, panel};
use crate::procedure::{Procedure, Step};
use crate::subject::Steps;
use crate::wish::Wish;
use crate::words;
use maud::{Markup, html};
use serde_json::json;
use torr_report::human::{count, rate};

impl Subject for Steps {
    fn page(&self) -> String {
        let about = &self.procedure.about;
        let confirm = format!("End {}?", about.name);
        let buttons = html! { button type="button" data-wish="end" data-confirm=(confirm) { "End" } };
        page::page(&about.target, &about.words, &buttons)
    }

    fn panel(&mut self, elapsed_s: f64, has_ended: bool) -> Markup {
        self.at(elapsed_s);
        let procedure = &self.procedure;
        let class = if procedure.is_ending { "state warn" } else { "state" };
        html! {
            section aria-label="The run" {
                @if has_ended {
                    p.state { (words::capitalised(procedure.about.name)) " has ended"
                        @if self.result.is_none() { " without a result" } "." }
                } @else {
                    p class=(class) { strong { (procedure.state()) } " " (procedure.time()) }
                    @if let Some(step) = procedure.steps().last() { p.sub { (step.name) ": " (step.why) } }
                    (figures(procedure))
                    (minute(procedure))
                }
                (steps(procedure, has_ended))
            }
        }
    }

    fn fulfil(&mut self, wish: Wish) {
        Self::fulfil(self, wish);
    }

    fn found(&self, _: bool) -> Option<Found> {
        self.result.clone().map(Found::Written)
    }
}

/// Returns the figures of the step that runs.
fn figures(procedure: &Procedure) -> Markup {
    let last = procedure.last();
    let time = |share| words::response_time(last.and_then(|last| last.latency.quantile(share)));
    let shown = |figure: Option<String>| figure.unwrap_or_else(|| words::NONE.to_owned());
    let errors = last.map(|last| (count(last.errors), format!("of {} requests", count(last.requests))));
    let (errors, of) = errors.unwrap_or_else(|| (words::NONE.to_owned(), "in this step".to_owned()));
    let tiles: Tiles = vec![
        ("responses/s", shown(last.map(|last| rate(last.per_s))), String::new()),
        ("median", time(0.5), String::new()),
        ("99th percentile", time(0.99), String::new()),
        ("errors", errors, of),
    ];
    panel::tiles(tiles)
}

/// Returns the plots of the last minute, with the numbers of steps where they begin.
fn minute(procedure: &Procedure) -> Markup {
    let series = procedure.series();
    let Some(until_s) = series.last().map(|point| point.t) else { return html! {} };
    let shown = json!({ "series": series });
    let names: Vec<_> = procedure.numbered().map(|(number, step)| (step.begun_s, number.to_string())).collect();
    let marks: Vec<_> = names.iter().map(|(at, name)| (*at, name.as_str())).collect();
    let plots = torr_page::recent(&shown, until_s, &marks);
    html! { div.minute { h2 { "The last minute" } (plots) } }
}

/// Returns the steps, the newest first; folded when the report follows.
fn steps(procedure: &Procedure, has_ended: bool) -> Markup {
    let line = |(number, step): (usize, &Step)| {
        html! {
            tr {
                td { (number) } td { (words::clock(step.begun_s)) } td.words { (step.name) }
                td { @if step.requests > 0 || step.errors > 0 { (rate(step.per_s())) "/s" } @else { "–" } }
                td { (words::response_time(step.latency.quantile(0.99))) }
                td class=[(step.errors > 0).then_some("bad")] { (count(step.errors)) }
            }
        }
    };
    let all: Vec<_> = procedure.numbered().collect();
    html! {
        @if !has_ended && !all.is_empty() {
            h2 { "Steps" }
            div.wide tabindex="0" role="group" aria-label="Steps" {
                table {
                    thead {
                        tr {
                            th scope="col" { "no." } th scope="col" { "at" } th.words scope="col" { (procedure.about.step) }
                            th scope="col" { "throughput" } th scope="col" { "p99" } th scope="col" { "errors" }
                        }
                    }
                    tbody { @for one in all.into_iter().rev() { (line(one)) } }
                }
            }
        }
    }
}
