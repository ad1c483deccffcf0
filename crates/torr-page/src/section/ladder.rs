//! The ladder: throughput by connections, with the fit of the scalability law and the knee.

use crate::fields::{flag, list, number};
use crate::plot::WIDTH;
use crate::plot::bar::bar;
use crate::plot::dots::dots;
use crate::plot::envelope::Column;
use crate::plot::frame::{EndLabel, Frame};
use crate::plot::line::{line, path};
use crate::plot::scale::Scale;
use crate::plot::tick::count_tick;
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{micros, percent, rate};
use torr_report::sentence::law;

/// A rung: connections in a closed loop, and what they reached.
pub struct Rung {
    /// Connections.
    pub connections: f64,
    /// Responses per second.
    pub per_s: f64,
    /// The median response time in microseconds.
    pub p50: Option<f64>,
    /// The 99th percentile in microseconds.
    pub p99: Option<f64>,
}

/// The words of a ladder: what its rungs are, and what is counted on them.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The load that a rung has more of.
    pub by: &'static str,
    /// What the load has per second.
    pub counted: &'static str,
}

/// The words of a ladder of connections.
pub const OF_REQUESTS: Words = Words { by: "connections", counted: "requests" };

/// The words of a ladder of connections with streams of events on them.
pub const OF_STREAMS: Words = Words { by: "connections with streams", counted: "events" };

/// Returns the ladder of a search, with fit and knee.
pub fn ladder(value: &Value) -> Markup {
    let rung = |rung: &Value| {
        Some(Rung {
            connections: number(rung, "connections").filter(|connections| *connections > 0.0)?,
            per_s: number(rung, "good_per_s")?,
            p50: number(rung, "latency_us.p50"),
            p99: number(rung, "latency_us.p99"),
        })
    };
    let rungs: Vec<_> = list(value, "ladder").iter().filter_map(rung).collect();
    let fit = flag(value, "fit.good").then(|| {
        let [lambda, sigma, kappa] = ["lambda", "sigma", "kappa"].map(|name| number(value, &format!("fit.{name}")));
        Some((lambda?, sigma?, kappa?))
    });
    drawn(&rungs, OF_REQUESTS, fit.flatten(), number(value, "knee"), None)
}

/// Returns the plot and the table of a ladder; nothing for fewer than two rungs. `null` is the throughput of a service that does
/// nothing, which bounds what can be measured.
pub fn drawn(
    rungs: &[Rung],
    words: Words,
    fit: Option<(f64, f64, f64)>,
    knee: Option<f64>,
    null: Option<f64>,
) -> Markup {
    let [first, .., last] = rungs else { return html! {} };
    let most = rungs.iter().map(|rung| rung.per_s).fold(0.0, f64::max);
    // A bound far above would leave no room for the curve.
    let bound = null.filter(|bound| *bound > 0.0 && *bound < 3.0 * most);
    let x = Scale::Log(first.connections, last.connections.max(first.connections * 2.0));
    let y = Scale::from_zero(most.max(bound.unwrap_or(0.0)));
    let height = 220.0;
    let column = |x, figure| Column { x, least: figure, most: figure };
    let measured: Vec<_> = rungs.iter().map(|rung| column(rung.connections, rung.per_s)).collect();
    let fitted: Vec<_> = fit.map_or_else(Vec::new, |(lambda, sigma, kappa)| {
        let at = |step: u32| {
            let n = first.connections * (last.connections / first.connections).powf(f64::from(step) / 80.0);
            column(n, lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0)))
        };
        (0..=80).map(at).collect()
    });
    let knee = knee.filter(|knee| (first.connections..=last.connections).contains(knee));
    let lines = html! {
        @if !fitted.is_empty() { (line(&fitted, x, y, height, "f")) }
        @if let Some(bound) = bound {
            @let level = (1.0 - y.share(bound)) * height;
            path.rule d=(path([(0.0, level), (WIDTH, level)].into_iter())) {}
        }
        (line(&measured, x, y, height, "a"))
        (dots(&rungs.iter().map(|rung| (rung.connections, rung.per_s)).collect::<Vec<_>>(), x, y, height, "a"))
    };
    let mut ends = vec![EndLabel { text: "measured".into(), figure: last.per_s, class: "a" }];
    ends.extend(fitted.last().map(|end| EndLabel { text: "fit".into(), figure: end.most, class: "f" }));
    ends.extend(bound.map(|bound| EndLabel { text: "bound".into(), figure: bound, class: "f" }));
    // Labels of more rungs than these would overlap.
    let step = rungs.len().div_ceil(12);
    let x_labels = rungs.iter().rev().step_by(step).map(|rung| (rung.connections, rung.connections.to_string()));
    let mut x_labels: Vec<_> = x_labels.collect();
    x_labels.reverse();
    let Words { by, counted } = words;
    let mut description = format!("{counted} per second in a closed loop");
    match (null, bound) {
        (_, Some(_)) => description += "; a service that does nothing reaches the bound (dashed)",
        (Some(null), None) if null > 0.0 => {
            description += &format!("; a service that does nothing reaches {}/s", rate(null));
        }
        _ => {}
    }
    let title = &format!("Throughput by {by}");
    let marks = knee.map(|knee| (knee, format!("knee {knee:.0}"))).into_iter().collect();
    let frame = Frame { title, description, height, x, x_labels, y, y_text: count_tick, ends, marks };
    html! { section { h2 { "By " (by) } (frame.around(&lines, &table(rungs, words, most, fit))) } }
}

fn table(rungs: &[Rung], Words { by, counted }: Words, most: f64, fit: Option<(f64, f64, f64)>) -> Markup {
    let time = |time: Option<f64>| time.map_or("–".into(), micros);
    html! {
        @if let Some((lambda, sigma, kappa)) = fit {
            p.sub {
                "Fit: " (law(lambda, sigma, kappa)) ": " (percent(sigma)) " of the work is serial."
            }
        }
        details {
            summary { "Figures as a table" }
            div.wide tabindex="0" role="group" aria-label={ "Throughput by " (by) } {
                table {
                    thead { tr { th { (by) } th { (counted) "/s" } td {} th { "p50" } th { "p99" } } }
                    tbody {
                        @for rung in rungs {
                            tr {
                                td { (rung.connections) } td { (rate(rung.per_s)) } td.drawn { (bar(rung.per_s / most, "a")) }
                                td { (time(rung.p50)) } td { (time(rung.p99)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
