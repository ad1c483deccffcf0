//! The percentiles of response times over time, as lines with bands between them.

use super::point::Point;
use super::time::{Time, columns_of, ended, least, most};
use crate::plot::line::{area, line};
use crate::plot::scale::Scale;
use crate::plot::tick::time_tick;
use maud::{Markup, html};

const HEIGHT: f64 = 200.0;

/// Returns the plot of response times, of streams of gaps; nothing without times.
pub fn times(has_streams: bool, points: &[Point], time: &Time) -> Markup {
    let [p50, p90, p99, p99_9] = [
        columns_of(points, |point| point.p50),
        // A histogram knows a time to a tenth of a decade, and less well than the percentiles beside it.
        columns_of(points, |point| Some(point.p90?.clamp(point.p50?, point.p99?))),
        columns_of(points, |point| point.p99),
        columns_of(points, |point| Some(point.p99_9?.max(point.p99?))),
    ];
    if p50.is_empty() && p99.is_empty() {
        return html! {};
    }
    let all = || [&p50, &p99, &p99_9].into_iter().flatten();
    let y = Scale::of_times(least(all()), most(all()));
    let is_banded = p50.len() > 1 && p90.len() > 1;
    let lines = html! {
        @if is_banded {
            (area(&p50, &p90, time.x, y, HEIGHT, "a"))
            (area(&p90, &p99, time.x, y, HEIGHT, "b"))
        }
        (line(&p99_9, time.x, y, HEIGHT, "thin e"))
        (line(&p50, time.x, y, HEIGHT, "a")) (line(&p99, time.x, y, HEIGHT, "b"))
    };
    let ends = [("p50", "a", &p50), ("p99", "b", &p99), ("p99.9", "e", &p99_9)];
    let ends = ends.into_iter().filter_map(|(text, class, columns)| ended(text, class, columns)).collect();
    let scale = if matches!(y, Scale::Log(..)) { "on a logarithmic scale" } else { "on a linear scale" };
    let bands = if is_banded { "; the bands meet at the 90th" } else { "" };
    let title = if has_streams { "Gap between events" } else { "Response time" };
    let description = format!("percentiles of each interval, {scale}{bands}");
    time.plot((title, description), (y, time_tick), HEIGHT, &lines, ends)
}
