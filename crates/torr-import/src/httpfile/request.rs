//! One block of a file as an entry.

use super::block::Block;
use super::{content, function, handler};
use crate::draft::{DraftEntry, LeftOut};
use crate::parts::{NOWHERE, capture, entry, option, response, sent_method};
use crate::postman::reader::Reader;
use crate::postman::script::{self, Phase};
use crate::reason::AUTHENTICATION;
use crate::target;
use crate::variables::{Part, braced, in_braces};
use regex::Regex;
use std::collections::HashMap;
use std::sync::LazyLock;
use torr_session::hurl::ast::{KeyValue, OptionName, OptionValue, Piece, Query, Request, Template, Value};

/// A request line that begins with a method. Without one, it is a GET.
static METHOD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^([A-Za-z]+)\s+(\S.*)$").expect("the pattern is constant and tested"));
static VERSION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\s+HTTP/([\d.]+)\s*").expect("the pattern is constant and tested"));

/// What is not HTTP, by the word in a method's place.
const OTHERS: &[&str] =
    &["WS", "WSS", "WEBSOCKET", "GRPC", "RSOCKET", "SSE", "EVENTSOURCE", "MQTT", "AMQP", "RABBITMQ"];

/// The longest pause, in milliseconds: an hour, as much as a hurl file's own.
const LONGEST: u64 = 3_600_000;

/// A request in the making.
pub(super) struct Made<'m> {
    pub(super) reader: &'m mut Reader,
    pub(super) request: Request,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) read: &'m dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// The entries of the requests that have a name.
    named: &'m HashMap<String, usize>,
    /// The fields as the file has them.
    fields: &'m [(String, String)],
}

/// Adds the entries of all blocks.
pub(super) fn add_all(reader: &mut Reader, blocks: &[Block], read: &dyn Fn(&str) -> Result<Vec<u8>, String>) {
    let mut named = HashMap::new();
    // A variable that is defined again, or by a response, has that value from there on.
    let mut seen: Vec<&str> = Vec::new();
    let mut again: Vec<(&str, &str)> = Vec::new();
    for block in blocks {
        for (name, value) in &block.definitions {
            if refers_to(value, &named) || seen.contains(&name.as_str()) {
                again.push((name, value));
            } else {
                seen.push(name);
                reader.variables.know(name, value, false);
            }
        }
        if block.line.is_empty() {
            reader.draft.left_out.extend(block.left_out.iter().cloned());
            continue;
        }
        if block.directives.iter().any(|(name, _)| name == "disabled") {
            reader.leave_out("requests", "disabled in the file");
            continue;
        }
        let made = Made {
            reader: &mut *reader,
            request: Request::new("GET", Template::default(), NOWHERE),
            left_out: block.left_out.clone(),
            read,
            named: &named,
            fields: &block.fields,
        };
        let name = block.directives.iter().find(|(name, _)| name == "name").map(|(_, value)| value);
        if made.add(block, name.unwrap_or(&block.name), std::mem::take(&mut again))
            && let Some(name) = name
        {
            named.insert(name.clone(), reader.draft.entries.len() - 1);
        }
    }
}

/// Whether a value names a part of the response of one of these requests.
fn refers_to(value: &str, named: &HashMap<String, usize>) -> bool {
    in_braces(value).into_iter().any(|part| match part {
        Part::Reference(name) => name.split_once('.').is_some_and(|(request, _)| named.contains_key(request)),
        Part::Text(_) => false,
    })
}

