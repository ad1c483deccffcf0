//! The global `console`.

mod notation;

use std::sync::Arc;

use rquickjs::function::Rest;
use rquickjs::{Ctx, Function, Object, Result, Value};

use crate::host::Host;

pub use notation::text;

/// The level of a line that a script writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `console.debug`.
    Debug,
    /// `console.log` and `console.info`.
    Info,
    /// `console.warn`.
    Warn,
    /// `console.error`.
    Error,
}

/// Where the lines go that scripts write.
pub trait ConsoleSink: Send + Sync {
    /// Writes one line; `text` may contain line feeds.
    fn write(&self, level: Level, text: &str);
}

const METHODS: [(&str, Level); 5] = [
    ("debug", Level::Debug),
    ("error", Level::Error),
    ("info", Level::Info),
    ("log", Level::Info),
    ("warn", Level::Warn),
];

/// Defines `console` among the globals of a context. Its lines go to `sink`.
pub fn define<'js>(ctx: &Ctx<'js>, sink: &Arc<dyn ConsoleSink>) -> Result<()> {
    // User data is borrowed only within one statement of the host, so that this store cannot fail here.
    let _ = ctx.store_userdata(Host(sink.clone()));
    let console = Object::new(ctx.clone())?;
    for (name, level) in METHODS {
        let method = move |ctx: Ctx<'js>, values: Rest<Value<'js>>| write(&ctx, level, &values.0);
        console.set(name, Function::new(ctx.clone(), method)?.with_name(name)?)?;
    }
    ctx.globals().set("console", console)
}

/// Writes a line of values, separated by blanks, to the console of a context.
pub fn write<'js>(ctx: &Ctx<'js>, level: Level, values: &[Value<'js>]) -> Result<()> {
    let mut line = String::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            line.push(' ');
        }
        line.push_str(&text(value)?);
    }
    line_to(ctx, level, &line);
    Ok(())
}

/// Writes a line of the host's own to the console of a context, if it has one.
pub fn line_to(ctx: &Ctx<'_>, level: Level, line: &str) {
    let sink = ctx.userdata::<Host<Arc<dyn ConsoleSink>>>().map(|sink| sink.0.clone());
    if let Some(sink) = sink {
        sink.write(level, line);
    }
}
