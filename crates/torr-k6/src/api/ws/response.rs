//! The response of a call that waits for the end of its socket, as scripts see it.

use crate::api::http::headers::canonical;
use crate::sockets::Response;
use rquickjs::{Ctx, Object, Result};

/// Returns a response with its URL and its header fields, or what there is without one, with the text of an error.
pub(crate) fn object<'js>(ctx: &Ctx<'js>, response: Option<&Response>, url: &str, error: &str) -> Result<Object<'js>> {
    let headers = Object::new(ctx.clone())?;
    for (name, value) in response.iter().flat_map(|response| &response.fields) {
        let name = canonical(name);
        let value = match headers.get::<_, Option<String>>(name.as_str())? {
            Some(before) => format!("{before}, {value}"),
            None => value.clone(),
        };
        headers.set(name, value)?;
    }
    let object = Object::new(ctx.clone())?;
    object.set("url", url)?;
    object.set("status", response.map_or(0, |response| response.status))?;
    object.set("headers", headers)?;
    object.set("error", error)?;
    Ok(object)
}
