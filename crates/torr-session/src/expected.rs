//! What a response must be, and what is taken from it.

use crate::content::Content;
use crate::error::EvaluationError;
use crate::files::Files;
use crate::hurl::ast::Version;
use crate::hurl::{ParseError, Position, ast};
use crate::predicate::{Assert, Failed};
use crate::query::{Query, Received};
use crate::scope::{Names, Variables};
use crate::template::{Filter, Template};
use crate::value::Value;
use std::borrow::Cow;

/// The expectations of an entry, compiled.
#[derive(Debug, Clone)]
pub struct Expected {
    version: Option<Version>,
    status: Option<u16>,
    fields: Vec<(Template, Template, Position)>,
    captures: Vec<Capture>,
    asserts: Vec<Assert>,
    content: Option<ExpectedContent>,
    at: Position,
}

#[derive(Debug, Clone)]
struct ExpectedContent {
    content: Content,
    /// Whether it is compared as text, by the charset of the response.
    is_text: bool,
}

#[derive(Debug, Clone)]
struct Capture {
    variable: usize,
    /// Whether the value is a secret.
    redact: bool,
    name: String,
    query: Query,
    filters: Vec<Filter>,
    at: Position,
}

/// An expectation that a response did not meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// The place of the expectation in its file.
    pub at: Position,
    /// What was demanded.
    pub expected: String,
    /// What was there.
    pub actual: String,
}

impl Expected {
    /// Compiles the expectations of a hurl file's entry.
    ///
    /// # Errors
    /// Where an expression is none, a file cannot be read, or something is not supported.
    pub fn compile(response: &ast::Response, names: &mut Names, files: &dyn Files) -> Result<Self, ParseError> {
        let mut fields = Vec::new();
        for field in &response.headers {
            fields.push((Template::compile(&field.name, names)?, Template::compile(&field.value, names)?, field.at));
        }
        let captures = response.captures.iter().map(|capture| Capture::compile(capture, names));
        let captures = captures.collect::<Result<_, _>>()?;
        let asserts = response.asserts.iter().map(|assert| Assert::compile(assert, names, files));
        let asserts = asserts.collect::<Result<_, _>>()?;
        let content = response.body.as_ref().map(|body| {
            let is_text = !matches!(body, ast::Body::Bytes(_) | ast::Body::File(_));
            Ok(ExpectedContent { content: Content::compile(body, response.at, names, files)?, is_text })
        });
        let content = content.transpose()?;
        Ok(Self {
            version: response.version,
            status: response.status,
            fields,
            captures,
            asserts,
            content,
            at: response.at,
        })
    }

    /// Returns the variables that get values from the response, by number.
    pub fn captured(&self) -> impl Iterator<Item = usize> {
        self.captures.iter().map(|capture| capture.variable)
    }

    /// Checks a response and captures from it. Version and status come first, then captures, then everything else; what is not
    /// as demanded is returned. As in hurl, the check ends at a status line that is not as demanded, since the rest is about
    /// another response, and at a capture that finds nothing.
    pub fn check(&self, received: &Received<'_>, variables: &mut Variables) -> Vec<Unmet> {
        let mut unmet = self.check_status_line(received);
        if !unmet.is_empty() {
            return unmet;
        }
        for capture in &self.captures {
            match capture.evaluate(received, variables) {
                Ok(value) => variables.set(capture.variable, value),
                Err(error) => {
                    let expected = format!("a value for '{}'", capture.name);
                    return vec![Unmet { at: capture.at, expected, actual: error.0 }];
                }
            }
        }
        unmet.extend(self.fields.iter().filter_map(|field| check_field(field, received, variables)));
        if let Some(content) = &self.content {
            unmet.extend(self.check_content(content, received, variables));
        }
        for assert in &self.asserts {
            if let Err(Failed { expected, actual }) = assert.check(received, variables) {
                unmet.push(Unmet { at: assert.at, expected, actual });
            }
        }
        unmet
    }

