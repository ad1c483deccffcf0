//! CommonJS: `require`, and modules that export by `module.exports`.

use std::fmt::Write;
use std::sync::Arc;

use rquickjs::{CaughtError, Ctx, Exception, Function, Module, Object, Promise, Result, Value};

use super::address::Address;
use super::bytecode;
use super::init::{require_init, while_required};
use super::program::Program;
use super::unit::{Kind, Unit};
use crate::host::{Held, go_error};

/// Longest chain of jobs that `require` runs for a module with `import` and `export` to be evaluated.
const MAX_JOBS: usize = 100_000;

/// The `module` objects of CommonJS modules that a runtime has run, by name.
struct Modules;

/// Returns a `require` function whose relative names start at the module `base`.
pub(super) fn require_function<'js>(ctx: &Ctx<'js>, program: &Arc<Program>, base: &str) -> Result<Function<'js>> {
    let program = program.clone();
    let base = base.to_owned();
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, name: String| require(&ctx, &program, &base, &name))?
        .with_name("require")
}

fn require<'js>(ctx: &Ctx<'js>, program: &Arc<Program>, base: &str, name: &str) -> Result<Value<'js>> {
    require_init(ctx, "require()")?;
    let fault = |error: super::error::ModuleError| go_error(ctx, &error.to_string());
    let address = program.resolve(base, name).map_err(fault)?;
    if let Address::Builtin(name) = &address {
        let object =
            (program.builtins().require)(ctx, name).ok_or_else(|| go_error(ctx, "no such built-in module"))??;
        return builtin(ctx, &object);
    }
    let unit = program.unit(&address).map_err(fault)?;
    match unit.kind {
        Kind::CommonJs => while_required(ctx, &unit.name, || exported(ctx, program, &unit)),
        Kind::Json => json(ctx, &unit),
        Kind::Module => while_required(ctx, &unit.name, || {
            let promise = Module::import(ctx, unit.name.as_str())?;
            settled(ctx, &promise)
        }),
    }
}

/// Returns the value of a module of JSON.
pub(super) fn json<'js>(ctx: &Ctx<'js>, unit: &Unit) -> Result<Value<'js>> {
    ctx.json_parse(unit.code.as_str()).map_err(|error| match CaughtError::from_error(ctx, error) {
        CaughtError::Exception(why) => {
            let why = why.message().unwrap_or_default();
            Exception::throw_syntax(ctx, &format!("cannot parse '{}': {why}", unit.name))
        }
        other => other.throw(ctx),
    })
}

/// Returns what bundlers expect of a module that was written with `export`: a default export, marked as such.
fn builtin<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<Value<'js>> {
    let seen = Object::new(ctx.clone())?;
    seen.prop("__esModule", true)?;
    seen.set("default", object.clone())?;
    for entry in object.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        seen.set(name, value)?;
    }
    seen.set_prototype(Some(object))?;
    Ok(seen.into_value())
}

/// Runs pending jobs until `promise` is settled.
fn settled<'js>(ctx: &Ctx<'js>, promise: &Promise<'js>) -> Result<Value<'js>> {
    for _ in 0..MAX_JOBS {
        if let Some(result) = promise.result::<Value<'js>>() {
            return result;
        }
        if !ctx.execute_pending_job() {
            break;
        }
    }
    Err(go_error(ctx, "require() of a module that waits at its top level is not supported; use import instead"))
}

/// Returns `module.exports` of a CommonJS module, which runs at the first call.
pub(super) fn exported<'js>(ctx: &Ctx<'js>, program: &Arc<Program>, unit: &Unit) -> Result<Value<'js>> {
    let modules = Held::<'js, Modules>::of(ctx)?;
    if let Some(module) = modules.get::<_, Option<Object<'js>>>(unit.name.as_str())? {
        return module.get("exports");
    }
    let function = bytecode::function(ctx, unit)?;
    let module = Object::new(ctx.clone())?;
    let exports = Object::new(ctx.clone())?;
    module.set("exports", exports.clone())?;
    // A module that is required again while it runs shows what it has exported so far.
    modules.set(unit.name.as_str(), module.clone())?;
    let require = require_function(ctx, program, &unit.name)?;
    let run = function.call::<_, Value<'js>>((module.clone(), exports, require));
    if let Err(error) = run {
        modules.remove(unit.name.as_str())?;
        return Err(error);
    }
    module.get("exports")
}

/// Returns the source of an ECMAScript module that exports what a CommonJS module exports.
pub(super) fn bridge(program: &Program, unit: &Unit) -> String {
    let mut code = String::from("const exported = import.meta.exported();\n");
    code.push_str(
        "export default exported != null && exported.__esModule && 'default' in exported ? exported.default : exported;\n",
    );
    for (number, name) in program.common_js_names(unit).iter().enumerate() {
        let quoted = serde_json::Value::from(name.as_str()).to_string();
        let _ = writeln!(
            code,
            "const name{number} = exported == null ? undefined : exported[{quoted}]; export {{ name{number} as {quoted} }};"
        );
    }
    code
}
