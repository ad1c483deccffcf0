//! The response of a call as scripts see it.

use crate::host::go_error;
use crate::sockets::grpc::{CallEnd, Metadata};
use rquickjs::{Array, Ctx, Object, Result, Value};
use std::collections::BTreeMap;
use torr_grpc::{Method, status_details};

/// The names of the statuses by their codes.
const NAMES: [&str; 17] = [
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

/// Returns the name of a status.
fn name(status: u32) -> String {
    let known = NAMES.get(status as usize);
    known.map_or_else(|| format!("Code({status})"), |name| (*name).to_owned())
}

/// Returns a status as errors show it.
pub(super) fn rpc_error(status: u32, text: &str) -> String {
    format!("rpc error: code = {} desc = {text}", name(status))
}

/// Returns the response of a call that has ended. Its message has all fields, with their defaults if there is none.
pub(super) fn object<'js>(ctx: &Ctx<'js>, method: &Method, discards: bool, end: CallEnd) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let message = match discards {
        true => Value::new_null(ctx.clone()),
        false => message(ctx, method, end.message.as_deref().unwrap_or_default())?,
    };
    object.set("message", message)?;
    let error = match end.status {
        0 => Value::new_null(ctx.clone()),
        status => error(ctx, method, status, &end)?.into_value(),
    };
    object.set("error", error)?;
    object.set("headers", fields(ctx, &end.headers)?)?;
    object.set("trailers", fields(ctx, &end.trailers)?)?;
    object.set("status", end.status)?;
    Ok(object)
}

/// Returns a message of a response.
///
/// # Errors
/// If its bytes do not fit its type, which is thrown.
pub(super) fn message<'js>(ctx: &Ctx<'js>, method: &Method, bytes: &[u8]) -> Result<Value<'js>> {
    let json = method.json(bytes).map_err(|why| {
        go_error(ctx, &format!("unable to convert response object to JSON: failed to marshal the message: {why}"))
    })?;
    ctx.json_parse(json)
}

fn error<'js>(ctx: &Ctx<'js>, method: &Method, status: u32, end: &CallEnd) -> Result<Object<'js>> {
    let error = Object::new(ctx.clone())?;
    error.set("code", status)?;
    error.set("message", end.text.as_str())?;
    error.set("details", details(ctx, method, &end.details)?)?;
    Ok(error)
}

/// Returns the details of a status: messages with their types.
pub(super) fn details<'js>(ctx: &Ctx<'js>, method: &Method, content: &[u8]) -> Result<Array<'js>> {
    let array = Array::new(ctx.clone())?;
    for (at, (url, bytes)) in status_details(content).into_iter().enumerate() {
        let name = url.rsplit('/').next().unwrap_or_default();
        let detail = Object::new(ctx.clone())?;
        detail.set("@type", url.as_str())?;
        let value: Option<Value<'js>> =
            method.json_of_any(name, &bytes).map(|json| ctx.json_parse(json)).transpose()?;
        match value {
            // Those of protobuf itself that are no objects in JSON have their value beside the type.
            Some(value) if !value.is_object() || value.is_array() => detail.set("value", value)?,
            Some(value) => {
                if let Some(message) = value.as_object() {
                    for property in message.props::<String, Value<'js>>() {
                        let (name, value) = property?;
                        detail.set(name, value)?;
                    }
                }
            }
            None => {}
        }
        array.set(at, detail)?;
    }
    Ok(array)
}

/// Returns metadata: the values of each name in the order of their arrival.
fn fields<'js>(ctx: &Ctx<'js>, metadata: &Metadata) -> Result<Object<'js>> {
    let mut values: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, value) in metadata {
        values.entry(name).or_default().push(String::from_utf8_lossy(value).into_owned());
    }
    let object = Object::new(ctx.clone())?;
    for (name, values) in values {
        object.set(name, values)?;
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_names() {
        assert_eq!((name(0).as_str(), name(16).as_str(), name(99).as_str()), ("OK", "Unauthenticated", "Code(99)"));
    }
}
