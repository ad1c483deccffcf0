//! Connections and send lag over time.

use super::point::Point;
use super::time::{Time, columns_of, least, most};
use crate::plot::line::line;
use crate::plot::scale::Scale;
use crate::plot::tick::{count_tick, time_tick};
use maud::{Markup, html};
use torr_report::human::plural;

const HEIGHT: f64 = 80.0;

/// Returns the plot of open connections; a line of text where their number never changed, and nothing where it is not known.
pub fn connections(points: &[Point], time: &Time) -> Markup {
    // When a run ends, its connections may have been closed already.
    let points = match points {
        [all @ .., last] if last.connections.is_none() => all,
        all => all,
    };
    let open = columns_of(points, |point| point.connections);
    let (low, high) = (least(&open), most(&open));
    if open.len() < 2 {
        return html! {};
    }
    if low == high {
        return html! { p.sub { "At the end of each interval " (plural(high as u64, "connection")) @if high == 1.0 { " was" } @else { " were" } " open." } };
    }
    let y = Scale::from_zero(high);
    let words = ("Connections", "open at the end of each interval".to_owned());
    time.plot(words, (y, count_tick), HEIGHT, &line(&open, time.x, y, HEIGHT, "c"), vec![])
}

/// Returns the plot of the longest send lag; nothing where no request had a scheduled time.
pub fn lag(points: &[Point], time: &Time) -> Markup {
    let lag = columns_of(points, |point| point.lag);
    if lag.len() < 2 {
        return html! {};
    }
    let y = Scale::of_times(least(&lag), most(&lag));
    let scale = if matches!(y, Scale::Log(..)) { "; logarithmic scale" } else { "" };
    let words =
        ("Send lag", format!("longest time of each interval from when a request was due until Torr sent it{scale}"));
    time.plot(words, (y, time_tick), HEIGHT, &line(&lag, time.x, y, HEIGHT, "c"), vec![])
}
