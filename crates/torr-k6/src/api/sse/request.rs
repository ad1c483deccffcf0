//! The request of an event stream: what the parameters say, and where redirects lead.

use crate::api::http::headers::{Fields, is_token};
use crate::api::http::jar::Jar;
use crate::api::http::params::{ParamError, Params};
use crate::api::http::target::Target;
use crate::api::http::value::text_of;
use crate::api::ws::handshake::head;
use crate::sockets::{EventRequest, Response};
use crate::user::Vu;
use rquickjs::{Object, Value};
use std::rc::Rc;
use std::time::Duration;

/// The number of redirects that are followed, as by Go's clients.
const MOST_REDIRECTS: u32 = 10;
/// Fields that belong to content, which a redirect may drop.
const OF_CONTENT: [&str; 3] = ["Content-Type", "Content-Encoding", "Content-Language"];
/// Fields that no other server gets.
const SECRETS: [&str; 2] = ["Authorization", "Cookie"];

/// A request that a script wants.
pub(super) struct Wanted {
    target: Rc<Target>,
    method: String,
    fields: Fields,
    body: String,
    jar: Jar,
    timeout: Duration,
    redirects: u32,
    /// The tags of the samples.
    pub tags: Vec<(String, String)>,
}

impl Wanted {
    /// Returns the request to a URL with the parameters of a script.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(vu: &Vu, url: &str, params: Option<&Value<'_>>) -> Result<Self, ParamError> {
        let given: Option<&Object<'_>> = params.and_then(Value::as_object);
        let mut read = Params::read(given)?;
        let text = |name: &str| -> Result<String, ParamError> {
            match given {
                Some(given) if given.contains_key(name)? => Ok(text_of(&given.get(name)?)?.trim().to_owned()),
                _ => Ok(String::new()),
            }
        };
        let (method, body) = (text("method")?, text("body")?);
        let method = if method.is_empty() { "GET".to_owned() } else { method };
        if !is_token(&method) {
            return Err(ParamError::Wrong(format!("net/http: invalid method \"{method}\"")));
        }
        let about = |why: String| ParamError::Wrong(of_request(&method, url, &why));
        let target = Target::parse(url).map_err(about)?;
        if let Some(why) = target.refusal.clone().or_else(|| read.refusal.take()) {
            return Err(about(why));
        }
        let jar = read.jar.clone().unwrap_or_else(|| Jar::clone(&vu.extra()));
        let (fields, tags, timeout) = (read.fields, read.tags, read.timeout);
        Ok(Self { target, method, fields, body, jar, timeout, redirects: 0, tags })
    }

    /// Returns the request as it is sent.
    pub fn request(&self, vu: &Vu) -> EventRequest {
        let mut fields = self.fields.clone();
        // The framing is ours.
        fields.retain(|name| !matches!(name, "Content-Length" | "Transfer-Encoding" | "Connection"));
        fields.set_if_missing("Accept", "text/event-stream");
        if !self.body.is_empty() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH") {
            fields.set("Content-Length", self.body.len().to_string());
        }
        let kept = self.target.url.as_ref().map(|url| self.jar.cookies(url)).unwrap_or_default();
        if !kept.is_empty() {
            let cookies: Vec<_> = kept.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
            fields.set_if_missing("Cookie", cookies.join("; "));
        }
        if let Some(authorization) = self.target.basic() {
            fields.set_if_missing("Authorization", authorization);
        }
        let mut request = head(&self.method, &self.target, fields, &vu.run.http_settings().user_agent);
        request.extend_from_slice(self.body.as_bytes());
        EventRequest {
            id: vu.events.new_id(),
            origin: self.target.origin.to_string(),
            request,
            is_head: self.method == "HEAD",
            user: vu.id,
            timeout: self.timeout,
        }
    }

    /// Keeps the cookies of a response.
    pub fn keep_cookies(&self, response: &Response) {
        let Some(url) = &self.target.url else { return };
        for (name, value) in &response.fields {
            if name.eq_ignore_ascii_case("set-cookie") {
                self.jar.keep(value.as_bytes(), url);
            }
        }
    }

    /// Turns the request to the place that a response redirects to. Returns whether it does.
    ///
    /// # Errors
    /// If there were too many redirects, or the place is none.
    pub fn follow(&mut self, response: &Response) -> Result<bool, String> {
        let keeps_method = match response.status {
            301..=303 => false,
            307 | 308 => true,
            _ => return Ok(false),
        };
        let Some(location) = response.field("location").filter(|location| !location.is_empty()) else {
            return Ok(false);
        };
        if self.redirects >= MOST_REDIRECTS {
            return Err(self.failed(&format!("stopped after {MOST_REDIRECTS} redirects")));
        }
        self.redirects += 1;
        let page = self.target.url.as_ref();
        let next = page.and_then(|page| page.join(location).ok()).map(|url| Target::parse(url.as_str()));
        let next = match next {
            Some(Ok(next)) => next,
            _ => return Err(self.about(location, "failed to parse Location header")),
        };
        if let Some(why) = &next.refusal {
            return Err(self.about(location, why));
        }
        if next.origin != self.target.origin {
            self.fields.retain(|name| !SECRETS.contains(&name));
        }
        if !keeps_method && !matches!(self.method.as_str(), "GET" | "HEAD") {
            self.method = "GET".to_owned();
            self.body.clear();
            self.fields.retain(|name| !OF_CONTENT.contains(&name));
        }
        self.target = next;
        Ok(true)
    }

    /// Returns the reason why the request has failed, as Go's clients have it.
    pub fn failed(&self, why: &str) -> String {
        self.about(&self.target.shown, why)
    }

    fn about(&self, url: &str, why: &str) -> String {
        of_request(&self.method, url, why)
    }
}

fn of_request(method: &str, url: &str, why: &str) -> String {
    let (first, rest) = method.split_at(1);
    format!("{first}{} \"{url}\": {why}", rest.to_ascii_lowercase())
}
