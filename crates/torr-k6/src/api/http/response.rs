//! The response as scripts see it: properties that are made when they are read.

use super::cookie::SetCookie;
use super::gjson;
use super::headers::canonical;
use super::params::ResponseType;
use super::samples::{proto, tls_version};
use crate::host::{Host, HostClass, go_error};
use crate::user::exchange::{Incoming, Outcome, Refusal};
use rquickjs::function::{Opt, This};
use rquickjs::object::Accessor;
use rquickjs::{Array, ArrayBuffer, Class, Ctx, Function, IntoJs, Object, Result, Value};
use std::cell::Cell;
use std::rc::Rc;

/// The time that k6 shows as the expiry of a cookie that has none, in milliseconds.
const NO_EXPIRY: f64 = -6_795_364_578_871.0;
/// The hidden property that keeps the parsed content.
const PARSED: &str = "\u{0}json";

/// A response.
#[derive(Debug)]
pub struct Response {
    /// The URL of the last request.
    pub url: Rc<str>,
    /// The URL of the first request.
    pub first_url: Rc<str>,
    /// The first request; `None` if the script's call was wrong.
    pub request: Option<Sent>,
    /// The form of the content.
    pub response_type: ResponseType,
    /// The outcome of the last request.
    pub outcome: Box<Outcome>,
    /// Whether the content is known to be JSON.
    pub is_valid_json: Cell<bool>,
}

/// A request as it was sent.
#[derive(Debug)]
pub struct Sent {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The content before it was compressed, if it was.
    pub plain: Option<Vec<u8>>,
    /// Whether `Authorization` comes from the URL, so that the script does not see it.
    pub is_authorized_by_url: bool,
    /// Whether `Host` is what the script has set.
    pub names_host: bool,
}

pub(super) type ResponseObject<'js> = Class<'js, Host<Response>>;
pub(super) type ThisResponse<'js> = This<ResponseObject<'js>>;

impl HostClass for Response {
    const NAME: &'static str = "Response";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let prototype = Object::new(ctx.clone())?;
        macro_rules! getters {
            ($($name:literal => $get:expr),* $(,)?) => {
                $(prototype.prop($name, Accessor::new($get, replace($name)).enumerable().configurable())?;)*
            };
        }
        getters! {
            "status" => |this: ThisResponse<'js>| this.borrow().status(),
            "status_text" => |this: ThisResponse<'js>| this.borrow().status_text(),
            "proto" => |this: ThisResponse<'js>| this.borrow().incoming().map_or("", |incoming| proto(incoming.version)),
            "url" => |this: ThisResponse<'js>| this.borrow().url.to_string(),
            "error" => |this: ThisResponse<'js>| this.borrow().error(),
            "error_code" => |this: ThisResponse<'js>| this.borrow().error_code(),
            "remote_ip" => |this: ThisResponse<'js>| {
                this.borrow().outcome.remote.map_or(String::new(), |remote| remote.ip().to_string())
            },
            "remote_port" => |this: ThisResponse<'js>| this.borrow().outcome.remote.map_or(0, |remote| remote.port()),
            "tls_version" => |this: ThisResponse<'js>| {
                this.borrow().outcome.tls.as_ref().map_or("", |(version, _)| tls_version(version))
            },
            "tls_cipher_suite" => |this: ThisResponse<'js>| {
                this.borrow().outcome.tls.as_ref().map_or(String::new(), |(_, cipher)| cipher_name(cipher))
            },
            "ocsp" => |ctx: Ctx<'js>, this: ThisResponse<'js>| ocsp(ctx, this.borrow().outcome.tls.is_some()),
            "body" => |ctx: Ctx<'js>, this: ThisResponse<'js>| this.borrow().body(&ctx),
            "headers" => |ctx: Ctx<'js>, this: ThisResponse<'js>| this.borrow().headers(&ctx),
            "cookies" => |ctx: Ctx<'js>, this: ThisResponse<'js>| this.borrow().cookies(&ctx),
            "timings" => |ctx: Ctx<'js>, this: ThisResponse<'js>| this.borrow().timings(ctx),
            "request" => |ctx: Ctx<'js>, this: ThisResponse<'js>| this.borrow().request(&ctx),
        }
        prototype.prop("json", method(ctx, "json", json)?)?;
        prototype.prop("toJSON", method(ctx, "toJSON", to_json)?)?;
        Ok(prototype)
    }
}

/// Returns a function of a name.
pub(super) fn method<'js, P, F>(ctx: &Ctx<'js>, name: &str, call: F) -> Result<Function<'js>>
where
    F: rquickjs::function::IntoJsFunc<'js, P> + 'js,
{
    Function::new(ctx.clone(), call)?.with_name(name)
}

/// Returns the setter of a property: what a script sets takes the place of what would be made.
fn replace<'js>(name: &'static str) -> impl Fn(This<Object<'js>>, Value<'js>) -> Result<()> + 'js {
    move |this, value| {
        let property = rquickjs::object::Property::from(value).writable().enumerable().configurable();
        this.0.prop(name, property)
    }
}

