//! Whether a runtime is in the init context: its top level runs, and files and modules may be loaded.

use std::cell::{Cell, RefCell};

use rquickjs::{Ctx, Result};

use crate::host::{Host, go_error};

/// The state that tells whether the top level of a script runs.
pub struct InitContext {
    left: Cell<bool>,
}

/// Returns whether the top level of the script still runs in this runtime. A new runtime is in the init context.
pub fn in_init(ctx: &Ctx<'_>) -> bool {
    ctx.userdata::<Host<InitContext>>().is_none_or(|state| !state.left.get())
}

/// Marks the top level of the script as finished: from then on nothing is loaded in this runtime.
pub fn leave_init(ctx: &Ctx<'_>) {
    if let Some(state) = ctx.userdata::<Host<InitContext>>() {
        state.left.set(true);
        return;
    }
    // User data is borrowed only within one statement of the host, so that this store cannot fail here.
    let _ = ctx.store_userdata(Host(InitContext { left: Cell::new(true) }));
}

/// Throws unless the top level of the script runs; `what` is the call that needs it.
pub fn require_init(ctx: &Ctx<'_>, what: &str) -> Result<()> {
    if in_init(ctx) {
        return Ok(());
    }
    let message = format!("{what} works only in the init context (the top level of the script)");
    Err(go_error(ctx, &message))
}

/// The names of the modules that `require` evaluates at this moment, the innermost last.
#[derive(Default)]
struct Required {
    names: RefCell<Vec<String>>,
}

impl Required {
    /// Does something with the names of a runtime.
    fn with<T>(ctx: &Ctx<'_>, act: impl FnOnce(&mut Vec<String>) -> T) -> T {
        if ctx.userdata::<Host<Self>>().is_none() {
            // It cannot fail, as above.
            let _ = ctx.store_userdata(Host(Self::default()));
        }
        match ctx.userdata::<Host<Self>>() {
            Some(required) => act(&mut required.names.borrow_mut()),
            None => act(&mut Vec::new()),
        }
    }
}

/// Evaluates a module for `require`: relative names of `open` begin in its folder until it is evaluated.
pub(super) fn while_required<T>(ctx: &Ctx<'_>, name: &str, evaluate: impl FnOnce() -> T) -> T {
    Required::with(ctx, |names| names.push(name.to_owned()));
    let evaluated = evaluate();
    Required::with(ctx, Vec::pop);
    evaluated
}

/// Returns the name of the module from whose folder k6's `open` takes relative names: the innermost one that `require` evaluates, or
/// else the outermost one whose code runs at this moment.
pub fn executing(ctx: &Ctx<'_>) -> Option<String> {
    if let Some(required) = Required::with(ctx, |names| names.last().cloned()) {
        return Some(required);
    }
    /// Most frames of host functions, which have no name, in a row.
    const MAX_NAMELESS: u32 = 8;
    let (mut outermost, mut nameless) = (None, 0);
    for level in 0.. {
        match ctx.script_or_module_name(level) {
            Some(name) => {
                nameless = 0;
                outermost = name.to_string().ok().filter(|name| name.contains("://")).or(outermost);
            }
            // There is no name beyond the last frame either.
            None if nameless == MAX_NAMELESS => break,
            None => nameless += 1,
        }
    }
    outermost
}
