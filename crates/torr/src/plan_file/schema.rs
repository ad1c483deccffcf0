//! The JSON Schema of plans, for editors: completion, explanations and mistakes while a plan is written.

use super::settings::{Kind, Settings, help, is_joined, is_many, is_table, key, kind};
use clap::Arg;
use serde_json::{Map, Value, json};

/// Returns the schema as JSON text.
pub fn schema() -> String {
    let settings = Settings::new();
    let properties: Map<_, _> = settings.all().filter_map(|arg| Some((key(arg)?.to_owned(), property(arg)))).collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A plan of torr",
        "description": "The settings of 'torr TARGET' by the names of its flags",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    format!("{schema:#}\n")
}

fn property(arg: &Arg) -> Value {
    let single = single(arg);
    let mut forms = vec![single.clone()];
    if is_many(arg) || is_joined(arg) {
        forms.push(json!({ "type": "array", "items": single }));
    }
    if is_table(arg) {
        forms.push(json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } }));
    }
    let mut property = match &forms[..] {
        [Value::Object(only)] => only.clone(),
        _ => Map::from_iter([("anyOf".to_owned(), Value::Array(forms))]),
    };
    property.insert("description".into(), help(arg).into());
    let default = arg.get_default_values().first().and_then(|default| default.to_str());
    if let Some(default) = default.filter(|_| kind(arg) != Kind::Switch) {
        property.insert("default".into(), default.into());
    }
    Value::Object(property)
}

fn single(arg: &Arg) -> Value {
    let possible: Vec<_> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    match kind(arg) {
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Number => json!({ "type": ["string", "number"] }),
        Kind::Text if possible.is_empty() => json!({ "type": "string" }),
        Kind::Text => json!({ "enum": possible }),
    }
}
