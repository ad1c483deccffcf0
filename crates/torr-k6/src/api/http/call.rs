//! A call of a script: the request that it leads to, and those that follow by redirects and authentication.

use super::body::Body;
use super::digest;
use super::dump;
use super::jar::Jar;
use super::params::{Params, ResponseType};
use super::response::Response;
use super::samples::{self, Hop};
use super::target::Target;
use crate::log::Level;
use crate::network::Proxy;
use crate::user::exchange::{Outcome, Outgoing, Refusal};
use crate::user::{Expectation, Vu};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// A call that may take several requests.
#[derive(Debug)]
pub struct Call {
    method: Cow<'static, str>,
    target: Rc<Target>,
    /// The value of the tag `name`, where it is not the URL.
    name: Option<Rc<str>>,
    /// The URL of the first request.
    first_url: Rc<str>,
    /// The first request, once a second one was sent.
    first_request: Option<Vec<u8>>,
    body: Option<Vec<u8>>,
    params: Params,
    jar: Jar,
    expectation: Expectation,
    response_type: ResponseType,
    redirects_left: u64,
    answered_challenge: bool,
    /// Whether redirects set `Referer`; `None` before the first redirect.
    names_referer: Option<bool>,
}

/// What follows the outcome of a request.
#[derive(Debug)]
pub enum Next {
    /// Another request.
    Send(Outgoing),
    /// The response that the script gets.
    Done(Response),
}

impl Call {
    /// Returns the call of a method with its parameters.
    #[must_use]
    pub fn new(
        vu: &Vu,
        method: Cow<'static, str>,
        target: Rc<Target>,
        name: Option<Rc<str>>,
        body: Body,
        mut params: Params,
    ) -> Self {
        let settings = vu.run.http_settings();
        if let Some(content_type) = body.content_type {
            params.fields.set_if_missing("Content-Type", content_type);
        }
        if let Some((user, password)) = target.credentials.as_ref().filter(|_| params.auth != "digest") {
            let basic = BASE64_STANDARD.encode(format!("{user}:{password}"));
            params.fields.set_if_missing("Authorization", format!("Basic {basic}"));
        }
        let given = params.tags.iter().position(|(key, _)| key == "name").map(|at| params.tags.remove(at).1);
        Self {
            first_url: target.shown.clone(),
            first_request: None,
            name: given.map(Rc::from).or(name),
            body: body.bytes,
            jar: params.jar.clone().unwrap_or_else(|| Jar::clone(&vu.extra())),
            expectation: params
                .expectation
                .clone()
                .unwrap_or_else(|| vu.extra::<RefCell<Expectation>>().borrow().clone()),
            response_type: params.response_type.unwrap_or(match settings.discards {
                true => ResponseType::None,
                false => ResponseType::Text,
            }),
            redirects_left: params.redirects.unwrap_or(settings.max_redirects),
            answered_challenge: false,
            names_referer: None,
            method,
            target,
            params,
        }
    }

