//! Throughput and response times over time, side by side. Of streams these are events, and the gaps between them.

use super::chart::{self, Curve, Plot};
use crate::theme::Theme;
use crate::view::View;
use crate::words;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use torr_gauge::series::Point;
use torr_report::human::{micros, rate};

/// The shortest time that the horizontal axis has, in seconds.
const SHORTEST_S: f64 = 10.0;
/// The points of a column of a plot: the dots of a braille letter.
const IN_COLUMN: usize = 2;

/// What both plots show.
pub struct Plots<'p> {
    /// The intervals, the oldest first.
    pub series: &'p [Point],
    /// The newest figures: responses per second, the median and the 99th percentile in microseconds.
    pub newest: Option<(f64, Option<u64>, Option<u64>)>,
    /// Whether events of streams and their gaps are shown.
    pub is_of_streams: bool,
    /// What a rate counts.
    pub counted: &'static str,
    /// The moments in seconds that are marked.
    pub marks: Vec<f64>,
}

/// Draws the plots of a run.
pub fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, theme: &Theme) {
    let is_of_streams = words::is_of_streams(view);
    let newest = view.progress.as_ref().map(|progress| {
        let per_s = if is_of_streams { progress.events_per_s } else { progress.rps };
        (per_s, progress.latency.quantile(0.5), progress.p99_us)
    });
    let plots = Plots {
        series: view.result.as_ref().map_or(&[][..], |result| &result.series),
        newest,
        is_of_streams,
        counted: if is_of_streams { "events" } else { "requests" },
        marks: view.log.marks().map(|(at, _)| at).collect(),
    };
    draw_all(frame, area, plots, theme);
}

/// Draws both plots: as much of the newest intervals as there are columns for.
pub fn draw_all(frame: &mut Frame<'_>, area: Rect, plots: Plots<'_>, theme: &Theme) {
    let Plots { series, newest, is_of_streams, counted, marks } = plots;
    let wide = Constraint::Fill(11);
    let [left, right] = Layout::horizontal([Constraint::Fill(10), wide]).spacing(1).areas(area);
    let columns = usize::from(left.width) * IN_COLUMN;
    let first = series.len().saturating_sub(columns);
    let from_s = if first == 0 { 0.0 } else { series[first - 1].t };
    let until_s = series.last().map_or(0.0, |point| point.t).max(from_s + SHORTEST_S);
    let shown: Vec<_> = rates(series, is_of_streams).skip(first).collect();
    let per_s = newest.map_or_else(|| words::NONE.to_owned(), |(per_s, ..)| rate(per_s));
    let throughput = Plot {
        title: Line::from(vec![Span::raw("Throughput: "), Span::styled(format!("{per_s} {counted}/s "), theme.plot)]),
        curves: vec![Curve { points: shown, style: theme.plot, marker: Marker::Braille }],
        marks: marks.clone(),
        is_of_times: false,
        text: rate,
    };
    let times = |of: fn(&Point) -> Option<u64>, style: Style, marker| {
        let points = series[first..].iter().filter_map(|point| Some((point.t, of(point)? as f64)));
        Curve { points: points.collect(), style, marker }
    };
    let time = |us: Option<u64>| words::response_time(us);
    let (p50, p99) = newest.map_or((None, None), |(_, p50, p99)| (p50, p99));
    let name = if is_of_streams { "Gap between events" } else { "Response time" };
    let response_time = Plot {
        title: Line::from(vec![
            Span::raw(format!("{name}: ")),
            Span::styled(format!("p99 {}", time(p99)), theme.second),
            Span::raw(", "),
            Span::styled(format!("p50 {} ", time(p50)), theme.plot),
        ]),
        curves: vec![
            times(|point| point.p50, theme.plot, Marker::Braille),
            times(|point| point.p99, theme.second, Marker::Dot),
        ],
        marks,
        is_of_times: true,
        text: micros,
    };
    chart::draw(frame, left, throughput, (from_s, until_s), theme);
    chart::draw(frame, right, response_time, (from_s, until_s), theme);
}

/// Returns the responses per second of each interval at its end, or the events of streams.
fn rates(series: &[Point], is_of_streams: bool) -> impl Iterator<Item = (f64, f64)> {
    let mut before = 0.0;
    series.iter().map(move |point| {
        let seconds = point.t - std::mem::replace(&mut before, point.t);
        let count = if is_of_streams { point.events } else { point.requests };
        (point.t, if seconds > 0.0 { count as f64 / seconds } else { 0.0 })
    })
}
