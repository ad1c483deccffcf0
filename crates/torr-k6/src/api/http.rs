//! `k6/http`.

mod body;
mod call;
mod coding;
mod cookie;
mod dump;
mod expected;
mod file;
mod form;
mod gjson;
pub(crate) mod headers;
pub(crate) mod jar;
mod page;
pub(crate) mod params;
mod request;
mod response;
pub(crate) mod samples;
pub(crate) mod target;
mod url_tag;
pub(crate) mod value;

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

/// The names of versions of TLS and of statuses of certificates, and their values.
const CONSTANTS: [(&str, &str); 18] = [
    ("TLS_1_0", "tls1.0"),
    ("TLS_1_1", "tls1.1"),
    ("TLS_1_2", "tls1.2"),
    ("TLS_1_3", "tls1.3"),
    ("OCSP_STATUS_GOOD", "good"),
    ("OCSP_STATUS_REVOKED", "revoked"),
    ("OCSP_STATUS_SERVER_FAILED", "server_failed"),
    ("OCSP_STATUS_UNKNOWN", "unknown"),
    ("OCSP_REASON_UNSPECIFIED", "unspecified"),
    ("OCSP_REASON_KEY_COMPROMISE", "key_compromise"),
    ("OCSP_REASON_CA_COMPROMISE", "ca_compromise"),
    ("OCSP_REASON_AFFILIATION_CHANGED", "affiliation_changed"),
    ("OCSP_REASON_SUPERSEDED", "superseded"),
    ("OCSP_REASON_CESSATION_OF_OPERATION", "cessation_of_operation"),
    ("OCSP_REASON_CERTIFICATE_HOLD", "certificate_hold"),
    ("OCSP_REASON_REMOVE_FROM_CRL", "remove_from_crl"),
    ("OCSP_REASON_PRIVILEGE_WITHDRAWN", "privilege_withdrawn"),
    ("OCSP_REASON_AA_COMPROMISE", "aa_compromise"),
];

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
        "TLS_1_0",
        "TLS_1_1",
        "TLS_1_2",
        "TLS_1_3",
        "OCSP_STATUS_GOOD",
        "OCSP_STATUS_REVOKED",
        "OCSP_STATUS_SERVER_FAILED",
        "OCSP_STATUS_UNKNOWN",
        "OCSP_REASON_UNSPECIFIED",
        "OCSP_REASON_KEY_COMPROMISE",
        "OCSP_REASON_CA_COMPROMISE",
        "OCSP_REASON_AFFILIATION_CHANGED",
        "OCSP_REASON_SUPERSEDED",
        "OCSP_REASON_CESSATION_OF_OPERATION",
        "OCSP_REASON_CERTIFICATE_HOLD",
        "OCSP_REASON_REMOVE_FROM_CRL",
        "OCSP_REASON_PRIVILEGE_WITHDRAWN",
        "OCSP_REASON_AA_COMPROMISE",
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
        for (name, value) in CONSTANTS {
            http.prop(name, rquickjs::object::Property::from(value).enumerable())?;
        }
        if let Some(prototype) = Class::<Host<Response>>::prototype(ctx)? {
            page::install(ctx, &prototype)?;
            // QuickJS keeps the layout of objects as long as one has it, and would make that of responses anew for each of them.
            Held::<'js, Layouts>::of(ctx)?.set("response", Object::new_proto(ctx.clone(), Some(&prototype))?)?;
        }
        Ok(http)
    }
}
