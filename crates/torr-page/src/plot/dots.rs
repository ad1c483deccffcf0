//! Dots, each of the same size however wide the plot is.

use super::WIDTH;
use super::scale::Scale;
use maud::{Markup, html};
use std::fmt::Write;

/// Returns points (x, figure) as dots in the colour of a class of the style sheet; nothing without points.
pub fn dots(points: &[(f64, f64)], x: Scale, y: Scale, height: f64, class: &str) -> Markup {
    let mut drawn = String::new();
    for (at, figure) in points {
        // A line of no length has round ends only. Writing to a string cannot fail.
        let _ = write!(drawn, "M{:.1} {:.1}h0", x.share(*at) * WIDTH, (1.0 - y.share(*figure)) * height);
    }
    html! { @if !drawn.is_empty() { path class=(format!("line dot {class}")) d=(drawn) {} } }
}
