//! The figures of the last interval and of the whole run, and what both sides use.

use crate::theme::Theme;
use crate::view::View;
use crate::words;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};
use torr_gauge::latency::Latency;

/// The rows that the figures take.
pub const ROWS: u16 = 4;
/// The columns of a row's name, and of a time such as `1.25 ms` with its gap.
const LABEL: u16 = 13;
const TIME: u16 = 8;
/// The columns from which on there is room for a fourth percentile.
const WIDE: u16 = 90;
/// The share of the time from which on the generator's busiest thread may limit the run.
const BUSY: f64 = 0.8;

/// Draws the figures.
pub fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, theme: &Theme) {
    let percentiles = if area.width < WIDE { 3 } else { 4 };
    let times = LABEL + percentiles as u16 * TIME;
    let [left, right] = Layout::horizontal([Constraint::Length(times), Constraint::Min(0)]).spacing(2).areas(area);
    let timed = if words::is_of_streams(view) { "event gap" } else { "response time" };
    let header = [timed, "p50", "p90", "p99", "p99.9"];
    let last = view.progress.as_ref().map(|progress| &progress.latency);
    let whole = view.result.as_ref().and_then(|result| match &result.streams {
        Some(streams) => streams.gap_us,
        None => result.latency_us,
    });
    let whole = whole.map(|all| [all.p50, all.p90, all.p99, all.p99_9]);
    let rows = [("last second", last.map(quantiles)), ("whole run", whole)];
    let cells = |(name, times): (&'static str, Option<[Option<u64>; 4]>)| {
        let texts = times.unwrap_or_default().map(words::response_time);
        let texts = texts.into_iter().take(percentiles).map(right_cell);
        Row::new(std::iter::once(Cell::from(name).style(theme.faint)).chain(texts))
    };
    let head = header.into_iter().take(1 + percentiles).enumerate().map(|(at, name)| match at {
        0 => Cell::from(name),
        _ => right_cell(name.to_owned()),
    });
    let widths = std::iter::once(LABEL).chain(std::iter::repeat_n(TIME, percentiles)).map(Constraint::Length);
    let table = Table::new(rows.map(cells), widths).column_spacing(0).header(Row::new(head).style(theme.faint));
    frame.render_widget(table, left);
    frame.render_widget(Paragraph::new(sides(view, theme)), right);
}

fn right_cell(text: String) -> Cell<'static> {
    Cell::from(Line::from(text).right_aligned())
}

fn quantiles(latency: &Latency) -> [Option<u64>; 4] {
    [0.5, 0.9, 0.99, 0.999].map(|share| latency.quantile(share))
}

/// Returns a line each for errors, connections, the generator and the server.
fn sides(view: &View, theme: &Theme) -> Vec<Line<'static>> {
    let has_errors = view.result.as_ref().is_some_and(|result| {
        result.errors.total() > 0 || result.sessions.as_ref().is_some_and(|sessions| sessions.failed > 0)
    });
    let is_busy = view.progress.as_ref().and_then(|progress| progress.busy_share).is_some_and(|share| share >= BUSY);
    let line = |name: &'static str, text: String, style: Style| {
        Line::from(vec![Span::styled(format!("{name:<12}"), theme.faint), Span::styled(text, style)])
    };
    let marked = |is: bool, style: Style| if is { style } else { Style::new() };
    vec![
        line("errors", words::errors(view), marked(has_errors, theme.bad)),
        line("connections", words::connections(view), Style::new()),
        line("generator", words::generator(view), marked(is_busy, theme.warn)),
        line("server", words::server(view), Style::new()),
    ]
}
