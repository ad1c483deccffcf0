//! The requests of a command, as entries.

use super::command::{Command, Field};
use super::data::{Data, MOST_BYTES, ReadFile, Source, encoded, stripped};
use super::form::{Form, file, of_bytes};
use super::words::Stdin;
use super::{glob, shell};
use crate::content::content;
use crate::draft::{DraftEntry, ImportError};
use crate::form::{FORM, pairs};
use crate::parts::{NOWHERE, digest_options, is_json, option, pair, sent_method, user_of};
use crate::secret::Secrets;
use crate::target;
use percent_encoding::percent_decode_str;
use torr_gauge::redact;
use torr_session::hurl::ast::{Body, Entry, KeyValue, OptionName, OptionValue, Request, Template, TextHint};
use url::Url;

/// Fields that curl or Torr writes by itself when the command names none, in lower case.
const OWN_FIELDS: &[(&str, &str)] = &[("accept", "Accept"), ("user-agent", "User-Agent")];

/// What was left out: what, and why.
type LeftOut = Vec<(String, String)>;

/// Returns the entries of a command.
///
/// # Errors
/// If a URL is none, or a pattern is.
pub(super) fn entries(
    command: &Command,
    read: ReadFile<'_>,
    secrets: &mut Secrets,
) -> Result<Vec<DraftEntry>, ImportError> {
    let expanded = |text: &String| match command.is_globbing_off {
        true => Ok(vec![text.clone()]),
        false => glob::expand(text),
    };
    let mut entries = Vec::new();
    for (at, url) in command.urls.iter().enumerate() {
        let uploads = command.uploads.get(at).map(expanded).transpose()?;
        let uploads = uploads.map_or(vec![None], |uploads| uploads.into_iter().map(Some).collect());
        for upload in uploads {
            for url in expanded(url)? {
                if entries.len() == glob::MOST_REQUESTS {
                    let message = format!("the curl command makes more than {} requests", glob::MOST_REQUESTS);
                    return Err(ImportError(message));
                }
                entries.push(Maker { command, read, upload: upload.as_deref() }.entry(&url, secrets)?);
            }
        }
    }
    Ok(entries)
}

/// Makes one request of a command.
struct Maker<'c> {
    command: &'c Command,
    read: ReadFile<'c>,
    /// The file that the request uploads.
    upload: Option<&'c str>,
}