impl Response {
    fn incoming(&self) -> Option<&Incoming> {
        self.outcome.result.as_ref().ok()
    }

    fn status(&self) -> u16 {
        self.incoming().map_or(0, |incoming| incoming.status)
    }

    /// Returns the response of a call that is wrong, so that there is no request.
    pub(super) fn of_wrong_call(refusal: Refusal) -> Self {
        Self {
            url: Rc::default(),
            first_url: Rc::default(),
            request: None,
            response_type: ResponseType::Text,
            outcome: Box::new(Outcome::refused(0, refusal)),
            is_valid_json: Cell::new(false),
        }
    }

    fn status_text(&self) -> String {
        self.incoming().map_or(String::new(), |incoming| format!("{} {}", incoming.status, incoming.reason()))
    }

    fn error(&self) -> String {
        self.outcome.result.as_ref().err().map_or(String::new(), |refusal| refusal.text.clone())
    }

    fn error_code(&self) -> u32 {
        match &self.outcome.result {
            Err(refusal) => refusal.code,
            Ok(incoming) if (400..600).contains(&incoming.status) => 1000 + u32::from(incoming.status),
            Ok(_) => 0,
        }
    }

    /// Returns the content, unless the script gets none.
    pub(super) fn content(&self) -> Option<&[u8]> {
        if self.request.is_none() {
            return Some(&[]);
        }
        let incoming = self.incoming()?;
        let has_content = incoming.status >= 200 && !matches!(incoming.status, 204 | 304);
        (has_content && self.response_type != ResponseType::None).then_some(&*incoming.content)
    }

    fn body<'js>(&self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        if self.request.is_none() {
            return Ok(Array::new(ctx.clone())?.into_value());
        }
        let Some(content) = self.content() else { return Ok(Value::new_null(ctx.clone())) };
        match self.response_type {
            ResponseType::Binary => Ok(ArrayBuffer::new_copy(ctx.clone(), content)?.into_value()),
            _ => String::from_utf8_lossy(content).into_js(ctx),
        }
    }

    fn headers<'js>(&self, ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let headers = Object::new(ctx.clone())?;
        let mut joined: Vec<(String, String)> = Vec::new();
        for (name, value) in self.incoming().iter().flat_map(|incoming| incoming.fields()) {
            let (name, value) = (canonical(&String::from_utf8_lossy(name)), String::from_utf8_lossy(value));
            if is_of_connection(&name, &value) {
                continue;
            }
            match joined.iter_mut().find(|(other, _)| *other == name) {
                Some((_, all)) => {
                    all.push_str(", ");
                    all.push_str(&value);
                }
                None => joined.push((name, value.into_owned())),
            }
        }
        joined.into_iter().try_for_each(|(name, value)| headers.set(name, value))?;
        Ok(headers)
    }

    fn cookies<'js>(&self, ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let cookies = Object::new(ctx.clone())?;
        for (name, value) in self.incoming().iter().flat_map(|incoming| incoming.fields()) {
            if !name.eq_ignore_ascii_case(b"set-cookie") {
                continue;
            }
            let Some(cookie) = SetCookie::parse(value) else { continue };
            let object = Object::new(ctx.clone())?;
            object.set("name", &*cookie.name)?;
            object.set("value", &*cookie.value)?;
            object.set("domain", &*cookie.domain)?;
            object.set("path", &*cookie.path)?;
            object.set("http_only", cookie.http_only)?;
            object.set("secure", cookie.secure)?;
            object.set("max_age", cookie.max_age as f64)?;
            object.set("expires", cookie.expires.map_or(NO_EXPIRY, |expires| expires as f64))?;
            let same: Option<Array<'js>> = cookies.get(&*cookie.name)?;
            let same = match same {
                Some(same) => same,
                None => Array::new(ctx.clone())?,
            };
            same.set(same.len(), object)?;
            cookies.set(&*cookie.name, same)?;
        }
        Ok(cookies)
    }

    fn timings<'js>(&self, ctx: Ctx<'js>) -> Result<Object<'js>> {
        let (timings, object) = (&self.outcome.timings, Object::new(ctx)?);
        for (name, value) in [
            ("duration", timings.duration()),
            ("blocked", timings.blocked),
            ("looking_up", 0.0),
            ("connecting", timings.connecting),
            ("tls_handshaking", timings.handshaking),
            ("sending", timings.sending),
            ("waiting", timings.waiting),
            ("receiving", timings.receiving),
        ] {
            object.set(name, value)?;
        }
        Ok(object)
    }

    fn request<'js>(&self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let Some(sent) = &self.request else { return Ok(Value::new_null(ctx.clone())) };
        let end = memchr::memmem::find(&sent.bytes, b"\r\n\r\n").unwrap_or(sent.bytes.len());
        let head = String::from_utf8_lossy(&sent.bytes[..end]);
        let content = sent.plain.as_deref().or(sent.bytes.get(end + 4..)).unwrap_or_default();
        let mut lines = head.split("\r\n");
        let first_method = lines.next().and_then(|line| line.split(' ').next()).unwrap_or_default().to_owned();
        let (headers, cookies) = (Object::new(ctx.clone())?, Object::new(ctx.clone())?);
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            if name == "Cookie" {
                for (name, value) in value.split("; ").filter_map(|pair| pair.split_once('=')) {
                    let cookie = Object::new(ctx.clone())?;
                    cookie.set("name", name)?;
                    cookie.set("value", value.trim_matches('"'))?;
                    cookie.set("replace", false)?;
                    let same: Option<Array<'js>> = cookies.get(name)?;
                    let same = same.map_or_else(|| Array::new(ctx.clone()), Ok)?;
                    same.set(same.len(), cookie)?;
                    cookies.set(name, same)?;
                }
            }
            let is_derived = match name {
                "Host" => !sent.names_host,
                "Authorization" => sent.is_authorized_by_url,
                _ => matches!(name, "Content-Length" | "Connection" | "Proxy-Authorization"),
            };
            if !is_derived {
                headers.set(name, vec![value])?;
            }
        }
        let request = Object::new(ctx.clone())?;
        request.set("method", first_method)?;
        request.set("url", &*self.first_url)?;
        request.set("headers", headers)?;
        request.set("body", &*String::from_utf8_lossy(content))?;
        request.set("cookies", cookies)?;
        Ok(request.into_value())
    }
}

