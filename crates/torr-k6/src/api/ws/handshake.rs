//! The handshake of a script's WebSocket: URL, parameters, and the request that follows from them.

use crate::api::http::headers::Fields;
use crate::api::http::jar::Jar;
use crate::api::http::params::{ParamError, Params};
use crate::api::http::target::Target;
use crate::api::http::value::text_of;
use crate::host::go_error;
use crate::sockets::Opening;
use crate::user::Vu;
use rquickjs::{Object, Value};
use std::rc::Rc;
use torr_wire::websocket::{FIELDS, Key, Offer};

/// A WebSocket that a script wants.
#[derive(Debug)]
pub struct Wanted {
    /// The URL as it was given, its credentials masked.
    pub url: Rc<str>,
    /// The tags of the samples.
    pub tags: Vec<(String, String)>,
    /// Whether a failure is an exception.
    pub throws: bool,
    /// What is opened.
    pub opening: Opening,
}

/// Returns the WebSocket at a URL with the parameters of a script.
///
/// # Errors
/// What is wrong with them.
pub fn read(vu: &Vu, url: &str, params: Option<&Value<'_>>, subprotocols: Vec<String>) -> Result<Wanted, ParamError> {
    let given: Option<&Object<'_>> = params.and_then(Value::as_object);
    let deflate = given.map(compression).transpose()?.flatten();
    let mut params = Params::read(given)?;
    let target = target(url)?;
    if let Some(why) = target.refusal.clone().or_else(|| params.refusal.take()) {
        return Err(ParamError::Wrong(why));
    }
    let given = params.fields.remove("Sec-Websocket-Protocol");
    let subprotocols = match given {
        Some(given) if subprotocols.is_empty() => {
            given.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
        }
        _ => subprotocols,
    };
    let key = Key::new(random());
    let jar = params.jar.clone().unwrap_or_else(|| Jar::clone(&vu.extra()));
    let kept = target.url.as_ref().map(|url| jar.cookies(url)).unwrap_or_default();
    let cookies: Vec<_> = kept.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    if !cookies.is_empty() {
        params.fields.set_if_missing("Cookie", cookies.join("; "));
    }
    if let Some(authorization) = target.basic() {
        params.fields.set_if_missing("Authorization", authorization);
    }
    let settings = vu.run.http_settings();
    let request = request(&target, params.fields, &settings.user_agent, key, &subprotocols, deflate);
    Ok(Wanted {
        url: shown(url, &target),
        tags: params.tags,
        throws: params.throws.unwrap_or(settings.throws),
        opening: Opening {
            id: vu.events.new_id(),
            origin: target.origin.to_string(),
            request,
            key,
            subprotocols,
            deflate,
            user: vu.id,
            timeout: params.timeout,
        },
    })
}

/// Returns the compression that the parameters name. Messages are compressed by themselves, as in k6.
///
/// # Errors
/// If the name is not `deflate`.
fn compression(params: &Object<'_>) -> Result<Option<Offer>, ParamError> {
    if !params.contains_key("compression")? {
        return Ok(None);
    }
    let name = text_of(&params.get("compression")?)?;
    match name.trim() {
        "" => Ok(None),
        "deflate" => Ok(Some(Offer::WithoutTakeover)),
        other => {
            let why = format!("unsupported compression algorithm '{other}', supported algorithm is 'deflate'");
            Err(ParamError::Thrown(go_error(params.ctx(), &why)))
        }
    }
}

/// Returns the URL with the schemes of HTTP in the place of those of WebSocket.
fn target(url: &str) -> Result<Rc<Target>, ParamError> {
    let wrong = || ParamError::Wrong("malformed ws or wss URL".to_owned());
    let (scheme, rest) = url.split_once(':').ok_or_else(wrong)?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "ws" => "http",
        "wss" => "https",
        _ => return Err(wrong()),
    };
    Target::parse(&format!("{scheme}:{rest}")).map_err(ParamError::Wrong)
}

/// Returns a URL as it was given, but for its credentials.
fn shown(url: &str, target: &Target) -> Rc<str> {
    match target.credentials {
        Some(_) => format!("{}{}", &url[..url.find(':').unwrap_or_default()], without_scheme(&target.shown)).into(),
        None => url.into(),
    }
}

fn without_scheme(url: &str) -> &str {
    &url[url.find(':').unwrap_or_default()..]
}

/// Returns the request of a handshake.
fn request(
    target: &Target,
    mut fields: Fields,
    user_agent: &str,
    key: Key,
    subprotocols: &[String],
    deflate: Option<Offer>,
) -> Vec<u8> {
    fields.retain(|name| !FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name)));
    fields.set("Connection", "Upgrade");
    fields.set("Sec-WebSocket-Key", String::from_utf8_lossy(key.value()));
    fields.set("Sec-WebSocket-Version", "13");
    fields.set("Upgrade", "websocket");
    if !subprotocols.is_empty() {
        fields.set("Sec-WebSocket-Protocol", subprotocols.join(", "));
    }
    if let Some(offer) = deflate {
        fields.set("Sec-WebSocket-Extensions", offer.value());
    }
    head("GET", target, fields, user_agent)
}

/// Returns the header section of a request: its field lines are in the order of their names, behind those that Go's clients begin with.
pub(crate) fn head(method: &str, target: &Target, mut fields: Fields, user_agent: &str) -> Vec<u8> {
    let host = fields.remove("Host").unwrap_or_else(|| target.host.clone());
    let agent = fields.remove("User-Agent").unwrap_or_else(|| user_agent.to_owned());
    let mut request = format!("{method} {} HTTP/1.1\r\nHost: {host}\r\n", target.path);
    let agent = Some(("User-Agent", agent.as_str())).filter(|(_, agent)| !agent.is_empty());
    for (name, value) in agent.into_iter().chain(fields.iter()) {
        request.extend([name, ": ", value, "\r\n"]);
    }
    request.push_str("\r\n");
    request.into_bytes()
}

fn random() -> [u8; 16] {
    fastrand::u128(..).to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_the_fields_of_the_script_among_its_own() {
        let target = target("ws://a.test:81/chat?x=1").expect("it is a URL");
        let mut own = Fields::default();
        for (name, value) in [("X-A", "b"), ("Authorization", "c"), ("Upgrade", "no"), ("User-Agent", "me")] {
            own.set(name, value);
        }
        let request = request(&target, own, "k6", Key::PLACE, &["a".to_owned(), "b".to_owned()], None);
        let expected = "GET /chat?x=1 HTTP/1.1\r\nHost: a.test:81\r\nUser-Agent: me\r\nAuthorization: c\r\n\
            Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAAAA\r\nSec-WebSocket-Protocol: a, b\r\n\
            Sec-WebSocket-Version: 13\r\nUpgrade: websocket\r\nX-A: b\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&request), expected);
    }

    #[test]
    fn only_urls_of_websockets_are_opened() {
        for url in ["", "nope", "http://a.test/", "ws", "file:///x"] {
            let refused = matches!(target(url), Err(ParamError::Wrong(why)) if why == "malformed ws or wss URL");
            assert!(refused, "{url}");
        }
        let secret = target("WSS://u:p@a.test/x").expect("it is a URL");
        assert_eq!((&*secret.origin, secret.host.as_str()), ("https://a.test:443", "a.test"));
        assert_eq!(&*shown("WSS://u:p@a.test/x", &secret), "WSS://****:****@a.test/x");
    }
}
