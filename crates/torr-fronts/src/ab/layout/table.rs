//! The HTML table of ApacheBench.

use super::rows::{counts, service};
use super::times::{Times, milliseconds};
use crate::ab::args::Args;
use crate::figures::per_second;
use std::fmt::Write;
use torr_gauge::collector::Measurement;
use torr_press::Target;

/// Returns the table, with attributes for its table, row and cell elements.
pub fn table(measured: &Measurement, args: &Args, target: &Target, [table, tr, td]: &[String; 3]) -> String {
    let mut html = format!("\n\n<table {table}>\n");
    let mut row = |label: &str, value: &str| {
        let (label, value) = (escape(label), escape(value));
        let _ = writeln!(html, "<tr {tr}><th colspan=2 {td}>{label}</th><td colspan=2 {td}>{value}</td></tr>");
    };
    for (label, value) in service(measured, args, target).iter().chain(&counts(measured, args)) {
        // The row without a label has the kinds of failure.
        row(label, value);
    }
    let result = &measured.result;
    if result.requests > 0 {
        row("Requests per second:", &format!("{:.2}", per_second(result.requests, measured)));
        let kilobytes = |bytes| format!("{:.2} kb/s", per_second(bytes, measured) / 1024.0);
        row("Transfer rate:", &format!("{} received", kilobytes(result.bytes.received)));
        if args.body.is_some() {
            row("", &format!("{} sent", kilobytes(result.bytes.sent)));
            row("", &format!("{} total", kilobytes(result.bytes.sent + result.bytes.received)));
        }
        let _ = writeln!(html, "<tr {tr}><th {td} colspan=4>Connection Times (ms)</th></tr>");
        let heads = ["&nbsp;", "min", "avg", "max"].map(|head| format!("<th {td}>{head}</th>")).concat();
        let _ = writeln!(html, "<tr {tr}>{heads}</tr>");
        for (name, s) in Times::of(measured).rows() {
            let cells = [s.min, s.mean, s.max].map(|us| format!("<td {td}>{}</td>", milliseconds(us, 5))).concat();
            let _ = writeln!(html, "<tr {tr}><th {td}>{name}</th>{cells}</tr>");
        }
    }
    html.push_str("</table>\n");
    html
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
