//! A line through the columns of a series, with a band from the least to the most where columns stand for several points.

use super::WIDTH;
use super::dots::dots;
use super::envelope::Column;
use super::scale::Scale;
use maud::{Markup, html};
use std::fmt::Write;

/// Returns a line in the colour of a class of the style sheet.
pub fn line(columns: &[Column], x: Scale, y: Scale, height: f64, class: &str) -> Markup {
    let upper = path(columns.iter().map(|column| at(column, column.most, x, y, height)));
    html! {
        @if columns.iter().any(|column| column.most > column.least) { (area(columns, columns, x, y, height, class)) }
        @if let [one] = columns { (dots(&[(one.x, one.most)], x, y, height, class)) }
        @else { path class=(format!("line {class}")) d=(upper) {} }
    }
}

/// Returns the area from the least of one line to the most of another, in the colour of a class; of the columns that both have.
pub fn area(lower: &[Column], upper: &[Column], x: Scale, y: Scale, height: f64, class: &str) -> Markup {
    let below = |above: &Column| lower.iter().find(|column| column.x == above.x);
    let both: Vec<_> = upper.iter().filter_map(|above| Some((below(above)?, above))).collect();
    let there = both.iter().map(|(_, above)| at(above, above.most, x, y, height));
    let back = both.iter().rev().map(|(below, _)| at(below, below.least, x, y, height));
    let outline = path(there.chain(back));
    html! { @if !outline.is_empty() { path class=(format!("band {class}")) d=(outline + "Z") {} } }
}

/// Returns where a figure of a column lies in the inner picture.
fn at(column: &Column, figure: f64, x: Scale, y: Scale, height: f64) -> (f64, f64) {
    (x.share(column.x) * WIDTH, (1.0 - y.share(figure)) * height)
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
