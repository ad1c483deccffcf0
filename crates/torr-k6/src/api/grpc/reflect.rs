//! What a server says of its services (`grpc.reflection`).

use super::client::Connected;
use super::invoke::plain;
use super::response::rpc_error;
use crate::host::go_error;
use crate::sockets::grpc::Metadata;
use crate::user::Vu;
use rquickjs::{Ctx, Result};
use std::rc::Rc;
use std::time::Instant;
use torr_grpc::reflection::{PATHS, Reflection};
use torr_grpc::{Coding, SchemaMethod, framed};

/// The status of a method that a server does not have.
const UNIMPLEMENTED: u32 = 12;

/// Returns the methods of all services that a server describes.
pub(super) fn methods(
    ctx: &Ctx<'_>,
    vu: &Vu,
    connected: &Rc<Connected>,
    metadata: &Metadata,
    deadline: Instant,
) -> Result<Vec<SchemaMethod>> {
    let mut fault = String::new();
    for path in PATHS {
        let mut reflection = Reflection::of_all();
        loop {
            let Some(message) = reflection.next_message() else {
                let schema = reflection.schema().map_err(|error| go_error(ctx, &error.to_string()))?;
                return Ok(schema.methods().collect());
            };
            let left = deadline.saturating_duration_since(Instant::now());
            let end = plain(ctx, vu, connected, path, metadata.clone(), message, Some(left))?;
            match (end.status, end.message) {
                (0, Some(message)) => {
                    let taken = reflection.take(&framed(&message), Some(Coding::Identity));
                    taken.map_err(|error| go_error(ctx, &error.to_string()))?;
                }
                (UNIMPLEMENTED, _) => {
                    fault = rpc_error(end.status, &end.text);
                    break;
                }
                (status, _) => {
                    let why = rpc_error(status, &end.text);
                    return Err(go_error(ctx, &format!("can't list services: {why}")));
                }
            }
        }
    }
    Err(go_error(ctx, &format!("can't list services: {fault}")))
}
