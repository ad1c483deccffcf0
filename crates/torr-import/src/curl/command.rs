//! What a command of curl says, flag by flag.

use super::data::{Data, ReadFile, Source, encoded};
use super::flags::{self, Flag, Takes};
use super::form::Part;
use super::shell;
use super::words::Stdin;
use crate::draft::ImportError;
use crate::parts::is_token;
use crate::reason::AUTHENTICATION;
use std::collections::BTreeSet;
use torr_session::hurl::ast::{OptionName, OptionValue};

/// The longest time that a flag may give, in seconds.
const LONGEST_TIME: f64 = 1e9;

/// A field line of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: String,
    /// Whether the field is of a flag such as `--user-agent`: then a field of `-H` with this name counts alone.
    pub(super) is_of_flag: bool,
}

/// What a command says.
#[derive(Debug, Default)]
pub(super) struct Command {
    pub(super) urls: Vec<String>,
    pub(super) method: Option<String>,
    pub(super) fields: Vec<Field>,
    /// Names of fields that the request is to be without, in lower case.
    pub(super) removed: BTreeSet<String>,
    pub(super) data: Vec<Data>,
    pub(super) is_json: bool,
    pub(super) parts: Vec<Part>,
    pub(super) query: Vec<Data>,
    pub(super) is_get: bool,
    pub(super) is_head: bool,
    /// The files to upload, each to the URL of its position.
    pub(super) uploads: Vec<String>,
    pub(super) user: Option<String>,
    /// The flag of a way of authentication other than Basic.
    pub(super) other_authentication: Option<String>,
    /// Whether basic authentication is named.
    pub(super) basic: bool,
    /// Whether digest authentication is named.
    pub(super) digest: bool,
    /// What requests are signed for.
    pub(super) sigv4: Option<String>,
    pub(super) is_globbing_off: bool,
    /// Flags that keep the method of a request that is redirected.
    pub(super) keeps_method: Vec<String>,
    /// The files of cookies that the command reads.
    pub(super) cookies_from: Vec<String>,
    /// The file that the command writes its cookies to.
    pub(super) cookies_to: Option<String>,
    pub(super) options: Vec<(OptionName, OptionValue)>,
    pub(super) left_out: Vec<(String, String)>,
    pub(super) stdin: Option<Stdin>,
}