    /// Returns the request that is to be sent now.
    #[must_use]
    pub fn request(&self, vu: &Vu, id: u64) -> Outgoing {
        let settings = vu.run.http_settings();
        let fields = &self.params.fields;
        let content = self.body.as_deref();
        let mut bytes = Vec::with_capacity(160 + content.map_or(0, <[u8]>::len));
        let mut push = |parts: &[&str]| parts.iter().for_each(|part| bytes.extend_from_slice(part.as_bytes()));
        let proxy = self.target.plain_proxy(&settings.proxies);
        push(&[&self.method, " "]);
        if proxy.is_some() {
            push(&["http://", &self.target.host]);
        }
        push(&[&self.target.path, " HTTP/1.1\r\nHost: ", fields.get("Host").unwrap_or(&self.target.host), "\r\n"]);
        if let Some(authorization) = proxy.and_then(Proxy::authorization) {
            push(&["Proxy-Authorization: ", &authorization, "\r\n"]);
        }
        match fields.get("User-Agent") {
            Some("") => {}
            Some(agent) => push(&["User-Agent: ", agent, "\r\n"]),
            None if settings.user_agent.is_empty() => {}
            None => push(&["User-Agent: ", &settings.user_agent, "\r\n"]),
        }
        let names_length = content.is_some() || matches!(&*self.method, "POST" | "PUT" | "PATCH");
        if names_length {
            let mut length = itoa::Buffer::new();
            push(&["Content-Length: ", length.format(content.map_or(0, <[u8]>::len)), "\r\n"]);
        }
        for (name, value) in &fields.0 {
            if !matches!(name.as_str(), "Host" | "User-Agent" | "Content-Length" | "Cookie") {
                push(&[name, ": ", value, "\r\n"]);
            }
        }
        if let Some(cookies) = self.cookies() {
            push(&["Cookie: ", &cookies, "\r\n"]);
        }
        if settings.closes && fields.get("Connection").is_none() {
            push(&["Connection: close\r\n"]);
        }
        push(&["\r\n"]);
        let head = bytes.len();
        bytes.extend_from_slice(content.unwrap_or_default());
        Outgoing {
            id,
            origin: self.target.origin.clone(),
            bytes,
            head,
            is_first: self.first_request.is_none(),
            is_head: self.method == "HEAD",
            keeps_content: self.response_type != ResponseType::None,
            repeats: matches!(&*self.method, "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE" | "TRACE"),
            timeout: self.params.timeout,
            expects: match self.params.auth == "digest" && !self.answered_challenge {
                // The challenge is no failure.
                true => Expectation::Unknown,
                false => self.expectation.clone(),
            },
            name: self.name.clone(),
        }
    }

