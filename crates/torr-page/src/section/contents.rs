//! The longer sections of a page, and the links to them below its head.

use maud::{Markup, html};

/// A section with its heading.
pub type Part = (&'static str, Markup);

/// Returns links to sections, of which empty ones are left out; nothing for a single one. `number` is that of the result on its page.
pub fn contents(number: usize, parts: &[Part]) -> Markup {
    let name = if number == 0 { "Contents".to_owned() } else { format!("Contents, result {}", number + 1) };
    let shown: Vec<_> = parts.iter().filter(|(_, part)| !part.0.is_empty()).collect();
    html! {
        @if shown.len() > 1 {
            nav.contents aria-label=(name) {
                @for (name, _) in shown { a href=(format!("#{}", anchor(number, name))) { (name) } " " }
            }
        }
    }
}

/// Returns the sections, to which those links lead.
pub fn sections(number: usize, parts: &[Part]) -> Markup {
    html! {
        @for (name, part) in parts.iter().filter(|(_, part)| !part.0.is_empty()) {
            div id=(anchor(number, name)) { (part) }
        }
    }
}

/// Returns the identifier of a section, which a page has once.
fn anchor(number: usize, name: &str) -> String {
    let name = name.to_lowercase().replace(' ', "-");
    if number == 0 { name } else { format!("{name}-{}", number + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_sections_that_there_are() {
        let part = |name, text: &str| (name, html! { (text) });
        let parts = [part("Over time", "a"), part("Errors", ""), part("How to repeat it", "b")];
        let links = contents(0, &parts).into_string();
        assert!(links.contains("href=\"#over-time\"") && links.contains("href=\"#how-to-repeat-it\""), "{links}");
        assert!(!links.contains("rrors"), "{links}");
        let second = sections(1, &parts).into_string();
        assert_eq!(second, "<div id=\"over-time-2\">a</div><div id=\"how-to-repeat-it-2\">b</div>");
        assert!(contents(1, &parts).into_string().contains("aria-label=\"Contents, result 2\""));
        assert_eq!(contents(0, &parts[..2]).into_string(), "");
    }
}
