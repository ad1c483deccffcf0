//! An interval of a ratio in a cell of a table, beside the differences that do not count.

use maud::{Markup, html};

/// Returns the picture of a ratio's interval around 1: the grey band is what counts as no difference, and `most` the largest
/// deviation from 1 that the cell shows. The cell beside it has the figures, so that it is hidden from screen readers.
pub fn interval([low, high]: [f64; 2], margin: f64, most: f64, class: &str) -> Markup {
    let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
    let at = |ratio: f64| {
        let share = (ratio - 1.0) / most;
        if share.is_finite() { 50.0 + share.clamp(-1.0, 1.0) * 50.0 } else { 50.0 }
    };
    let percent = |figure: f64| format!("{figure:.1}%");
    let (begin, end) = (at(1.0 - margin), at(1.0 + margin));
    // An interval that is narrower than a line is still seen.
    let (from, to) = (at(low).min(at(high)), at(low).max(at(high)));
    let width = (to - from).max(1.0);
    html! {
        svg class="bar" width="100%" height="14" aria-hidden="true" {
            rect class="track" x=(percent(begin)) width=(percent(end - begin)) height="14" {}
            rect class=(class) x=(percent(from.min(100.0 - width))) y="3" width=(percent(width)) height="8" rx="2" {}
            line class="grid" x1="50%" x2="50%" y1="0" y2="14" {}
        }
    }
}

/// Returns the axis above intervals: no change in the middle, and `most` at both ends.
pub fn axis(most: f64) -> Markup {
    let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
    html! {
        svg class="axis" width="100%" height="14" aria-hidden="true" {
            text class="tick" x="0" y="11" { (format!("-{:.0}%", most * 100.0)) }
            text class="tick middle" x="50%" y="11" { "0%" }
            text class="tick last" x="100%" y="11" { (format!("+{:.0}%", most * 100.0)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_stays_within_its_cell() {
        let drawn = |interval_of, most| interval(interval_of, 0.02, most, "a").into_string();
        assert!(drawn([1.05, 1.1], 0.2).contains("x=\"62.5%\" y=\"3\" width=\"12.5%\""), "{}", drawn([1.05, 1.1], 0.2));
        assert!(drawn([f64::NAN, f64::INFINITY], f64::NAN).contains("width=\"1.0%\""));
        assert!(drawn([5.0, 9.0], 0.2).contains("x=\"99.0%\""));
    }
}
