//! Values that pass from one Lua state to another, which share nothing: they are copied.

use mlua::{Error, Lua, Result, Value};

/// The most levels of nested tables, above which a table is taken to contain itself.
const MOST_LEVELS: usize = 64;

/// Copies a value into another state.
///
/// # Errors
/// If the value is of a type that cannot be copied: only nil, booleans, numbers, strings, and tables of these can.
pub fn copy(value: &Value, to: &Lua) -> Result<Value> {
    copy_level(value, to, 0)
}

fn copy_level(value: &Value, to: &Lua, level: usize) -> Result<Value> {
    Ok(match value {
        Value::Nil => Value::Nil,
        Value::Boolean(value) => Value::Boolean(*value),
        Value::Integer(value) => Value::Integer(*value),
        Value::Number(value) => Value::Number(*value),
        Value::String(text) => Value::String(to.create_string(text.as_bytes())?),
        Value::Table(_) if level == MOST_LEVELS => {
            return Err(Error::runtime(format!("cannot transfer a table nested deeper than {MOST_LEVELS} levels")));
        }
        Value::Table(table) => {
            let copied = to.create_table()?;
            for pair in table.pairs::<Value, Value>() {
                let (key, value) = pair?;
                copied.raw_set(copy_level(&key, to, level + 1)?, copy_level(&value, to, level + 1)?)?;
            }
            Value::Table(copied)
        }
        other => return Err(Error::runtime(format!("cannot transfer a {} to another thread", other.type_name()))),
    })
}
