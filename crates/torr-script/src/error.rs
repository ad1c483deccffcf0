//! The error of a script: what went wrong, where, and what was being called.

use std::borrow::Cow;
use std::fmt;

/// The name of Torr's own chunk in error messages, which no user can look into.
pub(crate) const OWN_CHUNK: &str = "torr";

/// What LuaJIT says where a coroutine cannot yield.
const ACROSS_C: &str = "attempt to yield across C-call boundary";

/// Why a script cannot be run, or had to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    /// The position: a file and the line, as far as Lua knows it.
    pub at: String,
    /// The function of the script that was being called; `None` while the file itself is run.
    pub called: Option<&'static str>,
    /// What went wrong, one line.
    pub what: String,
}

impl ScriptError {
    /// Returns the error of a call that Lua ended.
    pub(crate) fn from_lua(script: &str, called: Option<&'static str>, error: &mlua::Error) -> Self {
        let (position, what) = describe(error);
        let at = position.unwrap_or_else(|| script.to_owned());
        Self { at, called, what: short(&what).split_whitespace().collect::<Vec<_>>().join(" ") }
    }

    /// Returns an error that concerns the whole file.
    pub(crate) fn of_file(script: &str, called: Option<&'static str>, what: impl fmt::Display) -> Self {
        Self { at: script.to_owned(), called, what: what.to_string() }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.called {
            Some(called) => write!(f, "{}: in {called}(): {}", self.at, self.what),
            None => write!(f, "{}: {}", self.at, self.what),
        }
    }
}

impl std::error::Error for ScriptError {}

/// Returns an error without the list of files that a module was looked for in.
fn short(what: &str) -> Cow<'_, str> {
    match what.split_once("' not found:") {
        Some((module, _)) if module.starts_with("module '") => {
            let there = "use Lua files next to the script; of compiled modules only socket and cjson are supported";
            format!("{module}' not found ({there})").into()
        }
        _ => what.into(),
    }
}

/// Returns the position that an error names, if any, and the error without it.
fn describe(error: &mlua::Error) -> (Option<String>, String) {
    match error {
        mlua::Error::RuntimeError(text) if text.contains(ACROSS_C) => {
            let at = first_position(text.split_once("\nstack traceback:").map_or("", |(_, traceback)| traceback));
            let what = "requests and user.think are not supported inside of functions that string.gsub, table.sort \
                        and the like call";
            (at, what.to_owned())
        }
        mlua::Error::RuntimeError(text) | mlua::Error::SyntaxError { message: text, .. } => {
            let (message, traceback) = text.split_once("\nstack traceback:").unwrap_or((text, ""));
            match position(message) {
                Some((at, what)) => (Some(at.to_owned()), what.to_owned()),
                None => (first_position(traceback), without_own_position(message).to_owned()),
            }
        }
        mlua::Error::CallbackError { traceback, cause } => {
            let (at, what) = describe(cause);
            (at.or_else(|| first_position(traceback)), what)
        }
        mlua::Error::WithContext { cause, .. } => describe(cause),
        other => (None, other.to_string()),
    }
}

/// Splits a message into the position at its beginning and the rest; `None` if the position is not in a script.
fn position(message: &str) -> Option<(&str, &str)> {
    let (at, what) = split_position(message)?;
    (!is_own(at)).then_some((at, what))
}

fn without_own_position(message: &str) -> &str {
    split_position(message).map_or(message, |(_, what)| what)
}

/// Splits `FILE:LINE: MESSAGE` before the message.
fn split_position(message: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    while let Some(colon) = message[from..].find(':').map(|at| from + at) {
        let rest = &message[colon + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && rest[digits..].starts_with(':') {
            let end = colon + 1 + digits;
            return Some((&message[..end], message[end + 1..].trim_start()));
        }
        from = colon + 1;
    }
    None
}

/// Returns the innermost position of a traceback that is in a script.
fn first_position(traceback: &str) -> Option<String> {
    let positions = traceback.lines().filter_map(|line| split_position(line.trim_start()));
    positions.map(|(at, _)| at).find(|at| !is_own(at) && !at.starts_with('[')).map(str::to_owned)
}

fn is_own(at: &str) -> bool {
    // Fields of objects are set by code of mlua's own.
    at.rsplit_once(':').is_some_and(|(file, _)| file == OWN_CHUNK || file.starts_with("__mlua"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        let error = mlua::Error::RuntimeError(text.to_owned());
        ScriptError::from_lua("a.lua", Some("request"), &error).to_string()
    }

    #[test]
    fn the_position_is_the_scripts_own() {
        assert_eq!(of("dir/a.lua:3: boom\nstack traceback:\n\t[C]: in ?"), "dir/a.lua:3: in request(): boom");
        let own =
            "torr:40: bad\nstack traceback:\n\t[C]: in function 'x'\n\ttorr:40: in f\n\ta.lua:7: in function <a.lua:5>";
        assert_eq!(of(own), "a.lua:7: in request(): bad");
        assert_eq!(of("it returned nil"), "a.lua: in request(): it returned nil");
        assert_eq!(of("C:\\x:9: one\ntwo"), "C:\\x:9: in request(): one two");
    }

    #[test]
    fn an_error_of_torrs_function_has_the_position_of_its_caller() {
        let cause = mlua::Error::RuntimeError("cannot transfer a function".to_owned());
        let traceback = "stack traceback:\n\t[C]: in function 'set'\n\ta.lua:2: in main chunk".to_owned();
        let error = mlua::Error::CallbackError { traceback, cause: cause.into() };
        let text = ScriptError::from_lua("a.lua", None, &error).to_string();
        assert_eq!(text, "a.lua:2: cannot transfer a function");
    }
}