/// Returns whether a field of a response is of its connection, and so is not shown to scripts.
fn is_of_connection(name: &str, value: &str) -> bool {
    let closes = || value.split(',').any(|option| option.trim().eq_ignore_ascii_case("close"));
    name == "Transfer-Encoding" || name == "Connection" && closes()
}

/// The method `json`.
fn json<'js>(ctx: Ctx<'js>, this: ThisResponse<'js>, path: Opt<Option<String>>) -> Result<Value<'js>> {
    let response = this.borrow();
    let Some(content) = response.content() else {
        return Err(go_error(
            &ctx,
            "the body is null so we can't transform it to JSON - this likely was because of a request error getting the response",
        ));
    };
    if let Some(path) = path.0.flatten() {
        if !response.is_valid_json.get() {
            let is_valid = serde_json::from_slice::<serde::de::IgnoredAny>(content).is_ok();
            response.is_valid_json.set(is_valid);
        }
        return match gjson::get(content, &path).filter(|_| response.is_valid_json.get()) {
            Some(json) => parse(&ctx, &json),
            None => Ok(Value::new_undefined(ctx)),
        };
    }
    let kept: Value<'js> = this.get(PARSED)?;
    if !kept.is_undefined() {
        return Ok(kept);
    }
    let parsed = parse(&ctx, content)?;
    response.is_valid_json.set(true);
    this.prop(PARSED, parsed.clone())?;
    Ok(parsed)
}

fn parse<'js>(ctx: &Ctx<'js>, json: &[u8]) -> Result<Value<'js>> {
    let text = String::from_utf8_lossy(json);
    let parsed = match memchr::memchr(0, json) {
        None => ctx.json_parse(&*text),
        Some(_) => Err(rquickjs::Error::Exception),
    };
    parsed.map_err(|_| {
        drop(ctx.catch());
        let why = match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
            Err(error) => {
                let reason = error.to_string();
                let reason = reason.split(" at line ").next().unwrap_or_default().to_owned();
                format!(
                    "cannot parse json due to an error at line {}, character {} , error: {reason}",
                    error.line(),
                    error.column()
                )
            }
            Ok(_) => "cannot parse json due to an error".to_owned(),
        };
        go_error(ctx, &why)
    })
}

/// The method `toJSON`: a plain object with all properties.
fn to_json<'js>(ctx: Ctx<'js>, this: ThisResponse<'js>) -> Result<Object<'js>> {
    let plain = Object::new(ctx)?;
    for name in [
        "remote_ip",
        "remote_port",
        "url",
        "status",
        "status_text",
        "proto",
        "headers",
        "cookies",
        "body",
        "timings",
        "tls_version",
        "tls_cipher_suite",
        "ocsp",
        "error",
        "error_code",
        "request",
    ] {
        plain.set(name, this.get::<_, Value<'js>>(name)?)?;
    }
    Ok(plain)
}

/// Returns what is known of the revocation of a certificate: nothing, since no status is requested (RFC 6066, section 8).
fn ocsp<'js>(ctx: Ctx<'js>, is_tls: bool) -> Result<Object<'js>> {
    let object = Object::new(ctx)?;
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        object.set(name, 0)?;
    }
    object.set("revocation_reason", "")?;
    object.set("status", if is_tls { "unknown" } else { "" })?;
    Ok(object)
}

/// Returns the name of a cipher suite as scripts see it.
fn cipher_name(cipher: &str) -> String {
    cipher.replacen("TLS13_", "TLS_", 1)
}
