//! A call of a script: the request that it leads to, and those that follow by redirects and authentication.

use super::body::Body;
use super::cookie;
use super::dump;
use super::headers::is_token;
use super::jar::Jar;
use super::params::{Params, ResponseType};
use super::response::{Response, Sent};
use super::samples::{self, Hop};
use super::target::Target;
use crate::log::Level;
use crate::metrics::TagSet;
use crate::network::Proxy;
use crate::user::exchange::{Outcome, Outgoing, Refusal};
use crate::user::{Expectation, Vu};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use torr_press::request::digest::{self, Credentials};

/// The number of an error that has none of its own.
const GENERAL: u32 = 1000;
/// The number of a time-out.
const TIMEOUT: u32 = 1050;

/// A call that may take several requests.
#[derive(Debug)]
pub struct Call {
    method: Cow<'static, str>,
    target: Rc<Target>,
    /// The value of the tag `name`, where it is not the URL.
    name: Option<Rc<str>>,
    /// The URL of the first request.
    first: Rc<Target>,
    /// The first request, once a second one was sent.
    first_request: Option<Sent>,
    /// Why no request can be sent, whatever its URL.
    refusal: Option<String>,
    /// The value of `Authorization` that the URL's credentials lead to.
    authorization: Option<String>,
    body: Option<Vec<u8>>,
    /// The content before it was compressed.
    plain: Option<Vec<u8>>,
    params: Params,
    jar: Jar,
    expectation: Expectation,
    /// The tags of the virtual user when it made the call, which a script may change before the response comes.
    tags: TagSet,
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
        if let Some(length) = params.fields.remove("Content-Length") {
            let sent = body.bytes.as_ref().map_or(0, Vec::len);
            if length.parse() != Ok(sent) {
                let text = format!(
                    "The specified Content-Length header {length:?} in the {method} request for {} doesn't match the actual request body length of {sent}, so it will be ignored!",
                    target.shown
                );
                vu.run.log.write(Level::Warning, &text, &[]);
            }
        }
        let given = params.tags.iter().position(|(key, _)| key == "name").map(|at| params.tags.remove(at).1);
        let invalid_method = (!is_token(&method)).then(|| format!("net/http: invalid method {method:?}"));
        Self {
            first: target.clone(),
            first_request: None,
            refusal: params.refusal.take().or(target.refusal.is_none().then_some(invalid_method).flatten()),
            authorization: basic(&target, &params),
            name: given.map(Rc::from).or(name),
            body: body.bytes,
            plain: body.plain,
            jar: params.jar.clone().unwrap_or_else(|| Jar::clone(&vu.extra())),
            expectation: params
                .expectation
                .clone()
                .unwrap_or_else(|| vu.extra::<RefCell<Expectation>>().borrow().clone()),
            tags: vu.tags.borrow_mut().set(&mut vu.recorder.borrow_mut()),
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
        let names_length = match &*self.method {
            "POST" | "PUT" | "PATCH" => true,
            "GET" | "HEAD" | "DELETE" | "OPTIONS" => content.is_some_and(|content| !content.is_empty()),
            _ => content.is_some(),
        };
        if names_length {
            let mut length = itoa::Buffer::new();
            push(&["Content-Length: ", length.format(content.map_or(0, <[u8]>::len)), "\r\n"]);
        }
        // k6 sends field lines by their names.
        let authorization = self.authorization.as_deref().map(|value| ("Authorization", value));
        let cookies = self.cookies();
        let mut derived = authorization.into_iter().chain(cookies.as_deref().map(|value| ("Cookie", value))).peekable();
        for field in fields.iter().filter(|(name, _)| !is_set_otherwise(name)) {
            while let Some((name, value)) = derived.next_if(|(name, _)| *name < field.0) {
                push(&[name, ": ", value, "\r\n"]);
            }
            push(&[field.0, ": ", field.1, "\r\n"]);
        }
        derived.for_each(|(name, value)| push(&[name, ": ", value, "\r\n"]));
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
            expects: match self.is_digest() && !self.answered_challenge {
                // The challenge is no failure.
                true => Expectation::Unknown,
                false => self.expectation.clone(),
            },
            name: self.name.clone(),
        }
    }

    /// Returns whether the credentials of the URL are for a challenge (RFC 7616). Then they are no part of it.
    fn is_digest(&self) -> bool {
        self.params.auth == "digest"
    }

    /// Returns the value of `Cookie`.
    fn cookies(&self) -> Option<String> {
        // Those of the call come before those of the jar.
        let own = &self.params.cookies;
        let mut kept = self.target.url.as_ref().map_or_else(Vec::new, |url| self.jar.cookies(url));
        kept.retain(|(name, _)| !own.iter().any(|cookie| cookie.replaces && cookie.name == *name));
        let given = self.params.fields.get("Cookie").map(str::to_owned);
        let own = own.iter().map(|cookie| cookie::pair(&cookie.name, &cookie.value));
        let kept = kept.iter().map(|(name, value)| cookie::pair(name, value));
        let all: Vec<_> = given.into_iter().chain(own).chain(kept).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Returns the outcome of a request that cannot be sent, and of which this is known before.
    pub fn refused(&self, outgoing: &mut Outgoing) -> Option<Outcome> {
        let refusal = match self.refusal.as_ref().or(self.target.refusal.as_ref()) {
            Some(why) => Refusal::new(GENERAL, why),
            None if self.params.timeout.is_zero() => Refusal::new(TIMEOUT, "request timeout"),
            None => return None,
        };
        let request = std::mem::take(&mut outgoing.bytes);
        Some(Outcome { request, ..Outcome::refused(outgoing.id, refusal) })
    }

    /// Takes the outcome of the request in flight.
    pub fn take(&mut self, vu: &Vu, mut outcome: Box<Outcome>) -> Next {
        let status = outcome.result.as_ref().map_or(0, |incoming| incoming.status);
        dump::show(vu, &outcome);
        if let (Ok(incoming), Some(url)) = (&outcome.result, &self.target.url) {
            for (name, value) in incoming.fields() {
                if name.eq_ignore_ascii_case(b"set-cookie") {
                    self.jar.keep(value, url);
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
                base: &self.tags,
                method: &self.method,
                url: match self.is_digest() {
                    true => &self.target.bare,
                    false => &self.target.shown,
                },
                name: self.name.as_ref(),
                tags: &self.params.tags,
                expected,
                outcome: &outcome,
            },
        );
        if let Some(authorization) = challenge {
            self.answered_challenge = true;
            self.keep_first(&mut outcome);
            self.params.fields.set("Authorization", authorization);
            return Next::Send(self.request(vu, outcome.id));
        }
        if let Some(location) = redirect(&outcome, status) {
            if self.redirects_left > 0 {
                self.keep_first(&mut outcome);
                match self.follow(status, &location) {
                    Ok(()) => return Next::Send(self.request(vu, outcome.id)),
                    Err(why) => outcome.result = Err(Refusal::new(GENERAL, why)),
                }
            } else if self.params.redirects.is_none() && !vu.run.http_settings().names_max_redirects {
                // k6 counts the requests, of which the first one is no redirect.
                let text = "Stopped after 11 redirects and returned the redirection; pass { redirects: n } in request params or set global maxRedirects to silence this";
                vu.run.log.write(Level::Warning, text, &[("url", &self.first.shown)]);
            }
        }
        Next::Done(self.done(vu, outcome))
    }

    /// Keeps the first request, which the response shows.
    fn keep_first(&mut self, outcome: &mut Outcome) {
        if self.first_request.is_none() {
            self.first_request = Some(self.sent(std::mem::take(&mut outcome.request)));
        }
    }

    /// Returns a request that was sent, as its response shows it.
    fn sent(&mut self, bytes: Vec<u8>) -> Sent {
        let (is_authorized_by_url, names_host) =
            (self.authorization.is_some(), self.params.fields.get("Host").is_some());
        Sent { bytes, plain: self.plain.take(), is_authorized_by_url, names_host }
    }

    /// Returns the response that the script gets.
    fn done(&mut self, vu: &Vu, mut outcome: Box<Outcome>) -> Response {
        if let Err(refusal) = &outcome.result
            && !self.throws(vu)
        {
            vu.run.log.write(Level::Warning, "Request Failed", &[("error", &self.described(refusal))]);
        }
        let is_redirected = self.first_request.is_some();
        let request = match self.first_request.take() {
            Some(request) => request,
            None => {
                let bytes = std::mem::take(&mut outcome.request);
                self.sent(bytes)
            }
        };
        let url = match outcome.result.is_ok() || is_redirected {
            true if self.is_digest() => &self.target.bare,
            true => &self.target.normal,
            false => &self.target.given,
        };
        Response {
            url: url.clone(),
            first_url: self.first.normal.clone(),
            request: Some(request),
            response_type: self.response_type,
            outcome,
            is_valid_json: Cell::new(false),
        }
    }

    /// Returns the text of a failure as logs and exceptions have it.
    #[must_use]
    pub fn described(&self, refusal: &Refusal) -> String {
        let text = &refusal.text;
        // What is wrong with the content is said without the request.
        if refusal.code == 1701 || text == "unexpected EOF" {
            return text.clone();
        }
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
        if !self.is_digest() || self.answered_challenge {
            return None;
        }
        let credentials = Credentials { user: user.clone(), password: password.clone() };
        let mut client = digest::Client::new(credentials);
        client.sees(incoming.status, false, incoming.field("www-authenticate").into_iter());
        let content = || self.body.clone().unwrap_or_default().into();
        client.authorization(&self.method, &self.target.path, &content)
    }

    /// Turns the call to the place that a redirect names.
    fn follow(&mut self, status: u16, location: &str) -> Result<(), String> {
        let wrong = |why: String| format!("failed to parse Location header \"{location}\": {why}");
        let page = self.target.url.clone().ok_or_else(|| wrong("there is no page".to_owned()))?;
        let url = page.join(location).map_err(|error| wrong(error.to_string()))?;
        let is_within = is_relative(location);
        let target = Target::parse(url.as_str())?;
        // The page that redirected is named as it is by browsers, unless the script has named another one itself.
        self.names_referer.get_or_insert_with(|| self.params.fields.get("Referer").is_none());
        if self.names_referer == Some(true) && (url.scheme() == "https" || page.scheme() == "http") {
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
            self.params.fields.retain(|name| !of_content(name));
        }
        self.params.fields.remove("Host");
        // The cookies are those of the jar and of the call.
        self.params.fields.remove("Cookie");
        let (before, after) = (page.host_str().unwrap_or(""), url.host_str().unwrap_or(""));
        if before != after && !after.ends_with(&format!(".{before}")) {
            self.params.fields.retain(|name| !matches!(name, "Authorization" | "Www-Authenticate"));
        }
        if !is_within {
            self.authorization = basic(&target, &self.params);
        }
        self.redirects_left -= 1;
        self.target = target;
        Ok(())
    }
}

/// Returns the value of `Authorization` that the credentials of a URL lead to, unless the script sets one.
fn basic(target: &Target, params: &Params) -> Option<String> {
    let is_needed = params.auth != "digest" && params.fields.get("Authorization").is_none();
    target.basic().filter(|_| is_needed)
}

/// Returns whether a place names no host, so that it has the credentials of the page that leads to it.
fn is_relative(location: &str) -> bool {
    !location.starts_with("//") && url::Url::parse(location) == Err(url::ParseError::RelativeUrlWithoutBase)
}

/// Returns whether a field line is not written by what the script sets, or written before the others.
fn is_set_otherwise(name: &str) -> bool {
    matches!(name, "Host" | "User-Agent" | "Content-Length" | "Transfer-Encoding" | "Trailer" | "Cookie")
}

/// Returns the place that a response redirects to.
fn redirect(outcome: &Outcome, status: u16) -> Option<String> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = outcome.result.as_ref().ok()?.field("location")?;
    Some(String::from_utf8_lossy(location).into_owned())
}
