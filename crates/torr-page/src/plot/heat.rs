//! A map of how many requests took how long, over time: the darker a cell, the larger its part of the column's requests.

use super::WIDTH;
use super::frame::Frame;
use super::percentiles::Counts;
use super::scale::Scale;
use super::tick::{clock, time_tick};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Bound::{Excluded, Unbounded};
use torr_report::human::count;

/// The most columns; enough to see a second of two minutes, and few enough for the size of the page.
const COLUMNS: usize = 120;
/// The most columns of the table.
const TABLE: usize = 12;
/// The height of the map in pixels.
const HEIGHT: f64 = 200.0;
/// The least part of a column's requests of each darkness above the first one.
const LEVELS: [f64; 4] = [0.001, 0.01, 0.05, 0.2];
/// The ratio of two neighbouring steps of response times, where the next step is not known.
const RATIO: f64 = 1.26;

/// An interval: its begin and end in seconds, and how many of its requests took how long.
pub struct Interval {
    /// The begin in seconds.
    pub from: f64,
    /// The end in seconds.
    pub to: f64,
    /// The counts, by the lower bound of the response time in microseconds.
    pub counts: Counts,
}

/// A column of the map.
struct Column {
    from: f64,
    to: f64,
    /// By the lower bound in microseconds.
    counts: BTreeMap<u64, f64>,
}

/// The words of a map: its title, and what it counts by what.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The title.
    pub title: &'static str,
    /// What is counted.
    pub counted: &'static str,
    /// The time by which it is counted.
    pub by: &'static str,
}

/// The words of a map of response times.
pub const RESPONSES: Words = Words { title: "Response times", counted: "requests", by: "response time" };
/// The words of a map of the gaps of streams.
pub const GAPS: Words = Words { title: "Gaps between events", counted: "gaps", by: "length" };

/// Returns the map with its table; nothing for fewer than two intervals.
pub fn map(words: Words, intervals: &[Interval], x: Scale, x_labels: Vec<(f64, String)>) -> Markup {
    if intervals.len() < 2 {
        return html! {};
    }
    let columns = merged(intervals, COLUMNS);
    let steps: BTreeSet<u64> = columns.iter().flat_map(|column| column.counts.keys().copied()).collect();
    let (Some(least), Some(most)) = (steps.first(), steps.last()) else { return html! {} };
    let tenth = |us: f64, round: fn(f64) -> f64| 10f64.powf(round(us.log10()));
    let y = Scale::Log(tenth(*least as f64, f64::floor), tenth(*most as f64 * RATIO, f64::ceil));
    let frame = Frame {
        title: words.title,
        description: format!("share of each interval's {} by {}; darker is more", words.counted, words.by),
        height: HEIGHT,
        x,
        x_labels,
        y,
        y_text: time_tick,
        ends: Vec::new(),
        marks: Vec::new(),
    };
    let cells = html! { @for (level, path) in cells(&columns, &steps, x, y) { path class=(format!("heat h{level}")) d=(path) {} } };
    frame.around(&cells, &html! { (legend(words)) (table(words, &merged(intervals, TABLE), &steps)) })
}

/// Returns at most so many columns, each of as many neighbouring intervals.
fn merged(intervals: &[Interval], most: usize) -> Vec<Column> {
    let size = intervals.len().div_ceil(most).max(1);
    let column = |part: &[Interval]| {
        let mut counts = BTreeMap::new();
        for (us, count) in part.iter().flat_map(|interval| interval.counts.each()) {
            *counts.entry(us as u64).or_default() += count;
        }
        Column { from: part[0].from, to: part[part.len() - 1].to, counts }
    };
    intervals.chunks(size).map(column).collect()
}

