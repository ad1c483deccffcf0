//! Messages as JSON whose fields are all there: those that are not set have their defaults, and messages among them are `null`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prost_reflect::{DynamicMessage, EnumDescriptor, Kind, MapKey, ReflectMessage, SerializeOptions, Value};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// The package of the messages that have forms of their own in JSON.
const WELL_KNOWN: &str = "google.protobuf.";

/// A message as JSON, by the rules of ProtoJSON for fields that are not set.
pub(crate) struct Shown<'m>(pub &'m DynamicMessage);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let descriptor = self.0.descriptor();
        if descriptor.full_name().starts_with(WELL_KNOWN) {
            return self.0.serialize_with_options(serializer, &SerializeOptions::new().skip_default_fields(false));
        }
        let mut map = serializer.serialize_map(None)?;
        for field in descriptor.fields() {
            if self.0.has_field(&field) {
                map.serialize_entry(field.json_name(), &Part(&self.0.get_field(&field), &field.kind()))?;
            } else if field.containing_oneof().is_some() {
                // Which field of a oneof is set is part of its value.
            } else if field.supports_presence() {
                map.serialize_entry(field.json_name(), &())?;
            } else {
                map.serialize_entry(field.json_name(), &Part(&self.0.get_field(&field), &field.kind()))?;
            }
        }
        map.end()
    }
}

/// The value of a field, with the kind of the field.
struct Part<'v>(&'v Value, &'v Kind);

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::I32(value) => serializer.serialize_i32(*value),
            Value::U32(value) => serializer.serialize_u32(*value),
            Value::I64(value) => serializer.collect_str(value),
            Value::U64(value) => serializer.collect_str(value),
            Value::F32(value) if value.is_finite() => serializer.serialize_f32(*value),
            Value::F64(value) if value.is_finite() => serializer.serialize_f64(*value),
            Value::F32(value) => serializer.serialize_str(not_finite(f64::from(*value))),
            Value::F64(value) => serializer.serialize_str(not_finite(*value)),
            Value::String(value) => serializer.serialize_str(value),
            Value::Bytes(value) => serializer.serialize_str(&BASE64_STANDARD.encode(value)),
            Value::EnumNumber(number) => number_of_enum(*number, self.1.as_enum(), serializer),
            Value::Message(message) => Shown(message).serialize(serializer),
            Value::List(values) => {
                let mut list = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    list.serialize_element(&Part(value, self.1))?;
                }
                list.end()
            }
            Value::Map(values) => {
                let kind = self.1.as_message().map(|entry| entry.map_entry_value_field().kind());
                let mut map = serializer.serialize_map(Some(values.len()))?;
                for (key, value) in values {
                    map.serialize_entry(&text_of(key), &Part(value, kind.as_ref().unwrap_or(self.1)))?;
                }
                map.end()
            }
        }
    }
}

fn number_of_enum<S: Serializer>(
    number: i32,
    descriptor: Option<&EnumDescriptor>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match descriptor.and_then(|descriptor| Some((descriptor, descriptor.get_value(number)?))) {
        Some((descriptor, _)) if descriptor.full_name() == "google.protobuf.NullValue" => serializer.serialize_unit(),
        Some((_, value)) => serializer.serialize_str(value.name()),
        None => serializer.serialize_i32(number),
    }
}

fn not_finite(value: f64) -> &'static str {
    match value {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

fn text_of(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
    }
}
