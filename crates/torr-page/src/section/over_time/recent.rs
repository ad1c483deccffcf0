//! The last minute of a run that goes on: throughput and response times, with the moments that something happened at.

use super::point::points;
use super::throughput;
use super::time::Time;
use super::times::times;
use crate::fields::has_streams;
use crate::plot::scale::Scale;
use maud::{Markup, html};
use serde_json::Value;

/// The time that is shown, in seconds.
pub const SHOWN_S: f64 = 60.0;
/// The shorter times that the axis has at the beginning of a run, in seconds.
const SHORTER_S: [f64; 2] = [15.0, 30.0];
/// The share of the width that the name of a moment takes at most, on a phone.
const NAME: f64 = 0.22;

/// Returns the plots of the last minute before `until_s` of a run, whose series may begin with any point before that; nothing for
/// fewer than two points. `marks` are moments in seconds with short names.
pub fn recent(value: &Value, until_s: f64, marks: &[(f64, &str)]) -> Markup {
    let shown_s = SHORTER_S.into_iter().find(|shorter| until_s <= *shorter).unwrap_or(SHOWN_S);
    let from = (until_s - shown_s).max(0.0);
    let points: Vec<_> = points(value).into_iter().filter(|point| point.middle >= from && point.t <= until_s).collect();
    if points.len() < 2 {
        return html! {};
    }
    let x = Scale::Linear(from, from + shown_s);
    let x_labels = (0..=3u8).map(|third| {
        let ago = f64::from(third) * shown_s / 3.0;
        let at = from + shown_s - ago;
        (at, if at == until_s { "now".to_owned() } else { format!("{:.0} s", at.floor()) })
    });
    let marks = named(marks, x);
    let time = Time { x, x_labels: x_labels.collect(), steered: Vec::new(), marks };
    let counted = if has_streams(value) { "events" } else { "responses" };
    html! {
        (throughput(value, counted, &points, &time))
        (times(has_streams(value), &points, &time))
    }
}

/// Returns the moments within an axis, of which only those have a name whose name does not lie over a later one.
fn named(marks: &[(f64, &str)], x: Scale) -> Vec<(f64, String)> {
    let Scale::Linear(from, to) = x else { return Vec::new() };
    let mut free = f64::INFINITY;
    let mut found = Vec::new();
    for (at, name) in marks.iter().rev().filter(|(at, _)| (from..=to).contains(at)) {
        let share = x.share(*at);
        let has_room = share + NAME <= free;
        if has_room {
            free = share;
        }
        found.push((*at, if has_room { (*name).to_owned() } else { String::new() }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_minute_has_its_points_and_marks() {
        let series: Vec<_> =
            (1..=100).map(|t| json!({"t": t, "requests": 10, "errors": 0, "p50": 900, "p99": 2000})).collect();
        let drawn = recent(&json!({"series": series}), 100.0, &[(10.0, "early"), (70.0, "stage 2"), (71.0, "mark 1")]);
        let drawn = drawn.into_string();
        assert_eq!(drawn.matches("<svg class=\"plot\"").count(), 2, "{drawn}");
        assert!(drawn.contains(">now</text>") && drawn.contains(">40 s</text>"), "{drawn}");
        let early = recent(&json!({"series": series[..12]}), 12.0, &[]).into_string();
        assert!(early.contains(">15 s</text>") && !early.contains(">60 s</text>"), "{early}");
        assert!(drawn.contains("mark 1") && !drawn.contains("stage 2") && !drawn.contains("early"), "{drawn}");
        // Both moments have a line, in both plots.
        assert_eq!(drawn.matches("class=\"rule\"").count(), 4, "{drawn}");
    }

    #[test]
    fn one_point_is_no_plot() {
        let one = json!({"series": [{"t": 1.0, "requests": 10, "errors": 0}]});
        assert_eq!(recent(&one, 1.0, &[]).into_string(), "");
    }
}