    /// Returns the places of all expectations, each once, in the file's order.
    pub fn places(&self) -> Vec<Position> {
        let has_status_line = self.status.is_some() || self.version.is_some() || self.content.is_some();
        let mut places: Vec<_> = has_status_line.then_some(self.at).into_iter().collect();
        places.extend(self.fields.iter().map(|(.., at)| *at));
        places.extend(self.captures.iter().map(|capture| capture.at));
        places.extend(self.asserts.iter().map(|assert| assert.at));
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Returns the variables whose captured values no output may show, by number.
    pub fn redacted(&self) -> impl Iterator<Item = usize> {
        self.captures.iter().filter(|capture| capture.redact).map(|capture| capture.variable)
    }

    /// Whether a status is demanded, so that it is the file that says which responses have failed.
    pub fn demands_status(&self) -> bool {
        self.status.is_some() || self.asserts.iter().any(Assert::is_of_status)
    }

    /// Whether the content of a response is looked at.
    pub fn needs_content(&self) -> bool {
        self.content.is_some()
            || self.captures.iter().any(|capture| capture.query.needs_content())
            || self.asserts.iter().any(Assert::needs_content)
    }

    fn check_status_line(&self, received: &Received<'_>) -> Vec<Unmet> {
        let version = self.version.map(|version| match version {
            Version::Http10 => "1.0",
            Version::Http11 => "1.1",
            Version::Http2 => "2",
            Version::Http3 => "3",
        });
        let mut unmet = Vec::new();
        if let Some(version) = version.filter(|version| *version != received.version) {
            let (expected, actual) = (format!("HTTP/{version}"), format!("HTTP/{}", received.version));
            unmet.push(Unmet { at: self.at, expected, actual });
        }
        if let Some(status) = self.status.filter(|status| *status != received.status) {
            let (expected, actual) = (format!("status {status}"), format!("status {}", received.status));
            unmet.push(Unmet { at: self.at, expected, actual });
        }
        unmet
    }

    fn check_content(&self, of: &ExpectedContent, received: &Received<'_>, variables: &Variables) -> Option<Unmet> {
        let unmet = |expected: String, actual: String| Some(Unmet { at: self.at, expected, actual });
        let actual = match of.is_text {
            true => received.text().map(|text| match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            }),
            false => Ok(Cow::Borrowed(&*received.content)),
        };
        let (expected, actual) = match (of.content.build(variables), actual) {
            (Ok((expected, _)), Ok(actual)) => (expected, actual),
            (Err(error), _) | (_, Err(error)) => return unmet("content".to_owned(), error.0),
        };
        let shown = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_owned()).describe(),
            Err(_) => Value::Bytes(bytes.to_vec()).describe(),
        };
        if expected == *actual { None } else { unmet(format!("content {}", shown(&expected)), shown(&actual)) }
    }
}

impl Capture {
    fn compile(capture: &ast::Capture, names: &mut Names) -> Result<Self, ParseError> {
        let at = capture.at;
        let placeholder = || ParseError { at, message: "the name of a capture must not have placeholders".to_owned() };
        let name = capture.name.literal().ok_or_else(placeholder)?.to_owned();
        let mut query = Query::compile(&capture.query, at, names)?;
        let filters = Filter::compile_all(&capture.filters, at, names)?;
        query.before(&filters);
        Ok(Self { variable: names.assign(&name), redact: capture.redact, name, query, filters, at })
    }

    fn evaluate(&self, received: &Received<'_>, variables: &Variables) -> Result<Value, EvaluationError> {
        let value = self.query.evaluate(received, variables)?;
        let value = Filter::apply_all(&self.filters, value, variables)?;
        value.ok_or_else(|| EvaluationError("nothing".to_owned()))
    }
}

fn check_field(
    (name, value, at): &(Template, Template, Position),
    received: &Received<'_>,
    variables: &Variables,
) -> Option<Unmet> {
    let unmet = |expected: String, actual: String| Some(Unmet { at: *at, expected, actual });
    let (name, value) = match (name.render(variables), value.render(variables)) {
        (Ok(name), Ok(value)) => (name, value),
        (Err(error), _) | (_, Err(error)) => return unmet("a field".to_owned(), error.0),
    };
    let actual: Vec<_> = received.values(&name).collect();
    if actual.contains(&value) {
        return None;
    }
    let shown = if actual.is_empty() { format!("no field {name}") } else { format!("{name}: {}", actual.join(", ")) };
    unmet(format!("{name}: {value}"), shown)
}
