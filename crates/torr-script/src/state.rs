//! One Lua state with Torr's prelude and the script loaded into it.

use crate::address;
use crate::calls;
use crate::error::{OWN_CHUNK, ScriptError};
use crate::facts::Facts;
use crate::file::ScriptFile;
use crate::json;
use crate::modules;
use crate::native::{self, Checks};
use crate::printing;
use mlua::chunk::{Chunk, ChunkMode};
use mlua::{FromLuaMulti, Function, IntoLuaMulti, LightUserData, Lua, LuaOptions, StdLib, Table, Value};

/// The prelude, which defines `wrk` and the functions that call the script.
const PRELUDE: &str = include_str!("prelude.lua");
/// The prelude of sessions, which defines `http`.
const SESSION: &str = include_str!("session.lua");

/// The modules that stand in for compiled ones.
const MODULES: &str = include_str!("modules.lua");

/// Compiles the file of a script, of which nothing is run.
///
/// # Errors
/// With the line of the first mistake.
pub fn compile(file: &ScriptFile) -> Result<(), ScriptError> {
    let lua = Lua::new();
    let compiled = chunk(&lua, file).into_function();
    compiled.map(|_| ()).map_err(|error| ScriptError::from_lua(&file.name, None, &error))
}

fn chunk<'f>(lua: &Lua, file: &'f ScriptFile) -> Chunk<'f> {
    lua.load(file.source()).set_name(format!("@{}", file.name)).set_mode(ChunkMode::Text)
}

/// The functions of scripts that Torr calls.
const CALLED: [&str; 7] = ["session", "setup", "init", "delay", "request", "response", "done"];

/// Returns the value that stands before what a session waits for, which no script has.
pub(crate) fn step_mark() -> Value {
    Value::LightUserData(LightUserData(std::ptr::without_provenance_mut(0x7e9)))
}

/// A Lua state in which a script was run.
#[derive(Debug, Clone)]
pub struct State {
    /// The state.
    pub lua: Lua,
    /// The name of the script's file.
    pub script: String,
    calls: Table,
    checks: Checks,
}

impl State {
    /// Creates a state and runs the script's file in it.
    ///
    /// # Errors
    /// If the script does not compile, or ends in an error.
    pub fn load(file: &ScriptFile, facts: &Facts) -> Result<Self, ScriptError> {
        let prepared = || {
            // Lua's own `pcall` stays, so that its code can be compiled, and a session can wait within it.
            let lua = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::new().catch_rust_panics(true))?;
            let native = lua.create_table()?;
            address::add_functions(&lua, &native)?;
            json::add_functions(&lua, &native)?;
            native::add_functions(&lua, &native)?;
            modules::add_functions(&lua, &native, file)?;
            calls::add_functions(&lua, &native, file)?;
            let checks = Checks::default();
            checks.add_function(&lua, &native)?;
            printing::add_functions(&lua, &native, facts.printing)?;
            native.set("step", step_mark())?;
            let facts = facts.table(&lua)?;
            let run = |source: &str| {
                lua.load(source).set_name(format!("={OWN_CHUNK}")).call::<Table>((facts.clone(), native.clone()))
            };
            let modules = lua.load(MODULES).set_name(format!("={OWN_CHUNK}"));
            modules.call::<()>(native.clone())?;
            let calls = run(PRELUDE)?;
            calls.set("session", run(SESSION)?.get::<Function>("session")?)?;
            mlua::Result::Ok(Self { lua, script: file.name.clone(), calls, checks })
        };
        let state = prepared().map_err(|error| ScriptError::from_lua(&file.name, None, &error))?;
        let ran = chunk(&state.lua, file).exec().map_err(|error| state.error(None, &error));
        state.flush();
        ran.map(|()| state)
    }

    /// Returns a function of the prelude.
    ///
    /// # Errors
    /// If the script took the function away, which it cannot reach.
    pub fn function(&self, name: &'static str) -> Result<Function, ScriptError> {
        self.calls.get(name).map_err(|error| self.error(Some(name), &error))
    }

    /// Calls what the script defines by this name, through the prelude.
    ///
    /// # Errors
    /// If the script ends in an error.
    pub fn call<R: FromLuaMulti>(&self, name: &'static str, arguments: impl IntoLuaMulti) -> Result<R, ScriptError> {
        let outcome = self.function(name)?.call(arguments).map_err(|error| self.error(Some(name), &error));
        self.flush();
        outcome
    }

    /// Returns whether the script defines a function of this name.
    pub fn defines(&self, name: &str) -> bool {
        self.function("defines").is_ok_and(|defines| defines.call(name).unwrap_or(false))
    }

    /// Returns whether the script defines a function that Torr calls.
    pub fn is_called(&self) -> bool {
        CALLED.iter().any(|name| self.defines(name))
    }

    /// Returns a function of the script's file that nothing calls, and the function whose name is nearly the same, which Torr would
    /// call.
    pub fn misspelt(&self, source: &[u8]) -> Option<(String, &'static str)> {
        let source = String::from_utf8_lossy(source);
        let words = source.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let mentions = |name: &str| words.clone().filter(|word| *word == name).count();
        let mut own = Vec::new();
        for (name, value) in self.lua.globals().pairs::<Value, Value>().filter_map(Result::ok) {
            if let (Value::String(name), Value::Function(function)) = (name, value)
                && function.info().what == "Lua"
                && !CALLED.contains(&&*name.to_string_lossy())
            {
                own.push(name.to_string_lossy());
            }
        }
        own.sort();
        let near = |name: &String| {
            // 'request2' beside 'request' is another version of it.
            let is_version = |called: &str| name.starts_with(called) && self.defines(called);
            let alike = |called: &&&str| strsim::jaro_winkler(name, called) > 0.9 && !is_version(called);
            CALLED.iter().find(alike).filter(|_| mentions(name) == 1).copied()
        };
        own.into_iter().find_map(|name| near(&name).map(|called| (name, called)))
    }

    /// Takes the checks that the script has made since they were last taken.
    pub fn take_checks(&self) -> Vec<(String, bool)> {
        self.checks.take()
    }

    /// Returns the error of a call.
    pub fn error(&self, called: Option<&'static str>, error: &mlua::Error) -> ScriptError {
        ScriptError::from_lua(&self.script, called, error)
    }

    /// Returns an error of a call that Lua did not find.
    pub fn problem(&self, called: Option<&'static str>, what: impl std::fmt::Display) -> ScriptError {
        ScriptError::of_file(&self.script, called, what)
    }

    /// Passes on what the script printed: Lua and Rust have buffers of their own.
    pub fn flush(&self) {
        if let Ok(flush) = self.calls.get::<Function>("flush") {
            // The reader of a pipe may have gone.
            let _ = flush.call::<()>(());
        }
    }
}
