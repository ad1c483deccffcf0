//! The JSON Schema of plans, for editors: completion, explanations and mistakes while a plan is written.

use serde_json::{Map, Value, json};
use torr_load::{Kind, SETTINGS, Setting, Times};

/// Returns the schema as JSON text.
pub fn schema() -> String {
    let settings = SETTINGS.iter().filter(|setting| setting.is_of_plans());
    let properties: Map<_, _> = settings.map(|setting| (setting.name.to_owned(), property(setting))).collect();
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

fn property(setting: &Setting) -> Value {
    let single = single(setting);
    let mut forms = vec![single.clone()];
    if setting.times != Times::Once {
        forms.push(json!({ "type": "array", "items": single }));
    }
    if setting.is_table() {
        forms.push(json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } }));
    }
    let mut property = match &forms[..] {
        [Value::Object(only)] => only.clone(),
        _ => Map::from_iter([("anyOf".to_owned(), Value::Array(forms))]),
    };
    property.insert("description".into(), setting.help.into());
    if let Some(default) = setting.default {
        property.insert("default".into(), default.into());
    }
    Value::Object(property)
}

fn single(setting: &Setting) -> Value {
    match setting.kind {
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Number(_) => json!({ "type": ["string", "number"] }),
        Kind::Choice(_, words) => json!({ "enum": words }),
        Kind::Text(_) | Kind::Path(_) | Kind::OptionalText(..) => json!({ "type": "string" }),
    }
}
