//! Extractors, which become captures.

use super::Reader;
use super::element::Element;
use crate::parts::{capture, response};
use regex::Regex;
use torr_session::hurl::ast::{Entry, Pattern, Query};

/// Adds the captures of an extractor.
pub(super) fn add(reader: &mut Reader, extractor: &Element<'_, '_>, entry: &mut Entry) {
    let captures = match extractor.tag() {
        "RegexExtractor" => regex(extractor),
        "JSONPostProcessor" => json(extractor),
        _ => boundary(extractor),
    };
    match captures {
        Ok(captures) => {
            for (name, query) in captures {
                let name = reader.variables.assign(&name);
                let made = capture(&name, query);
                let captures = &mut response(entry).captures;
                captures.retain(|known| known.name != made.name);
                captures.push(made);
            }
        }
        Err(reason) => reader.pending.push(extractor.left_out(reason)),
    }
}

type Captures = Result<Vec<(String, Query)>, &'static str>;

fn regex(extractor: &Element<'_, '_>) -> Captures {
    let name = extractor.value("RegexExtractor.refname").ok_or("it names no variable")?;
    if !matches!(extractor.text("RegexExtractor.useHeaders").as_str(), "" | "false" | "as_document" | "unescaped") {
        return Err("only content is searched here");
    }
    is_first(&extractor.text("RegexExtractor.match_number"))?;
    let pattern = extractor.text("RegexExtractor.regex");
    if pattern.contains("${") {
        return Err("its pattern has a variable");
    }
    let compiled = Regex::new(&pattern).map_err(|_| "its pattern is of another dialect")?;
    if compiled.captures_len() < 2 || !matches!(extractor.text("RegexExtractor.template").as_str(), "$1$" | "") {
        return Err("only the first group of a pattern can be captured");
    }
    Ok(vec![(name, Query::Regex(Pattern::Literal(pattern)))])
}

fn json(extractor: &Element<'_, '_>) -> Captures {
    let names = extractor.text("JSONPostProcessor.referenceNames");
    let paths = extractor.text("JSONPostProcessor.jsonPathExprs");
    extractor.text("JSONPostProcessor.match_numbers").split(';').try_for_each(is_first)?;
    let names: Vec<_> = names.split(';').map(str::trim).collect();
    let paths: Vec<_> = paths.split(';').map(str::trim).collect();
    if names.len() != paths.len() || names.contains(&"") {
        return Err("its names and its paths are not as many");
    }
    let mut captures = Vec::new();
    for (name, path) in names.into_iter().zip(paths) {
        if path.contains("${") {
            return Err("its path has a variable");
        }
        if !crate::parts::is_json_path(path) {
            return Err("its path is of another dialect");
        }
        captures.push((name.to_owned(), Query::JsonPath(path.into())));
    }
    Ok(captures)
}

fn boundary(extractor: &Element<'_, '_>) -> Captures {
    let name = extractor.value("BoundaryExtractor.refname").ok_or("it names no variable")?;
    is_first(&extractor.text("BoundaryExtractor.match_number"))?;
    let (left, right) = (extractor.text("BoundaryExtractor.lboundary"), extractor.text("BoundaryExtractor.rboundary"));
    if left.contains("${") || right.contains("${") {
        return Err("its boundaries have a variable");
    }
    let end = if right.is_empty() { "$".to_owned() } else { regex::escape(&right) };
    let pattern = format!("(?s){}(.*?){end}", regex::escape(&left));
    Ok(vec![(name, Query::Regex(Pattern::Literal(pattern)))])
}

/// Whether a match is the first: any one (0) is as good as the first.
fn is_first(number: &str) -> Result<(), &'static str> {
    if matches!(number.trim(), "" | "0" | "1") { Ok(()) } else { Err("only the first match can be captured") }
}
