//! Command lines of curl, as people type them and as browsers copy them for bash and for cmd.

mod flags;
mod shell;
mod words;

use crate::content::content;
use crate::draft::{Draft, DraftEntry, ImportError, LeftOut};
use crate::parts::{NOWHERE, beside, is_json, method, option, pair, plain_name};
use crate::secret::Secrets;
use flags::{Flag, Takes};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use torr_session::hurl::ast::{Body, Entry, KeyValue, MultipartPart, OptionName, OptionValue, Request, Template};

/// Imports a command line, or several one below the other.
///
/// # Errors
/// If the text is no command line of curl, or has no URL.
pub fn import(text: &str) -> Result<Draft, ImportError> {
    let found = words::commands(text)?;
    let words = || found.commands.iter().flatten();
    let mut names: Vec<&str> = words().flat_map(|word| shell::names(word)).collect();
    names.sort_unstable();
    names.dedup();
    let mut secrets = Secrets::beside(names.iter().map(|name| (*name).to_owned()).collect());
    let mut draft = Draft { left_out: found.left_out.clone(), ..Draft::default() };
    let mut mistake = None;
    for command in found.commands.iter().flat_map(|words| split_at_next(words)) {
        match Command::read(command).and_then(|command| command.entries(&mut secrets)) {
            Ok(entries) => draft.entries.extend(entries),
            Err(error) => {
                draft.left_out.push(LeftOut::new("commands", shell::shown(&command.join(" ")), error.0.clone()));
                mistake.get_or_insert(error);
            }
        }
    }
    if draft.entries.is_empty() {
        let none = ImportError("there is no curl command here: it should begin with curl".to_owned());
        return Err(mistake.unwrap_or(none));
    }
    let value =
        |name: &&str| format!("variable '{name}' has no value here: --variable {name}=VALUE or HURL_VARIABLE_{name}");
    draft.notes = names.iter().map(value).collect();
    draft.secrets = secrets.finish();
    Ok(draft)
}

/// Splits the words of a command at `--next`, which begins another request.
fn split_at_next(words: &[String]) -> Vec<&[String]> {
    words.split(|word| word == "--next" || word == "-:").collect()
}

/// Data of a request, as flags give it.
#[derive(Debug, Clone)]
enum Data {
    /// Text or bytes as they are.
    Text(String),
    /// A file's content.
    File(String),
}

/// A part of a multipart form, as `--form` gives it.
#[derive(Debug, Clone)]
struct Part {
    name: String,
    value: PartValue,
}

#[derive(Debug, Clone)]
enum PartValue {
    Text(String),
    /// A file's name and its media type.
    File(String, Option<String>),
}

/// What a command says.
#[derive(Debug, Default)]
struct Command {
    urls: Vec<String>,
    method: Option<String>,
    fields: Vec<(String, String)>,
    /// Whether the cookies among the fields are of flags, not of a field.
    has_cookies: bool,
    data: Vec<Data>,
    is_json: bool,
    parts: Vec<Part>,
    query: Vec<String>,
    is_get: bool,
    is_head: bool,
    upload: Option<String>,
    user: Option<String>,
    options: Vec<(OptionName, OptionValue)>,
    left_out: Vec<(String, String)>,
}

