//! `k6/http`.

mod body;
mod call;
mod digest;
mod dump;
mod expected;
mod file;
mod form;
mod gjson;
mod headers;
mod jar;
mod page;
mod params;
mod request;
mod response;
mod samples;
mod target;
mod url_tag;
mod value;

use super::builtin::Builtin;
use crate::host::{Held, Host};
use crate::metrics::builtin::{DATA_RECEIVED, DATA_SENT};
use crate::user::Vu;
use jar::Jar;
use response::Response;
use rquickjs::{Class, Ctx, Function, Object, Result};
use samples::SampleState;

/// What happens to the state of `k6/http` at the ends of iterations.
#[derive(Debug, Clone, Copy)]
pub struct HttpState;

impl HttpState {
    /// Begins an iteration: its cookies are new, unless the options say otherwise.
    pub fn begin_iteration(vu: &Vu) {
        if !vu.run.http_settings().keeps_cookies {
            vu.extra::<Jar>().empty();
        }
    }

    /// Records the bytes that were sent and received since the last call.
    pub fn record_data(vu: &Vu) {
        let state = vu.extra::<SampleState>();
        let (sent, received) = (state.sent.take(), state.received.take());
        let mut recorder = vu.recorder.borrow_mut();
        let tags = vu.tags.borrow_mut().set(&mut recorder);
        recorder.add(DATA_SENT, sent as f64, &tags);
        recorder.add(DATA_RECEIVED, received as f64, &tags);
    }
}

/// Tag of the objects that keep layouts.
struct Layouts;

/// The module `k6/http`.
pub struct Http;

impl Builtin for Http {
    const NAMES: &'static [&'static str] = &["k6/http"];
    const EXPORTS: &'static [&'static str] = &[
        "get",
        "head",
        "post",
        "put",
        "patch",
        "del",
        "options",
        "request",
        "asyncRequest",
        "batch",
        "file",
        "url",
        "cookieJar",
        "CookieJar",
        "expectedStatuses",
        "setResponseCallback",
    ];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let http = Object::new(ctx.clone())?;
        for (name, method) in [("get", "GET"), ("head", "HEAD")] {
            http.set(name, request::without_body(ctx, name, method)?)?;
        }
        for (name, method) in
            [("post", "POST"), ("put", "PUT"), ("patch", "PATCH"), ("del", "DELETE"), ("options", "OPTIONS")]
        {
            http.set(name, request::with_body(ctx, name, method)?)?;
        }
        http.set("request", Function::new(ctx.clone(), request::request)?.with_name("request")?)?;
        http.set("asyncRequest", Function::new(ctx.clone(), request::async_request)?.with_name("asyncRequest")?)?;
        http.set("batch", Function::new(ctx.clone(), request::batch)?.with_name("batch")?)?;
        http.set("file", Function::new(ctx.clone(), file::file)?.with_name("file")?)?;
        http.set("url", Function::new(ctx.clone(), request::url)?.with_name("url")?)?;
        http.set("cookieJar", Function::new(ctx.clone(), jar::cookie_jar)?.with_name("cookieJar")?)?;
        http.set("CookieJar", jar::class(ctx)?)?;
        let expected = Function::new(ctx.clone(), expected::expected_statuses)?.with_name("expectedStatuses")?;
        http.set("expectedStatuses", expected)?;
        let callback = Function::new(ctx.clone(), expected::set_response_callback)?.with_name("setResponseCallback")?;
        http.set("setResponseCallback", callback)?;
        if let Some(prototype) = Class::<Host<Response>>::prototype(ctx)? {
            page::install(ctx, &prototype)?;
            // QuickJS keeps the layout of objects as long as one has it, and would make that of responses anew for each of them.
            Held::<'js, Layouts>::of(ctx)?.set("response", Object::new_proto(ctx.clone(), Some(&prototype))?)?;
        }
        Ok(http)
    }
}
