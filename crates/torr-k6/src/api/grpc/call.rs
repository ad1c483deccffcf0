//! A call of a script's before it is made: its method, its parameters and its message.

use super::client::{ClientArg, Connected};
use super::params::{CallParams, unsendable};
use super::records::Records;
use crate::host::go_error;
use crate::sockets::grpc::{CallEnd, Metadata};
use crate::user::Vu;
use rquickjs::{Ctx, Function, Result, Value};
use std::rc::Rc;
use std::time::Duration;
use torr_grpc::Method;

/// The time after which a call has failed, unless the script sets it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The codes of what is found wrong before a call is made.
const RESOURCE_EXHAUSTED: u32 = 8;
const INTERNAL: u32 = 13;

/// A call that is to be made.
pub(super) struct Wanted {
    pub connected: Rc<Connected>,
    pub path: String,
    pub method: Method,
    pub metadata: Metadata,
    pub timeout: Duration,
    pub discards: bool,
    pub message: Vec<u8>,
    pub records: Records,
}

/// Reads a call of one message. `request` returns its JSON, once the parameters are known to be right.
pub(super) fn read<'js>(
    ctx: &Ctx<'js>,
    client: &ClientArg<'js>,
    name: &str,
    params: &Value<'js>,
    request: &Function<'js>,
) -> Result<Wanted> {
    let vu = Vu::of(ctx);
    if vu.is_init() {
        return Err(go_error(ctx, "invoking RPC methods in the init context is not supported"));
    }
    let client = client.borrow();
    let connected = client.connected().map_err(|why| go_error(ctx, &why))?;
    let (path, method) = client.method(name).map_err(|why| go_error(ctx, &why))?;
    let params = CallParams::read(ctx, params, "invalid GRPC's client.invoke() parameters")?;
    let json: String = request.call(())?;
    let message = method
        .message(&json)
        .map_err(|why| go_error(ctx, &format!("unable to serialise request object to protocol buffer: {why}")))?;
    let records = Records::of_method(&vu, &connected, &path, &params.tags);
    let CallParams { metadata, timeout, discards, .. } = params;
    let timeout = timeout.unwrap_or(TIMEOUT);
    Ok(Wanted { connected, path, method, metadata, timeout, discards, message, records })
}

/// Returns the end of a call that cannot be made with this metadata; `None` if it can.
pub(super) fn refused(metadata: &Metadata) -> Option<CallEnd> {
    let text = unsendable(metadata)?;
    Some(CallEnd { status: INTERNAL, text, ..CallEnd::default() })
}

/// Returns the end of a call whose message is too large to be sent; `None` if it is not.
pub(super) fn too_large(message: usize, most: usize) -> Option<CallEnd> {
    let text = || format!("trying to send message larger than max ({message} vs. {most})");
    (message > most).then(|| CallEnd { status: RESOURCE_EXHAUSTED, text: text(), ..CallEnd::default() })
}
