//! The places in the server that a verdict's factor comes from, what could not be seen, and the stacks.

use crate::fields::{field, list, number};
use crate::plot::icicle::icicle;
use maud::{Markup, html};
use serde_json::Value;
use torr_gauge::verdict::{Located, Place};
use torr_report::human::percent;
use torr_report::sentence::place_lines;

/// Returns the section of a diagnosis that located its factor.
pub fn places(value: &Value) -> Markup {
    let Some(located) = field(value, "located") else { return html! {} };
    let found: Option<Located> = serde_json::from_value(located.clone()).ok();
    let lines = found.as_ref().map(place_lines).unwrap_or_default();
    let quotes = found.iter().flat_map(|found| found.places.iter().chain(&found.widest)).any(has_quotes);
    if lines.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "Where" }
            dl.places { @for (what, line) in &lines { dt { (what) } dd { (with_code(line, quotes)) } } }
            @if let Some(root) = field(located, "stacks").filter(|root| !list(root, "calls").is_empty()) {
                figure {
                    figcaption {
                        strong { "Stacks" } " "
                        span.faint { "each function is as wide as its share of the samples; callers stand above what they call; your own code is blue" }
                    }
                    (icicle(root))
                }
            }
            @if let Some(kept) = number(located, "kept").filter(|kept| *kept > 0.0) {
                p.sub { "While the server was sampled, throughput was " (percent(kept)) " of that before." }
            }
        }
    }
}

/// Whether a statement has the quotes that stand around code in sentences, as those of MySQL may have.
fn has_quotes(place: &Place) -> bool {
    place.statement.iter().chain(&place.blocked_by).any(|statement| statement.contains('`'))
}

/// Returns a sentence in which what stands in quotes is code. With `quotes` in the code itself the sentence is left as it is.
fn with_code(line: &str, quotes: bool) -> Markup {
    if quotes {
        return html! { (line) };
    }
    html! {
        @for (at, part) in line.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the section of a statement that takes most of the time.
    fn section(statement: &str) -> String {
        let text = format!("90% of the time in MySQL is spent on `{statement}`");
        let place = json!({
            "kind": "statement", "text": text, "runtime": "mysql", "statement": statement, "samples": 80,
            "share": {"low": 0.8, "value": 0.9, "high": 1.0},
        });
        places(&json!({"located": {"places": [place]}})).into_string()
    }

    #[test]
    fn code_in_a_sentence_is_code_on_the_page() {
        let found = section("SELECT a < b");
        assert!(found.contains("is spent on <code>SELECT a &lt; b</code>"), "{found}");
    }

    #[test]
    fn quotes_of_a_statement_stay() {
        let found = section("SELECT `name` FROM shop");
        assert!(found.contains("is spent on `SELECT `name` FROM shop`"), "{found}");
    }
}
