//! HTTP requests of a plan.

use super::argument::{self, Argument};
use super::element::Element;
use super::scope::Scope;
use super::{Reader, assertion, extractor, function};
use crate::content::{content, decoded};
use crate::draft::{DraftEntry, LeftOut};
use crate::form;
use crate::parts::{
    NOWHERE, beside, digest_options, drop_field, drop_nameless, entry, has_field, option, pair, plain_name, push,
    sent_method,
};
use crate::reason::AUTHENTICATION;
use crate::target;
use torr_session::hurl::ast::{
    Body, Expression, Filter, KeyValue, MultipartPart, OptionName, OptionValue, Piece, Request, Template, TextHint,
};
use torr_wire::percent::form_decoded;

/// The media type of the forms that JMeter sends.
const FORM_OF_JMETER: &str = "application/x-www-form-urlencoded; charset=UTF-8";

/// The levels of variables whose values name other variables.
const DEEPEST_VALUE: usize = 16;

/// The longest pause that is written, in milliseconds.
const LONGEST_PAUSE: f64 = 1e12;

impl Reader {
    /// Reads a request, with all that holds for it.
    pub(super) fn sampler(&mut self, element: &Element<'_, '_>, scope: &Scope<'_, '_>) {
        let below = element.children();
        let scope = &scope.within(&below);
        for child in below.iter().filter(|child| !child.is_enabled() || !Scope::takes(child)) {
            let reason = if child.is_enabled() { "no counterpart" } else { "disabled in the plan" };
            self.pending.push(child.left_out(reason));
        }
        let value = |name: &str| {
            let mut all = std::iter::once(element).chain(&scope.defaults);
            all.find_map(|element| element.value(name))
        };
        let target = self.address(&value);
        let target = self.template(&target);
        let target = self.secrets.url(target);
        self.pending.extend(target::respelled(&target));
        let name = value("HTTPSampler.method").unwrap_or_else(|| "GET".to_owned());
        let pending = &mut self.pending;
        let method = sent_method(&name, &mut |what, reason| pending.push(LeftOut::new(what, "", reason)));
        let mut request = Request::new(method, target, NOWHERE);
        self.fields(scope, &mut request);
        self.content(element, scope, &mut request);
        self.credentials(scope, &mut request);
        self.cookies(scope, &mut request);
        drop_nameless(&mut request);
        self.options(element, &value, scope, &mut request);
        let mut made = DraftEntry::new(entry(element.name(), request), std::iter::empty::<LeftOut>());
        for each in &scope.assertions {
            assertion::add(self, each, &mut made.entry);
        }
        for each in &scope.extractors {
            extractor::add(self, each, &mut made.entry);
        }
        made.left_out = std::mem::take(&mut self.pending);
        self.draft.entries.push(made);
    }

    fn fields(&mut self, scope: &Scope<'_, '_>, request: &mut Request) {
        for field in scope.headers.iter().flat_map(|manager| manager.list("HeaderManager.headers")) {
            let (name, value) = (field.text("Header.name"), field.text("Header.value"));
            let transport = ["content-length", "host", "connection"];
            if transport.contains(&name.to_ascii_lowercase().as_str()) && !value.contains("${") {
                continue;
            }
            // A manager further inside replaces the field of one further outside.
            drop_field(request, &name);
            let value = self.template(&value);
            let value = self.secrets.in_field(&name, value);
            let name = self.template(&name);
            request.headers.push(KeyValue { name, value, at: NOWHERE });
        }
    }

