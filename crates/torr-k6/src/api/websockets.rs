//! `k6/websockets`: WebSockets as browsers have them, whose events are handled beside the script.

use super::builtin::{Builtin, of_source};
use super::http::params::ParamError;
use super::http::value::{is_nothing, text_of};
use super::ws::handshake::{self, Wanted};
use super::ws::records::{self, Records};
use super::ws::socket;
use crate::host::go_error;
use crate::log::Level;
use crate::metrics::builtin;
use crate::sockets::{Close, Event, SocketEvent, SocketHandle};
use crate::user::Vu;
use crate::user::sockets::Attendant;
use rquickjs::function::Opt;
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Persistent, Result, TypedArray, Value};
use std::cell::Cell;
use std::rc::{Rc, Weak};
use torr_wire::websocket::Kind;

/// The error of a response that does not complete a handshake.
const BAD_HANDSHAKE: &str = "websocket: bad handshake";
/// The classes, as a function of the host's part.
const CLASSES: &str = include_str!("websockets/websocket.js");

/// The module `k6/websockets`.
pub struct WebSockets;

impl Builtin for WebSockets {
    const NAMES: &'static [&'static str] = &["k6/websockets", "k6/experimental/websockets"];
    const EXPORTS: &'static [&'static str] = &["WebSocket", "Blob"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        of_source(ctx, CLASSES, host(ctx)?)
    }
}

/// Returns the host's part of the classes.
fn host<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;
    host.set("open", Function::new(ctx.clone(), open)?)?;
    host.set("send", Function::new(ctx.clone(), send)?)?;
    let ping = |ctx: Ctx<'js>, id: u64| with_socket(&ctx, id, SocketHandle::ping);
    host.set("ping", Function::new(ctx.clone(), ping)?)?;
    let close = |ctx: Ctx<'js>, id: u64, code: u16, reason: String| {
        with_socket(&ctx, id, |handle| handle.close(code, &reason));
    };
    host.set("close", Function::new(ctx.clone(), close)?)?;
    let unsent = |ctx: Ctx<'js>, id: Opt<Value<'js>>| {
        let id = id.0.and_then(|id| id.as_number()).unwrap_or_default();
        Vu::of(&ctx).events.sockets.handle(id as u64).map_or(0.0, |handle| handle.unsent() as f64)
    };
    host.set("unsent", Function::new(ctx.clone(), unsent)?)?;
    let fail = |ctx: Ctx<'js>, why: String| -> Result<()> { Err(go_error(&ctx, &why)) };
    host.set("fail", Function::new(ctx.clone(), fail)?)?;
    let warn = |ctx: Ctx<'js>, text: String| Vu::of(&ctx).run.log.write(Level::Warning, &text, &[]);
    host.set("warn", Function::new(ctx.clone(), warn)?)?;
    let encode = |ctx: Ctx<'js>, text: String| TypedArray::<u8>::new(ctx, text.into_bytes());
    host.set("encode", Function::new(ctx.clone(), encode)?)?;
    let decode = |bytes: Object<'js>| -> Result<String> {
        let bytes = super::bytes::of_buffer(&bytes)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    host.set("decode", Function::new(ctx.clone(), decode)?)?;
    Ok(host)
}

/// Sends a control frame on a socket, which counts as a message here, as in k6.
fn with_socket(ctx: &Ctx<'_>, id: u64, send: impl FnOnce(&SocketHandle)) {
    let vu = Vu::of(ctx);
    if let (Some(handle), Some(attendant)) = (vu.events.sockets.handle(id), vu.events.sockets.attendant(id)) {
        send(&handle);
        attendant.note_sent();
    }
}

/// Opens a socket, whose events go to a function. Returns its number.
fn open<'js>(
    ctx: Ctx<'js>,
    url: Value<'js>,
    protocols: Value<'js>,
    params: Value<'js>,
    deliver: Function<'js>,
) -> Result<f64> {
    let vu = Vu::of(&ctx);
    if vu.is_init() {
        return Err(go_error(&ctx, "using WebSockets in the init context is not supported"));
    }
    if is_nothing(&url) {
        return Err(go_error(&ctx, "WebSocket requires a url"));
    }
    let url = text_of(&url)?;
    check(&url).map_err(|why| go_error(&ctx, &why))?;
    let subprotocols = match protocols.as_array() {
        Some(array) => array.iter::<Value<'js>>().map(|one| text_of(&one?)).collect::<Result<_>>()?,
        None if is_nothing(&protocols) => Vec::new(),
        None => vec![text_of(&protocols)?],
    };
    let records = Records::begin(&vu, true);
    let params = Some(&params).filter(|params| !is_nothing(params));
    let Wanted { url, tags, opening, .. } =
        handshake::read(&vu, &url, params, subprotocols).map_err(|error| match error {
            ParamError::Thrown(error) => error,
            ParamError::Wrong(why) => go_error(&ctx, &why),
        })?;
    let id = opening.id;
    let handle = Rc::new(socket::open(&ctx, &vu, opening)?);
    let attendant = ByFunction {
        id,
        vu: Rc::downgrade(&vu),
        url,
        tags,
        records,
        handle: handle.clone(),
        has_ended: Cell::new(false),
        call: Persistent::save(&ctx, deliver),
    };
    vu.events.sockets.keep(id, handle, Some(Rc::new(attendant)));
    Ok(id as f64)
}

