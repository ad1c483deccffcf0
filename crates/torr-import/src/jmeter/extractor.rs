//! Extractors, which become captures.

use super::element::Element;
use super::{HAS_VARIABLE, OTHER_DIALECT, OTHER_RESPONSE, PATH_HAS_VARIABLE, PATTERN_HAS_VARIABLE, Reader};
use crate::css;
use crate::json_path::{jmes_path, json_path};
use crate::parts::{capture, response};
use crate::pattern::only_group;
use crate::reason::OTHER_JSON_PATH;
use torr_session::hurl::ast::{Entry, Filter, Pattern, Query};
use torr_xpath::Outcome;

/// Adds the captures of an extractor.
pub(super) fn add(reader: &mut Reader, extractor: &Element<'_, '_>, entry: &mut Entry) {
    let captures = match extractor.text("Sample.scope").as_str() {
        "" | "all" | "parent" => match extractor.tag() {
            "RegexExtractor" => regex(extractor),
            "JSONPostProcessor" => json(extractor),
            "JMESPathExtractor" => jmes(extractor),
            "XPathExtractor" => x_path(extractor, "XPathExtractor"),
            "XPath2Extractor" => x_path(extractor, "XPathExtractor2"),
            "HtmlExtractor" => html(extractor),
            _ => boundary(extractor),
        },
        _ => Err(OTHER_RESPONSE),
    };
    match captures {
        Ok(captures) => {
            for Captured { name, query, filters } in captures {
                let name = reader.variables.assign(&name);
                let mut made = capture(&name, query);
                made.filters = filters;
                let captures = &mut response(entry).captures;
                captures.retain(|known| known.name != made.name);
                captures.push(made);
            }
        }
        Err(reason) => reader.pending.push(extractor.left_out(reason)),
    }
}

/// A value that a capture takes, and the name of its variable.
struct Captured {
    name: String,
    query: Query,
    filters: Vec<Filter>,
}

impl Captured {
    fn all_of(name: String, query: Query) -> Vec<Self> {
        vec![Self { name, query, filters: Vec::new() }]
    }
}

type Captures = Result<Vec<Captured>, &'static str>;

const NAMELESS: &str = "missing variable name";

fn regex(extractor: &Element<'_, '_>) -> Captures {
    let name = extractor.value("RegexExtractor.refname").ok_or(NAMELESS)?;
    is_first(&extractor.text("RegexExtractor.match_number"))?;
    let pattern = extractor.text("RegexExtractor.regex");
    if pattern.contains("${") {
        return Err(PATTERN_HAS_VARIABLE);
    }
    let template = extractor.text("RegexExtractor.template");
    let group = template.strip_prefix('$').and_then(|rest| rest.strip_suffix('$')).and_then(|text| text.parse().ok());
    let group = if template.is_empty() { Some(1) } else { group };
    let pattern = only_group(&pattern, group.ok_or("only one group of a pattern is supported")?)?;
    Ok(match extractor.text("RegexExtractor.useHeaders").as_str() {
        "" | "false" | "as_document" | "unescaped" => Captured::all_of(name, Query::Regex(Pattern::Literal(pattern))),
        "true" => vec![of_field(name, &pattern)?],
        "URL" => vec![Captured { name, query: Query::Url, filters: vec![Filter::Regex(Pattern::Literal(pattern))] }],
        _ => return Err("only the response's content, one header field and the URL are supported"),
    })
}

/// Returns the capture of a field of the response, which the pattern names at its beginning.
fn of_field(name: String, pattern: &str) -> Result<Captured, &'static str> {
    let (field, rest) = pattern.split_once(':').ok_or("its pattern must begin with the name of a header field")?;
    let field = field.trim_start_matches(['^', '\n']).trim_start_matches("\\n");
    if field.is_empty() || !field.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err("its pattern must begin with the name of a header field");
    }
    let rest = rest.strip_prefix("\\s*").or(rest.strip_prefix("\\s")).unwrap_or(rest).trim_start_matches(' ');
    if field.eq_ignore_ascii_case("set-cookie") {
        let (cookie, _) = rest.split_once('=').ok_or("its pattern must name a cookie")?;
        let is_cookie = !cookie.is_empty() && cookie.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        if !is_cookie {
            return Err("its pattern must name a cookie");
        }
        let query = Query::Cookie { name: cookie.into(), attribute: None };
        return Ok(Captured { name, query, filters: Vec::new() });
    }
    let filters = vec![Filter::Regex(Pattern::Literal(rest.to_owned()))];
    Ok(Captured { name, query: Query::Header(field.into()), filters })
}

