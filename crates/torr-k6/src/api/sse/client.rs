//! The client that a script gets of its stream, and its handlers.

use crate::api::http::value::text_of;
use rquickjs::function::{IntoArgs, Opt};
use rquickjs::{Ctx, Function, Object, Persistent, Result, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The handlers of a stream.
#[derive(Default)]
pub(super) struct Handlers {
    calls: RefCell<Vec<(String, Persistent<Function<'static>>)>>,
    is_closed: Cell<bool>,
}

impl Handlers {
    /// Returns whether the script has closed the stream.
    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Calls the handlers of an event.
    ///
    /// # Errors
    /// Whatever a handler throws.
    pub fn call<'js>(&self, ctx: &Ctx<'js>, event: &str, with: impl IntoArgs<'js> + Clone) -> Result<()> {
        let calls: Vec<_> = {
            let calls = self.calls.borrow();
            calls.iter().filter(|(name, _)| name == event).map(|(_, call)| call.clone()).collect()
        };
        for call in calls {
            call.restore(ctx)?.call::<_, Value<'js>>(with.clone())?;
        }
        Ok(())
    }

    /// Forgets the handlers, whose stream has ended.
    pub fn end(&self) {
        self.is_closed.set(true);
        let calls = std::mem::take(&mut *self.calls.borrow_mut());
        drop(calls);
    }
}

/// Returns the object that the script gets.
pub(super) fn object<'js>(ctx: &Ctx<'js>, handlers: &Rc<Handlers>) -> Result<Object<'js>> {
    let client = Object::new(ctx.clone())?;
    let of = handlers.clone();
    let on = move |ctx: Ctx<'js>, event: Opt<Value<'js>>, call: Opt<Value<'js>>| -> Result<()> {
        let event = event.0.as_ref().map(text_of).transpose()?.unwrap_or_default();
        if let Some(call) = call.0.as_ref().and_then(Value::as_function)
            && !of.is_closed()
        {
            of.calls.borrow_mut().push((event, Persistent::save(&ctx, call.clone())));
        }
        Ok(())
    };
    client.set("on", Function::new(ctx.clone(), on)?.with_name("on")?)?;
    let of = handlers.clone();
    let close = move || of.is_closed.set(true);
    client.set("close", Function::new(ctx.clone(), close)?.with_name("close")?)?;
    Ok(client)
}
