//! The arguments that tools have: their names, types and meanings.

use serde_json::{Map, Value, json};

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Texts,
    /// A number above 0.
    Number,
    /// A whole number above 0.
    Whole,
    Flag,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// An argument of a tool.
#[derive(Debug)]
pub(crate) struct Property {
    pub name: &'static str,
    pub kind: Kind,
    pub about: &'static str,
}

const fn property(name: &'static str, kind: Kind, about: &'static str) -> Property {
    Property { name, kind, about }
}

const PROPERTIES: &[Property] = &[
    property("url", Kind::Text, "the http:// or https:// URL to load"),
    property("a", Kind::Text, "the URL of version A"),
    property("b", Kind::Text, "the URL of version B"),
    property("method", Kind::Text, "the method; GET by default, POST with a body"),
    property("headers", Kind::Texts, "header fields, each as 'Name: value'"),
    property("body", Kind::Text, "the body of each request"),
    property("http", Kind::OneOf(&["1.1", "2", "3"]), "the version of HTTP; 2 and 3 need https://; 1.1 by default"),
    property("insecure", Kind::Flag, "do not check the server's certificate"),
    property("connections", Kind::Whole, "connections that are kept busy at a time"),
    property(
        "rate",
        Kind::Number,
        "requests per second, sent on schedule whatever the responses take; without it, as many as the connections carry",
    ),
    property("duration_s", Kind::Number, "the length of the run in seconds; 10 by default"),
    property("requests", Kind::Whole, "the number of requests, instead of a length"),
    property("fail_if", Kind::Text, "thresholds that fail the run, such as 'p99>100ms,errors>1%'"),
    property("budget_s", Kind::Number, "finish within this many seconds; 60 by default, or what the user allows"),
    property("slo", Kind::Text, "objectives to meet, such as 'p99<50ms,errors<0.1%'"),
    property("hurl", Kind::Text, "the text of a hurl file"),
    property("whole", Kind::Flag, "return the result with its series and experiments, which is long"),
];

/// Returns an argument by its name.
pub(crate) fn find(name: &str) -> Option<&'static Property> {
    PROPERTIES.iter().find(|property| property.name == name)
}

/// Returns the JSON Schema of an object with these arguments, the first of which are required.
pub(crate) fn schema(names: &[&'static str], required: usize) -> Map<String, Value> {
    let described = |name: &&'static str| find(name).map(|property| ((*name).to_owned(), property.schema()));
    let properties: Map<String, Value> = names.iter().filter_map(described).collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": names[..required],
        "additionalProperties": false,
    });
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

impl Property {
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({"type": "string"}),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Kind::Number => json!({"type": "number", "exclusiveMinimum": 0}),
            Kind::Whole => json!({"type": "integer", "minimum": 1}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::OneOf(words) => json!({"type": "string", "enum": words}),
        };
        schema["description"] = self.about.into();
        schema
    }

    /// Returns whether a value has the argument's type.
    pub fn accepts(&self, value: &Value) -> bool {
        match self.kind {
            Kind::Text => value.is_string(),
            Kind::Texts => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
            Kind::Number => value.as_f64().is_some_and(|number| number.is_finite() && number > 0.0),
            Kind::Whole => value.as_u64().is_some_and(|number| number > 0),
            Kind::Flag => value.is_boolean(),
            Kind::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        }
    }

    /// Returns the argument's type in words.
    pub fn expected(&self) -> String {
        match self.kind {
            Kind::Text => "text".into(),
            Kind::Texts => "a list of texts".into(),
            Kind::Number => "a number above 0".into(),
            Kind::Whole => "a whole number above 0".into(),
            Kind::Flag => "true or false".into(),
            Kind::OneOf(words) => words.join(" or "),
        }
    }
}