    fn content(&mut self, element: &Element<'_, '_>, scope: &Scope<'_, '_>, request: &mut Request) {
        let of_defaults = scope.defaults.iter().rev().flat_map(argument::of_request);
        let own = argument::of_request(element);
        let is_raw = element.is_true("HTTPSampler.postBodyRaw")
            || (!own.is_empty() && own.iter().all(|one| one.name.is_empty()));
        let arguments: Vec<Argument> = if is_raw { own } else { of_defaults.chain(own).collect() };
        let files =
            element.inner("HTTPsampler.Files").map(|files| files.list("HTTPFileArgs.files")).unwrap_or_default();
        let files: Vec<_> = files.into_iter().filter(|file| file.value("File.path").is_some()).collect();
        let has_content = !matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE");
        // JMeter sends a body that is written as such with GET too, but not when it follows redirects by itself.
        let sends_raw = has_content || request.method == "GET" && !element.is_true("HTTPSampler.auto_redirects");
        if is_raw && !sends_raw && arguments.iter().any(|argument| !argument.value.is_empty()) {
            let reason = format!("JMeter sends none with {}", request.method);
            self.pending.push(LeftOut::new("content", "", reason));
        }
        if is_raw {
            if !sends_raw {
                return;
            }
            let text: String = arguments.iter().map(|argument| argument.value.as_str()).collect();
            if !text.is_empty() {
                let template = self.template(&text);
                let made = content(template, &mut self.secrets);
                if !has_field(request, "content-type") {
                    request.headers.push(pair("Content-Type", "text/plain; charset=UTF-8".into()));
                }
                request.body = Some(made);
            }
            return;
        }
        let is_content = |file: &&Element<'_, '_>| file.value("File.paramname").is_none();
        let only = if let [file] = &files[..] { Some(file) } else { None };
        if let Some(file) = only.filter(is_content).filter(|_| arguments.is_empty() && has_content) {
            request.body = Some(Body::File(self.file(file)));
            return;
        }
        let is_multipart = !files.is_empty() || element.is_true("HTTPSampler.DO_MULTIPART_POST");
        let has_query = matches!(request.method.as_str(), "GET" | "DELETE" | "OPTIONS");
        if !has_content && !has_query && !arguments.is_empty() {
            let reason = format!("JMeter sends none with {}", request.method);
            self.pending.push(LeftOut::new("parameters", "", reason));
            return;
        }
        if !(arguments.is_empty() || is_multipart && has_content) {
            let (pairs, text) = self.parameters(&arguments);
            if has_query {
                match &text {
                    Some(text) => add_query(request, text.clone()),
                    None => request.query.extend(pairs.iter().cloned()),
                }
            }
            if has_content {
                if !has_field(request, "content-type") {
                    request.headers.push(pair("Content-Type", FORM_OF_JMETER.into()));
                }
                match text {
                    Some(text) => request.body = Some(Body::Text { text, hint: TextHint::Plain }),
                    None => request.form.extend(pairs),
                }
            }
            return;
        }
        if !is_multipart || !has_content {
            return;
        }
        let pairs: Vec<KeyValue> = arguments.into_iter().map(|argument| self.pair(argument)).collect();
        drop_field(request, "content-type");
        request.multipart.extend(pairs.into_iter().map(MultipartPart::Field));
        for file in files {
            let content_type = file.value("File.mimetype").map(|kind| Template::from(kind.as_str()));
            let (name, file) = (self.template(&file.text("File.paramname")), self.file(&file));
            request.multipart.push(MultipartPart::File { name, file, content_type, at: NOWHERE });
        }
    }

    fn file(&mut self, file: &Element<'_, '_>) -> Template {
        let path = file.text("File.path");
        let (name, moved) = beside(&path);
        self.pending.extend(moved);
        let (plain, changed) = plain_name(self.template(name), name);
        self.pending.extend(changed);
        plain
    }

    /// Returns parameters as names and values, and as text where a hurl file would encode them in another way than JMeter.
    fn parameters(&mut self, arguments: &[Argument]) -> (Vec<KeyValue>, Option<Template>) {
        // JMeter leaves out parameters without a name.
        let named: Vec<&Argument> = arguments.iter().filter(|argument| !argument.name.is_empty()).collect();
        let mut text = Template::default();
        let mut is_same = true;
        for (at, Argument { name, value, encode }) in named.iter().enumerate() {
            if at > 0 {
                push(&mut text.0, Piece::Text("&".to_owned()));
            }
            let (of_name, of_value) = (self.template(name), self.template(value));
            is_same &= [&of_name, &of_value].into_iter().all(|template| is_encoded_alike(template, *encode));
            let of_value = self.secrets.in_parameter(name, as_jmeter(of_value, *encode));
            as_jmeter(of_name, *encode).0.into_iter().for_each(|piece| push(&mut text.0, piece));
            push(&mut text.0, Piece::Text("=".to_owned()));
            of_value.0.into_iter().for_each(|piece| push(&mut text.0, piece));
        }
        if !is_same {
            return (Vec::new(), Some(text));
        }
        let pairs = named.into_iter().map(|argument| {
            let Argument { name, value, encode } = argument;
            self.pair(Argument { name: name.clone(), value: value.clone(), encode: *encode })
        });
        (pairs.collect(), None)
    }

    fn pair(&mut self, argument: Argument) -> KeyValue {
        let value = self.template(&argument.value);
        let value = if argument.encode { value } else { decoded(value) };
        let value = self.secrets.in_parameter(&argument.name, value);
        KeyValue { name: self.template(&argument.name), value, at: NOWHERE }
    }

