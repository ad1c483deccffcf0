//! TechEmpower's page of fortunes.

use askama::Template;
use torr_data::Fortune;
use torr_serve::Response;

const ADDED: &str = "Additional fortune added at request time.";

#[derive(Template)]
#[template(
    ext = "html",
    source = "<!DOCTYPE html>\
<html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>\
{% for fortune in fortunes %}<tr><td>{{ fortune.id }}</td><td>{{ fortune.message }}</td></tr>{% endfor %}\
</table></body></html>"
)]
struct Page {
    fortunes: Vec<Fortune>,
}

/// The fortunes and one more, sorted by what they say.
pub fn page(mut fortunes: Vec<Fortune>) -> Response {
    fortunes.push(Fortune { id: 0, message: ADDED.to_owned() });
    fortunes.sort_unstable_by(|a, b| a.message.cmp(&b.message));
    match (Page { fortunes }).render() {
        Ok(html) => Response::ok("text/html; charset=utf-8", html),
        Err(error) => Response::error(500, format!("{error}\n")),
    }
}