/// Checks that a URL is one of a WebSocket.
fn check(url: &str) -> std::result::Result<(), String> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    if !matches!(scheme.to_ascii_lowercase().as_str(), "ws" | "wss") {
        return Err(format!("WebSocket requires url with scheme ws or wss, but got \"{scheme}\""));
    }
    match url.split_once('#') {
        Some((_, fragment)) if !fragment.is_empty() => {
            Err(format!("WebSocket requires no url fragment, but got \"{fragment}\""))
        }
        _ => Ok(()),
    }
}

fn send<'js>(ctx: Ctx<'js>, id: u64, data: Value<'js>) -> Result<()> {
    let vu = Vu::of(&ctx);
    let sockets = &vu.events.sockets;
    let (Some(handle), Some(attendant)) = (sockets.handle(id), sockets.attendant(id)) else { return Ok(()) };
    let payload = super::bytes::of(&data)?.unwrap_or_default();
    handle.send(data.is_string(), payload).map_err(|error| go_error(&ctx, &error.to_string()))?;
    attendant.note_sent();
    Ok(())
}

/// Hands the events of a socket to a function of the script.
struct ByFunction {
    id: u64,
    vu: Weak<Vu>,
    url: Rc<str>,
    tags: Vec<(String, String)>,
    records: Records,
    handle: Rc<SocketHandle>,
    has_ended: Cell<bool>,
    call: Persistent<Function<'static>>,
}

impl Attendant for ByFunction {
    fn deliver(&self, ctx: &Ctx<'_>, event: Event) -> Result<()> {
        let Event::Socket(event) = event else { return Ok(()) };
        let vu = Vu::of(ctx);
        let call = self.call.clone().restore(ctx)?;
        match event {
            SocketEvent::Opened(response) => {
                self.records.handshake(&vu, &self.url, &self.tags, Some(&response), response.took);
                let protocol = response.field("sec-websocket-protocol").unwrap_or_default().to_owned();
                call.call(("open", protocol))
            }
            SocketEvent::Refused { took, response, why } => {
                self.records.handshake(&vu, &self.url, &self.tags, response.as_ref(), took);
                self.end(&vu);
                let why = if why.is_empty() { BAD_HANDSHAKE.to_owned() } else { why };
                call.call::<_, ()>(("error", why))?;
                call.call(("close", Value::new_undefined(ctx.clone()), ""))
            }
            SocketEvent::Message(kind, payload) => {
                self.records.add(&vu, builtin::WS_MSGS_RECEIVED, 1.0);
                match kind {
                    Kind::Text => call.call(("message", String::from_utf8_lossy(&payload).into_owned())),
                    Kind::Binary => call.call(("message", ArrayBuffer::new(ctx.clone(), payload)?)),
                }
            }
            SocketEvent::Ping => call.call(("ping",)),
            SocketEvent::Pong(took) => {
                if let Some(took) = took {
                    self.records.pong(&vu, took);
                }
                call.call(("pong",))
            }
            SocketEvent::Closed(Close { code, reason, error }) => {
                self.end(&vu);
                if let Some(error) = error {
                    call.call::<_, ()>(("error", error))?;
                }
                call.call(("close", code, reason))
            }
        }
    }

    fn note_sent(&self) {
        if let Some(vu) = self.vu.upgrade() {
            self.records.add(&vu, builtin::WS_MSGS_SENT, 1.0);
        }
    }
}

impl ByFunction {
    /// Notes that the socket has ended: nothing arrives any more.
    fn end(&self, vu: &Vu) {
        if !self.has_ended.replace(true) {
            self.records.end(vu);
            records::count_transferred(vu, &self.handle);
            vu.events.sockets.drop_socket(self.id);
        }
    }
}

impl Drop for ByFunction {
    fn drop(&mut self) {
        // A socket that the end of an iteration has cut off is one that has ended.
        if let Some(vu) = self.vu.upgrade() {
            self.end(&vu);
        }
    }
}
