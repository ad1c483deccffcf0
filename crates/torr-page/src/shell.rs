//! The page around the sections: its policy, its style and the order of its parts.

use crate::document::{Document, Kind};
use crate::section;
use crate::section::contents::Part;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

/// The style of every page: our own text, without anything of a result.
const STYLE: &str = include_str!("style.css");
/// The script of every page, which shows figures of the page where it is pointed at; our own text as well.
const SCRIPT: &str = include_str!("script.js");

/// Returns the page of results.
pub fn page(documents: &[Document]) -> Markup {
    let main = html! {
        @if documents.len() > 1 { (section::overlay::overlay(documents)) }
        @for (number, document) in documents.iter().enumerate() { (article(number, document)) }
    };
    shell(&title(documents), &Own { style: None, script: None }, &main)
}

/// Returns a page that is filled by its own script, from the server that it came from.
pub fn live_page(title: &str, style: &str, script: &str, main: &Markup) -> Markup {
    shell(title, &Own { style: Some(style), script: Some(script) }, main)
}

/// What one kind of page has beside the style and the script of all.
struct Own<'o> {
    style: Option<&'o str>,
    /// A script that fetches from the server that the page came from.
    script: Option<&'o str>,
}

/// Returns a page around its content.
fn shell(title: &str, own: &Own<'_>, main: &Markup) -> Markup {
    let styles: Vec<_> = std::iter::once(STYLE).chain(own.style).map(compact).collect();
    let scripts: Vec<_> = std::iter::once(SCRIPT).chain(own.script).map(compact).collect();
    let fetches = if own.script.is_some() { "; connect-src 'self'" } else { "" };
    // Nothing may be loaded, and only these styles and scripts have an effect.
    let policy = format!(
        "default-src 'none'; style-src{}; script-src{}{fetches}; base-uri 'none'; form-action 'none'",
        hashes(&styles),
        hashes(&scripts)
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                @for style in styles { style { (PreEscaped(style)) } }
            }
            body {
                main { (main) }
                footer {
                    "Made by torr " (env!("CARGO_PKG_VERSION")) "."
                    @if own.script.is_none() { " This page loads no other files and works without its script." }
                }
                @for script in scripts { script { (PreEscaped(script)) } }
            }
        }
    }
}

/// Returns a style or a script without indentation and lines of comments.
fn compact(text: &str) -> String {
    let lines = text.lines().map(str::trim_start);
    lines.filter(|line| !line.starts_with("//") && !line.starts_with("/*")).flat_map(|line| [line, "\n"]).collect()
}

/// Returns texts as a policy names them.
fn hashes(texts: &[String]) -> String {
    texts.iter().map(|text| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(text)))).collect()
}

fn title(documents: &[Document]) -> String {
    match documents {
        [one] => format!("{} – torr", one.subject()),
        many => format!("{} results – torr", many.len()),
    }
}

/// Returns the part of a page that is about one result. `number` is that of the result on its page.
pub fn article(number: usize, document: &Document) -> Markup {
    let value = &document.value;
    let parts = match document.kind {
        Kind::Run => run(document),
        Kind::Doctor | Kind::Limit | Kind::Versions | Kind::Lab | Kind::Demo | Kind::History => Vec::new(),
    };
    html! {
        article {
            (section::header::header(document))
            (section::contents::contents(number, &parts))
            @match document.kind {
                Kind::Run => {
                    (section::agents::cautions(value))
                    (section::thresholds::failed(value))
                    (section::verdict::verdict(value))
                    (section::figures::run(value))
                    (section::script::script(value))
                    (section::thresholds::kept(value))
                    (section::cautions::cautions(value))
                    (section::contents::sections(number, &parts))
                }
                Kind::Doctor => {
                    (section::verdict::verdict(value))
                    (section::places::places(value))
                    (section::experiments::ladder(value))
                    (section::experiments::experiments(value))
                }
                Kind::Limit => {
                    (section::limit::conclusion(value))
                    (section::limit::figures(value))
                    (section::by_load::by_load(value))
                    (section::ladder::ladder(value))
                    (section::limit::steps(value))
                }
                Kind::Versions => { (section::versions::versions(value)) }
                Kind::Lab => { (section::lab::lab(value)) }
                Kind::History => { (section::history::history(value)) }
                Kind::Demo => {
                    (section::verdict::verdict(value))
                    (section::demo::demo(value))
                }
            }
            @if parts.is_empty() { (section::repeat::repeat(document)) }
        }
    }
}

/// Returns the sections of a run that stand below its figures.
fn run(document: &Document) -> Vec<Part> {
    let value = &document.value;
    vec![
        ("Over time", section::over_time::over_time(value)),
        ("Streams", section::streams::streams(value)),
        ("Distribution", section::distribution::distribution(value)),
        ("Phases", section::phases::phases(value)),
        ("WebSocket", section::websocket::websocket(value)),
        ("Datagrams", section::datagrams::datagrams(value)),
        ("Entries", section::entries::entries(value)),
        ("Beside the log", section::replay::replay(value)),
        ("Agents", section::agents::agents(value)),
        ("Errors", section::errors::errors(value)),
        ("How to repeat it", section::repeat::repeat(document)),
    ]
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn what_browsers_need_is_kept() {
        assert_eq!(compact("// why\na {\n  b: c; /* d */\n  /* e */\n}\n"), "a {\nb: c; /* d */\n}\n");
    }
}