impl Command {
    fn read(words: &[String]) -> Result<Self, ImportError> {
        let mut command = Self::default();
        let mut words = words.iter();
        let mut only_urls = false;
        while let Some(word) = words.next() {
            if only_urls || !word.starts_with('-') || word == "-" {
                command.urls.push(word.clone());
            } else if word == "--" {
                only_urls = true;
            } else if let Some(long) = word.strip_prefix("--") {
                let (name, glued) =
                    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value.to_owned())));
                let (flag, takes) = flags::long(name).unwrap_or((Flag::Unknown, Takes::Nothing));
                let value = match takes {
                    Takes::Value => Some(glued.or_else(|| words.next().cloned()).ok_or_else(|| missing(word))?),
                    Takes::Nothing => None,
                };
                command.apply(flag, word, value.unwrap_or_default())?;
            } else {
                command.read_short(word, &mut words)?;
            }
        }
        if command.urls.is_empty() {
            return Err(ImportError("the curl command has no URL".to_owned()));
        }
        Ok(command)
    }

    /// Reads a word of short flags, of which the last may have its value glued to it.
    fn read_short<'w>(&mut self, word: &str, words: &mut impl Iterator<Item = &'w String>) -> Result<(), ImportError> {
        let letters = &word[1..];
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let (flag, takes) = flags::short(letter).unwrap_or((Flag::Unknown, Takes::Nothing));
            if let Takes::Value = takes {
                let glued = &letters[at + letter.len_utf8()..];
                let mut next = || words.next().cloned().ok_or_else(|| missing(&name));
                let value = if glued.is_empty() { next()? } else { glued.to_owned() };
                return self.apply(flag, &name, value);
            }
            self.apply(flag, &name, String::new())?;
        }
        Ok(())
    }

    fn apply(&mut self, flag: Flag, word: &str, value: String) -> Result<(), ImportError> {
        match flag {
            Flag::Url => self.urls.push(value),
            Flag::Method => self.method = Some(method(&value)),
            Flag::Header => self.header(word, &value),
            Flag::Data => self.data.push(data(word, value)?),
            Flag::DataRaw => self.data.push(Data::Text(value)),
            Flag::DataUrlencode => {
                let text = self.urlencoded(word, &value);
                self.data.extend(text.map(Data::Text));
            }
            Flag::Json => {
                self.is_json = true;
                self.data.push(data(word, value)?);
            }
            Flag::Form => {
                let part = form_part(&value, &mut self.left_out)?;
                self.parts.push(part);
            }
            Flag::FormString => {
                let (name, text) = value
                    .split_once('=')
                    .filter(|(name, _)| !name.is_empty())
                    .ok_or_else(|| ImportError(format!("{word} takes NAME=VALUE")))?;
                self.parts.push(Part { name: name.to_owned(), value: PartValue::Text(text.to_owned()) });
            }
            Flag::Get => self.is_get = true,
            Flag::Head => self.is_head = true,
            Flag::UrlQuery => match value.strip_prefix('+') {
                Some(encoded) => self.query.push(encoded.to_owned()),
                None => {
                    let text = self.urlencoded(word, &value);
                    self.query.extend(text);
                }
            },
            Flag::Upload => self.upload = Some(value),
            Flag::User => self.user = Some(value),
            Flag::Bearer => self.fields.push(("Authorization".to_owned(), format!("Bearer {value}"))),
            // A value without = is a file of cookies.
            Flag::Cookie if value.contains('=') => self.cookie(value),
            Flag::Cookie => self.leave_out(&format!("{word} {value}"), "a virtual user begins without cookies"),
            Flag::UserAgent => self.fields.push(("User-Agent".to_owned(), value)),
            Flag::Referer => self.fields.push(("Referer".to_owned(), value.trim_end_matches(";auto").to_owned())),
            Flag::Range => self.fields.push(("Range".to_owned(), format!("bytes={value}"))),
            Flag::Switch(name) => self.options.push((name, OptionValue::Boolean(true))),
            // Connections are made as the file says before the run.
            Flag::Text(_) if shell::has(&value) => {
                self.leave_out(&format!("{word} {value}"), "only the shell knows its value");
            }
            Flag::Text(name) => self.options.push((name, OptionValue::Text(value.as_str().into()))),
            Flag::Count(name) => {
                let count: i64 =
                    value.parse().map_err(|_| ImportError(format!("{word} takes a number, not '{value}'")))?;
                self.options.push((name, OptionValue::Count(u64::try_from(count).ok())));
            }
            Flag::Seconds(name) => {
                let seconds: f64 =
                    value.parse().map_err(|_| ImportError(format!("{word} takes seconds, not '{value}'")))?;
                self.options.push((name, OptionValue::Milliseconds((seconds.max(0.0) * 1000.0).round() as u64)));
            }
            Flag::OfOutput => {}
            Flag::Unsupported(reason) => self.leave_out(word, reason),
            Flag::Unknown => self.leave_out(word, "not known"),
        }
        Ok(())
    }

    /// Adds cookies to those of other flags. As in curl, a field of this name counts alone.
    fn cookie(&mut self, value: String) {
        match self.fields.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
            Some((_, cookies)) if self.has_cookies => {
                cookies.push_str("; ");
                cookies.push_str(&value);
            }
            Some(_) => {}
            None => {
                self.has_cookies = true;
                self.fields.push(("Cookie".to_owned(), value));
            }
        }
    }

    fn header(&mut self, word: &str, header: &str) {
        match header.split_once(':') {
            _ if header.starts_with('@') => self.leave_out(&format!("{word} {header}"), "field lines of a file"),
            // A name without a value takes the field away, which curl itself would add.
            Some((_, value)) if value.trim().is_empty() => {}
            Some((name, _)) if name.trim().is_empty() => {
                self.leave_out(&format!("{word} {header}"), "not a field line")
            }
            Some((name, value)) => {
                if name.trim().eq_ignore_ascii_case("cookie") && std::mem::take(&mut self.has_cookies) {
                    self.fields.retain(|(field, _)| !field.eq_ignore_ascii_case("cookie"));
                }
                self.fields.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            None => match header.split_once(';') {
                Some((name, _)) if !name.trim().is_empty() => self.fields.push((name.trim().to_owned(), String::new())),
                _ => self.leave_out(&format!("{word} {header}"), "not a field line"),
            },
        }
    }

    fn leave_out(&mut self, what: &str, reason: &str) {
        self.left_out.push((shell::shown(what), reason.to_owned()));
    }

    /// Encodes the value of a flag: `CONTENT`, `=CONTENT` or `NAME=CONTENT`. What names a file is left out.
    fn urlencoded(&mut self, word: &str, value: &str) -> Option<String> {
        // A variable's value is encoded when it is known.
        let encode = |text: &str| match shell::has(text) {
            true => text.to_owned(),
            false => utf8_percent_encode(text, NON_ALPHANUMERIC).to_string(),
        };
        match value.split_once('=') {
            Some(("", content)) => Some(encode(content)),
            Some((name, content)) => Some(format!("{name}={}", encode(content))),
            None if value.contains('@') => {
                self.leave_out(&format!("{word} {value}"), "the content of a file, encoded");
                None
            }
            None => Some(encode(value)),
        }
    }

    fn entries(mut self, secrets: &mut Secrets) -> Result<Vec<DraftEntry>, ImportError> {
        let urls = std::mem::take(&mut self.urls);
        urls.iter().map(|url| self.entry(url, secrets)).collect()
    }

    fn entry(&self, url: &str, secrets: &mut Secrets) -> Result<DraftEntry, ImportError> {
        let mut fields = self.fields.clone();
        let mut add = |name: &str, value: &str| {
            if !fields.iter().any(|(field, _)| field.eq_ignore_ascii_case(name)) {
                fields.push((name.to_owned(), value.to_owned()));
            }
        };
        if self.is_json {
            add("Content-Type", "application/json");
            add("Accept", "application/json");
        }
        let mut query = self.query.clone();
        let has_data = !self.data.is_empty() && !self.is_get;
        if self.is_get {
            let text = |data: &Data| if let Data::Text(text) = data { Some(text.clone()) } else { None };
            query.extend(self.data.iter().filter_map(text));
        }
        let default = match () {
            () if self.is_head => "HEAD",
            () if self.upload.is_some() => "PUT",
            () if has_data || !self.parts.is_empty() => "POST",
            () => "GET",
        };
        let method = self.method.as_deref().unwrap_or(default);
        let mut request = Request::new(method, shell::template(&address(url, &query)?), NOWHERE);
        let mut left_out = self.left_out.clone();
        request.multipart = self.parts.iter().map(|part| multipart(part, secrets, &mut left_out)).collect();
        request.body = self.upload.as_deref().map(|name| Body::File(file(name, &mut left_out)));
        if has_data {
            self.content(&mut request, &mut fields, secrets, &mut left_out);
        }
        request.headers = fields.iter().map(|(name, value)| pair(name, shell::field(name, value, secrets))).collect();
        request.options = self.options.iter().map(|(name, value)| option(*name, value.clone())).collect();
        match self.user.as_deref().map(|user| user.split_once(':').unwrap_or((user, ""))) {
            Some(("", _)) => left_out.push(("-u".to_owned(), "a password without a user".to_owned())),
            Some((user, password)) => {
                let password = match password {
                    "" => "".into(),
                    password if shell::has(password) => shell::template(password),
                    password => secrets.whole("password", "the password of -u", password),
                };
                request.basic_auth = Some(KeyValue { name: shell::template(user), value: password, at: NOWHERE });
            }
            None => {}
        }
        Ok(DraftEntry::new(Entry { name: None, request, response: None }, left_out))
    }

    /// Turns data into the kind of content that reads best: JSON, a form, or text.
    fn content(
        &self,
        request: &mut Request,
        fields: &mut Vec<(String, String)>,
        secrets: &mut Secrets,
        left_out: &mut Vec<(String, String)>,
    ) {
        const FORM: &str = "application/x-www-form-urlencoded";
        if let [Data::File(name)] = &self.data[..] {
            request.body = Some(Body::File(file(name, left_out)));
        } else {
            let mut texts = Vec::new();
            for data in &self.data {
                match data {
                    Data::Text(text) => texts.push(text.as_str()),
                    Data::File(name) => {
                        left_out.push((format!("the data of '{name}'"), "a file beside other data".to_owned()))
                    }
                }
            }
            let text = texts.join(if self.is_json { "" } else { "&" });
            let media_type = fields
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
                .map(|(_, value)| value.clone());
            let is_form = media_type.as_deref().is_none_or(|media_type| media_type.starts_with(FORM));
            let is_json = is_json(&shell::filled(&text));
            match form(&text).filter(|_| is_form && !is_json) {
                Some(pairs) => {
                    fields.retain(|(name, value)| !(name.eq_ignore_ascii_case("content-type") && value == FORM));
                    request.form =
                        pairs.iter().map(|(name, value)| pair(name, shell::parameter(name, value, secrets))).collect();
                    return;
                }
                None => request.body = Some(content(shell::template(&text), secrets)),
            }
        }
        if !fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            fields.push(("Content-Type".to_owned(), FORM.to_owned()));
        }
    }
}

