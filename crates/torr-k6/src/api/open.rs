//! The global function `open`.

use std::sync::Arc;

use rquickjs::prelude::Opt;
use rquickjs::{ArrayBuffer, Ctx, Function, IntoJs, Result, Value};

use crate::host::go_error;
use crate::modules::{Program, executing, require_init};

/// Defines `open` among the globals of a context.
pub fn define<'js>(ctx: &Ctx<'js>, program: &Arc<Program>) -> Result<()> {
    let program = program.clone();
    let open = move |ctx: Ctx<'js>, name: Opt<Value<'js>>, mode: Opt<Value<'js>>| -> Result<Value<'js>> {
        require_init(&ctx, "open()")?;
        let text = |value: Opt<Value<'js>>| value.0.and_then(|value| value.get::<String>().ok()).unwrap_or_default();
        let base = executing(&ctx).unwrap_or_else(|| program.main().to_owned());
        let content = program.file(&base, &text(name)).map_err(|error| go_error(&ctx, &error.to_string()))?;
        if text(mode) == "b" {
            return Ok(ArrayBuffer::new_copy(ctx, &content)?.into_value());
        }
        String::from_utf8_lossy(&content).into_js(&ctx)
    };
    ctx.globals().set("open", Function::new(ctx.clone(), open)?.with_name("open")?)
}
