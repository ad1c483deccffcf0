//! JSON for sessions: the content of responses, by JSONPath, and values that are sent.

use mlua::{Lua, Result, Table, Value as LuaValue};
use serde_json::{Map, Number, Value};
use serde_json_path::JsonPath;

/// The most levels of nested tables, above which a table is taken to contain itself.
const MOST_LEVELS: usize = 64;

/// Adds `json`, `decode` and `to_json` to Torr's functions. Each returns a value, or nil and what is wrong.
pub fn add_functions(lua: &Lua, native: &Table) -> Result<()> {
    native.set(
        "json",
        lua.create_function(|lua, (content, path): (mlua::LuaString, Option<String>)| {
            match find(&content.as_bytes(), path.as_deref()) {
                Ok(Some(value)) => Ok((to_lua(lua, &value, &LuaValue::Nil)?, None)),
                Ok(None) => Ok((LuaValue::Nil, None)),
                Err(problem) => Ok((LuaValue::Nil, Some(problem))),
            }
        })?,
    )?;
    native.set(
        "decode",
        lua.create_function(|lua, text: mlua::LuaString| match serde_json::from_slice::<Value>(&text.as_bytes()) {
            Ok(value) => Ok((to_lua(lua, &value, &LuaValue::NULL)?, None)),
            Err(error) => Ok((LuaValue::Nil, Some(format!("invalid JSON: {error}")))),
        })?,
    )?;
    native.set(
        "to_json",
        lua.create_function(|_, value: LuaValue| {
            Ok(match from_lua(&value, 0) {
                Ok(value) => (Some(value.to_string()), None),
                Err(problem) => (None, Some(problem)),
            })
        })?,
    )
}

/// Returns what a path finds: nothing, the only element itself, or all elements as an array.
fn find(content: &[u8], path: Option<&str>) -> std::result::Result<Option<Value>, String> {
    let value: Value =
        serde_json::from_slice(content).map_err(|error| format!("the response's content is not JSON: {error}"))?;
    let Some(path) = path else { return Ok(Some(value)) };
    let compiled = JsonPath::parse(path).map_err(|error| format!("invalid JSONPath '{path}': {error}"))?;
    let mut found = compiled.query(&value).all();
    Ok(match found.len() {
        0 => None,
        1 => found.pop().cloned(),
        _ => Some(Value::Array(found.into_iter().cloned().collect())),
    })
}

/// Returns a value for Lua, in which `null` stands for JSON's.
fn to_lua(lua: &Lua, value: &Value, null: &LuaValue) -> Result<LuaValue> {
    Ok(match value {
        Value::Null => null.clone(),
        Value::Bool(value) => LuaValue::Boolean(*value),
        Value::Number(number) => LuaValue::Number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => LuaValue::String(lua.create_string(text)?),
        Value::Array(items) => {
            let table = lua.create_table()?;
            for (position, item) in items.iter().enumerate() {
                table.raw_set(position + 1, to_lua(lua, item, null)?)?;
            }
            LuaValue::Table(table)
        }
        Value::Object(fields) => {
            let table = lua.create_table()?;
            for (name, field) in fields {
                table.raw_set(name.as_str(), to_lua(lua, field, null)?)?;
            }
            LuaValue::Table(table)
        }
    })
}

/// Returns a value for JSON. A table with a value at 1 and no text among its keys is an array, any other an object.
fn from_lua(value: &LuaValue, level: usize) -> std::result::Result<Value, String> {
    if level > MOST_LEVELS {
        return Err(format!("a value for JSON must not be nested deeper than {MOST_LEVELS} levels"));
    }
    Ok(match value {
        LuaValue::Nil | LuaValue::LightUserData(_) => Value::Null,
        LuaValue::Boolean(value) => Value::Bool(*value),
        LuaValue::Integer(value) => Value::Number((*value).into()),
        // Whole numbers have no decimals in JSON, as people write them.
        LuaValue::Number(value) if value.fract() == 0.0 && value.abs() < 9e15 => Value::Number((*value as i64).into()),
        LuaValue::Number(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
        LuaValue::String(text) => Value::String(text.to_string_lossy()),
        LuaValue::Table(table) if table.raw_len() > 0 && !has_names(table) => {
            let items = table.sequence_values::<LuaValue>();
            let items = items.map(|item| from_lua(&item.map_err(|error| error.to_string())?, level + 1));
            Value::Array(items.collect::<std::result::Result<_, _>>()?)
        }
        LuaValue::Table(table) => {
            let mut fields = Map::new();
            for pair in table.pairs::<LuaValue, LuaValue>() {
                let (name, field) = pair.map_err(|error| error.to_string())?;
                let name = name.to_string().map_err(|error| error.to_string())?;
                fields.insert(name, from_lua(&field, level + 1)?);
            }
            Value::Object(fields)
        }
        other => return Err(format!("not supported in JSON: a {}", other.type_name())),
    })
}

/// Whether a text is among the keys of a table.
fn has_names(table: &Table) -> bool {
    table.pairs::<LuaValue, LuaValue>().any(|pair| matches!(pair, Ok((LuaValue::String(_), _))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_finds_nothing_one_or_several() {
        let content = br#"{"a": {"b": 1}, "c": [1, 2]}"#;
        let find = |path| find(content, Some(path)).unwrap();
        assert_eq!([find("$.x"), find("$.a.b"), find("$.c[*]")], [None, Some(json!(1)), Some(json!([1, 2]))]);
        assert!(super::find(b"<p>", None).unwrap_err().contains("not JSON"));
        assert!(super::find(b"{}", Some("a b")).unwrap_err().contains("invalid JSONPath"));
    }

    #[test]
    fn values_survive_the_way_through_lua() {
        let lua = Lua::new();
        let value = json!({"a": [1, 2.5, "x", true], "b": {"c": "d"}});
        assert_eq!(from_lua(&to_lua(&lua, &value, &LuaValue::Nil).unwrap(), 0).unwrap(), value);
        let mixed: LuaValue = lua.load("{ 7, 8, name = 'x' }").eval().unwrap();
        assert_eq!(from_lua(&mixed, 0).unwrap(), json!({"1": 7, "2": 8, "name": "x"}));
        let null = to_lua(&lua, &json!([null]), &LuaValue::NULL).unwrap();
        assert_eq!(from_lua(&null, 0).unwrap(), json!([null]));
        let endless = lua.create_table().unwrap();
        endless.set("self", endless.clone()).unwrap();
        assert!(from_lua(&LuaValue::Table(endless), 0).unwrap_err().contains("levels"));
    }
}