fn missing(word: &str) -> ImportError {
    ImportError(format!("{word} has no value"))
}

/// Reads the value of `--data`: text, or a file after `@`.
fn data(word: &str, value: String) -> Result<Data, ImportError> {
    match value.strip_prefix('@') {
        Some("") => Err(ImportError(format!("{word} '@' names no file"))),
        Some(name) => Ok(Data::File(name.to_owned())),
        None => Ok(Data::Text(value)),
    }
}

/// Reads a part of `--form`: `NAME=TEXT`, `NAME=@FILE;type=TYPE` or `NAME=<FILE`.
fn form_part(value: &str, left_out: &mut Vec<(String, String)>) -> Result<Part, ImportError> {
    let shown = shell::shown(value);
    let (name, content) = value
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| ImportError(format!("--form '{shown}' takes NAME=VALUE")))?;
    let Some(file) = content.strip_prefix('@').or_else(|| content.strip_prefix('<')) else {
        let (text, kind) = content.split_once(";type=").map_or((content, None), |(text, kind)| (text, Some(kind)));
        if let Some(kind) = kind {
            left_out.push((format!("the media type {kind} of the part '{name}'"), "only files have one".to_owned()));
        }
        let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
        return Ok(Part { name: name.to_owned(), value: PartValue::Text(text.to_owned()) });
    };
    let mut parts = file.split(';');
    let file = parts.next().unwrap_or_default().trim_matches('"').to_owned();
    if file.is_empty() {
        return Err(ImportError(format!("--form '{shown}' names no file")));
    }
    let media_type = parts.find_map(|part| part.trim().strip_prefix("type=")).map(str::to_owned);
    Ok(Part { name: name.to_owned(), value: PartValue::File(file, media_type) })
}

