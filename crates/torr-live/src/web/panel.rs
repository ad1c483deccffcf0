//! The page, and the part of it above the report: where the run stands, the last second, the log, and the buttons.

use crate::log::Tone;
use crate::view::{Load, Phase, View};
use crate::words;
use maud::{Markup, html};
use torr_press::Steerable;
use torr_report::human::rate;

const STYLE: &str = include_str!("dashboard.css");
const SCRIPT: &str = include_str!("dashboard.js");

/// The entries of the log that are shown unfolded.
const NEWEST: usize = 5;

/// Returns the page, which its script fills.
pub fn page(load: &Load) -> String {
    let change = match load.steerable {
        Steerable::Rate(_) => Some(("Lower rate", "Higher rate")),
        Steerable::Connections { .. } => Some(("Fewer connections", "More connections")),
        Steerable::Nothing | Steerable::Remote | Steerable::Script => None,
    };
    let main = html! {
        header #planned { h1 { (load.target) } p.sub { (load.words) } }
        noscript { p.caution { "This page needs its script to follow a run: allow scripts, or use --live in a terminal." } }
        p #connection role="status" {}
        div #controls role="group" aria-label="Steer the run" {
            @if load.steerable.has_pauses() { button type="button" data-wish="pause" { "Pause" } }
            @if let Some((lower, raise)) = change {
                button type="button" data-wish="lower" { (lower) }
                button type="button" data-wish="raise" { (raise) }
            }
            button type="button" data-wish="mark" { "Mark" }
            button type="button" data-wish="end" { "End" }
        }
        button #save type="button" hidden { "Save this page" }
        div #panel {}
        div #report {}
    };
    torr_page::live_page(&format!("{} – torr", load.target), STYLE, SCRIPT, &main)
}

/// Returns the state of a run.
pub fn panel(view: &View, has_ended: bool) -> Markup {
    let last = view.progress.as_ref().filter(|_| !has_ended);
    let class = match view.phase {
        Phase::Ending => "state warn",
        _ if view.state.paused => "state warn",
        _ => "state",
    };
    html! {
        section aria-label="The run" data-paused=(view.state.paused) {
            @if has_ended {
                p.state { "The run has ended" @if view.result.is_none() { " without a result" } "." }
            } @else {
                p class=(class) { strong { (words::state(view)) } " " (words::time(view)) }
                @if let Some(changed) = words::changed(view) { p.sub { (changed) } }
            }
            @if let Some(progress) = last {
                @let is_of_streams = words::is_of_streams(view);
                dl.figures {
                    @for (name, figure) in [
                        match is_of_streams {
                            true => ("events/s, last second", rate(progress.events_per_s)),
                            false => ("requests/s, last second", rate(progress.rps)),
                        },
                        (if is_of_streams { "median gap" } else { "median" }, words::response_time(progress.latency.quantile(0.5))),
                        ("99th percentile", words::response_time(progress.latency.quantile(0.99))),
                        ("errors", words::errors(view)),
                    ] { div { dt { (name) } dd { (figure) } } }
                }
                dl.sides {
                    @for (name, text) in [
                        ("Connections", words::connections(view)),
                        ("Generator", words::generator(view)),
                        ("Server", words::server(view)),
                    ] { div { dt { (name) } dd { (text) } } }
                }
            }
            (log(view))
        }
    }
}

/// Returns the log, the newest entries first.
fn log(view: &View) -> Markup {
    let entries = view.log.entries();
    let entry = |entry: &crate::log::Entry| {
        let class = match entry.tone {
            Tone::Plain => "plain",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
        };
        html! { li class=(class) { span.faint { (words::clock(entry.t)) } " " (entry.text) } }
    };
    let (older, newest) = entries.split_at(entries.len().saturating_sub(NEWEST));
    html! {
        ul.log { @for one in newest.iter().rev() { (entry(one)) } }
        @if !older.is_empty() {
            details { summary { "Earlier events" } ul.log { @for one in older.iter().rev() { (entry(one)) } } }
        }
    }
}
