//! Regular expressions, JSONPath and XPath expressions, compiled before the run where they have no placeholders.

use crate::error::EvaluationError;
use crate::hurl::{ParseError, Position, ast};
use crate::scope::{Names, Variables};
use crate::template::Template;
use encoding_rs::Encoding;
use regex::Regex;
use serde_json_path::JsonPath;
use std::borrow::Cow;
use torr_xpath::Expression;

/// What is compiled from text: at once, or each time that its placeholders have been filled in.
#[derive(Debug, Clone)]
pub enum Compiled<T> {
    /// Text without placeholders.
    Ready(Box<T>),
    /// Text with placeholders.
    Late(Template),
}

/// What text is compiled to.
pub trait Compile: Clone {
    /// Compiles the text.
    ///
    /// # Errors
    /// In words, if the text is no such expression.
    fn compile(text: &str) -> Result<Self, String>;
}

impl<T: Compile> Compiled<T> {
    /// Compiles text of a hurl file.
    ///
    /// # Errors
    /// If the text is no such expression.
    pub fn new(template: &ast::Template, at: Position, names: &mut Names) -> Result<Self, ParseError> {
        match template.literal() {
            Some(text) => Self::ready(text, at),
            None => Template::compile(template, names).map(Self::Late),
        }
    }

    fn ready(text: &str, at: Position) -> Result<Self, ParseError> {
        T::compile(text).map(|ready| Self::Ready(Box::new(ready))).map_err(|message| ParseError { at, message })
    }

    /// Returns the compiled expression.
    ///
    /// # Errors
    /// If a variable has no value, or the filled-in text is no such expression.
    pub fn get(&self, variables: &Variables) -> Result<Cow<'_, T>, EvaluationError> {
        match self {
            Self::Ready(ready) => Ok(Cow::Borrowed(ready)),
            Self::Late(template) => T::compile(&template.render(variables)?).map(Cow::Owned).map_err(EvaluationError),
        }
    }
}

impl Compiled<Regex> {
    /// Compiles a pattern of a hurl file.
    ///
    /// # Errors
    /// If the pattern is no regular expression.
    pub fn pattern(pattern: &ast::Pattern, at: Position, names: &mut Names) -> Result<Self, ParseError> {
        match pattern {
            ast::Pattern::Literal(text) => Self::ready(text, at),
            ast::Pattern::Template(template) => Self::new(template, at, names),
        }
    }
}

impl Compile for Regex {
    fn compile(text: &str) -> Result<Self, String> {
        // The library's message draws the place below the pattern over several lines; its last line says what is wrong.
        let reason = |error: regex::Error| error.to_string().lines().last().unwrap_or_default().replace("error: ", "");
        Self::new(text).map_err(|error| format!("'{text}' is no regular expression: {}", reason(error)))
    }
}

impl Compile for JsonPath {
    fn compile(text: &str) -> Result<Self, String> {
        let wrong = |error| format!("'{text}' is no JSONPath expression: {error}");
        Self::parse(text).or_else(|error| Self::parse(&quote_names(text)).map_err(|_| wrong(error)))
    }
}

impl Compile for &'static Encoding {
    fn compile(text: &str) -> Result<Self, String> {
        Encoding::for_label(text.as_bytes())
            .ok_or_else(|| format!("'{text}' is no character encoding: write one such as utf-8 or iso-8859-1"))
    }
}

impl Compile for Expression {
    fn compile(text: &str) -> Result<Self, String> {
        Self::compile(text)
    }
}

/// Whether text is a JSONPath expression.
pub fn is_json_path(text: &str) -> bool {
    <JsonPath as Compile>::compile(text).is_ok()
}

/// Puts names with hyphens and names that begin with a digit, which RFC 9535 requires to be quoted, into brackets: `$.a-b` becomes
/// `$['a-b']`. Until its version 8, hurl read such names, and a dot before a bracket.
fn quote_names(path: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let (mut out, mut rest) = (String::new(), path);
    while let Some(next) = rest.chars().next() {
        if matches!(next, '\'' | '"') {
            let end = rest[1..].find(next).map_or(rest.len(), |end| end + 2);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let name = rest.strip_prefix('.').map(|after| &after[..after.find(|c| !is_name(c)).unwrap_or(after.len())]);
        let is_fraction = out.ends_with(|c: char| c.is_ascii_digit());
        let is_other =
            |name: &&str| name.contains('-') || (name.starts_with(|c: char| c.is_ascii_digit()) && !is_fraction);
        match name.filter(is_other) {
            None if rest.starts_with(".[") && !out.ends_with('.') => rest = &rest[1..],
            Some(name) => {
                // The descendant operator keeps its two dots.
                if out.ends_with('.') {
                    out.push('.');
                }
                out.push_str(&format!("['{name}']"));
                rest = &rest[1 + name.len()..];
            }
            None => {
                out.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    out
}
