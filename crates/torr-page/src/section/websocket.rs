//! The WebSocket connections of a run: what servers sent without a request, and how they closed connections.

use crate::fields::{field, has_streams, number};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::count;

/// Returns the section; nothing for a run over other connections.
pub fn websocket(value: &Value) -> Markup {
    let Some(counts) = field(value, "websocket") else { return html! {} };
    let of = |name| number(counts, name).unwrap_or(0.0) as u64;
    // On a connection that listens all messages are events.
    let pushed = ("messages that the server pushed", of("pushed"));
    let rows = [pushed].into_iter().filter(|_| !has_streams(value)).chain([("pings of the server", of("pings"))]);
    let compressed = number(counts, "compressed").map(|n| ("connections with compressed messages", n as u64));
    let rows = rows.chain(compressed);
    let closed = field(counts, "closed").and_then(Value::as_object).into_iter().flatten();
    let closed = closed.map(|(code, n)| (meaning(code), n.as_u64().unwrap_or(0)));
    let rows = rows.map(|(name, n)| (name.to_owned(), n)).chain(closed);
    html! {
        section {
            h2 { "WebSocket" }
            table {
                thead { tr { th scope="col" { "what" } th scope="col" { "count" } } }
                tbody {
                    @for (name, n) in rows {
                        tr { th scope="row" { (name) } td { (count(n)) } }
                    }
                }
            }
        }
    }
}

/// Returns what a code of a close frame, or none, means (RFC 6455, section 7.4.1).
fn meaning(code: &str) -> String {
    match code {
        "1005" => "connections closed by the server without a code".to_owned(),
        "1006" => "connections closed by the server without a close frame".to_owned(),
        code => format!("connections closed by the server with code {}", torr_report::human::printable(code)),
    }
}
