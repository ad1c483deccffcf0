//! The globals of a script that are no module: its environment, the console, `open`, `crypto`, text encoders.

mod text;

use std::collections::BTreeMap;
use std::sync::Arc;

use rquickjs::object::Accessor;
use rquickjs::{Ctx, Object, Result, Value};

use super::console::{self, ConsoleSink};
use super::{open, webcrypto};
use crate::host::Held;
use crate::modules::{self, Program};
use crate::shared_arrays::SharedArrays;

/// Globals that QuickJS has and k6 has not. Scripts that test for these take another path if they are there.
const ABSENT: [&str; 6] = ["performance", "btoa", "atob", "navigator", "structuredClone", "DOMException"];

/// What the globals of one runtime are made of.
pub struct Globals<'a> {
    /// The environment that scripts see as `__ENV`.
    pub env: &'a BTreeMap<String, String>,
    /// The number that scripts see as `__VU`.
    pub vu: u64,
    /// Where the console writes.
    pub console: &'a Arc<dyn ConsoleSink>,
    /// The script's modules and files.
    pub program: &'a Arc<Program>,
    /// The arrays that all virtual users share.
    pub arrays: &'a Arc<SharedArrays>,
}

impl Globals<'_> {
    /// Defines the globals of a context. Its runtime finds the modules after `modules::set_loader`.
    pub fn install(&self, ctx: &Ctx<'_>) -> Result<()> {
        let globals = ctx.globals();
        for name in ABSENT {
            globals.remove(name)?;
        }
        let env = Object::new(ctx.clone())?;
        for (name, value) in self.env {
            env.set(name.as_str(), value.as_str())?;
        }
        globals.set("__ENV", env)?;
        globals.set("__VU", self.vu)?;
        globals.set("global", globals.clone())?;
        console::define(ctx, self.console)?;
        modules::define_require(ctx, self.program)?;
        open::define(ctx, self.program)?;
        self.arrays.attach(ctx);
        self.program.attach(ctx);
        lazy(ctx, "crypto", webcrypto::object)?;
        lazy(ctx, "TextEncoder", text::encoder_class)?;
        lazy(ctx, "TextDecoder", text::decoder_class)
    }
}

/// Tag of the globals that were made at their first use.
struct Made;

/// Defines a global that is made when a script reads it first: most scripts use few of them.
fn lazy<'js>(ctx: &Ctx<'js>, name: &'static str, make: for<'a> fn(&Ctx<'a>) -> Result<Object<'a>>) -> Result<()> {
    let get = move |ctx: Ctx<'js>| -> Result<Value<'js>> {
        let made = Held::<'js, Made>::of(&ctx)?;
        if let Some(value) = made.get::<_, Option<Value<'js>>>(name)? {
            return Ok(value);
        }
        let value = make(&ctx)?.into_value();
        made.set(name, value.clone())?;
        Ok(value)
    };
    let set = move |ctx: Ctx<'js>, value: Value<'js>| -> Result<()> { Held::<'js, Made>::of(&ctx)?.set(name, value) };
    ctx.globals().prop(name, Accessor::new(get, set).configurable().enumerable())
}
