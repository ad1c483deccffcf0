//! A plot over time with both axes.

use super::boxes::block;
use crate::theme::Theme;
use crate::words::clock;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Borders, Chart, Dataset, GraphType};

/// The height in rows from which on the vertical axis has a label in its middle.
const HIGH: u16 = 8;
/// The ratio of the largest to the smallest figure from which on a scale is logarithmic, where it may be.
const WIDE: f64 = 20.0;
/// The dots of a dashed line from the bottom to the top.
const DASHES: u16 = 24;

/// A line of a plot.
pub struct Curve {
    /// The points: seconds, and figures of at least 0.
    pub points: Vec<(f64, f64)>,
    /// The colour.
    pub style: Style,
    /// How a point is drawn, by which curves differ without colours.
    pub marker: Marker,
}

/// A plot over time.
pub struct Plot {
    /// The title, with the newest figures.
    pub title: Line<'static>,
    /// The lines.
    pub curves: Vec<Curve>,
    /// The moments in seconds that are marked.
    pub marks: Vec<f64>,
    /// Whether figures of different sizes have a logarithmic scale.
    pub is_of_times: bool,
    /// Writes a figure.
    pub text: fn(f64) -> String,
}

/// Draws a plot of the time from `from_s` to `until_s`.
pub fn draw(frame: &mut Frame<'_>, area: Rect, plot: Plot, (from_s, until_s): (f64, f64), theme: &Theme) {
    let figures = || plot.curves.iter().flat_map(|curve| &curve.points).map(|(_, figure)| *figure);
    let most = figures().fold(0.0, f64::max);
    let least = figures().filter(|figure| *figure > 0.0).fold(f64::INFINITY, f64::min);
    let is_log = plot.is_of_times && most > least * WIDE;
    let place = |figure: f64| if is_log { figure.max(least).log10() } else { figure };
    let (low, high) = match is_log {
        true => (least.log10(), most.log10()),
        false => (0.0, if most > 0.0 { most } else { 1.0 }),
    };
    let curves = plot.curves.iter().map(|curve| {
        let points: Vec<_> = curve.points.iter().map(|(t, figure)| (*t, place(*figure))).collect();
        (points, curve.style, curve.marker, GraphType::Line)
    });
    let dashes = |at: &f64| {
        let dash = |dash| (*at, low + (high - low) * f64::from(dash) / f64::from(DASHES));
        ((0..=DASHES).map(dash).collect(), theme.faint, Marker::Braille, GraphType::Scatter)
    };
    let marks = plot.marks.iter().filter(|at| (from_s..=until_s).contains(at)).map(dashes);
    // What is drawn later covers what was drawn before.
    let drawn: Vec<(Vec<(f64, f64)>, _, _, _)> = marks.chain(curves).collect();
    let data = drawn.iter().map(|(points, style, marker, kind)| {
        Dataset::default().data(points).style(*style).marker(*marker).graph_type(*kind)
    });
    let text = |at: f64| match if is_log { 10f64.powf(at) } else { at } {
        0.0 => "0".to_owned(),
        figure => (plot.text)(figure),
    };
    let labels = if area.height < HIGH { vec![low, high] } else { vec![low, f64::midpoint(low, high), high] };
    let labels: Vec<_> = labels.into_iter().map(text).map(|label| Line::styled(label, theme.faint)).collect();
    let moments = [from_s, f64::midpoint(from_s, until_s), until_s].map(|at| Line::styled(clock(at), theme.faint));
    let chart = Chart::new(data.collect())
        .block(block(plot.title, theme).borders(Borders::TOP))
        .x_axis(Axis::default().bounds([from_s, until_s]).labels(moments).style(theme.faint))
        .y_axis(Axis::default().bounds([low, high]).labels(labels).style(theme.faint))
        .legend_position(None);
    frame.render_widget(chart, area);
}
