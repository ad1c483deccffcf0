//! A result as the page takes it: a name, the kind of result, and its JSON.

use crate::fields::{field, number, text};
use crate::run_before::RunBefore;
use serde_json::Value;

/// The kinds of results of which there is a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `torr.run/1`.
    Run,
    /// `torr.doctor/1`.
    Doctor,
    /// `torr.limit/1`.
    Limit,
    /// `torr.versions/1`, of `torr compare`.
    Versions,
    /// `torr.demo/1`.
    Demo,
    /// `torr.lab-table/1`, of `torr lab`.
    Lab,
    /// `torr.history/1`.
    History,
}

/// A result with its name.
#[derive(Debug, Clone)]
pub struct Document {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) value: Value,
    /// The run before, which the page of a run links to.
    pub before: Option<RunBefore>,
}

/// The reason why a text is no result of which there is a page.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The text is not JSON.
    #[error("{0} is not JSON: {1}")]
    NoJson(String, String),
    /// The text is JSON without a schema of Torr.
    #[error("{0} is not a result of torr: missing schema; write one with 'torr URL --json FILE'")]
    Foreign(String),
    /// The schema is known, and there is no page of it.
    #[error(
        "{0} has the schema {1}, which is not supported: pass results of URLs and files, doctor, limit, compare, history, lab or demo"
    )]
    OtherSchema(String, String),
    /// A field that every result of the schema has is missing or of another type.
    #[error("{0} is not a complete result: field '{1}' is missing or has another type")]
    Incomplete(String, &'static str),
}

impl Document {
    /// Reads a result from the text of a file.
    ///
    /// # Errors
    /// If the text is no JSON, or as with [`Document::new`].
    pub fn parse(name: &str, json: &str) -> Result<Self, DocumentError> {
        let parsed = serde_json::from_str(json);
        let value = parsed.map_err(|error| DocumentError::NoJson(name.into(), error.to_string()))?;
        Self::new(name, value)
    }

    /// Takes a result that is JSON already.
    ///
    /// # Errors
    /// If the schema is missing or has no page, or a field that the page cannot do without is missing.
    pub fn new(name: &str, value: Value) -> Result<Self, DocumentError> {
        let schema = value.get("schema").and_then(Value::as_str);
        let schema = schema.filter(|schema| schema.starts_with("torr."));
        let kind = match schema.ok_or_else(|| DocumentError::Foreign(name.into()))? {
            "torr.run/1" => Kind::Run,
            "torr.doctor/1" => Kind::Doctor,
            "torr.limit/1" => Kind::Limit,
            "torr.versions/1" => Kind::Versions,
            "torr.demo/1" => Kind::Demo,
            "torr.lab-table/1" => Kind::Lab,
            "torr.history/1" => Kind::History,
            other => return Err(DocumentError::OtherSchema(name.into(), other.into())),
        };
        let (numbers, lists): (&[&'static str], &[&'static str]) = match kind {
            Kind::Run => (&["requests", "rps", "duration_s"], &["series"]),
            Kind::Doctor => (&["seconds"], &["trail"]),
            Kind::Limit => (&["spent_s"], &["ladder", "steps"]),
            Kind::Versions => (&["seconds"], &["findings"]),
            Kind::Demo => (&[], &["rows"]),
            Kind::Lab => (&["header.rounds"], &["table.subjects", "table.lines"]),
            Kind::History => (&["runs"], &["changes", "builds", "rows"]),
        };
        let texts: &[&'static str] = match kind {
            Kind::Run | Kind::Doctor | Kind::Limit | Kind::History => &["target"],
            Kind::Versions => &["a", "b"],
            Kind::Demo => &["database"],
            Kind::Lab => &["header.suite"],
        };
        let has = |path: &str, is: fn(&Value) -> bool| field(&value, path).is_some_and(is);
        let missing = texts.iter().find(|field| text(&value, field).is_none());
        let missing = missing.or_else(|| numbers.iter().find(|field| number(&value, field).is_none()));
        let missing = missing.or_else(|| lists.iter().find(|field| !has(field, Value::is_array)));
        match missing.copied() {
            Some(field) => Err(DocumentError::Incomplete(name.into(), field)),
            None => Ok(Self { name: name.into(), kind, value, before: None }),
        }
    }

    /// Returns the result as JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns what the result is about: the target of a load, both versions, the suite, or the demo.
    pub(crate) fn subject(&self) -> String {
        let of = |name| text(&self.value, name).unwrap_or_default();
        match self.kind {
            Kind::Run | Kind::Doctor | Kind::Limit | Kind::History => of("target").to_owned(),
            Kind::Versions => format!("{} and {}", of("a"), of("b")),
            Kind::Demo => "torr serve, loaded by torr demo".to_owned(),
            Kind::Lab => format!("{}: {}", of("header.suite"), of("header.about")),
        }
    }
}