    fn credentials(&mut self, scope: &Scope<'_, '_>, request: &mut Request) {
        for each in scope.credentials.iter().flat_map(|manager| manager.list("AuthManager.auth_list")) {
            let url = each.text("Authorization.url");
            let is_here = request.url.0.first().is_none_or(|piece| match piece {
                Piece::Text(text) => text.starts_with(&url),
                Piece::Placeholder(_) => true,
            });
            let mechanism = each.value("Authorization.mechanism").unwrap_or_default();
            if !matches!(mechanism.as_str(), "" | "BASIC" | "BASIC_DIGEST" | "DIGEST") {
                self.pending.push(LeftOut::new("authorization", mechanism, AUTHENTICATION));
            } else if is_here || url.contains("${") {
                let user = self.template(&each.text("Authorization.username"));
                let password = self.template(&each.text("Authorization.password"));
                let password = match password.literal() {
                    Some("") | None => password,
                    Some(text) => self.secrets.whole("password", "authorization manager", text),
                };
                if mechanism == "DIGEST" {
                    request.options.extend(digest_options(user, password));
                    continue;
                }
                request.basic_auth =
                    Some(KeyValue { name: user, value: password, at: NOWHERE }).filter(|pair| !pair.name.0.is_empty());
            }
        }
    }

    fn cookies(&mut self, scope: &Scope<'_, '_>, request: &mut Request) {
        for cookie in scope.cookies.iter().flat_map(|manager| manager.list("CookieManager.cookies")) {
            let name = cookie.name().to_owned();
            let name = if name.is_empty() { cookie.attribute("name") } else { name };
            let value = self.template(&cookie.text("Cookie.value"));
            let value = match value.literal() {
                Some(text) if !text.is_empty() => self.secrets.whole(&name, &format!("cookie {name}"), text),
                _ => value,
            };
            request.cookies.push(KeyValue { name: self.template(&name), value, at: NOWHERE });
        }
    }

    fn options(
        &mut self,
        element: &Element<'_, '_>,
        value: &dyn Fn(&str) -> Option<String>,
        scope: &Scope<'_, '_>,
        request: &mut Request,
    ) {
        if ["HTTPSampler.follow_redirects", "HTTPSampler.auto_redirects"].iter().any(|name| element.is_true(name)) {
            request.options.push(option(OptionName::Location, OptionValue::Boolean(true)));
        }
        for (name, to) in [
            ("HTTPSampler.connect_timeout", OptionName::ConnectTimeout),
            ("HTTPSampler.response_timeout", OptionName::MaxTime),
        ] {
            match value(name).map(|text| (text.trim().parse::<u64>(), text)) {
                Some((Ok(milliseconds), _)) if milliseconds > 0 => {
                    request.options.push(option(to, OptionValue::Milliseconds(milliseconds)));
                }
                Some((Err(_), text)) => self.pending.push(LeftOut::new("time-out", text, "not a number")),
                _ => {}
            }
        }
        if element.is_true("HTTPSampler.image_parser") {
            self.pending.push(LeftOut::new(
                "embedded resources",
                "",
                "requests for a page's parts: import a HAR file for them",
            ));
        }
        // Without a manager JMeter keeps no cookies.
        if scope.cookies.is_empty() {
            request.options.push(option(OptionName::NoCookieStore, OptionValue::Boolean(true)));
        }
        self.unlike(value);
        let pauses: Vec<_> = scope.timers.iter().map(|timer| self.pause_of(timer)).collect();
        let pause = pauses.into_iter().fold(std::mem::take(&mut self.pause), u64::saturating_add);
        if pause > 0 {
            request.options.push(option(OptionName::Delay, OptionValue::Milliseconds(pause)));
        }
    }

    /// Says which settings of a request's connection have no counterpart in a file.
    fn unlike(&mut self, value: &dyn Fn(&str) -> Option<String>) {
        let set = |name: &str| value(name).filter(|text| !text.trim().is_empty());
        let closes = set("HTTPSampler.use_keepalive").filter(|text| text == "false");
        let other_encoding = |text: &String| !text.eq_ignore_ascii_case("utf-8") && !text.eq_ignore_ascii_case("utf8");
        let unlike = [
            ("keep-alive", closes, "connections are kept open: use --no-keepalive"),
            ("content encoding", set("HTTPSampler.contentEncoding").filter(other_encoding), "content is sent as UTF-8"),
            ("source address", set("HTTPSampler.ipSource"), "use --bind instead"),
            ("proxy", set("HTTPSampler.proxyHost"), "use --proxy instead"),
        ];
        for (kind, text, reason) in unlike {
            self.pending.extend(text.map(|text| LeftOut::new(kind, text, reason)));
        }
    }