/// Returns a path of rectangles for each darkness. Neighbours of one darkness in a row are one rectangle.
fn cells(columns: &[Column], steps: &BTreeSet<u64>, x: Scale, y: Scale) -> BTreeMap<usize, String> {
    let totals: Vec<f64> = columns.iter().map(|column| column.counts.values().sum()).collect();
    let mut paths: BTreeMap<usize, String> = BTreeMap::new();
    for &step in steps {
        let next = (step as f64 * RATIO).max(step as f64 + 1.0);
        let next = steps.range((Excluded(step), Unbounded)).next().map_or(next, |above| next.min(*above as f64));
        let (top, bottom) = ((1.0 - y.share(next)) * HEIGHT, (1.0 - y.share(step as f64)) * HEIGHT);
        let level = |at: usize| {
            let count = columns[at].counts.get(&step).filter(|count| **count > 0.0)?;
            Some(LEVELS.iter().filter(|least| count / totals[at] >= **least).count())
        };
        let mut at = 0;
        while at < columns.len() {
            let here = level(at);
            let mut last = at;
            while last + 1 < columns.len() && level(last + 1) == here {
                last += 1;
            }
            if let Some(darkness) = here {
                let (left, right) = (x.share(columns[at].from) * WIDTH, x.share(columns[last].to) * WIDTH);
                // Writing to a string cannot fail.
                let _ =
                    write!(paths.entry(darkness).or_default(), "M{left:.1} {top:.1}H{right:.1}V{bottom:.1}H{left:.1}Z");
            }
            at = last + 1;
        }
    }
    paths
}

fn legend(words: Words) -> Markup {
    let names = ["less than 0.1%", "0.1%", "1%", "5%", "20% or more"];
    html! {
        p.sub.legend aria-hidden="true" {
            @for (level, name) in names.into_iter().enumerate() {
                span { svg width="12" height="12" { rect class=(format!("heat h{level}")) width="12" height="12" {} } " " (name) }
            }
            span { "of an interval's " (words.counted) }
        }
    }
}

fn table(words: Words, columns: &[Column], steps: &BTreeSet<u64>) -> Markup {
    let Words { counted, by, .. } = words;
    html! {
        details {
            summary { "Figures as a table: " (counted) " by " (by) }
            div.wide tabindex="0" role="group" aria-label=(format!("{} over time", words.title)) {
                table {
                    thead { tr { th scope="col" { "from" } @for column in columns { th scope="col" { "until " (clock(column.to)) } } } }
                    tbody {
                        @for step in steps.iter().rev() {
                            tr {
                                th scope="row" { (time_tick(*step as f64)) }
                                @for column in columns { td { (column.counts.get(step).map_or("–".into(), |n| count(*n as u64))) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(from: u32, words: &str) -> Interval {
        let from = f64::from(from);
        Interval { from, to: from + 1.0, counts: Counts::parse(words).expect("there are counts") }
    }

    #[test]
    fn neighbours_of_one_darkness_are_one_rectangle() {
        let columns = merged(&[interval(0, "100:99 1000:1"), interval(1, "100:98 1000:2"), interval(2, "100:10")], 9);
        let steps = [100, 1000].into();
        let paths = cells(&columns, &steps, Scale::Linear(0.0, 4.0), Scale::Log(100.0, 10_000.0));
        assert_eq!(paths[&4], "M0.0 190.0H750.0V200.0H0.0Z", "all three columns of 100 us: {paths:?}");
        assert_eq!(paths[&2].matches('M').count(), 1, "{paths:?}");
    }

    #[test]
    fn times_of_no_length_and_of_the_longest_are_drawn() {
        let intervals = [interval(0, "0:5 100:3"), interval(1, "100:1 18446744073709551615:1")];
        let page = map(RESPONSES, &intervals, Scale::Linear(0.0, 2.0), vec![]).into_string();
        assert!(page.contains("<th scope=\"row\">1 us</th>") && !page.contains("NaN"), "{page}");
        assert!(page.matches("class=\"tick\"").count() < 30, "{page}");
    }

    #[test]
    fn merged_columns_keep_all_requests() {
        let intervals: Vec<_> = (0..1000).map(|second| interval(second, "100:3 2000:1")).collect();
        let columns = merged(&intervals, COLUMNS);
        assert!(columns.len() <= COLUMNS && columns.len() > COLUMNS / 2);
        let total: f64 = columns.iter().flat_map(|column| column.counts.values()).sum();
        assert_eq!((total, columns[0].from, columns.last().map(|column| column.to)), (4000.0, 0.0, Some(1000.0)));
    }
}
