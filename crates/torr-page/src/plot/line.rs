//! A line through the columns of a series, with a band from the least to the most where columns stand for several points.

use super::WIDTH;
use super::envelope::Column;
use super::scale::Scale;
use maud::{Markup, html};
use std::fmt::Write;

/// Returns a line in the colour of a class of the style sheet.
pub fn line(columns: &[Column], x: Scale, y: Scale, height: f64, class: &str) -> Markup {
    let at = |column: &Column, figure: f64| (x.share(column.x) * WIDTH, (1.0 - y.share(figure)) * height);
    let has_band = columns.iter().any(|column| column.most > column.least);
    let upper = path(columns.iter().map(|column| at(column, column.most)));
    let band = has_band.then(|| {
        let there = columns.iter().map(|column| at(column, column.most));
        let back = columns.iter().rev().map(|column| at(column, column.least));
        path(there.chain(back)) + "Z"
    });
    let dots = columns.len() == 1;
    html! {
        @if let Some(band) = band { path class=(format!("band {class}")) d=(band) {} }
        @if dots { path class=(format!("line dot {class}")) d=(upper.clone() + "h0.1") {} }
        @else { path class=(format!("line {class}")) d=(upper) {} }
    }
}

/// Returns the path through points, to a tenth of a unit.
pub fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut out = String::new();
    for (index, (x, y)) in points.enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(out, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
    }
    out
}
