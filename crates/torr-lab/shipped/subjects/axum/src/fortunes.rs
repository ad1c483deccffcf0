//! TechEmpower's page of fortunes.

use std::fmt::Write;

/// The page of these rows and one more, sorted by their messages.
pub fn page(mut rows: Vec<(i32, String)>) -> String {
    rows.push((0, "Additional fortune added at request time.".into()));
    rows.sort_by(|a, b| a.1.cmp(&b.1));
    let mut page = String::with_capacity(2048);
    page += "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>";
    page += "<tr><th>id</th><th>message</th></tr>";
    for (id, message) in &rows {
        write!(page, "<tr><td>{id}</td><td>").expect("writing to memory does not fail");
        escape(message, &mut page);
        page += "</td></tr>";
    }
    page += "</table></body></html>";
    page
}

fn escape(text: &str, page: &mut String) {
    for c in text.chars() {
        match c {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            c => page.push(c),
        }
    }
}