impl Command {
    /// Reads the words of a command.
    ///
    /// # Errors
    /// If a flag has no value or one of another kind, or if there is no URL.
    pub(super) fn read(words: &[String], stdin: Option<Stdin>, read: ReadFile<'_>) -> Result<Self, ImportError> {
        let mut command = Self { stdin, ..Self::default() };
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
                command.apply(flag, word, value.unwrap_or_default(), read)?;
            } else {
                command.read_short(word, &mut words, read)?;
            }
        }
        if command.urls.is_empty() {
            return Err(ImportError("the curl command has no URL".to_owned()));
        }
        Ok(command)
    }

    /// Reads a word of short flags, of which the last may have its value glued to it.
    fn read_short<'w>(
        &mut self,
        word: &str,
        words: &mut impl Iterator<Item = &'w String>,
        read: ReadFile<'_>,
    ) -> Result<(), ImportError> {
        let letters = &word[1..];
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let (flag, takes) = flags::short(letter).unwrap_or((Flag::Unknown, Takes::Nothing));
            if let Takes::Value = takes {
                let glued = &letters[at + letter.len_utf8()..];
                let mut next = || words.next().cloned().ok_or_else(|| missing(&name));
                let value = if glued.is_empty() { next()? } else { glued.to_owned() };
                return self.apply(flag, &name, value, read);
            }
            self.apply(flag, &name, String::new(), read)?;
        }
        Ok(())
    }

    fn apply(&mut self, flag: Flag, word: &str, value: String, read: ReadFile<'_>) -> Result<(), ImportError> {
        match flag {
            Flag::Url => self.urls.push(value),
            Flag::Method => self.method = Some(value),
            Flag::Header => self.header(word, &value, read),
            Flag::Data => self.data.push(data(word, value, true)?),
            Flag::DataBinary => self.data.push(data(word, value, false)?),
            Flag::DataRaw => self.data.push(Data::text(value)),
            Flag::DataUrlencode => self.data.push(urlencoded(word, &value)?),
            Flag::Json => {
                self.is_json = true;
                self.data.push(Data { is_joined: false, ..data(word, value, false)? });
            }
            Flag::Form => {
                let part = Part::read(&value, &mut self.left_out)?;
                self.parts.extend(part);
            }
            Flag::FormString => {
                let (name, text) = value
                    .split_once('=')
                    .filter(|(name, _)| !name.is_empty())
                    .ok_or_else(|| ImportError(format!("{word} needs NAME=VALUE")))?;
                self.parts.push(Part::text(name, text));
            }
            Flag::Get => self.is_get = true,
            Flag::Head => self.is_head = true,
            Flag::UrlQuery => self.query.push(match value.strip_prefix('+') {
                Some(encoded) => Data::text(encoded.to_owned()),
                None => urlencoded(word, &value)?,
            }),
            Flag::Upload => self.uploads.push(value),
            Flag::User => self.user = Some(value),
            // Where another way is allowed as well, curl sends no credentials before the server has said which ways it knows.
            Flag::Basic => self.basic = true,
            Flag::Digest => self.digest = true,
            Flag::Authentication => {
                self.leave_out(word, AUTHENTICATION);
                self.other_authentication = Some(word.to_owned());
            }
            Flag::SigV4 => self.sigv4 = Some(value),
            Flag::Bearer => self.of_flag("Authorization", format!("Bearer {value}")),
            // A value without = is a file of cookies.
            Flag::Cookie if value.contains('=') && !value.starts_with('@') => self.cookie(value),
            Flag::Cookie => {
                let name = value.strip_prefix('@').unwrap_or(&value);
                self.cookies_from.push(name.to_owned());
            }
            Flag::CookieJar => self.cookies_to = Some(value),
            Flag::UserAgent if value.is_empty() => _ = self.removed.insert("user-agent".to_owned()),
            Flag::UserAgent => self.of_flag("User-Agent", value),
            Flag::Referer => match value.strip_suffix(";auto").unwrap_or(&value) {
                "" => {}
                referer => self.of_flag("Referer", referer.to_owned()),
            },
            // As curl does, a number alone is the first byte.
            Flag::Range if !value.contains('-') && !value.is_empty() && !shell::has(&value) => {
                let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
                self.of_flag("Range", format!("bytes={digits}-"));
            }
            Flag::Range => self.of_flag("Range", format!("bytes={value}")),
            Flag::GlobbingOff => self.is_globbing_off = true,
            Flag::KeepsMethod => self.keeps_method.push(word.to_owned()),
            Flag::Switch(name) => self.option(name, OptionValue::Boolean(true)),
            Flag::SwitchOff(name) => self.options.retain(|(other, _)| *other != name),
            // Connections are made as the file says before the run.
            Flag::Text(_) if shell::has(&value) => {
                self.leave_out(&format!("{word} {value}"), "its value is known to the shell only");
            }
            Flag::Text(OptionName::Resolve) if !is_resolved(&value) => {
                self.leave_out(&format!("{word} {value}"), "it must be HOST:PORT:ADDRESS");
            }
            Flag::Text(name) => self.option(name, OptionValue::Text(value.as_str().into())),
            Flag::Count(name) => {
                let count: i64 =
                    value.parse().map_err(|_| ImportError(format!("{word} needs a number, found '{value}'")))?;
                self.option(name, OptionValue::Count(u64::try_from(count).ok()));
            }
            Flag::Seconds(name) => {
                let wrong = || ImportError(format!("{word} needs seconds, found '{value}'"));
                let seconds: f64 = value.parse().map_err(|_| wrong())?;
                if !(0.0..=LONGEST_TIME).contains(&seconds) {
                    return Err(wrong());
                }
                // Without a limit, as by default.
                let milliseconds = (seconds * 1000.0).ceil() as u64;
                self.options.retain(|(other, _)| *other != name);
                if milliseconds > 0 {
                    self.option(name, OptionValue::Milliseconds(milliseconds));
                }
            }
            Flag::OfOutput => {}
            Flag::Unsupported(reason) => self.leave_out(word, reason),
            Flag::Unknown => self.leave_out(word, "unknown flag"),
        }
        Ok(())
    }

    /// Adds an option; of one that is given twice, the last counts.
    fn option(&mut self, name: OptionName, value: OptionValue) {
        let adds = matches!(name, OptionName::Resolve | OptionName::ConnectTo);
        self.options.retain(|(other, _)| adds || *other != name);
        self.options.push((name, value));
    }

    /// Adds a field that a flag of its own gives: the last one counts.
    fn of_flag(&mut self, name: &str, value: String) {
        self.fields.retain(|field| !(field.is_of_flag && field.name == name));
        self.fields.push(Field { name: name.to_owned(), value, is_of_flag: true });
    }

    /// Adds cookies to those of other flags.
    fn cookie(&mut self, value: String) {
        match self.fields.iter_mut().find(|field| field.is_of_flag && field.name == "Cookie") {
            Some(field) => {
                field.value.push_str("; ");
                field.value.push_str(&value);
            }
            None => self.of_flag("Cookie", value),
        }
    }

    fn header(&mut self, word: &str, header: &str, read: ReadFile<'_>) {
        if let Some(name) = header.strip_prefix('@') {
            let source = Source::named(word, name).map_err(|error| error.0);
            let bytes = source.and_then(|source| source.bytes(self.stdin.as_ref(), read));
            let lines = bytes.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "not UTF-8 text".to_owned()));
            match lines {
                Ok(lines) => {
                    lines.lines().filter(|line| !line.trim().is_empty()).for_each(|line| self.field_line(word, line));
                }
                Err(reason) => {
                    self.leave_out(&format!("{word} {header}"), &format!("header fields from a file: {reason}"))
                }
            }
            return;
        }
        self.field_line(word, header);
    }

    fn field_line(&mut self, word: &str, header: &str) {
        let (name, value) = match (header.split_once(':'), header.split_once(';')) {
            // A name without a value takes the field away, which curl itself would add.
            (Some((name, value)), _) if value.trim().is_empty() => {
                self.removed.insert(name.trim().to_ascii_lowercase());
                return;
            }
            (Some((name, value)), _) => (name.trim(), value.trim()),
            // A name with a semicolon is a field without a value.
            (None, Some((name, ""))) => (name.trim(), ""),
            _ => ("", ""),
        };
        if !is_token(&shell::filled(name)) || value.chars().any(|next| next.is_control() && next != '\t') {
            self.leave_out(&format!("{word} {header}"), "expected 'Name: value'");
            return;
        }
        self.fields.push(Field { name: name.to_owned(), value: value.to_owned(), is_of_flag: false });
    }

    pub(super) fn leave_out(&mut self, what: &str, reason: &str) {
        self.left_out.push((shell::shown(what), reason.to_owned()));
    }

    /// Whether cookies of responses are sent back.
    pub(super) fn has_cookies(&self) -> bool {
        !self.cookies_from.is_empty() || self.cookies_to.is_some()
    }
}

