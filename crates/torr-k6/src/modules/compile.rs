//! Sources compiled by QuickJS when they are loaded, on a stack larger than that of a virtual user.

use std::ffi::CString;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declared, WriteOptions};
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Error, Module, Result, Runtime, qjs};

use super::error::ModuleError;

/// Stack that QuickJS may use to compile a source, in bytes. QuickJS needs less stack for a level than the other parser
/// and reports when it has used this up: what it can compile the other parser can parse.
const STACK: usize = 2 << 20;

/// Finds an empty module for each name: QuickJS looks for imports when it compiles.
struct AnyModule;

impl Resolver for AnyModule {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        _base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        Ok(name.to_owned())
    }
}

impl Loader for AnyModule {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        Module::declare(ctx.clone(), name, "")
    }
}

/// Returns the source of a CommonJS module as that of a function, which begins on the same line.
pub(super) fn wrapped(source: &str) -> String {
    format!("(function (module, exports, require) {{{source}\n}})")
}

/// Compiles a JavaScript source as a module, or else as a CommonJS function, and returns the bytecode of the module.
///
/// An error is one of nesting, or one of syntax in both formats.
pub(super) fn check(file: &str, source: &str) -> std::result::Result<Option<Vec<u8>>, ModuleError> {
    let deep = || ModuleError::new("the source is nested too deeply").at(file, 0, 0);
    let checked = in_context(|ctx| {
        let error = match module(ctx, file, source).catch(ctx) {
            Ok(bytecode) => return Ok(Some(bytecode)),
            Err(error) if is_exhausted(&error) => return Err(deep()),
            Err(error) => error,
        };
        match write_function(ctx, file, &wrapped(source)).catch(ctx) {
            Ok(_) => Ok(None),
            Err(error) if is_exhausted(&error) => Err(deep()),
            Err(_) => Err(diagnosed(file, &error)),
        }
    });
    checked.unwrap_or_else(|error| Err(ModuleError::new(error.to_string()).at(file, 0, 0)))
}

/// Returns the bytecode of a module; `None` if it has a mistake, which running it will show.
pub(super) fn compiled_module(file: &str, code: &str) -> Option<Vec<u8>> {
    in_context(|ctx| module(ctx, file, code).catch(ctx).ok()).ok().flatten()
}

/// Returns the bytecode of a function; `None` if it has a mistake, which running it will show.
pub(super) fn compiled_function(file: &str, code: &str) -> Option<Vec<u8>> {
    in_context(|ctx| write_function(ctx, file, code).catch(ctx).ok()).ok().flatten()
}

fn in_context<T>(work: impl FnOnce(&Ctx<'_>) -> T) -> Result<T> {
    let runtime = Runtime::new()?;
    runtime.set_max_stack_size(STACK);
    runtime.set_loader(AnyModule, AnyModule);
    let context = Context::full(&runtime)?;
    Ok(context.with(|ctx| work(&ctx)))
}

fn module(ctx: &Ctx<'_>, file: &str, code: &str) -> Result<Vec<u8>> {
    write_module(&Module::declare(ctx.clone(), file, code)?)
}

/// Returns what a module was compiled to.
pub(super) fn write_module(module: &Module<'_, Declared>) -> Result<Vec<u8>> {
    module.write(WriteOptions { strip_source: true, ..WriteOptions::default() })
}

/// Compiles the text of a function expression in sloppy mode, and returns the bytecode of the script that yields it.
pub(super) fn write_function(ctx: &Ctx<'_>, name: &str, code: &str) -> Result<Vec<u8>> {
    let name = CString::new(name)?;
    let code = CString::new(code)?;
    let raw = ctx.as_raw().as_ptr();
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    let options = WriteOptions { strip_source: true, ..WriteOptions::default() };
    let mut length = 0;
    // SAFETY: `raw` is the live context of `ctx`. Both strings end with NUL and live until `JS_Eval` returns; the compiled
    // value is released once it is written. `JS_WriteObject` returns memory of `length` bytes, released after the copy.
    unsafe {
        let length_of_code = code.as_bytes().len();
        let compiled = qjs::JS_Eval(raw, code.as_ptr(), length_of_code as _, name.as_ptr(), flags as _);
        if qjs::JS_IsException(compiled) {
            return Err(Error::Exception);
        }
        let written = qjs::JS_WriteObject(raw, &mut length, compiled, options.to_flag());
        qjs::JS_FreeValue(raw, compiled);
        if written.is_null() {
            return Err(Error::Exception);
        }
        let bytes = std::slice::from_raw_parts(written, length as usize).to_vec();
        qjs::js_free(raw, written.cast());
        Ok(bytes)
    }
}

fn is_exhausted(error: &CaughtError<'_>) -> bool {
    matches!(error, CaughtError::Exception(exception)
        if exception.message().is_some_and(|message| message.contains("stack") || message.contains("out of memory")))
}

/// Returns the error of a compilation with its position, which QuickJS reports as the stack's first line.
fn diagnosed(file: &str, error: &CaughtError<'_>) -> ModuleError {
    let CaughtError::Exception(exception) = error else { return ModuleError::new(error.to_string()).at(file, 0, 0) };
    let stack = exception.stack().unwrap_or_default();
    let first = stack.lines().next().unwrap_or_default().trim_end_matches(')');
    let mut numbers = first.rsplitn(3, ':');
    let mut number = || numbers.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let column = number();
    let line = number();
    let message = exception.message().unwrap_or_default();
    ModuleError::new(format!("syntax error: {message}")).at(file, line, column)
}
