//! Sessions: a cookie names what the cache keeps for a client.
//!
//! The name is 128 random bits, so no client can guess another one. A name that the cache does not know is never taken
//! over, so no client can give its own name to another.

use super::failure;
use crate::random;
use http::header::{CACHE_CONTROL, SET_COOKIE};
use http::{HeaderValue, Method};
use std::time::Duration;
use torr_data::{Cache, DataError};
use torr_serve::{App, Request, Response};

const COOKIE: &str = "torr_session";
/// How long an unused session lives.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Adds `/session`: GET counts a visit, DELETE ends the session.
pub fn add(app: App, cache: &Cache) -> App {
    let (visited, left) = (cache.clone(), cache.clone());
    app.get_async("/session", move |request| {
        let (cache, name, secure, id) = (visited.clone(), name_in(request), is_secure(request), request.id().cloned());
        async move { failure::or(visit(&cache, name).await, id, |(visits, new)| page(visits, new, secure)) }
    })
    .route_async(Method::DELETE, "/session", move |request| {
        let (cache, name, id) = (left.clone(), name_in(request), request.id().cloned());
        async move {
            let removed = match name {
                Some(name) => cache.remove(&key(&name)).await,
                None => Ok(()),
            };
            failure::or(removed, id, |()| Response::new(204))
        }
    })
}

/// Counts a visit. A name comes back if the client is to have a new one.
///
/// The number of visits is all that is kept of a session. The cache adds to it as a whole, so that requests which come at the
/// same time are each counted.
async fn visit(cache: &Cache, name: Option<String>) -> Result<(u64, Option<String>), DataError> {
    if let Some(name) = name
        && let Some(visits) = cache.increment(&key(&name), IDLE).await?
    {
        return Ok((visits, None));
    }
    let name = random::name();
    cache.put(&key(&name), b"1", IDLE).await?;
    Ok((1, Some(name)))
}

fn page(visits: u64, new: Option<String>, secure: bool) -> Response {
    let body = format!("{{\"visits\":{visits}}}");
    let response = Response::json(body).header(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let Some(name) = new else { return response };
    let cookie = format!("{COOKIE}={name}; Path=/; HttpOnly; SameSite=Lax{}", if secure { "; Secure" } else { "" });
    match HeaderValue::from_str(&cookie) {
        Ok(cookie) => response.header(SET_COOKIE, cookie),
        Err(_) => unreachable!("hexadecimal digits may stand in a field"),
    }
}

fn key(name: &str) -> String {
    format!("session:{name}")
}

/// The name that the client gives, if it can be one.
fn name_in(request: &Request<'_>) -> Option<String> {
    let fields = request.headers().filter(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    let texts = fields.filter_map(|(_, value)| std::str::from_utf8(value).ok());
    let mut pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let name = pairs.find_map(|(cookie, name)| (cookie == COOKIE).then_some(name))?;
    (name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| name.to_owned())
}

fn is_secure(request: &Request<'_>) -> bool {
    let proxied = request.origin().is_some_and(|origin| origin.scheme == Some(torr_serve::Scheme::Https));
    request.tls().is_some() || proxied
}