fn missing(word: &str) -> ImportError {
    ImportError(format!("missing value of {word}"))
}

impl Data {
    fn text(text: String) -> Self {
        Self { source: Source::Text(text), is_stripped: false, is_joined: true, encoded: None }
    }
}

/// Reads the value of `--data`: text, or a file after `@`.
fn data(word: &str, value: String, is_stripped: bool) -> Result<Data, ImportError> {
    let source = match value.strip_prefix('@') {
        Some(name) => Source::named(word, name)?,
        None => return Ok(Data::text(value)),
    };
    Ok(Data { source, is_stripped, is_joined: true, encoded: None })
}

/// Reads the value of a flag that percent-encodes: `CONTENT`, `=CONTENT`, `NAME=CONTENT`, `@FILE` or `NAME@FILE`.
fn urlencoded(word: &str, value: &str) -> Result<Data, ImportError> {
    let encode = |text: &str| shell::encoded(text, encoded);
    Ok(match (value.split_once('='), value.split_once('@')) {
        (Some(("", content)), _) => Data::text(encode(content)),
        (Some((name, content)), _) => Data::text(format!("{name}={}", encode(content))),
        (None, Some((name, file))) => {
            let prefix = if name.is_empty() { String::new() } else { format!("{name}=") };
            let source = Source::named(word, file)?;
            Data { source, is_stripped: false, is_joined: true, encoded: Some(prefix) }
        }
        (None, None) => Data::text(encode(value)),
    })
}

/// Whether the value of `--resolve` is one that a run understands.
fn is_resolved(value: &str) -> bool {
    let parts = || {
        let (host, rest) = if value.starts_with('[') { value.split_once("]:")? } else { value.split_once(':')? };
        let (port, addresses) = rest.split_once(':')?;
        let is_address = |text: &str| text.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
        let is_host = !host.is_empty() && !host.starts_with(['+', '-', '*']);
        Some(is_host && port.parse::<u16>().is_ok() && addresses.split(',').all(is_address))
    };
    parts().unwrap_or(false)
}