impl Made<'_> {
    /// Returns the value of a field of the file.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns a template of text with variables.
    pub(super) fn template(&mut self, text: &str) -> Template {
        self.capture_all(text);
        let left_out = &mut self.left_out;
        let mut function = |name: &str| function::piece(name, left_out);
        braced(&mut self.reader.variables, &mut self.reader.secrets, text, &mut function)
    }

    /// Gives the variables that name a part of an earlier response their values, by captures there.
    fn capture_all(&mut self, text: &str) {
        for part in in_braces(text) {
            if let Part::Reference(name) = part {
                self.captured(name);
            }
        }
    }

    fn captured(&mut self, reference: &str) -> Option<()> {
        let (name, path) = reference.split_once('.')?;
        let at = *self.named.get(name)?;
        let query = match path.strip_prefix("response.").unwrap_or(path) {
            "body" | "body.*" => Query::Body,
            path => match path.strip_prefix("headers.").or_else(|| path.strip_prefix("body.")) {
                Some(field) if path.starts_with("headers.") => Query::Header(field.into()),
                Some(xpath) if xpath.starts_with('/') => Query::XPath(xpath.into()),
                Some(path) if path.starts_with('$') => Query::JsonPath(path.into()),
                Some(path) => Query::JsonPath(format!("$.{path}").as_str().into()),
                // httpyac calls a response's parsed content by the request's name.
                None if path.starts_with("request.") => return None,
                None => Query::JsonPath(format!("$.{path}").as_str().into()),
            },
        };
        let variable = self.reader.variables.assign(reference);
        let expected = response(&mut self.reader.draft.entries.get_mut(at)?.entry);
        if !expected.captures.iter().any(|capture| capture.name.literal() == Some(&variable)) {
            expected.captures.push(capture(&variable, query));
            self.reader.draft.notes.push(format!("captured: '{variable}' from the response of request {}", at + 1));
        }
        Some(())
    }

    /// Adds the entry of a block; `false` for what is no request of HTTP.
    fn add(mut self, block: &Block, name: &str, again: Vec<(&str, &str)>) -> bool {
        let (word, rest) = match METHOD.captures(&block.line) {
            Some(found) => (found[1].to_owned(), found[2].to_owned()),
            None => ("GET".to_owned(), block.line.clone()),
        };
        if OTHERS.contains(&word.as_str()) {
            self.reader.leave_out(&format!("requests of {word}"), "not HTTP requests");
            return false;
        }
        for (name, value) in again {
            self.define(name, value);
        }
        let mut entry_made = DraftEntry::new(entry(name, self.request.clone()), std::iter::empty::<LeftOut>());
        for text in &block.scripts_before {
            let kind = "part of a script before the request";
            script::read_text(self.reader, Phase::Before, kind, text, handler::rewritten, &mut entry_made);
        }
        self.request.options.append(&mut entry_made.entry.request.options);
        let is_graphql =
            word == "GRAPHQL" || self.field("x-request-type").is_some_and(|kind| kind.eq_ignore_ascii_case("graphql"));
        let word = if word == "GRAPHQL" { "POST" } else { word.as_str() };
        let left_out = &mut self.left_out;
        self.request.method =
            sent_method(&word.to_uppercase(), &mut |what, reason| left_out.push(LeftOut::new(what, "", reason)));
        self.target(&rest);
        for (name, value) in self.fields {
            self.add_field(name, value);
        }
        content::add(&mut self, &block.content, is_graphql);
        let mut is_followed = true;
        for (name, value) in &block.directives {
            self.directive(name, value, &mut is_followed);
        }
        if is_followed {
            self.option(OptionName::Location, OptionValue::Boolean(true));
        }
        let Self { reader, request, mut left_out, .. } = self;
        entry_made.entry.request = request;
        left_out.append(&mut entry_made.left_out);
        entry_made.left_out = left_out;
        for text in &block.scripts_after {
            let kind = "part of a response handler";
            script::read_text(reader, Phase::After, kind, text, handler::rewritten, &mut entry_made);
        }
        reader.draft.entries.push(entry_made);
        true
    }

    fn define(&mut self, name: &str, value: &str) {
        let value = Value::Text(self.template(value));
        let name = self.reader.variables.assign(name);
        self.option(OptionName::Variable, OptionValue::Definition { name, value });
    }

    fn option(&mut self, name: OptionName, value: OptionValue) {
        self.request.options.push(option(name, value));
    }

    /// Sets the URL, for a path with the host of its field.
    fn target(&mut self, text: &str) {
        let version = VERSION.captures(text).map(|found| found[1].to_owned());
        let text = VERSION.replace(text, "");
        let text = text.trim().split('#').next().unwrap_or_default();
        let host = self.field("host").unwrap_or_default().to_owned();
        let text = match text.starts_with('/') {
            true if host.ends_with(":443") => format!("https://{host}{text}"),
            true => format!("http://{host}{text}"),
            false if text.contains("://") || text.starts_with("{{") => text.to_owned(),
            false => format!("http://{text}"),
        };
        let url = self.template(&text);
        self.request.url = self.reader.secrets.url(url);
        self.left_out.extend(target::respelled(&self.request.url));
        match version.as_deref() {
            Some("2" | "2.0") => self.option(OptionName::Http2, OptionValue::Boolean(true)),
            Some("1.0") => self.option(OptionName::Http10, OptionValue::Boolean(true)),
            _ => {}
        }
    }

    fn add_field(&mut self, name: &str, value: &str) {
        let is_framing = name.eq_ignore_ascii_case("content-length");
        if is_framing || name.eq_ignore_ascii_case("host") && self.url_has(value) {
            return;
        }
        if name.eq_ignore_ascii_case("authorization") && self.authorization(value) {
            return;
        }
        let value = self.template(value);
        let value = self.reader.secrets.in_field(name, value);
        let name = self.template(name);
        self.request.headers.push(KeyValue { name, value, at: NOWHERE });
    }

    fn url_has(&self, host: &str) -> bool {
        let literal = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(&format!("://{host}")));
        self.request.url.0.first().is_some_and(literal)
    }

    /// Adds credentials in the clients' own notation; `false` for a value that is sent as it stands.
    fn authorization(&mut self, value: &str) -> bool {
        let (scheme, rest) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
        let rest = rest.trim();
        match scheme.to_ascii_lowercase().as_str() {
            "basic" => {
                let pair = rest.split_once(':').or_else(|| rest.split_once(char::is_whitespace));
                let Some((user, password)) = pair else { return false };
                let (name, password) = (self.template(user), self.template(password.trim()));
                let value = match password.literal() {
                    Some(text) => self.reader.secrets.whole("password", "authorization", text),
                    None => password,
                };
                self.request.basic_auth = Some(KeyValue { name, value, at: NOWHERE });
            }
            "digest" | "ntlm" | "negotiate" | "aws" | "oauth2" | "openid" => {
                self.left_out.push(LeftOut::new("authorization", scheme, AUTHENTICATION));
            }
            _ => return false,
        }
        true
    }

    /// Does what a comment such as `# @no-redirect` says.
    fn directive(&mut self, name: &str, value: &str, is_followed: &mut bool) {
        let number = || value.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
        match name {
            // Neither concerns what is sent.
            "name" | "title" | "description" | "note" | "no-log" | "no-response-view" | "no-client-cert" => {}
            "no-redirect" => *is_followed = false,
            "no-cookie-jar" => self.option(OptionName::NoCookieStore, OptionValue::Boolean(true)),
            "no-reject-unauthorized" => self.option(OptionName::Insecure, OptionValue::Boolean(true)),
            // Entries run in order, so that what a request refers to has run.
            "ref" | "forceRef" if self.named.contains_key(value) => {}
            "sleep" if number().is_some_and(|number| number <= LONGEST) => {
                self.option(OptionName::Delay, OptionValue::Milliseconds(number().unwrap_or_default()));
            }
            "timeout" if value.trim_end_matches(|c: char| c == 's' || c.is_whitespace()).parse::<u32>().is_ok() => {
                let seconds = value.trim_end_matches(|c: char| c == 's' || c.is_whitespace()).parse::<u32>();
                let milliseconds = u64::from(seconds.unwrap_or_default()) * 1000;
                self.option(OptionName::MaxTime, OptionValue::Milliseconds(milliseconds));
            }
            _ => self.left_out.push(LeftOut::new(format!("@{name}"), value, "no counterpart")),
        }
    }
}