    /// Returns the value of `Cookie`.
    fn cookies(&self) -> Option<String> {
        // Those of the call come before those of the jar.
        let own = &self.params.cookies;
        let mut kept = self.jar.cookies(&self.target.url);
        kept.retain(|(name, _)| !own.iter().any(|cookie| cookie.replaces && cookie.name == *name));
        let pairs: Vec<_> = own.iter().map(|cookie| (cookie.name.clone(), cookie.value.clone())).chain(kept).collect();
        let given = self.params.fields.get("Cookie").map(str::to_owned);
        let all: Vec<_> = given.into_iter().chain(pairs.iter().map(|(name, value)| cookie_pair(name, value))).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Takes the outcome of the request in flight.
    pub fn take(&mut self, vu: &Vu, mut outcome: Box<Outcome>) -> Next {
        let status = outcome.result.as_ref().map_or(0, |incoming| incoming.status);
        dump::show(vu, &outcome);
        if let Ok(incoming) = &outcome.result {
            for (name, value) in incoming.fields() {
                if name.eq_ignore_ascii_case(b"set-cookie") {
                    self.jar.keep(&String::from_utf8_lossy(value), &self.target.url);
                }
            }
        }
        let challenge = self.challenge(&outcome);
        let expected = match &challenge {
            Some(_) => self.expectation.holds(200).map(|_| true),
            None => self.expectation.holds(status),
        };
        samples::record(
            vu,
            &Hop {
                method: &self.method,
                url: &self.target.shown,
                name: self.name.as_ref(),
                tags: &self.params.tags,
                expected,
                outcome: &outcome,
            },
        );
        if let Some(authorization) = challenge {
            self.answered_challenge = true;
            self.params.fields.set("Authorization", authorization);
            self.first_request.get_or_insert_with(|| std::mem::take(&mut outcome.request));
            return Next::Send(self.request(vu, outcome.id));
        }
        if let Some(location) = redirect(&outcome, status) {
            if self.redirects_left > 0 {
                match self.follow(status, &location) {
                    Ok(()) => {
                        self.first_request.get_or_insert_with(|| std::mem::take(&mut outcome.request));
                        return Next::Send(self.request(vu, outcome.id));
                    }
                    Err(why) => outcome.result = Err(Refusal::new(1000, why)),
                }
            } else if self.params.redirects.is_none() && !vu.run.http_settings().names_max_redirects {
                let text = "Stopped after 10 redirects and returned the redirection; pass { redirects: n } in request params or set global maxRedirects to silence this";
                vu.run.log.write(Level::Warning, text, &[("url", &self.first_url)]);
            }
        }
        Next::Done(self.done(vu, outcome))
    }

    /// Returns the response that the script gets.
    fn done(&mut self, vu: &Vu, mut outcome: Box<Outcome>) -> Response {
        if let Err(refusal) = &outcome.result
            && !self.throws(vu)
        {
            vu.run.log.write(Level::Warning, "Request Failed", &[("error", &self.described(&refusal.text))]);
        }
        let request = self.first_request.take().unwrap_or_else(|| std::mem::take(&mut outcome.request));
        Response {
            url: self.target.shown.clone(),
            first_url: self.first_url.clone(),
            request,
            response_type: self.response_type,
            outcome,
        }
    }

    /// Returns the text of a failure as logs and exceptions have it.
    #[must_use]
    pub fn described(&self, text: &str) -> String {
        let mut letters = self.method.to_ascii_lowercase();
        if let Some(first) = letters.get_mut(0..1) {
            first.make_ascii_uppercase();
        }
        format!("{letters} \"{}\": {text}", self.target.shown)
    }

    /// Returns whether a failure of the call is an exception.
    #[must_use]
    pub fn throws(&self, vu: &Vu) -> bool {
        self.params.throws.unwrap_or_else(|| vu.run.http_settings().throws)
    }

    /// Returns the value of `Authorization` for a challenge.
    fn challenge(&self, outcome: &Outcome) -> Option<String> {
        let incoming = outcome.result.as_ref().ok().filter(|incoming| incoming.status == 401)?;
        let (user, password) = self.target.credentials.as_ref()?;
        if self.params.auth != "digest" || self.answered_challenge {
            return None;
        }
        let challenge = String::from_utf8_lossy(incoming.field("www-authenticate")?).into_owned();
        digest::authorization(&challenge, &self.method, &self.target.path, user, password)
    }

    /// Turns the call to the place that a redirect names.
    fn follow(&mut self, status: u16, location: &str) -> Result<(), String> {
        let url = self
            .target
            .url
            .join(location)
            .map_err(|error| format!("failed to parse Location header \"{location}\": {error}"))?;
        let target = Target::parse(url.as_str())?;
        // The page that redirected is named as it is by browsers, unless the script has named another one itself.
        self.names_referer.get_or_insert_with(|| self.params.fields.get("Referer").is_none());
        if self.names_referer == Some(true) && (target.url.scheme() == "https" || self.target.url.scheme() == "http") {
            let mut page = self.target.url.clone();
            let _ = (page.set_username(""), page.set_password(None));
            page.set_fragment(None);
            self.params.fields.set("Referer", page.as_str());
        }
        if !matches!(status, 307 | 308) {
            if self.method != "HEAD" {
                self.method = "GET".into();
            }
            self.body = None;
            let of_content = |name: &str| {
                matches!(name, "Content-Type" | "Content-Encoding" | "Content-Language" | "Content-Location")
            };
            self.params.fields.0.retain(|(name, _)| !of_content(name));
        }
        self.params.fields.remove("Host");
        let (before, after) = (self.target.url.host_str().unwrap_or(""), target.url.host_str().unwrap_or(""));
        if before != after && !after.ends_with(&format!(".{before}")) {
            let secret = |name: &str| matches!(name, "Authorization" | "Cookie" | "Www-Authenticate");
            self.params.fields.0.retain(|(name, _)| !secret(name));
            self.params.cookies.clear();
        }
        self.redirects_left -= 1;
        self.target = target;
        Ok(())
    }
}

/// Returns a cookie as `Cookie` has it, without what would end the field.
fn cookie_pair(name: &str, value: &str) -> String {
    let is_control = |c: char| c.is_ascii_control();
    format!("{}={}", name.replace(is_control, "-"), value.replace(is_control, ""))
}

/// Returns the place that a response redirects to.
fn redirect(outcome: &Outcome, status: u16) -> Option<String> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = outcome.result.as_ref().ok()?.field("location")?;
    Some(String::from_utf8_lossy(location).into_owned())
}
