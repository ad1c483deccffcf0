//! The response as scripts see it: properties that are made when they are read.

use super::gjson;
use super::headers::canonical;
use super::params::ResponseType;
use super::samples::{proto, tls_version};
use crate::host::{Host, HostClass, go_error};
use crate::user::exchange::{Incoming, Outcome};
use cookie_store::RawCookie;
use rquickjs::function::{Opt, This};
use rquickjs::object::Accessor;
use rquickjs::{Array, ArrayBuffer, Class, Ctx, Function, IntoJs, Object, Result, Value};
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
    /// The bytes of the first request.
    pub request: Vec<u8>,
    /// The form of the content.
    pub response_type: ResponseType,
    /// The outcome of the last request.
    pub outcome: Box<Outcome>,
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
            "ocsp" => |ctx: Ctx<'js>, _: ThisResponse<'js>| ocsp(ctx),
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

    fn status_text(&self) -> String {
        match self.status() {
            0 => String::new(),
            status => match http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()) {
                Some(reason) => format!("{status} {reason}"),
                None => status.to_string(),
            },
        }
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
        let incoming = self.incoming()?;
        let has_content = incoming.status >= 200 && !matches!(incoming.status, 204 | 304);
        (has_content && self.response_type != ResponseType::None).then_some(&*incoming.content)
    }

    fn body<'js>(&self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
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
            let Ok(cookie) = RawCookie::parse(String::from_utf8_lossy(value).into_owned()) else { continue };
            let object = Object::new(ctx.clone())?;
            object.set("name", cookie.name())?;
            object.set("value", cookie.value())?;
            object.set("domain", cookie.domain().unwrap_or_default())?;
            object.set("path", cookie.path().unwrap_or_default())?;
            object.set("http_only", cookie.http_only().unwrap_or(false))?;
            object.set("secure", cookie.secure().unwrap_or(false))?;
            object.set("max_age", cookie.max_age().map_or(0, |age| age.whole_seconds()) as f64)?;
            let expires = cookie.expires_datetime().map(|time| time.unix_timestamp() as f64 * 1000.0);
            object.set("expires", expires.unwrap_or(NO_EXPIRY))?;
            let same: Option<Array<'js>> = cookies.get(cookie.name())?;
            let same = match same {
                Some(same) => same,
                None => Array::new(ctx.clone())?,
            };
            same.set(same.len(), object)?;
            cookies.set(cookie.name(), same)?;
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

    fn request<'js>(&self, ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let end = memchr::memmem::find(&self.request, b"\r\n\r\n").unwrap_or(self.request.len());
        let head = String::from_utf8_lossy(&self.request[..end]);
        let body = String::from_utf8_lossy(self.request.get(end + 4..).unwrap_or_default());
        let mut lines = head.split("\r\n");
        let first_method = lines.next().and_then(|line| line.split(' ').next()).unwrap_or_default().to_owned();
        let (headers, cookies) = (Object::new(ctx.clone())?, Object::new(ctx.clone())?);
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            if name == "Cookie" {
                for (name, value) in value.split("; ").filter_map(|pair| pair.split_once('=')) {
                    let cookie = Object::new(ctx.clone())?;
                    cookie.set("name", name)?;
                    cookie.set("value", value)?;
                    cookie.set("replace", false)?;
                    cookies.set(name, vec![cookie])?;
                }
            }
            if !matches!(name, "Host" | "Connection" | "Proxy-Authorization") {
                headers.set(name, vec![value])?;
            }
        }
        let request = Object::new(ctx.clone())?;
        request.set("method", first_method)?;
        request.set("url", &*self.first_url)?;
        request.set("headers", headers)?;
        request.set("body", &*body)?;
        request.set("cookies", cookies)?;
        Ok(request)
    }
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
        return match gjson::get(content, &path) {
            Some(json) => parse(&ctx, &json),
            None => Ok(Value::new_undefined(ctx)),
        };
    }
    let kept: Value<'js> = this.get(PARSED)?;
    if !kept.is_undefined() {
        return Ok(kept);
    }
    let parsed = parse(&ctx, content)?;
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

fn ocsp<'js>(ctx: Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx)?;
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        object.set(name, 0)?;
    }
    object.set("revocation_reason", "")?;
    object.set("status", "")?;
    Ok(object)
}

/// Returns the name of a cipher suite as scripts see it.
fn cipher_name(cipher: &str) -> String {
    cipher.replacen("TLS13_", "TLS_", 1)
}
