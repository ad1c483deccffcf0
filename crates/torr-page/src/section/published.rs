//! Figures of others beside those of a run.

use maud::{Markup, html};

/// Returns what is to be known of published figures. `which` names them, at the beginning of the sentence.
pub fn published(which: &str) -> Markup {
    html! {
        p.sub { (which) " are published ones from other machines: they show what is usual, not which is faster." }
    }
}