impl Maker<'_> {
    fn entry(&self, url: &str, secrets: &mut Secrets) -> Result<DraftEntry, ImportError> {
        let command = self.command;
        let mut left_out = command.left_out.clone();
        let mut fields = self.fields(&mut left_out);
        let mut query = self.joined(&command.query, &mut left_out).map(|query| vec![query]).unwrap_or_default();
        let has_data = !command.data.is_empty() && !command.is_get;
        if command.is_get {
            query.extend(self.joined(&command.data, &mut left_out));
        }
        let query: Vec<String> = query.into_iter().map(|query| String::from_utf8_lossy(&query).into_owned()).collect();
        let default = match () {
            () if command.is_head => "HEAD",
            () if self.upload.is_some() => "PUT",
            () if has_data || !command.parts.is_empty() => "POST",
            () => "GET",
        };
        let method = sent_method(command.method.as_deref().unwrap_or(default), &mut |what, reason| {
            left_out.push((what.to_owned(), reason.to_owned()));
        });
        let credentials = self.credentials(url);
        let url = address(url, &query, self.upload)?;
        let url = secrets.url(shell::template(&url));
        left_out.extend(target::respelled(&url).map(|said| (format!("{} {}", said.kind, said.which), said.reason)));
        let mut request = Request::new(method, url, NOWHERE);
        if let Some(name) = self.upload {
            request.body = self.upload(name, &mut left_out);
        }
        if !command.parts.is_empty() {
            self.form(&mut request, &mut fields, secrets, &mut left_out);
        } else if has_data {
            self.content(&mut request, &mut fields, secrets, &mut left_out);
        }
        let value = |field: &Field, secrets: &mut Secrets| shell::field(&field.name, &field.value, secrets);
        request.headers = fields.iter().map(|field| pair(&field.name, value(field, secrets))).collect();
        self.options(&mut request, default, &mut left_out);
        self.without(&mut request);
        self.basic(credentials, &mut request, secrets, &mut left_out);
        Ok(DraftEntry::new(Entry { name: None, request, response: None }, left_out))
    }

    /// Returns the field lines: those of flags only where no field of the command has their name.
    fn fields(&self, left_out: &mut LeftOut) -> Vec<Field> {
        let command = self.command;
        let has = |name: &str| {
            command.removed.contains(&name.to_ascii_lowercase())
                || command.fields.iter().any(|field| !field.is_of_flag && field.name.eq_ignore_ascii_case(name))
        };
        let mut fields = Vec::new();
        for field in &command.fields {
            let reason = match field.name.to_ascii_lowercase().as_str() {
                "transfer-encoding" => "the content is sent with Content-Length",
                "content-length" => "it follows from the content",
                _ => "",
            };
            if !reason.is_empty() {
                left_out.push((format!("field {}", field.name), reason.to_owned()));
            } else if !(field.is_of_flag && has(&field.name)) {
                fields.push(field.clone());
            }
        }
        if command.is_json {
            for name in ["Content-Type", "Accept"].into_iter().filter(|name| !has(name)) {
                fields.push(Field { name: name.to_owned(), value: "application/json".to_owned(), is_of_flag: true });
            }
        }
        if command.removed.contains("host") {
            left_out.push(("-H 'Host:'".to_owned(), "every request has a Host field".to_owned()));
        }
        fields
    }

    /// Returns data as it is sent, with the marks of variables; `None` where there is none, or where it is not known.
    fn joined(&self, data: &[Data], left_out: &mut LeftOut) -> Option<Vec<u8>> {
        let mut all: Option<Vec<u8>> = None;
        let mut is_read = false;
        for piece in data {
            let bytes = match piece.source {
                // What was read once has an end.
                Source::Stdin if std::mem::replace(&mut is_read, true) => Ok(Vec::new()),
                _ => piece.source.bytes(self.command.stdin.as_ref(), self.read),
            };
            let mut bytes = match bytes {
                Ok(bytes) => bytes,
                Err(reason) => {
                    left_out.push((format!("data of {}", piece.source.shown()), reason));
                    continue;
                }
            };
            if piece.is_stripped {
                stripped(&mut bytes);
            }
            if let Some(prefix) = &piece.encoded {
                bytes = match String::from_utf8(bytes) {
                    Ok(text) => format!("{prefix}{}", shell::encoded(&text, encoded)).into_bytes(),
                    Err(error) => format!("{prefix}{}", encoded(error.as_bytes())).into_bytes(),
                };
            }
            match &mut all {
                Some(all) => {
                    if piece.is_joined {
                        all.push(b'&');
                    }
                    all.append(&mut bytes);
                }
                None => all = Some(bytes),
            }
        }
        all
    }

    fn upload(&self, name: &str, left_out: &mut LeftOut) -> Option<Body> {
        if !matches!(name, "-" | ".") {
            return Some(Body::File(file(name, left_out)));
        }
        Some(match self.command.stdin.as_ref() {
            Some(Stdin::File(name)) => Body::File(file(name, left_out)),
            Some(Stdin::Text(text)) => Body::Text { text: shell::template(text), hint: TextHint::Plain },
            Some(Stdin::Unknown(what)) => {
                left_out.push(("standard input".to_owned(), format!("{what} is known to the shell only")));
                return None;
            }
            None => Body::File(file("-", left_out)),
        })
    }

    fn form(&self, request: &mut Request, fields: &mut Vec<Field>, secrets: &mut Secrets, left_out: &mut LeftOut) {
        // As in curl, a media type of the command gets the boundary.
        let at = fields.iter().position(|field| field.name.eq_ignore_ascii_case("content-type"));
        let own = at.map(|at| fields.remove(at).value);
        let media_type = own.as_deref().map(|own| own.split(";").next().unwrap_or_default().trim());
        let media_type = media_type.filter(|own| !own.eq_ignore_ascii_case("multipart/form-data"));
        let form = Form { parts: &self.command.parts, stdin: self.command.stdin.as_ref(), read: self.read, media_type };
        if let Some(value) = form.add(request, secrets, left_out) {
            fields.push(Field { name: "Content-Type".to_owned(), value, is_of_flag: true });
        }
    }

    /// Turns data into the kind of content that reads best and has the same bytes: JSON, a form, or text.
    fn content(&self, request: &mut Request, fields: &mut Vec<Field>, secrets: &mut Secrets, left_out: &mut LeftOut) {
        let is_media_type = |field: &&Field| field.name.eq_ignore_ascii_case("content-type");
        let media_type = fields.iter().find(is_media_type).map(|field| field.value.clone());
        let has_none = self.command.removed.contains("content-type");
        if media_type.is_none() && !has_none {
            fields.push(Field { name: "Content-Type".to_owned(), value: FORM.to_owned(), is_of_flag: true });
        }
        if let Some(name) = self.whole_file(left_out) {
            request.body = Some(Body::File(name));
            return;
        }
        let text = match of_bytes(self.joined(&self.command.data, left_out).unwrap_or_default()) {
            Ok(text) => text,
            Err(bytes) => {
                request.body = Some(bytes);
                return;
            }
        };
        let is_form = media_type.as_deref().is_none_or(|media_type| media_type == FORM) && !has_none;
        if let Some(pairs) = pairs(&text).filter(|_| is_form && !shell::has(&text)) {
            fields.retain(|field| !(field.name.eq_ignore_ascii_case("content-type") && field.value == FORM));
            request.form =
                pairs.iter().map(|(name, value)| pair(name, shell::parameter(name, value, secrets))).collect();
            return;
        }
        let template = shell::template(&text);
        let is_form = media_type.as_deref().is_none_or(|media_type| media_type.starts_with(FORM));
        request.body = Some(match !is_form || text.starts_with(['{', '[']) || is_json(&shell::filled(&text)) {
            true => content(template, secrets),
            false => Body::Text { text: secrets.text(template, true), hint: TextHint::Plain },
        });
    }

    /// Returns the name of the file that is all of the data and is sent as it is.
    fn whole_file(&self, left_out: &mut LeftOut) -> Option<torr_session::hurl::ast::Template> {
        let [Data { source, is_stripped, encoded: None, .. }] = &self.command.data[..] else { return None };
        let stdin = self.command.stdin.as_ref();
        let path = match source.of_command(stdin) {
            Ok(Source::File(path)) => path,
            // Nothing is known of standard input.
            _ if *source == Source::Stdin && stdin.is_none() => {
                return Some(file("-", left_out));
            }
            _ => return None,
        };
        if *is_stripped {
            match (self.read)(&path) {
                Ok(bytes) => {
                    let has_ends = bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
                    if has_ends && bytes.len() <= MOST_BYTES {
                        return None;
                    }
                    if has_ends {
                        left_out.push((
                            format!("removal of line ends from '{path}'"),
                            "remove them in the file".to_owned(),
                        ));
                    }
                }
                Err(_) => {
                    let reason = "curl removes them from the data of -d: remove them in the file";
                    left_out.push((format!("line ends of '{}'", shell::shown(&path)), reason.to_owned()));
                }
            }
        }
        Some(file(&path, left_out))
    }

    /// Adds the options that a run understands.
    fn options(&self, request: &mut Request, default: &str, left_out: &mut LeftOut) {
        let command = self.command;
        let is_plain = request.url.literal().is_some_and(|url| url.starts_with("http://"));
        let mut follows = false;
        for (name, value) in &command.options {
            let reason = match name {
                OptionName::Http2 if is_plain => "over http:// the request is sent as HTTP/1.1, without an upgrade",
                OptionName::Http10 => "the request is sent as HTTP/1.1",
                OptionName::Ipv4 | OptionName::Ipv6 | OptionName::ConnectTo => "a setting of the run, not of a request",
                OptionName::Compressed if command.removed.contains("accept-encoding") => continue,
                _ => "",
            };
            let spelling = torr_session::hurl::option_name(*name);
            if !reason.is_empty() {
                left_out.push((format!("--{spelling}"), reason.to_owned()));
                continue;
            }
            follows |= matches!(name, OptionName::Location | OptionName::LocationTrusted);
            request.options.push(option(*name, value.clone()));
        }
        if !follows {
            return;
        }
        // Requests that follow a redirect are GET, as in hurl.
        let kept = command.method.as_deref().filter(|method| *method != "GET").map(|method| format!("-X {method}"));
        let kept = kept.or_else(|| (default == "HEAD").then(|| "-I".to_owned()));
        let kept = kept.or_else(|| (default == "PUT").then(|| "-T".to_owned()));
        for flag in kept.into_iter().chain(command.keeps_method.iter().cloned()) {
            left_out.push((format!("{flag} after a redirect"), "GET follows 301, 302 and 303".to_owned()));
        }
    }

    /// Says which fields the request is to be without that it would have by itself.
    fn without(&self, request: &mut Request) {
        let removed = |name: &str| self.command.removed.contains(name);
        let own = OWN_FIELDS.iter().filter(|(lower, _)| removed(lower)).map(|(_, name)| *name);
        let has_media_type = matches!(request.body, Some(Body::Json(_))) || !request.multipart.is_empty();
        let media_type = (removed("content-type") && has_media_type).then_some("Content-Type");
        let names: Vec<_> = own.chain(media_type).collect();
        for name in names {
            // A field of the command counts alone.
            if !crate::parts::has_field(request, name) {
                request.options.push(option(OptionName::NoHeader, OptionValue::Text(name.into())));
            }
        }
    }

    /// Returns name and password: those of the flag, or those of the URL.
    fn credentials(&self, url: &str) -> Option<(String, String)> {
        if let Some(user) = &self.command.user {
            let (user, password) = user.split_once(':').unwrap_or((user, ""));
            return Some((user.to_owned(), password.to_owned()));
        }
        let user = user_of(url)?.1;
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        Some((decoded(user), decoded(password)))
    }

    fn basic(
        &self,
        credentials: Option<(String, String)>,
        request: &mut Request,
        secrets: &mut Secrets,
        left_out: &mut LeftOut,
    ) {
        let Some((user, password)) = credentials else {
            // A file may have them.
            if self.command.digest && !self.command.basic {
                request.options.push(option(OptionName::Digest, OptionValue::Boolean(true)));
            }
            return;
        };
        // Of two ways curl takes the one that the server prefers.
        let either = (self.command.basic && self.command.digest).then_some("--digest");
        if let Some(flag) = self.command.other_authentication.as_deref().or(either) {
            left_out.push(("user of -u".to_owned(), format!("credentials of {flag} are not sent")));
            return;
        }
        if user.is_empty() {
            left_out.push(("-u".to_owned(), "a password without a user".to_owned()));
            return;
        }
        if crate::parts::has_field(request, "authorization") {
            return;
        }
        let password = match password.as_str() {
            "" => "".into(),
            password if shell::has(password) => shell::template(password),
            password => secrets.whole("password", "the password of -u", password),
        };
        let name = shell::template(&user);
        if self.command.digest {
            request.options.extend(digest_options(name, password));
            return;
        }
        let Some(scope) = &self.command.sigv4 else {
            request.basic_auth = Some(KeyValue { name, value: password, at: NOWHERE });
            return;
        };
        request.options.push(option(OptionName::AwsSigV4, OptionValue::Text(shell::template(scope))));
        let key = Template([name.0, Template::from(":").0, password.0].concat());
        request.options.push(option(OptionName::User, OptionValue::Text(key)));
    }
}

