//! The page, and the part of it above the report: where the run stands, the last second and minute, the log, and the buttons.

use crate::log::Tone;
use crate::view::{Load, Phase, View};
use crate::words;
use maud::{Markup, html};
use serde_json::json;
use torr_gauge::collector::Progress;
use torr_gauge::latency::Summary;
use torr_press::Steerable;
use torr_report::human::{count, plural, rate};

/// The entries of the log that are shown unfolded.
const NEWEST: usize = 5;

/// Returns the page of a run.
pub fn page(load: &Load) -> String {
    let change = match load.steerable {
        Steerable::Rate(_) => Some(("Lower rate", "Higher rate")),
        Steerable::Connections { .. } => Some(("Fewer connections", "More connections")),
        Steerable::Nothing | Steerable::Remote | Steerable::Script | Steerable::Times => None,
    };
    let buttons = html! {
        @if load.steerable.has_pauses() { button type="button" data-wish="pause" { "Pause" } }
        @if let Some((lower, raise)) = change {
            button type="button" data-wish="lower" { (lower) }
            button type="button" data-wish="raise" { (raise) }
        }
        button type="button" data-wish="mark" { "Mark" }
        button type="button" data-wish="end" data-confirm="End the run?" { "End" }
    };
    super::page::page(&load.target, &load.words, &buttons)
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
                (figures(view, progress))
                (minute(view, progress))
                dl.sides {
                    @for (name, text) in [
                        ("Connections", words::connections(view)),
                        ("Generator", words::generator(view)),
                        ("Server", words::server(view)),
                    ] { div { dt { (name) } dd { (text) } } }
                }
            }
            (log(view))
            (printed(view))
        }
    }
}

/// Returns the figures: those of the last second in large, those of the whole run below.
fn figures(view: &View, progress: &Progress) -> Markup {
    let is_of_streams = words::is_of_streams(view);
    let run = view.result.as_deref();
    let times = run.and_then(|run| if is_of_streams { run.streams.as_ref()?.gap_us } else { run.latency_us });
    let whole = |time: fn(&Summary) -> Option<u64>| words::response_time(times.as_ref().and_then(time));
    let per_s = match is_of_streams {
        true => ("events/s", rate(progress.events_per_s), run.and_then(|run| Some(run.streams.as_ref()?.events_per_s))),
        false => ("requests/s", rate(progress.rps), run.map(|run| run.rps)),
    };
    let longest = progress.latency.longest();
    let quantile = |share| words::response_time(progress.latency.quantile(share));
    let median = if is_of_streams { "median gap" } else { "median" };
    let slowest = if is_of_streams { "longest gap" } else { "slowest" };
    let of = |name, counted: u64| format!("of {} {name}", count(counted));
    let errors = match is_of_streams {
        true => of("events", progress.events),
        false => of("requests", progress.requests),
    };
    let whole_rate = per_s.2.map_or_else(|| words::NONE.to_owned(), rate);
    let tiles = [
        (per_s.0, per_s.1, format!("whole run {whole_rate}")),
        (median, quantile(0.5), format!("whole run {}", whole(|all| all.p50))),
        ("99th percentile", quantile(0.99), format!("whole run {}", whole(|all| all.p99))),
        (slowest, words::response_time(longest), format!("whole run {}", whole(|all| Some(all.max)))),
        ("errors, whole run", words::errors(view), errors),
    ];
    html! {
        (self::tiles(tiles.into()))
        p.sub { "Large figures are of the last second." }
    }
}

/// Names, large figures, and what stands below a figure.
pub type Tiles = Vec<(&'static str, String, String)>;

/// Returns a row of figures.
pub fn tiles(tiles: Tiles) -> Markup {
    html! {
        dl.figures {
            @for (name, figure, below) in tiles {
                div { dt { (name) @if !below.is_empty() { " " span.whole-run { (below) } } } dd { (figure) } }
            }
        }
    }
}

/// Returns the plots of the last minute, with the marks of the log.
fn minute(view: &View, progress: &Progress) -> Markup {
    let Some(run) = view.result.as_deref() else { return html! {} };
    let until_s = run.series.last().map_or(progress.elapsed_s, |point| point.t);
    let first = run.series.partition_point(|point| point.t < until_s - torr_page::RECENT_S);
    let shown = json!({
        "plan": { "rate": run.plan.rate, "stages": run.plan.stages },
        "series": run.series[first.saturating_sub(1)..],
        "sessions": run.sessions.as_ref().map(|_| json!({})),
        "steering": run.steering,
        "streams": run.streams.as_ref().map(|_| json!({})),
    });
    let marks: Vec<_> = view.log.marks().collect();
    let plots = torr_page::recent(&shown, until_s, &marks);
    html! { div.minute { h2 { "The last minute" } (plots) } }
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

/// Returns what scripts printed, the newest lines first.
fn printed(view: &View) -> Markup {
    let count = view.printed.count();
    html! {
        @if count > 0 {
            h2 { "Printed by the script" }
            p.sub { (plural(count, "line")) @if view.printed.lines().len() as u64 != count { ", the last of them" } ", the newest first" }
            pre.printed tabindex="0" { @for line in view.printed.lines().rev() { (line) "\n" } }
        }
    }
}
