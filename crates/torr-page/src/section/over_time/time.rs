//! Plots over time: the axis that they share, and the columns and labels of their lines.

use super::point::Point;
use crate::plot::WIDTH;
use crate::plot::envelope::{Column, columns};
use crate::plot::frame::{EndLabel, Frame};
use crate::plot::line::path;
use crate::plot::scale::Scale;
use maud::{Markup, html};

/// What all plots of the section have in common: the axis of time, and what happened when.
pub struct Time {
    /// The axis.
    pub x: Scale,
    /// Its labels.
    pub x_labels: Vec<(f64, String)>,
    /// When an operator did something, in seconds.
    pub steered: Vec<f64>,
    /// Moments in seconds that have a name above each plot.
    pub marks: Vec<(f64, String)>,
}

impl Time {
    /// Returns a plot of lines over time.
    pub fn plot(
        &self,
        words: (&str, String),
        (y, y_text): Axis,
        height: f64,
        lines: &Markup,
        ends: Vec<EndLabel>,
    ) -> Markup {
        self.plot_above(words, (y, y_text), height, lines, ends, &html! {})
    }

    /// Returns a plot of lines over time above something.
    pub fn plot_above(
        &self,
        (title, description): (&str, String),
        (y, y_text): Axis,
        height: f64,
        lines: &Markup,
        ends: Vec<EndLabel>,
        below: &Markup,
    ) -> Markup {
        let at = |moment: &f64| path([0.0, height].map(|y| (self.x.share(*moment) * WIDTH, y)).into_iter());
        let lines = html! { @for moment in &self.steered { path.rule d=(at(moment)) {} } (lines) };
        let (x, x_labels) = (self.x, self.x_labels.clone());
        let marks = self.marks.clone();
        Frame { title, description, height, x, x_labels, y, y_text, ends, marks }.around(&lines, below)
    }
}

/// The vertical axis with the text of its figures.
pub type Axis = (Scale, fn(f64) -> String);

/// Returns the label of a line at its end, or at the last of its columns.
pub fn ended(text: &str, class: &'static str, columns: &[Column]) -> Option<EndLabel> {
    let last = columns.last()?;
    Some(EndLabel { text: text.to_owned(), figure: (last.least + last.most) / 2.0, class })
}

/// Returns the columns of a figure over time.
pub fn columns_of(points: &[Point], figure: impl Fn(&Point) -> Option<f64>) -> Vec<Column> {
    columns(&points.iter().filter_map(|point| Some((point.middle, figure(point)?))).collect::<Vec<_>>())
}

/// Returns the largest figure of columns.
pub fn most<'c>(columns: impl IntoIterator<Item = &'c Column>) -> f64 {
    columns.into_iter().map(|column| column.most).fold(0.0, f64::max)
}

/// Returns the least figure of columns that are times in microseconds; 1 us at least, as a logarithmic scale has no 0.
pub fn least<'c>(columns: impl IntoIterator<Item = &'c Column>) -> f64 {
    columns.into_iter().map(|column| column.least).fold(f64::INFINITY, f64::min).max(1.0)
}
