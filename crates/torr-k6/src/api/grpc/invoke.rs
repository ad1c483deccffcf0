//! Calls of one message each: those that the script waits for, and those beside it.

use super::call::{self, Wanted};
use super::client::{ClientArg, Connected, next_event, outlet};
use super::records::{self, Records};
use super::response::{self, rpc_error};
use crate::host::go_error;
use crate::sockets::Event;
use crate::sockets::grpc::{Call, CallEnd, CallHandle, GrpcEvent, Metadata};
use crate::user::Vu;
use crate::user::sockets::Attendant;
use rquickjs::{Ctx, Function, Object, Persistent, Result, Value};
use std::rc::Rc;
use std::time::{Duration, Instant};
use torr_grpc::{Method, health};

/// A call for whose end the script waits. It is canceled when this value is dropped.
struct Awaited<'v> {
    vu: &'v Vu,
    id: u64,
    connected: Rc<Connected>,
    _handle: CallHandle,
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        records::count_transferred(self.vu, &self.connected.connection);
        self.vu.events.sockets.drop_socket(self.id);
    }
}

/// Makes a call that is not the script's own, and waits for its end.
pub(super) fn plain(
    ctx: &Ctx<'_>,
    vu: &Vu,
    connected: &Rc<Connected>,
    path: &str,
    metadata: Metadata,
    message: Vec<u8>,
    timeout: Option<Duration>,
) -> Result<CallEnd> {
    if let Some(end) = call::refused(&metadata) {
        return Ok(end);
    }
    let id = vu.events.new_id();
    let outlet = outlet(ctx, vu)?;
    let call = Call { id, path: path.to_owned(), metadata, began: Instant::now(), timeout, message: Some(message) };
    vu.events.sockets.expect(id, None);
    let handle = connected.connection.call(call, outlet);
    let _awaited = Awaited { vu, id, connected: connected.clone(), _handle: handle };
    loop {
        if let Some(GrpcEvent::Ended(end)) = next_event(ctx, vu, id)? {
            return Ok(*end);
        }
    }
}

/// Makes a call, and returns its response.
pub(super) fn invoke<'js>(
    ctx: Ctx<'js>,
    client: ClientArg<'js>,
    name: String,
    params: Value<'js>,
    request: Function<'js>,
) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    let wanted = call::read(&ctx, &client, &name, &params, &request)?;
    let Wanted { connected, path, method, metadata, timeout, discards, message, records } = wanted;
    // What is wrong with metadata is found before a call begins, and has no samples.
    if let Some(end) = call::refused(&metadata) {
        return response::object(&ctx, &method, discards, end);
    }
    let end = match call::too_large(message.len(), connected.most_sent) {
        Some(end) => end,
        None => plain(&ctx, &vu, &connected, &path, metadata, message, Some(timeout))?,
    };
    records.end(&vu, end.status, end.took);
    response::object(&ctx, &method, discards, end)
}

/// Makes a call beside the script. `done` is called with an error or with the response.
pub(super) fn begin<'js>(
    ctx: Ctx<'js>,
    client: ClientArg<'js>,
    name: String,
    params: Value<'js>,
    request: Function<'js>,
    done: Function<'js>,
) -> Result<()> {
    let vu = Vu::of(&ctx);
    let wanted = call::read(&ctx, &client, &name, &params, &request)?;
    let Wanted { connected, path, method, metadata, timeout, discards, message, records } = wanted;
    if let Some(end) = call::refused(&metadata) {
        return done.call((response::object(&ctx, &method, discards, end)?,));
    }
    if let Some(end) = call::too_large(message.len(), connected.most_sent) {
        records.end(&vu, end.status, end.took);
        return done.call((response::object(&ctx, &method, discards, end)?,));
    }
    let id = vu.events.new_id();
    let outlet = outlet(&ctx, &vu)?;
    let timeout = Some(timeout);
    let call = Call { id, path, metadata, began: Instant::now(), timeout, message: Some(message) };
    let handle = connected.connection.call(call, outlet);
    let done = Persistent::save(&ctx, done);
    let beside = Beside { id, connected, method, discards, records, _handle: handle, done };
    vu.events.sockets.expect(id, Some(Rc::new(beside)));
    Ok(())
}

/// A call that goes on beside the script.
struct Beside {
    id: u64,
    connected: Rc<Connected>,
    method: Method,
    discards: bool,
    records: Records,
    _handle: CallHandle,
    done: Persistent<Function<'static>>,
}

impl Attendant for Beside {
    fn deliver(&self, ctx: &Ctx<'_>, event: Event) -> Result<()> {
        let Event::Grpc(GrpcEvent::Ended(end)) = event else { return Ok(()) };
        let vu = Vu::of(ctx);
        records::count_transferred(&vu, &self.connected.connection);
        self.records.end(&vu, end.status, end.took);
        vu.events.sockets.drop_socket(self.id);
        let done = self.done.clone().restore(ctx)?;
        done.call((response::object(ctx, &self.method, self.discards, *end)?,))
    }

    fn note_sent(&self) {}
}

/// Returns the health of a service; of the whole server, if the name is empty.
pub(super) fn health_check<'js>(ctx: Ctx<'js>, client: ClientArg<'js>, service: String) -> Result<i32> {
    let vu = Vu::of(&ctx);
    let connected = client.borrow().connected().map_err(|why| go_error(&ctx, &why))?;
    let records = Records::plain(&vu);
    let message = health::request(&service);
    let end = plain(&ctx, &vu, &connected, health::CHECK, Metadata::new(), message, None)?;
    records.end(&vu, end.status, end.took);
    match (end.status, end.message) {
        (0, Some(message)) => health::response(&message).map_err(|error| go_error(&ctx, &error.to_string())),
        (status, _) => Err(go_error(&ctx, &rpc_error(status, &end.text))),
    }
}
