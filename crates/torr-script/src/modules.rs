//! Modules that scripts require: the functions behind `modules.lua`, for files beside the script and for stand-ins of compiled ones.

use crate::file::ScriptFile;
use mlua::chunk::ChunkMode;
use mlua::{Error, Function, Lua, Result, Table, Value};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The longest sleep in seconds, a day: longer ones would overflow the clock.
const LONGEST_SLEEP_S: f64 = 86_400.0;

/// Adds `module`, `time`, `sleep`, `getinfo`, `traceback` and `null` to Torr's functions.
pub fn add_functions(lua: &Lua, native: &Table, script: &ScriptFile) -> Result<()> {
    let script = script.clone();
    let module = lua.create_function(move |lua, name: String| match script.module(&name) {
        Ok((path, source)) => {
            let chunk = lua.load(source).set_name(format!("@{path}")).set_mode(ChunkMode::Text);
            chunk.into_function().map(Value::Function)
        }
        Err(tried) => lua.create_string(tried).map(Value::String),
    })?;
    native.set("module", module)?;
    native.set("null", Value::NULL)?;
    native.set(
        "time",
        lua.create_function(|_, ()| {
            Ok(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()))
        })?,
    )?;
    native.set(
        "sleep",
        lua.create_function(|_, seconds: f64| {
            // NaN stays NaN between any bounds.
            let seconds = if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, LONGEST_SLEEP_S) };
            thread::sleep(Duration::from_secs_f64(seconds));
            Ok(())
        })?,
    )?;
    native.set("getinfo", lua.create_function(|lua, (of, _): (Value, Value)| getinfo(lua, &of))?)?;
    native.set(
        "traceback",
        lua.create_function(|lua, message: Value| match message {
            Value::Nil => lua.traceback(None, 1).map(Value::String),
            Value::String(text) => lua.traceback(Some(&text.to_string_lossy()), 1).map(Value::String),
            // As Lua's own: what is no text is handed back.
            other => Ok(other),
        })?,
    )
}

/// Returns what is known of a function, or of the function at a level of the stack, 1 being the caller; nil above the highest level.
fn getinfo(lua: &Lua, of: &Value) -> Result<Option<Table>> {
    match of {
        Value::Function(function) => function_info(lua, function).map(Some),
        level => {
            let wrong = || Error::runtime("debug.getinfo needs a stack level or a function");
            let level = level.as_usize().or_else(|| Some(level.as_f64()? as usize)).ok_or_else(wrong)?;
            let found = lua.inspect_stack(level, |frame| (frame.function(), frame.current_line()));
            let Some((function, line)) = found else { return Ok(None) };
            let info = function_info(lua, &function)?;
            info.set("currentline", line)?;
            Ok(Some(info))
        }
    }
}

fn function_info(lua: &Lua, function: &Function) -> Result<Table> {
    let known = function.info();
    let info = lua.create_table()?;
    info.set("func", function)?;
    info.set("source", known.source)?;
    info.set("short_src", known.short_src)?;
    info.set("linedefined", known.line_defined)?;
    info.set("lastlinedefined", known.last_line_defined)?;
    info.set("what", known.what)?;
    info.set("name", known.name)?;
    Ok(info)
}
