//! A bar in a cell of a table.

use maud::{Markup, html};

/// Returns a bar of a share from 0 to 1. The cell beside it has the figure, so that the bar is hidden from screen readers.
pub fn bar(share: f64, class: &str) -> Markup {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    html! {
        svg class="bar" width="100%" height="10" aria-hidden="true" {
            rect class="track" width="100%" height="10" rx="2" {}
            rect class=(class) width=(format!("{:.1}%", share * 100.0)) height="10" rx="2" {}
        }
    }
}
