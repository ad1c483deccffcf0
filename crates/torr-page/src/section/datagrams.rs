//! The datagrams of a run over HTTP/3.

use crate::fields::field;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use torr_gauge::datagrams::Datagrams;
use torr_report::transport;

/// Returns the section; nothing for a run without datagrams.
pub fn datagrams(value: &Value) -> Markup {
    let counts = field(value, "datagrams").and_then(|counts| Datagrams::deserialize(counts).ok());
    html! { @if let Some(counts) = counts { section { h2 { "Datagrams" } p { (transport::datagrams(&counts)) "." } } } }
}