    /// Returns the mean pause of a timer, in milliseconds.
    fn pause_of(&mut self, timer: &Element<'_, '_>) -> u64 {
        let fixed = timer.number("ConstantTimer.delay").unwrap_or_else(|| {
            let text = timer.text("ConstantTimer.delay");
            // A variable with a known number is one too.
            let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
            let known = name.and_then(|name| self.variables.value(name)).and_then(|value| value.parse().ok());
            if known.is_none() && !text.is_empty() {
                self.pending.push(timer.left_out("the time must be a number"));
            }
            known.unwrap_or(0.0)
        });
        let range = timer.number("RandomTimer.range").unwrap_or(0.0);
        let mean = match timer.tag() {
            "UniformRandomTimer" => range / 2.0,
            "PoissonRandomTimer" => range,
            _ => 0.0,
        };
        if range > 0.0 {
            self.pending.push(timer.left_out("replaced by its mean pause"));
        }
        (fixed + mean).clamp(0.0, LONGEST_PAUSE) as u64
    }

    /// Returns a request's URL, in the plan's notation.
    fn address(&mut self, value: &dyn Fn(&str) -> Option<String>) -> String {
        let path = value("HTTPSampler.path").unwrap_or_default();
        let path = path.trim();
        // JMeter looks at the path when its variables have values.
        let known = self.known_text(path, 0);
        let begins_with = |start: &str| known.text.starts_with(start);
        if begins_with("http://") || begins_with("https://") {
            return path.to_owned();
        }
        let domain = value("HTTPSampler.domain").unwrap_or_else(|| "${host}".to_owned());
        let protocol = value("HTTPSampler.protocol").map(|text| text.trim().trim_matches([':', '/']).to_owned());
        let protocol = protocol.filter(|text| !text.is_empty()).unwrap_or_else(|| "http".to_owned());
        let origin = if domain.contains("://") { domain } else { format!("{protocol}://{domain}") };
        let port = value("HTTPSampler.port").filter(|port| !port.trim().is_empty() && port.trim() != "0");
        let port = port.map_or(String::new(), |port| format!(":{}", port.trim()));
        let slash = if begins_with("/") { "" } else { "/" };
        if !known.is_whole && known.text.is_empty() {
            let reason = "the beginning has no value: a slash was added, remove it if the value has one";
            // The query may have credentials.
            let shown = path.split('?').next().unwrap_or_default();
            self.pending.push(LeftOut::new("path", shown, reason));
        }
        format!("{origin}{port}{slash}{path}")
    }

    /// Returns the beginning of a text as far as the plan gives values to its variables.
    fn known_text(&self, text: &str, depth: usize) -> Known {
        let mut known = Known { text: String::new(), is_whole: true };
        for part in function::split(text) {
            match part {
                function::Part::Text(text) => known.text.push_str(text),
                function::Part::Reference(name) => {
                    let value = self.known_value(name.trim());
                    match value.filter(|_| depth < DEEPEST_VALUE) {
                        Some(value) => {
                            let inner = self.known_text(&value, depth + 1);
                            known.text.push_str(&inner.text);
                            known.is_whole = inner.is_whole;
                        }
                        None => known.is_whole = false,
                    }
                }
            }
            if !known.is_whole {
                break;
            }
        }
        known
    }

    /// Returns the value that the plan gives to a variable, or a property's default.
    fn known_value(&self, reference: &str) -> Option<String> {
        match function::default_of(reference) {
            Some(default) => Some(default),
            None => self.variables.value(reference).map(str::to_owned),
        }
    }
}

/// Percent-encodes as JMeter does (Java's `URLEncoder`): a space becomes a plus.
fn java_encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            byte if byte.is_ascii_alphanumeric() || b"-._*".contains(&byte) => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Whether a hurl file encodes a name or a value as JMeter does.
fn is_encoded_alike(template: &Template, encode: bool) -> bool {
    template.0.iter().all(|piece| match piece {
        Piece::Text(text) if encode => java_encoded(text) == form::encoded(text),
        Piece::Text(text) => form::encoded(&form_decoded(text)) == *text,
        Piece::Placeholder(_) => encode,
    })
}

/// Returns a name or a value as JMeter sends it.
fn as_jmeter(template: Template, encode: bool) -> Template {
    let piece = |piece: Piece| match piece {
        Piece::Text(text) if encode => Piece::Text(java_encoded(&text)),
        Piece::Placeholder(expression) if encode => {
            let mut filters = expression.filters.clone();
            filters.push(Filter::UrlEncode);
            Piece::Placeholder(Expression { filters, ..expression })
        }
        as_it_is => as_it_is,
    };
    Template(template.0.into_iter().map(piece).collect())
}

/// Adds parameters to the URL.
fn add_query(request: &mut Request, query: Template) {
    let has_query = request.url.0.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains('?')));
    push(&mut request.url.0, Piece::Text(if has_query { "&" } else { "?" }.to_owned()));
    query.0.into_iter().for_each(|piece| push(&mut request.url.0, piece));
}

/// The beginning of a text.
struct Known {
    text: String,
    /// Whether it is the whole text.
    is_whole: bool,
}
