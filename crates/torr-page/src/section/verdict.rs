//! The verdict: a sentence, its evidence, and the advice.

use crate::fields::{field, list, text, texts};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::sentence::{Named, named};

/// Returns the verdict of a run or a diagnosis.
pub fn verdict(value: &Value) -> Markup {
    let Some(verdict) = field(value, "verdict") else { return html! {} };
    let summary = text(verdict, "summary").filter(|summary| !summary.is_empty());
    let sentence = summary.unwrap_or("The limiting factor is unknown.");
    block(verdict, sentence)
}

/// Returns a verdict with this sentence above its evidence.
pub fn block(verdict: &Value, sentence: &str) -> Markup {
    let confidence = text(verdict, "confidence").unwrap_or("unknown");
    let best = list(verdict, "hypotheses").first().and_then(|best| text(best, "factor"));
    let Named { before, name, behind } = named(text(verdict, "factor").unwrap_or("unknown"), confidence, best);
    let class = if confidence == "unknown" { "verdict unknown" } else { "verdict" };
    html! {
        section class=(class) {
            p.sentence { (sentence) }
            (evidence(verdict))
            p.sub {
                (before) @if let Some(name) = name { strong { (name) } } (behind)
                @if let Some(gain) = text(verdict, "gain.summary") { " · gain: " (gain) }
            }
        }
    }
}

/// Returns the evidence and advice of a verdict.
pub fn evidence(verdict: &Value) -> Markup {
    html! {
        @if texts(verdict, "because").next().is_some() {
            ul { @for reason in texts(verdict, "because") { li { (reason) } } }
        }
        @for advice in texts(verdict, "advice") { p.advice { (advice) } }
    }
}
