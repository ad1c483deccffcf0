//! Errors over time, by kind and one kind on top of the other.

use super::point::Point;
use super::time::{Time, columns_of, most};
use crate::plot::line::{area, line};
use crate::plot::percentiles::CLASSES;
use crate::plot::scale::Scale;
use crate::plot::tick::count_tick;
use maud::{Markup, html};
use torr_report::human::count;

const HEIGHT: f64 = 90.0;
/// The name of errors whose kind the series does not have: those of requests that began in the warm-up.
const OTHER: &str = "other";
/// The colour of each kind.
const COLOURS: [(&str, &str); 10] = [
    ("status", "bad"),
    ("timeout", "e"),
    ("connect", "d"),
    ("read", "c"),
    ("write", "a"),
    ("protocol", "b"),
    ("tls", "d"),
    ("ports", "f"),
    ("redirect", "c"),
    ("abandoned", "d"),
];

/// Returns the plot of errors; a line of text where there are none.
pub fn errors(points: &[Point], time: &Time) -> Markup {
    let all = columns_of(points, |point| Some(point.errors * per_second(point)));
    if most(&all) <= 0.0 {
        return html! { p.sub { "No errors in any interval." } };
    }
    let kinds = kinds(points);
    let y = Scale::from_zero(most(&all));
    // The errors per second of a point up to a kind, that kind included.
    let up_to = |last: usize| {
        let errors = |point: &Point| kinds[..last].iter().map(|kind| of(point, &kind.0)).sum::<f64>();
        columns_of(points, |point| Some(errors(point) * per_second(point)))
    };
    let classes = classes(&kinds);
    let layer = |at: usize| (up_to(at), up_to(at + 1), classes[at]);
    let is_one = kinds.len() == 1;
    let lines = html! {
        @for (below, above, class) in (0..kinds.len()).map(layer) {
            @if is_one { (line(&above, time.x, y, HEIGHT, class)) } @else {
                (area(&below, &above, time.x, y, HEIGHT, class)) (line(&above, time.x, y, HEIGHT, &format!("thin {class}")))
            }
        }
    };
    let stacked = if is_one { "" } else { ", one kind on top of the other" };
    let below = html! {
        p.sub.legend { @for ((kind, errors), class) in kinds.iter().zip(&classes) { span { span class=(format!("name {class}")) { "■" } " " (kind) " " (count(*errors as u64)) } } }
    };
    time.plot_above(("Errors", format!("per second{stacked}")), (y, count_tick), HEIGHT, &lines, vec![], &below)
}

/// Returns the kinds with their numbers of errors, the most frequent first.
fn kinds(points: &[Point]) -> Vec<(String, f64)> {
    let mut sums: Vec<(String, f64)> = Vec::new();
    let names = points.iter().flat_map(|point| point.kinds.iter().map(|(name, _)| name.as_str()));
    for name in names.chain([OTHER]) {
        if !sums.iter().any(|(known, _)| known == name) {
            sums.push((name.to_owned(), points.iter().map(|point| of(point, name)).sum()));
        }
    }
    sums.retain(|(_, errors)| *errors > 0.0);
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums
}

/// Returns the errors of a kind in an interval.
fn of(point: &Point, kind: &str) -> f64 {
    if kind == OTHER {
        let known: f64 = point.kinds.iter().map(|(_, errors)| errors).sum();
        return (point.errors - known).max(0.0);
    }
    point.kinds.iter().find(|(name, _)| name == kind).map_or(0.0, |(_, errors)| *errors)
}

/// Returns what a count of a point's interval is multiplied by to be one of a second.
fn per_second(point: &Point) -> f64 {
    let seconds = 2.0 * (point.t - point.middle);
    if seconds > 0.0 { 1.0 / seconds } else { 0.0 }
}

/// Returns the colour of each kind: its own, or another one where a kind before it has that.
fn classes(kinds: &[(String, f64)]) -> Vec<&'static str> {
    let mut taken: Vec<&'static str> = Vec::new();
    for (kind, _) in kinds {
        let own = COLOURS.iter().find(|(name, _)| name == kind).map_or("f", |(_, class)| *class);
        let free = [own].into_iter().chain(CLASSES).find(|class| !taken.contains(class));
        taken.push(free.unwrap_or(own));
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::super::point::points;
    use super::*;
    use serde_json::json;

    #[test]
    fn no_two_kinds_of_a_plot_have_one_colour() {
        let of = |names: &[&str]| classes(&names.iter().map(|name| ((*name).to_owned(), 1.0)).collect::<Vec<_>>());
        assert_eq!(of(&["status", "read", "timeout"]), ["bad", "c", "e"]);
        assert_eq!(of(&["read", "redirect", "connect", "tls", "other"]), ["c", "a", "d", "b", "f"]);
    }

    #[test]
    fn errors_of_a_short_interval_count_per_second() {
        let found = points(&json!({"series": [
            {"t": 2.0, "requests": 1, "errors": 8}, {"t": 2.25, "requests": 1, "errors": 1},
        ]}));
        assert_eq!(found.iter().map(|point| point.errors * per_second(point)).collect::<Vec<_>>(), [4.0, 4.0]);
    }

    #[test]
    fn kinds_add_up_to_all_errors_and_old_results_have_one() {
        let of = |series| kinds(&points(&json!({ "series": series })));
        let found = of(json!([
            {"t": 1.0, "requests": 1, "errors": 7, "errors_by_kind": {"timeout": 2, "status": 4}},
            {"t": 2.0, "requests": 1, "errors": 3, "errors_by_kind": {"timeout": 3}},
        ]));
        assert_eq!(found, [("timeout".into(), 5.0), ("status".into(), 4.0), ("other".into(), 1.0)]);
        assert_eq!(of(json!([{"t": 1.0, "requests": 1, "errors": 7}])), [("other".into(), 7.0)]);
    }
}