/// Returns a URL as curl understands it: with http where the scheme is missing, without a user, with the name of an uploaded file
/// behind a path that ends with a slash, and with the query added.
fn address(url: &str, query: &[String], upload: Option<&str>) -> Result<String, ImportError> {
    let mut url = url.trim_matches(' ').to_owned();
    if let Some((start, user)) = user_of(&url) {
        url.replace_range(start..start + user.len() + 1, "");
    }
    // A variable at the beginning may have the scheme.
    let is_open = shell::has(url.get(..url.len().min(4)).unwrap_or_default());
    let prefix = if url.contains("://") || is_open { "" } else { "http://" };
    let url = format!("{prefix}{}", url.split('#').next().unwrap_or_default());
    if !is_open {
        let shown = shell::shown(&redact::url(&url));
        let parsed =
            Url::parse(&shell::filled(&url)).map_err(|error| ImportError(format!("invalid URL '{shown}': {error}")))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(ImportError(format!("the URL '{shown}' must begin with http:// or https://")));
        }
    }
    let (mut path, own) = url.split_once('?').map_or((url.clone(), None), |(path, own)| (path.to_owned(), Some(own)));
    if let Some(name) = upload.filter(|name| !matches!(*name, "-" | ".")) {
        let after = path.split_once("://").map_or(path.as_str(), |(_, after)| after);
        let has_path = after.contains('/');
        if !has_path || after.ends_with('/') {
            if !has_path {
                path.push('/');
            }
            let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
            path.push_str(&shell::encoded(name, |bytes| encoded(bytes).replace('+', "%20")));
        }
    }
    let own = own.filter(|own| !own.is_empty()).map(str::to_owned);
    let query: Vec<String> = own.into_iter().chain(query.iter().cloned()).collect();
    Ok(if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) })
}
