//! Throughput and the 99th percentile over time, side by side: the newest interval at the right end. Of streams these are events, and
//! the gaps between them.

use super::boxes::block;
use crate::theme::Theme;
use crate::view::View;
use crate::words;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Sparkline;
use torr_gauge::collector::Progress;
use torr_gauge::series::Point;
use torr_report::human::{micros, rate};

/// Draws both plots.
pub fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, theme: &Theme) {
    let areas: [Rect; 2] = Layout::horizontal([Constraint::Fill(1); 2]).areas(area);
    let series = view.result.as_ref().map_or(&[][..], |result| &result.series);
    let newest = view.progress.as_ref();
    let is_of_streams = words::is_of_streams(view);
    let rates = || rates(series, is_of_streams);
    let times = || series.iter().map(|point| point.p99.or(point.p50).unwrap_or(0) as f64);
    let most = |figures: &mut dyn Iterator<Item = f64>| figures.fold(0.0, f64::max);
    let per_s = |progress: &Progress| if is_of_streams { progress.events_per_s } else { progress.rps };
    let per_s = newest.map_or_else(|| "-".into(), |progress| rate(per_s(progress)));
    let counted = if is_of_streams { "events" } else { "requests" };
    let timed = if is_of_streams { "Gap between events" } else { "Response time" };
    let time = newest.and_then(|progress| progress.p99_us.or(progress.latency.quantile(0.5)));
    let time = time.map_or_else(|| "-".into(), |us| micros(us as f64));
    let label = if newest.is_some_and(|progress| progress.p99_us.is_none()) { "p50" } else { "p99" };
    let plots = [
        (
            "Throughput",
            format!("{per_s} {counted}/s"),
            rate(most(&mut rates())),
            rates().collect::<Vec<_>>(),
            theme.plot,
        ),
        (timed, format!("{label} {time}"), micros(most(&mut times())), times().collect(), theme.plot),
    ];
    for (area, (title, now, most, figures, style)) in areas.into_iter().zip(plots) {
        let most = if figures.is_empty() { String::new() } else { format!(" most {most} ") };
        plot(frame, area, (title, &now, most), &figures, style, theme);
    }
}

/// Returns the responses per second of each interval, or the events of streams.
fn rates(series: &[Point], is_of_streams: bool) -> impl Iterator<Item = f64> {
    let mut before = 0.0;
    series.iter().map(move |point| {
        let seconds = point.t - std::mem::replace(&mut before, point.t);
        let count = if is_of_streams { point.events } else { point.requests };
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    })
}

fn plot(
    frame: &mut Frame<'_>,
    area: Rect,
    (title, now, most): (&str, &str, String),
    figures: &[f64],
    style: Style,
    theme: &Theme,
) {
    let title = Line::from(vec![Span::raw(format!(" {title}: ")), Span::styled(format!("{now} "), theme.strong)]);
    let block = block(title, theme).title_bottom(Line::styled(most, theme.faint).right_aligned());
    let room = usize::from(block.inner(area).width);
    let newest = &figures[figures.len().saturating_sub(room)..];
    let empty = std::iter::repeat_n(None, room - newest.len());
    let bars: Vec<Option<u64>> = empty.chain(newest.iter().map(|figure| Some(figure.round() as u64))).collect();
    frame.render_widget(Sparkline::default().block(block).style(style).absent_value_symbol(" ").data(bars), area);
}
