//! Sources that are nested too deeply to be parsed: the parser recurses with the nesting of its source and would end the
//! process where its stack ends.

use rquickjs::context::EvalOptions;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Module, Runtime};

use super::error::ModuleError;

/// Stack that QuickJS may use to compile a source, in bytes. QuickJS needs less stack for a level than the other parser
/// and tells when it has used this up: what it can compile the other parser can parse.
const COMPILER_STACK: usize = 2 << 20;
/// Most brackets that are open at once in a TypeScript source, and most operators in a row.
const MAX_OPEN: usize = 2_000;
const MAX_ROW: usize = 20_000;

/// Finds an empty module for each name: QuickJS looks for imports when it compiles.
struct AnyModule;

impl Resolver for AnyModule {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        _base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        Ok(name.to_owned())
    }
}

impl Loader for AnyModule {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        Module::declare(ctx.clone(), name, "")
    }
}

/// Compiles a JavaScript source with a bounded stack. An error is one of nesting, or one of syntax in both formats.
pub(super) fn compile(file: &str, source: &str) -> Result<(), ModuleError> {
    let fault = |message: String| ModuleError::new(message).at(file, 0, 0);
    let runtime = Runtime::new().map_err(|error| fault(error.to_string()))?;
    runtime.set_max_stack_size(COMPILER_STACK);
    runtime.set_loader(AnyModule, AnyModule);
    let context = Context::full(&runtime).map_err(|error| fault(error.to_string()))?;
    context.with(|ctx| {
        let module = Module::declare(ctx.clone(), file, source).map(|_| ()).catch(&ctx);
        let Err(error) = module else { return Ok(()) };
        if is_exhausted(&error) {
            return Err(fault("the source is nested too deeply".to_owned()));
        }
        let mut options = EvalOptions::default();
        options.strict = false;
        options.filename = Some(file.to_owned());
        let function = format!("(function (module, exports, require) {{{source}\n}})");
        match ctx.eval_with_options::<(), _>(function, options).catch(&ctx) {
            Err(error) if is_exhausted(&error) => Err(fault("the source is nested too deeply".to_owned())),
            Err(_) => Err(diagnosed(file, &error)),
            Ok(()) => Ok(()),
        }
    })
}

fn is_exhausted(error: &CaughtError<'_>) -> bool {
    matches!(error, CaughtError::Exception(exception)
        if exception.message().is_some_and(|message| message.contains("stack") || message.contains("out of memory")))
}

/// Returns the error of a compilation with its place, which QuickJS tells as the stack's first line.
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

/// Returns whether a TypeScript source may be nested too deeply. Nesting comes with brackets, or with operators that no
/// separator ends; brackets and operators in strings and comments count too, which real sources are far from.
pub(super) fn is_too_deep(source: &str) -> bool {
    let bytes = source.as_bytes();
    let (mut open, mut row) = (0usize, 0usize);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' | b'<' => {
                open += usize::from(*byte != b'<');
                row += 1;
            }
            b')' | b']' => open = open.saturating_sub(1),
            b'}' => {
                open = open.saturating_sub(1);
                if !continues(&bytes[at + 1..]) {
                    row = 0;
                }
            }
            b';' | b',' => row = 0,
            b'=' | b'?' | b':' | b'!' | b'~' | b'+' | b'-' | b'`' | b'&' | b'|' => row += 1,
            b' ' if at > 0 && bytes[at - 1].is_ascii_alphanumeric() => row += 1,
            _ => {}
        }
        if open > MAX_OPEN || row > MAX_ROW {
            return true;
        }
    }
    false
}

/// Returns whether what follows a closing brace belongs to the same statement.
fn continues(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    rest.starts_with(b"else")
        || rest.first().is_some_and(|byte| !byte.is_ascii_alphanumeric() && !b"}'\"@/_$#".contains(byte))
}