fn json(extractor: &Element<'_, '_>) -> Captures {
    let names = extractor.text("JSONPostProcessor.referenceNames");
    let paths = extractor.text("JSONPostProcessor.jsonPathExprs");
    extractor.text("JSONPostProcessor.match_numbers").split(';').try_for_each(is_first)?;
    let names: Vec<_> = names.split(';').map(str::trim).collect();
    let paths: Vec<_> = paths.split(';').map(str::trim).collect();
    if names.len() != paths.len() || names.contains(&"") {
        return Err("the number of names must equal the number of paths");
    }
    let mut captures = Vec::new();
    for (name, path) in names.into_iter().zip(paths) {
        if path.contains("${") {
            return Err(PATH_HAS_VARIABLE);
        }
        let path = json_path(path).ok_or(OTHER_JSON_PATH)?;
        captures.extend(Captured::all_of(name.to_owned(), Query::JsonPath(path.as_str().into())));
    }
    Ok(captures)
}

fn jmes(extractor: &Element<'_, '_>) -> Captures {
    let name = extractor.value("JMESExtractor.refName").ok_or(NAMELESS)?;
    is_first(&extractor.text("JMESExtractor.matchNumber"))?;
    let path = jmes_path(&extractor.text("JMESExtractor.jmesPathExpr")).ok_or(OTHER_DIALECT)?;
    Ok(Captured::all_of(name, Query::JsonPath(path.as_str().into())))
}

fn x_path(extractor: &Element<'_, '_>, prefix: &str) -> Captures {
    let property = |name: &str| extractor.text(&format!("{prefix}.{name}"));
    let name = extractor.value(&format!("{prefix}.refname")).ok_or(NAMELESS)?;
    if property("fragment") == "true" {
        return Err("capturing markup is not supported, only its text");
    }
    let expression = property("xpathQuery");
    let expression = expression.trim();
    if expression.contains("${") {
        return Err(HAS_VARIABLE);
    }
    let made = match kind_of(expression).ok_or(OTHER_DIALECT)? {
        Outcome::Nodes(_) => text_of(expression, &property("matchNumber"), "")?,
        _ => expression.to_owned(),
    };
    Ok(Captured::all_of(name, Query::XPath(made.as_str().into())))
}

/// Returns what an expression finds, whose kind is the same in every document; `None` for text that is no expression.
pub(super) fn kind_of(expression: &str) -> Option<Outcome> {
    let expression = torr_xpath::Expression::compile(expression).ok()?;
    let tree = torr_xpath::html("<p>text</p>").ok()?;
    // A prefix is declared by the document.
    Some(expression.evaluate(&tree).unwrap_or(Outcome::Nodes(0)))
}

fn html(extractor: &Element<'_, '_>) -> Captures {
    let name = extractor.value("HtmlExtractor.refname").ok_or(NAMELESS)?;
    let selector = extractor.text("HtmlExtractor.expr");
    if selector.contains("${") {
        return Err(HAS_VARIABLE);
    }
    let nodes = css::x_path(&selector).ok_or("this CSS selector is not supported")?;
    let attribute = extractor.text("HtmlExtractor.attribute");
    let is_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    if !attribute.chars().all(is_name) {
        return Err("unknown attribute");
    }
    let step = if attribute.is_empty() { String::new() } else { format!("/@{}", attribute.to_ascii_lowercase()) };
    let number = extractor.text("HtmlExtractor.match_number");
    let made = match step.as_str() {
        // The programs take white space together.
        "" => text_of(&nodes, &number, "")?.replacen("string(", "normalize-space(", 1),
        step => text_of(&nodes, &number, step)?,
    };
    Ok(Captured::all_of(name, Query::XPath(made.as_str().into())))
}

/// Returns the expression of the text of one of the nodes that an expression finds, or of what a step from there finds.
fn text_of(nodes: &str, number: &str, step: &str) -> Result<String, &'static str> {
    let position = match number.trim() {
        // The text of several nodes is that of the first.
        "" | "0" | "1" if step.is_empty() || !nodes.contains(" | ") => return Ok(format!("string({nodes}{step})")),
        "" | "0" => 1,
        // Of all matches the first has the variable's name.
        "-1" => return Err("only one match is supported"),
        other => other.parse::<u32>().map_err(|_| "invalid match number")?,
    };
    Ok(format!("string(({nodes})[{position}]{step})"))
}

fn boundary(extractor: &Element<'_, '_>) -> Captures {
    let name = extractor.value("BoundaryExtractor.refname").ok_or(NAMELESS)?;
    is_first(&extractor.text("BoundaryExtractor.match_number"))?;
    if !matches!(extractor.text("BoundaryExtractor.useHeaders").as_str(), "" | "false" | "as_document" | "unescaped") {
        return Err("only content is supported");
    }
    let (left, right) = (extractor.text("BoundaryExtractor.lboundary"), extractor.text("BoundaryExtractor.rboundary"));
    if left.contains("${") || right.contains("${") {
        return Err("boundaries with a variable are not supported");
    }
    let end = if right.is_empty() { "$".to_owned() } else { regex::escape(&right) };
    let pattern = format!("(?s){}(.*?){end}", regex::escape(&left));
    Ok(Captured::all_of(name, Query::Regex(Pattern::Literal(pattern))))
}

/// Whether a match is the first: any one (0) is as good as the first.
fn is_first(number: &str) -> Result<(), &'static str> {
    if matches!(number.trim(), "" | "0" | "1") { Ok(()) } else { Err("only the first match is supported") }
}