fn multipart(part: &Part, secrets: &mut Secrets, left_out: &mut Vec<(String, String)>) -> MultipartPart {
    let name = part.name.as_str();
    match &part.value {
        PartValue::Text(text) => MultipartPart::Field(pair(name, shell::parameter(name, text, secrets))),
        PartValue::File(path, content_type) => MultipartPart::File {
            name: name.into(),
            file: file(path, left_out),
            content_type: content_type.as_deref().map(Template::from),
            at: NOWHERE,
        },
    }
}

/// Returns the name of a file beside the hurl file.
fn file(path: &str, left_out: &mut Vec<(String, String)>) -> Template {
    if path == "-" {
        left_out.push(("standard input".to_owned(), "put its content into a file of the name stdin".to_owned()));
        return "stdin".into();
    }
    let (name, moved) = beside(path);
    let (plain, changed) = plain_name(shell::template(name), name);
    for LeftOut { kind, reason, .. } in moved.into_iter().chain(changed) {
        left_out.push((format!("{kind} {}", shell::shown(path)), reason));
    }
    plain
}

/// Returns the pairs of a form; `None` for text that is not one.
fn form(text: &str) -> Option<Vec<(String, String)>> {
    let decode =
        |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8().ok().map(|text| text.into_owned());
    let is_plain = shell::filled(text).chars().all(|c| c.is_ascii_graphic() && !"{}[]\"<>".contains(c));
    let pairs: Option<Vec<_>> = text
        .split('&')
        .map(|pair| {
            let (name, value) = pair.split_once('=')?;
            Some((decode(name).filter(|name| !name.is_empty())?, decode(value)?))
        })
        .collect();
    pairs.filter(|_| is_plain)
}

/// Returns a URL as curl understands it: with http where the scheme is missing, with the query added.
fn address(url: &str, query: &[String]) -> Result<String, ImportError> {
    // A variable at the beginning may have the scheme.
    let filled = shell::filled(url);
    let is_open = shell::has(url.get(..url.len().min(4)).unwrap_or_default());
    let prefix = if url.contains("://") || is_open { "" } else { "http://" };
    if !is_open {
        let filled = format!("{prefix}{filled}");
        let parsed = url::Url::parse(&filled)
            .map_err(|error| ImportError(format!("'{prefix}{}' is not a URL: {error}", shell::shown(url))))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(ImportError(format!("'{}' is of another protocol than http", shell::shown(url))));
        }
    }
    let url = format!("{prefix}{}", url.split('#').next().unwrap_or_default());
    if query.is_empty() {
        return Ok(url);
    }
    let separator = if url.contains('?') { '&' } else { '?' };
    Ok(format!("{url}{separator}{}", query.join("&")))
}

#[cfg(test)]
mod tests;
