//! `sse.open`: the script waits in it until its stream has ended.

use super::client::{self, Handlers};
use super::records::Records;
use super::request::Wanted;
use crate::api::http::params::ParamError;
use crate::api::http::samples::SampleState;
use crate::api::http::value::{is_nothing, text_of};
use crate::api::ws::{response, socket};
use crate::host::go_error;
use crate::sockets::{Event, Response, ServerEvent, StreamEvent, StreamHandle};
use crate::user::{self, Vu, wait};
use rquickjs::function::{Opt, Rest};
use rquickjs::{Ctx, Function, Object, Result, Value};
use std::rc::Rc;
use std::time::Instant;

/// A stream that is open as long as this value lives.
struct Kept {
    vu: Rc<Vu>,
    id: u64,
    handle: StreamHandle,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.vu.extra::<SampleState>().add(self.handle.take_transferred());
        self.vu.events.sockets.drop_socket(self.id);
    }
}

/// Sends a request, calls the script's function with its client, and returns when the response has ended:
/// `open(url, [params], function)`.
pub fn open<'js>(ctx: Ctx<'js>, url: Opt<Value<'js>>, rest: Rest<Value<'js>>) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    if vu.is_init() {
        return Err(go_error(&ctx, "using sse in the init context is not supported"));
    }
    let (params, setup) = match (&url.0, rest.0.as_slice()) {
        (Some(_), [setup]) => (None, setup),
        (Some(_), [params, setup]) => (Some(params), setup),
        _ => return Err(go_error(&ctx, "invalid number of arguments to sse.open")),
    };
    let setup = setup.as_function().cloned();
    let setup = setup.ok_or_else(|| go_error(&ctx, "last argument to sse.open must be a function"))?;
    let text = text_of(url.0.as_ref().unwrap_or(&Value::new_undefined(ctx.clone())))?;
    let params = params.filter(|params| !is_nothing(params));
    let began = Instant::now();
    let opened = match Wanted::read(&vu, &text, params) {
        Ok(wanted) => begin(&ctx, &vu, wanted)?,
        Err(ParamError::Wrong(why)) => Begun { tags: Vec::new(), outcome: Err(why) },
        Err(ParamError::Thrown(error)) => return Err(error),
    };
    let took = began.elapsed();
    let (response, kept) = match opened.outcome {
        Ok(open) => open,
        Err(why) => {
            Records::begin(&vu, &text, &opened.tags, None, took).end(&vu);
            return refused(&ctx, &vu, &why);
        }
    };
    let records = Records::begin(&vu, &text, &opened.tags, Some(response.status), took);
    let handlers = Rc::new(Handlers::default());
    let attended = attend(&ctx, &kept, &handlers, &records, &setup);
    handlers.end();
    records.end(&vu);
    drop(kept);
    attended?;
    response::object(&ctx, Some(&response), &text, "")
}

/// What a call has led to.
struct Begun {
    /// The tags of the samples.
    tags: Vec<(String, String)>,
    /// The response, whose header section has arrived, or why there is none.
    outcome: std::result::Result<(Response, Kept), String>,
}

/// Sends the request, and those to which it is redirected.
fn begin(ctx: &Ctx<'_>, vu: &Rc<Vu>, mut wanted: Wanted) -> Result<Begun> {
    let outcome = loop {
        let request = wanted.request(vu);
        let id = request.id;
        let (carrier, outlet) = socket::carrier(ctx, vu, "event streams")?;
        vu.events.sockets.expect(id, None);
        let kept = Kept { vu: vu.clone(), id, handle: carrier.stream(request, outlet) };
        let response = match next_event(ctx, &kept)? {
            StreamEvent::Opened(response) => response,
            StreamEvent::Failed(why) => break Err(wanted.failed(&why)),
            _ => break Err(wanted.failed("EOF")),
        };
        wanted.keep_cookies(&response);
        match wanted.follow(&response) {
            Ok(true) => {}
            Ok(false) => break Ok((response, kept)),
            Err(why) => break Err(why),
        }
    };
    Ok(Begun { tags: wanted.tags, outcome })
}

/// Calls the script's function, and then its handlers until the stream has ended or the script has closed it.
fn attend<'js>(
    ctx: &Ctx<'js>,
    kept: &Kept,
    handlers: &Rc<Handlers>,
    records: &Records,
    setup: &Function<'js>,
) -> Result<()> {
    setup.call::<_, Value<'js>>((client::object(ctx, handlers)?,))?;
    handlers.call(ctx, "open", ())?;
    while !handlers.is_closed() {
        match next_event(ctx, kept)? {
            StreamEvent::Event(event) => {
                records.event(&kept.vu);
                handlers.call(ctx, "event", (object_of(ctx, event)?,))?;
            }
            StreamEvent::Unknown(line) => {
                let why = format!("unknown event: {line}\n");
                handlers.call(ctx, "error", (socket::error(ctx, &why, None)?,))?;
            }
            StreamEvent::Failed(why) => {
                handlers.call(ctx, "error", (socket::error(ctx, &why, None)?,))?;
                return Ok(());
            }
            StreamEvent::Ended => return Ok(()),
            StreamEvent::Opened(_) => {}
        }
    }
    Ok(())
}

/// Waits for the next event of a stream.
fn next_event(ctx: &Ctx<'_>, kept: &Kept) -> Result<StreamEvent> {
    loop {
        match kept.vu.events.sockets.take_of(kept.id) {
            Some(Event::Stream(event)) => return Ok(event),
            Some(_) => {}
            None => wait(ctx, user::Wanted::Mail(None)).map(drop)?,
        }
    }
}

/// Returns an event as scripts see it.
fn object_of<'js>(ctx: &Ctx<'js>, event: ServerEvent) -> Result<Object<'js>> {
    let ServerEvent { id, comment, name, data } = event;
    let object = Object::new(ctx.clone())?;
    for (field, value) in [("id", id), ("comment", comment), ("name", name), ("data", data)] {
        object.set(field, value)?;
    }
    Ok(object)
}

/// Returns what the script gets of a request without a response, or throws it.
fn refused<'js>(ctx: &Ctx<'js>, vu: &Vu, why: &str) -> Result<Object<'js>> {
    if vu.run.http_settings().throws {
        return Err(go_error(ctx, why));
    }
    response::object(ctx, None, "", why)
}
