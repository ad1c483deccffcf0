//! Calls of gRPC for sessions: the services that a script loads, and the messages of their methods.

use crate::file::ScriptFile;
use mlua::{Lua, LuaString, Result, Table, UserData, UserDataMethods};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use torr_gauge::GrpcStatus;
use torr_grpc::{Coding, Method, ProtoFiles, Schema, timeout_field};

/// The longest deadline in seconds, a day.
const LONGEST_DEADLINE_S: f64 = 86_400.0;

/// Adds `services`, `deadline` and `status_name` to Torr's functions.
pub fn add_functions(lua: &Lua, native: &Table, script: &ScriptFile) -> Result<()> {
    let script = script.clone();
    let services = lua.create_function(move |_, names: Vec<String>| {
        Ok(match Schema::compile(&names, Beside(script.clone())) {
            Ok(schema) => (Some(Services { schema, methods: Mutex::default() }), None),
            Err(error) => (None, Some(error.to_string())),
        })
    })?;
    native.set("services", services)?;
    let deadline = lua.create_function(|_, seconds: f64| {
        let is_time = seconds > 0.0 && seconds <= LONGEST_DEADLINE_S;
        Ok(is_time.then(|| timeout_field(Duration::from_secs_f64(seconds))))
    })?;
    native.set("deadline", deadline)?;
    let status_name = lua.create_function(|_, field: LuaString| {
        Ok(GrpcStatus::of_field(&field.as_bytes()).map(|status| (status.name(), status.code())).unzip())
    })?;
    native.set("status_name", status_name)
}

/// The `.proto` files in the folder of a script.
struct Beside(ScriptFile);

impl ProtoFiles for Beside {
    fn read(&self, name: &str) -> std::result::Result<Option<String>, String> {
        let path: PathBuf = self.0.path.parent().map(|folder| folder.join(name)).unwrap_or_else(|| name.into());
        let Some(text) = self.0.beside(&path)? else { return Ok(None) };
        String::from_utf8(text).map(Some).map_err(|_| format!("{} is not UTF-8", path.display()))
    }
}

/// The services that a script has loaded.
struct Services {
    schema: Schema,
    /// The methods that were called, by path.
    methods: Mutex<HashMap<String, Arc<Method>>>,
}

impl Services {
    /// Returns the method at a path, whose requests and responses have one message each.
    fn method(&self, path: &str) -> std::result::Result<Arc<Method>, String> {
        let mut methods = self.methods.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(method) = methods.get(path) {
            return Ok(Arc::clone(method));
        }
        let method = self.schema.method(path).map_err(|error| error.to_string())?;
        if method.takes_stream() || method.returns_stream() {
            return Err(format!("{path} is a method with a stream: only methods with one message each are supported"));
        }
        let method = Arc::new(method);
        methods.insert(path.to_owned(), Arc::clone(&method));
        Ok(method)
    }
}

impl UserData for Services {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("encode", |lua, this, (path, json): (String, LuaString)| {
            let encode = |method: Arc<Method>| {
                method.encode(&json.as_bytes(), Coding::Identity).map_err(|error| error.to_string())
            };
            Ok(match this.method(&path).and_then(encode) {
                Ok(content) => (Some(lua.create_string(content)?), None),
                Err(problem) => (None, Some(problem)),
            })
        });
        methods.add_method("decode", |_, this, (path, content, coding): (String, LuaString, Option<LuaString>)| {
            let coding = coding.map_or(Some(Coding::Identity), |coding| Coding::of(&coding.as_bytes()));
            let decode = |method: Arc<Method>| method.response_json(&content.as_bytes(), coding);
            Ok(match this.method(&path).and_then(decode) {
                Ok(json) => (Some(json), None),
                Err(problem) => (None, Some(problem)),
            })
        });
    }
}
