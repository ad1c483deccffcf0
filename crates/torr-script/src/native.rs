//! The functions of sessions that are Torr's own: fields of responses, and checks.

use mlua::{Lua, LuaString, Result, Table, Value};
use std::sync::{Arc, Mutex, PoisonError};
use torr_wire::websocket::Key;

/// The checks since they were last taken: names, and whether each holds.
#[derive(Debug, Clone, Default)]
pub struct Checks(Arc<Mutex<Vec<(String, bool)>>>);

impl Checks {
    /// Takes the checks.
    pub fn take(&self) -> Vec<(String, bool)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds `check` to Torr's functions, which records a check here.
    pub fn add_function(&self, lua: &Lua, native: &Table) -> Result<()> {
        let checks = self.clone();
        let check = lua.create_function(move |_, (name, holds): (String, bool)| {
            checks.0.lock().unwrap_or_else(PoisonError::into_inner).push((name, holds));
            Ok(())
        })?;
        native.set("check", check)
    }
}

/// Returns what an object of wrk has by a name that it does not know: the name itself, as text.
pub fn unknown_name(lua: &Lua, name: Value) -> Result<Value> {
    Ok(lua.coerce_string(name.clone())?.map_or(name, Value::String))
}

/// Adds to Torr's functions: `field`, which returns the value of the first field with a name, in any case; `websocket_key`, which
/// returns a new key of a handshake; and `is_utf8`.
pub fn add_functions(lua: &Lua, native: &Table) -> Result<()> {
    native.set(
        "field",
        lua.create_function(|lua, (fields, name): (LuaString, LuaString)| {
            let (fields, name) = (fields.as_bytes(), name.as_bytes());
            field(&fields, &name).map(|value| lua.create_string(value)).transpose()
        })?,
    )?;
    native.set(
        "websocket_key",
        lua.create_function(|lua, ()| lua.create_string(Key::new(fastrand::u128(..).to_ne_bytes()).value()))?,
    )?;
    native.set("is_utf8", lua.create_function(|_, text: LuaString| Ok(std::str::from_utf8(&text.as_bytes()).is_ok()))?)
}

fn field<'f>(fields: &'f [u8], name: &[u8]) -> Option<&'f [u8]> {
    let lines = fields.split(|&byte| byte == b'\n');
    let pairs = lines.filter_map(|line| Some(line.split_at(memchr::memchr(b':', line)?)));
    pairs.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value[1..].trim_ascii()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_in_any_case() {
        let fields = b"Content-Type:text/html\nX-A: b:c \nX-A:d\n";
        assert_eq!(field(fields, b"x-a"), Some(&b"b:c"[..]));
        assert_eq!(field(fields, b"content"), None);
    }
}
