//! A bar in a cell of a table.

use maud::{Markup, html};
use torr_report::human::rate;

/// Returns a bar of a share from 0 to 1. The cell beside it has the figure, so that the bar is hidden from screen readers.
pub fn bar(share: f64, class: &str) -> Markup {
    bar_with_range(share, None, 1.0, class)
}

/// Returns the bar of a figure as a share of `most`, with a whisker: the range of the figures whose median it is.
pub fn bar_with_range(figure: f64, range: Option<[f64; 2]>, most: f64, class: &str) -> Markup {
    let percent = |figure: f64| {
        let share = figure / most;
        format!("{:.1}%", if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 } * 100.0)
    };
    html! {
        svg class="bar" width="100%" height="10" aria-hidden="true" {
            rect class="track" width="100%" height="10" rx="2" {}
            rect class=(class) width=(percent(figure)) height="10" rx="2" {}
            @if let Some([least, most]) = range.map(|range| range.map(percent)) {
                line class="whisker" x1=(least) x2=(most) y1="5" y2="5" {}
                @for end in [&least, &most] { line class="whisker" x1=(end) x2=(end) y1="2" y2="8" {} }
            }
        }
    }
}

/// Returns a range of rates in words; a dash where there is none.
pub fn range_words(range: Option<[f64; 2]>) -> String {
    range.map_or("–".into(), |range| range.map(rate).join(" to "))
}
