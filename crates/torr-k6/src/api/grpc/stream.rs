//! Streams: calls of many messages in both directions, whose events are handled beside the script.

use super::call;
use super::client::{ClientArg, Connected, next_event, outlet};
use super::params::CallParams;
use super::records::{self, Records};
use super::response::{self, rpc_error};
use crate::host::go_error;
use crate::metrics::builtin;
use crate::sockets::Event;
use crate::sockets::grpc::{Call, CallHandle, GrpcEvent};
use crate::user::Vu;
use crate::user::sockets::Attendant;
use rquickjs::{Ctx, Function, Object, Persistent, Result, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::Instant;
use torr_grpc::Method;

/// The status of a call that its client has ended.
const CANCELED: u32 = 1;
/// The status of errors that have none.
const UNKNOWN: u32 = 2;

/// The streams of a virtual user by their numbers. They live as long as something handles their events.
#[derive(Default)]
struct Streams(RefCell<BTreeMap<u64, Weak<Stream>>>);

/// A stream.
struct Stream {
    id: u64,
    connected: Rc<Connected>,
    method: Method,
    discards: bool,
    records: Records,
    handle: CallHandle,
}

/// Opens a stream, whose events go to a function. Returns its number.
pub(super) fn open<'js>(
    ctx: Ctx<'js>,
    client: ClientArg<'js>,
    name: String,
    params: Value<'js>,
    deliver: Function<'js>,
) -> Result<f64> {
    let vu = Vu::of(&ctx);
    if vu.is_init() {
        return Err(go_error(&ctx, "opening a gRPC stream in the init context is not supported"));
    }
    let about = |what: &str, why: String| go_error(&ctx, &format!("invalid GRPC Stream's {what}: {why}"));
    let connected = client.borrow().connected().map_err(|why| about("client", why))?;
    let (path, method) = client.borrow().method(&name).map_err(|why| about("method", why))?;
    let params = CallParams::read(&ctx, &params, "invalid GRPC Stream's parameters")?;
    let failed =
        |status, text: &str| go_error(&ctx, &format!("failed to create a new stream: {}", rpc_error(status, text)));
    if let Some(end) = call::refused(&params.metadata) {
        return Err(failed(end.status, &end.text));
    }
    let records = Records::of_method(&vu, &connected, &path, &params.tags);
    let id = vu.events.new_id();
    let outlet = outlet(&ctx, &vu)?;
    let CallParams { metadata, timeout, discards, .. } = params;
    let call = Call { id, path, metadata, began: Instant::now(), timeout, message: None };
    let handle = connected.connection.call(call, outlet);
    vu.events.sockets.expect(id, None);
    let begun = loop {
        match next_event(&ctx, &vu, id) {
            Ok(Some(GrpcEvent::Begun)) => break Ok(()),
            Ok(Some(GrpcEvent::Ended(end))) => {
                records.end(&vu, end.status, end.took);
                break Err(failed(end.status, &end.text));
            }
            Ok(_) => {}
            Err(error) => break Err(error),
        }
    };
    if let Err(error) = begun {
        vu.events.sockets.drop_socket(id);
        return Err(error);
    }
    records.count(&vu, builtin::GRPC_STREAMS);
    let stream = Rc::new(Stream { id, connected, method, discards, records, handle });
    let deliver = Persistent::save(&ctx, deliver);
    {
        let streams = vu.extra::<Streams>();
        let mut streams = streams.0.borrow_mut();
        streams.retain(|_, stream| stream.strong_count() > 0);
        streams.insert(id, Rc::downgrade(&stream));
    }
    vu.events.sockets.attend(id, Rc::new(Attended { stream, deliver }));
    Ok(id as f64)
}

/// Returns a stream that is open.
fn find(vu: &Vu, id: u64) -> Option<Rc<Stream>> {
    vu.extra::<Streams>().0.borrow().get(&id)?.upgrade()
}

/// Sends a message, given as JSON. Returns why it cannot be sent, if there is a reason.
pub(super) fn write(ctx: Ctx<'_>, id: u64, json: String) -> Result<Option<String>> {
    let vu = Vu::of(&ctx);
    let Some(stream) = find(&vu, id) else { return Ok(None) };
    let message = match stream.method.message(&json) {
        Ok(message) => message,
        Err(why) => return Ok(Some(format!("can't serialise request object to protocol buffer: {why}"))),
    };
    if let Some(end) = call::too_large(message.len(), stream.connected.most_sent) {
        return Ok(Some(end.text));
    }
    stream.handle.send(message).map_err(|error| go_error(&ctx, &error.to_string()))?;
    stream.records.count(&vu, builtin::GRPC_STREAMS_MSGS_SENT);
    Ok(None)
}

/// Ends the request of a stream.
pub(super) fn end(ctx: Ctx<'_>, id: u64) {
    if let Some(stream) = find(&Vu::of(&ctx), id) {
        stream.handle.end();
    }
}

/// Cancels a stream, of which the script wants to hear no more.
pub(super) fn drop_stream(ctx: Ctx<'_>, id: u64) {
    let vu = Vu::of(&ctx);
    if let Some(stream) = find(&vu, id) {
        stream.leave(&vu);
    }
}

impl Stream {
    /// Forgets the stream.
    fn leave(&self, vu: &Vu) {
        records::count_transferred(vu, &self.connected.connection);
        vu.events.sockets.drop_socket(self.id);
        vu.extra::<Streams>().0.borrow_mut().remove(&self.id);
    }
}

/// Hands the events of a stream to a function of the script.
struct Attended {
    stream: Rc<Stream>,
    deliver: Persistent<Function<'static>>,
}

impl Attendant for Attended {
    fn deliver(&self, ctx: &Ctx<'_>, event: Event) -> Result<()> {
        let Event::Grpc(event) = event else { return Ok(()) };
        let (vu, stream) = (Vu::of(ctx), &self.stream);
        let deliver = self.deliver.clone().restore(ctx)?;
        match event {
            GrpcEvent::Message(bytes) => {
                stream.records.count(&vu, builtin::GRPC_STREAMS_MSGS_RECEIVED);
                let message = match stream.discards {
                    true => Object::new(ctx.clone())?.into_value(),
                    false => response::message(ctx, &stream.method, &bytes)?,
                };
                deliver.call(("data", message))
            }
            GrpcEvent::Ended(end) => {
                stream.records.end(&vu, end.status, end.took);
                stream.leave(&vu);
                let none = rquickjs::Array::new(ctx.clone())?;
                match end.status {
                    0 => deliver.call(("end",)),
                    // k6 has this text for what the client has ended, and for what the server says it has.
                    CANCELED => {
                        let text = "canceled by client (k6)";
                        deliver.call(("error", UNKNOWN, text, text, none))
                    }
                    status => {
                        let details = response::details(ctx, &stream.method, &end.details)?;
                        let shown = rpc_error(status, &end.text);
                        let text = if end.text.is_empty() { shown.clone() } else { end.text };
                        deliver.call(("error", status, text, shown, details))
                    }
                }
            }
            GrpcEvent::Connected | GrpcEvent::Unconnected(_) | GrpcEvent::Begun => Ok(()),
        }
    }

    fn note_sent(&self) {}
}
