//! The socket that a script gets of `ws.connect`, and its handlers.

use super::records::Records;
use crate::api::bytes;
use crate::api::http::value::{is_nothing, text_of};
use crate::api::timers;
use crate::host::go_error;
use crate::metrics::builtin;
use crate::sockets::{Carrier, Opening, Outlet, SocketHandle};
use crate::user::Vu;
use crate::user::timers::Timers;
use rquickjs::function::{IntoArgs, Opt};
use rquickjs::object::Property;
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Persistent, Result, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use torr_wire::websocket::code;

/// The handlers of a socket, with what they act on.
pub(super) struct Handlers {
    handle: Rc<SocketHandle>,
    pub records: Records,
    pub timers: Timers,
    calls: RefCell<Vec<(String, Persistent<Function<'static>>)>>,
    is_closed: Cell<bool>,
}

impl Handlers {
    pub fn new(handle: Rc<SocketHandle>, records: Records) -> Self {
        let calls = RefCell::default();
        Self { handle, records, timers: Timers::default(), calls, is_closed: Cell::new(false) }
    }

    /// Returns whether the socket is closed for the script.
    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Calls the handlers of an event.
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

    /// Closes the socket on behalf of the script.
    pub fn close(&self, ctx: &Ctx<'_>, code: Option<u16>) -> Result<()> {
        let code = code.unwrap_or(code::GOING_AWAY);
        if !self.is_closed() {
            self.handle.close(code, "");
        }
        self.closed(ctx, code)
    }

    /// Notes that the socket is closed, and calls the handlers of that.
    pub fn closed(&self, ctx: &Ctx<'_>, code: u16) -> Result<()> {
        if self.is_closed.replace(true) {
            return Ok(());
        }
        self.call(ctx, "close", (code,))
    }

    /// Forgets the handlers, whose socket has ended.
    pub fn end(&self, vu: &Vu) {
        self.is_closed.set(true);
        self.records.end(vu);
        self.timers.clear();
        let calls = std::mem::take(&mut *self.calls.borrow_mut());
        drop(calls);
    }
}

/// Opens a socket of a virtual user.
///
/// # Errors
/// If this command opens no sockets.
pub(crate) fn open(ctx: &Ctx<'_>, vu: &Vu, opening: Opening) -> Result<SocketHandle> {
    let (carrier, outlet) = carrier(ctx, vu, "WebSockets")?;
    Ok(carrier.open(opening, outlet))
}

/// Returns what carries the sockets of a run, and where the events of a virtual user's go.
///
/// # Errors
/// If this command carries none; `what` they are stands in the error.
pub(crate) fn carrier<'v>(ctx: &Ctx<'_>, vu: &'v Vu, what: &str) -> Result<(&'v Carrier, Outlet)> {
    let carrier = vu.run.carrier.get().zip(vu.events.sockets.outlet());
    carrier.ok_or_else(|| {
        let only = "are supported by 'torr script.js' and 'torr k6 run' only: here they are no requests";
        go_error(ctx, &format!("{what} {only}"))
    })
}

/// Returns the object that the script gets.
pub(super) fn object<'js>(ctx: &Ctx<'js>, handlers: &Rc<Handlers>) -> Result<Object<'js>> {
    let socket = Object::new(ctx.clone())?;
    let set = |name: &str, function: Function<'js>| socket.set(name, function.with_name(name)?);
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
    set("on", Function::new(ctx.clone(), on)?)?;
    let of = handlers.clone();
    let send = move |ctx: Ctx<'js>, data: Opt<Value<'js>>| -> Result<()> {
        let text = match data.0.filter(|data| !is_nothing(data)) {
            Some(data) => text_of(&data)?,
            None => String::new(),
        };
        of.send(&ctx, true, text.into_bytes())
    };
    set("send", Function::new(ctx.clone(), send)?)?;
    let of = handlers.clone();
    let send_binary = move |ctx: Ctx<'js>, data: Opt<Value<'js>>| -> Result<()> {
        let data = data.0.ok_or_else(|| go_error(&ctx, "missing argument, expected ArrayBuffer"))?;
        let is_buffer = data.as_object().is_some_and(|object| ArrayBuffer::from_object(object.clone()).is_some());
        match bytes::of(&data)?.filter(|_| is_buffer) {
            Some(bytes) => of.send(&ctx, false, bytes),
            None => {
                let kind = kind_of(&data)?;
                Err(go_error(&ctx, &format!("expected ArrayBuffer as argument, received: {kind}")))
            }
        }
    };
    set("sendBinary", Function::new(ctx.clone(), send_binary)?)?;
    let of = handlers.clone();
    let ping = move |_ctx: Ctx<'js>| {
        if !of.is_closed() {
            of.handle.ping();
        }
    };
    set("ping", Function::new(ctx.clone(), ping)?)?;
    let of = handlers.clone();
    let close = move |ctx: Ctx<'js>, code: Opt<Value<'js>>| -> Result<()> {
        let code = code.0.and_then(|code| code.as_number());
        let is_code = |code: &f64| (1000.0..5000.0).contains(code);
        of.close(&ctx, code.filter(is_code).map(|code| code as u16))
    };
    set("close", Function::new(ctx.clone(), close)?)?;
    for (name, repeats) in [("setTimeout", false), ("setInterval", true)] {
        let of = handlers.clone();
        let timer = move |ctx: Ctx<'js>, call: Function<'js>, after: Opt<f64>| -> Result<()> {
            let after = after.0.unwrap_or(0.0);
            if after.is_nan() || after <= 0.0 {
                return Err(go_error(&ctx, &format!("{name} requires a >0 timeout parameter, received {after:.2}")));
            }
            if !of.is_closed() {
                let after = timers::time(after);
                of.timers.add(&ctx, Vu::of(&ctx).events.new_id(), call, after, repeats, Vec::new());
            }
            Ok(())
        };
        set(name, Function::new(ctx.clone(), timer)?)?;
    }
    Ok(socket)
}

impl Handlers {
    fn send(&self, ctx: &Ctx<'_>, is_text: bool, payload: Vec<u8>) -> Result<()> {
        if self.is_closed() {
            let object = error(ctx, "websocket: close sent", None)?;
            return self.call(ctx, "error", (object,));
        }
        self.handle.send(is_text, payload).map_err(|error| go_error(ctx, &error.to_string()))?;
        self.records.add(&Vu::of(ctx), builtin::WS_MSGS_SENT, 1.0);
        Ok(())
    }
}

/// Returns an error as handlers get it: a text by its method `error`, and the code and reason of a close frame.
pub(crate) fn error<'js>(ctx: &Ctx<'js>, text: &str, close: Option<(u16, &str)>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    if let Some((code, reason)) = close {
        object.set("code", code)?;
        object.set("text", reason)?;
    }
    let text = text.to_owned();
    let shown = text.clone();
    let to_string = Function::new(ctx.clone(), move || shown.clone())?.with_name("toString")?;
    object.prop("toString", Property::from(to_string).writable().configurable())?;
    object.set("error", Function::new(ctx.clone(), move || text.clone())?.with_name("error")?)?;
    Ok(object)
}

/// Returns the name of a value's class.
fn kind_of(value: &Value<'_>) -> Result<String> {
    if value.is_string() {
        return Ok("String".to_owned());
    }
    match value.as_object() {
        Some(object) => object.get::<_, Object<'_>>("constructor")?.get("name"),
        None => Ok(value.type_name().to_owned()),
    }
}
