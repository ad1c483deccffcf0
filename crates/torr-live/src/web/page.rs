//! The page that a dashboard's script fills.

use maud::{Markup, html};

const STYLE: &str = include_str!("dashboard.css");
const SCRIPT: &str = include_str!("dashboard.js");

/// Returns the page of what loads a target, with the buttons of its operator.
pub fn page(target: &str, words: &str, buttons: &Markup) -> String {
    let main = html! {
        header #planned { h1 { (target) } p.sub { (words) } }
        noscript { p.caution { "This page needs its script to follow a run: allow scripts, or use --live in a terminal." } }
        p #connection role="status" {}
        div #controls role="group" aria-label="Steer the run" { (buttons) }
        button #save type="button" hidden { "Save this page" }
        div #panel {}
        h2 #so-far hidden { "The run so far" }
        div #report {}
    };
    torr_page::live_page(&format!("{target} – torr"), STYLE, SCRIPT, &main)
}
