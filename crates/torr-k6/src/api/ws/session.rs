//! `ws.connect`: the script waits in it until its socket has ended.

use super::handshake::{self, Wanted};
use super::records::{self, Records};
use super::response;
use super::socket::{self, Handlers};
use crate::api::http::params::ParamError;
use crate::api::http::value::{is_nothing, text_of};
use crate::host::go_error;
use crate::metrics::builtin;
use crate::sockets::{Close, Event, Response, SocketEvent, SocketHandle};
use crate::user::{self, Vu, wait};
use rquickjs::function::{Opt, Rest};
use rquickjs::{Ctx, Function, Object, Result, Value};
use std::rc::Rc;
use std::time::{Duration, Instant};
use torr_wire::websocket::Kind;

/// A socket that is open as long as this value lives.
struct Kept {
    vu: Rc<Vu>,
    id: u64,
    handle: Rc<SocketHandle>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        records::count_transferred(&self.vu, &self.handle);
        self.vu.events.sockets.drop_socket(self.id);
    }
}

/// Opens a WebSocket, calls the script's function with it, and returns when it has ended: `connect(url, [params], function)`.
pub fn connect<'js>(ctx: Ctx<'js>, url: Opt<Value<'js>>, rest: Rest<Value<'js>>) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    if vu.is_init() {
        return Err(go_error(&ctx, "using WebSockets in the init context is not supported"));
    }
    let (params, setup) = match (&url.0, rest.0.as_slice()) {
        (Some(_), [setup]) => (None, setup),
        (Some(_), [params, setup, ..]) => (Some(params), setup),
        _ => return Err(go_error(&ctx, "invalid number of arguments to ws.connect")),
    };
    let setup = setup.as_function().cloned();
    let setup = setup.ok_or_else(|| go_error(&ctx, "last argument to ws.connect must be a function"))?;
    let text = text_of(url.0.as_ref().unwrap_or(&Value::new_undefined(ctx.clone())))?;
    let records = Records::begin(&vu, false);
    let params = params.filter(|params| !is_nothing(params));
    let wanted = match handshake::read(&vu, &text, params, Vec::new()) {
        Ok(wanted) => wanted,
        Err(ParamError::Thrown(error)) => return Err(error),
        Err(ParamError::Wrong(why)) => {
            records.handshake(&vu, &text, &[], None, Duration::ZERO);
            records.end(&vu);
            return refused(&ctx, vu.run.http_settings().throws, None, &why);
        }
    };
    let Wanted { url, tags, throws, opening } = wanted;
    let id = opening.id;
    let handle = Rc::new(socket::open(&ctx, &vu, opening)?);
    vu.events.sockets.keep(id, handle.clone(), None);
    let kept = Kept { vu: vu.clone(), id, handle: handle.clone() };
    let response = loop {
        match next_event(&ctx, &vu, id, None)? {
            Some(SocketEvent::Opened(response)) => break response,
            Some(SocketEvent::Refused { took, response, why }) => {
                records.handshake(&vu, &url, &tags, response.as_ref(), took);
                records.end(&vu);
                return refused(&ctx, throws, response.as_ref(), &why);
            }
            _ => {}
        }
    };
    records.handshake(&vu, &url, &tags, Some(&response), response.took);
    let handlers = Rc::new(Handlers::new(handle, records));
    let mut result = attend(&ctx, &vu, id, &handlers, setup);
    if result.is_err() && !vu.interrupts.is_set() {
        // The script has thrown: its handlers learn that the socket is closed.
        let thrown = ctx.catch();
        if handlers.close(&ctx, None).is_err() {
            drop(ctx.catch());
        }
        result = Err(ctx.throw(thrown));
    }
    handlers.end(&vu);
    drop(kept);
    result?;
    object_of(&ctx, Some(&response), &url, "")
}

/// Calls the script's function, and then its handlers until the socket is closed.
fn attend<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>, id: u64, handlers: &Rc<Handlers>, setup: Function<'js>) -> Result<()> {
    setup.call::<_, Value<'js>>((socket::object(ctx, handlers)?,))?;
    handlers.call(ctx, "open", ())?;
    while !handlers.is_closed() {
        if handlers.timers.call_due(ctx)? {
            continue;
        }
        let Some(event) = next_event(ctx, vu, id, handlers.timers.next())? else { continue };
        match event {
            SocketEvent::Message(kind, payload) => {
                handlers.records.add(vu, builtin::WS_MSGS_RECEIVED, 1.0);
                match kind {
                    Kind::Text => handlers.call(ctx, "message", (String::from_utf8_lossy(&payload).into_owned(),))?,
                    Kind::Binary => {
                        let buffer = rquickjs::ArrayBuffer::new(ctx.clone(), payload)?;
                        handlers.call(ctx, "binaryMessage", (buffer,))?;
                    }
                }
            }
            SocketEvent::Ping => handlers.call(ctx, "ping", ())?,
            SocketEvent::Pong(took) => {
                if let Some(took) = took {
                    handlers.records.pong(vu, took);
                }
                handlers.call(ctx, "pong", ())?;
            }
            SocketEvent::Closed(Close { code, reason, error }) => {
                if let Some(error) = error {
                    let object = socket::error(ctx, &error, Some((code, &reason)))?;
                    handlers.call(ctx, "error", (object,))?;
                }
                handlers.closed(ctx, code)?;
            }
            SocketEvent::Opened(_) | SocketEvent::Refused { .. } => {}
        }
    }
    Ok(())
}

/// Waits for the next event of a socket. `None` if there was none until a time, or the user was woken for another socket.
fn next_event(ctx: &Ctx<'_>, vu: &Vu, id: u64, until: Option<Instant>) -> Result<Option<SocketEvent>> {
    let next = || match vu.events.sockets.take_of(id)? {
        Event::Socket(event) => Some(event),
        Event::Grpc(_) | Event::Stream(_) => None,
    };
    if let Some(event) = next() {
        return Ok(Some(event));
    }
    wait(ctx, user::Wanted::Mail(until))?;
    Ok(next())
}

/// Returns what the script gets of a socket that did not open, or throws it.
fn refused<'js>(ctx: &Ctx<'js>, throws: bool, response: Option<&Response>, why: &str) -> Result<Object<'js>> {
    if throws {
        let status = response.map(|response| format!("the server responded with status {}", response.status));
        let why = if why.is_empty() { status.unwrap_or_default() } else { why.to_owned() };
        return Err(go_error(ctx, &why));
    }
    object_of(ctx, response, "", why)
}

/// Returns the response as scripts see it.
fn object_of<'js>(ctx: &Ctx<'js>, response: Option<&Response>, url: &str, error: &str) -> Result<Object<'js>> {
    let object = response::object(ctx, response, url, error)?;
    let body = response.map(|response| String::from_utf8_lossy(&response.body).into_owned());
    object.set("body", body.unwrap_or_default())?;
    Ok(object)
}
