//! Requests of entries: what is prepared before the run, and what is filled in for each exchange.

use crate::content::{Content, encoded_pairs};
use crate::error::EvaluationError;
use crate::files::Files;
use crate::hurl::{ParseError, ast};
use crate::options::Options;
use crate::scope::{Names, Variables};
use crate::template::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use cookie_store::CookieStore;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::collections::BTreeSet;
use torr_press::request::digest::Credentials;
use torr_press::request::sigv4::{Scope, Signing};
use url::Url;

/// The content codings that `compressed` asks for, which are those that can be decoded.
const CODINGS: &str = "gzip, deflate, br, zstd";

/// Whether a name and a value can stand in a field line (RFC 9110, section 5): a variable's value may have anything in it.
fn is_field(name: &str, value: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"(),/:;<=>?@[\\]{}\"".contains(&byte))
        && value.bytes().all(|byte| byte == b'\t' || !byte.is_ascii_control())
}

/// A request, ready to be encoded for a version of HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The method.
    pub method: String,
    /// The URL, without a fragment.
    pub url: Url,
    /// The field lines in their order, without `Host`, unless the file gives one, and without what frames the content.
    pub fields: Vec<(String, String)>,
    /// Names of fields that are left out, also of those that every request has.
    pub without: Vec<String>,
    /// The entry's own cookies, which are among the fields: `name=value`.
    pub own_cookies: Vec<String>,
    /// The content; `None` for a request without one.
    pub content: Option<Bytes>,
    /// The path as the file has it, with its dots, if it is to be sent so; otherwise it is that of the URL.
    pub path_as_is: Option<String>,
    /// Whether the request is of HTTP/1.0.
    pub is_http10: bool,
    /// The key by which it is signed when it is written.
    pub signing: Option<Signing>,
    /// The credentials with which a challenge of digest authentication is met.
    pub digest: Option<Credentials>,
    /// Whether it goes without its content, since a challenge is awaited.
    pub withholds_content: bool,
}

/// A request of an entry, compiled.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    url: Template,
    fields: Pairs,
    query: Pairs,
    cookies: Pairs,
    basic_auth: Option<(Template, Template)>,
    content: Option<Content>,
}

/// Names and values.
type Pairs = Vec<(Template, Template)>;

impl Request {
    /// Compiles a request of a hurl file.
    ///
    /// # Errors
    /// Where an expression is none, or a file cannot be read.
    pub fn compile(request: &ast::Request, names: &mut Names, files: &dyn Files) -> Result<Self, ParseError> {
        let mut pair =
            |pair: &ast::KeyValue| Ok((Template::compile(&pair.name, names)?, Template::compile(&pair.value, names)?));
        let mut pairs = |pairs: &[ast::KeyValue]| pairs.iter().map(&mut pair).collect::<Result<Pairs, ParseError>>();
        let (fields, query, cookies) = (pairs(&request.headers)?, pairs(&request.query)?, pairs(&request.cookies)?);
        let basic_auth = request.basic_auth.as_ref().map(pair).transpose()?;
        check_literal(&request.url).map_err(|error| ParseError { at: request.at, message: error.0 })?;
        Ok(Self {
            method: request.method.clone(),
            url: Template::compile(&request.url, names)?,
            fields,
            query,
            cookies,
            basic_auth,
            content: Content::of_request(request, names, files)?,
        })
    }

    /// Returns the method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the method and the path's template, for a name of the entry.
    pub fn title(&self, source: &ast::Template) -> String {
        let text = |piece: &ast::Piece| match piece {
            ast::Piece::Text(text) => text.clone(),
            ast::Piece::Placeholder(ast::Expression { source: ast::Source::Variable(name), .. }) => {
                format!("{{{{{name}}}}}")
            }
            ast::Piece::Placeholder(_) => "{{...}}".to_owned(),
        };
        let url: String = source.0.iter().map(text).collect();
        let after_scheme = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let path = after_scheme.find('/').map_or("/", |slash| &after_scheme[slash..]);
        format!("{} {}", self.method, path.split(['?', '#']).next().unwrap_or_default())
    }

    /// Fills in the request.
    ///
    /// # Errors
    /// If a variable has no value, or the filled-in URL is none.
    pub fn build(
        &self,
        options: &Options,
        variables: &Variables,
        jar: &CookieStore,
    ) -> Result<Outgoing, EvaluationError> {
        let url = self.url(variables)?;
        let render = |template: &Template| template.render(variables).map(|text| text.into_owned());
        let mut fields = Vec::with_capacity(self.fields.len() + 5);
        for (name, value) in &self.fields {
            fields.push((render(name)?, render(value)?));
        }
        for header in &options.headers {
            let line = render(header)?;
            let (name, value) = line
                .split_once(':')
                .ok_or_else(|| EvaluationError(format!("expected 'Name: value', found '{line}'")))?;
            fields.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        let has =
            |fields: &[(String, String)], name: &str| fields.iter().any(|(field, _)| field.eq_ignore_ascii_case(name));
        let mut content = None;
        if let Some(described) = &self.content {
            let (bytes, media_type) = described.build(variables)?;
            content = Some(bytes);
            if let Some(media_type) = media_type.filter(|_| !has(&fields, "content-type")) {
                fields.push(("Content-Type".to_owned(), media_type));
            }
        }
        if options.compressed.get(variables)? && !has(&fields, "accept-encoding") {
            fields.push(("Accept-Encoding".to_owned(), CODINGS.to_owned()));
        }
        let (mut signing, mut digest) = (None, None);
        if !has(&fields, "authorization") {
            let credentials = self.credentials(options, &url, variables)?;
            // A section of the file says that its credentials are of basic authentication.
            let is_digest = self.basic_auth.is_none() && options.digest.get(variables)?;
            match (&options.aws_sigv4, credentials) {
                (Some(scope), credentials) => signing = Some(signing_by(&render(scope)?, &url, credentials)?),
                (None, Some(credentials)) if is_digest => digest = Credentials::read(&credentials),
                (None, Some(credentials)) => {
                    let value = format!("Basic {}", BASE64_STANDARD.encode(credentials));
                    fields.push(("Authorization".to_owned(), value));
                }
                (None, None) => {}
            }
        }
        let no_cookies = CookieStore::default();
        let jar = if options.no_cookie_store.get(variables)? { &no_cookies } else { jar };
        let own_cookie = |(name, value): &(Template, Template)| Ok(format!("{}={}", render(name)?, render(value)?));
        let own_cookies = self.cookies.iter().map(own_cookie).collect::<Result<Vec<_>, EvaluationError>>()?;
        add_cookies(&mut fields, &url, jar, &own_cookies);
        if let Some((name, _)) = fields.iter().find(|(name, value)| !is_field(name, value)) {
            return Err(EvaluationError(format!(
                "the header field '{}' contains a forbidden character",
                name.escape_debug()
            )));
        }
        let without = options.no_headers.iter().map(render).collect::<Result<Vec<_>, _>>()?;
        fields.retain(|(name, _)| !without.iter().any(|other| other.eq_ignore_ascii_case(name)));
        let keeps_path = options.path_as_is.get(variables)?;
        let path_as_is = if keeps_path { Some(written_path(&self.url.render(variables)?)) } else { None };
        let is_http10 = options.http10.get(variables)?;
        Ok(Outgoing {
            method: self.method.clone(),
            url,
            fields,
            without,
            own_cookies,
            content,
            path_as_is,
            is_http10,
            signing,
            digest,
            withholds_content: false,
        })
    }

    /// Returns `user:password`: the entry's own, those of its options, of a file of credentials that is required, of the URL, or of a
    /// file that is not.
    fn credentials(
        &self,
        options: &Options,
        url: &Url,
        variables: &Variables,
    ) -> Result<Option<String>, EvaluationError> {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        Ok(match (&self.basic_auth, &options.user) {
            (Some((user, password)), _) => Some(format!("{}:{}", user.render(variables)?, password.render(variables)?)),
            (None, Some(user)) => Some(user.render(variables)?.into_owned()),
            (None, None) => {
                let of_url = || format!("{}:{}", decoded(url.username()), decoded(url.password().unwrap_or_default()));
                let of_url = (!url.username().is_empty()).then(of_url);
                let netrc = options.netrc.as_ref().filter(|netrc| netrc.is_required || url.password().is_none());
                let of_file = netrc.and_then(|netrc| netrc.credentials(url.host_str()?, url.username()));
                of_file.or(of_url)
            }
        })
    }

    /// Returns the URL, without its fragment.
    ///
    /// # Errors
    /// If a variable has no value, or the text is no URL of http or https.
    pub fn url(&self, variables: &Variables) -> Result<Url, EvaluationError> {
        let mut url = parsed_url(&self.url.render(variables)?)?;
        url.set_fragment(None);
        if !self.query.is_empty() {
            let own =
                url.query().filter(|query| !query.is_empty()).map(|query| format!("{query}&")).unwrap_or_default();
            url.set_query(Some(&format!("{own}{}", encoded_pairs(&self.query, variables)?)));
        }
        Ok(url)
    }

    /// Finds out whether the URL is one, as far as its variables have values.
    ///
    /// # Errors
    /// If the text is no URL of http or https.
    pub fn check_url(&self, variables: &Variables) -> Result<(), EvaluationError> {
        self.url.render(variables).map_or(Ok(()), |text| parsed_url(&text).map(drop))
    }

    /// Whether the request goes to one server in a whole run, in which variables with these numbers get new values.
    pub fn has_fixed_server(&self, changing: &BTreeSet<usize>) -> bool {
        self.url.has_fixed_server(changing)
    }

    /// Returns the URL of the request as far as it has a value: without the query, and perhaps the path. `None` if not even the
    /// server is known.
    pub fn known_url(&self, variables: &Variables) -> Option<Url> {
        let mut text = String::new();
        let is_whole = self.url.write(variables, &mut text).is_ok();
        let authority = text.find("://")? + 3;
        if !is_whole {
            // Up to the first variable without a value, which may end in the middle of a host's name.
            text.truncate(authority + text[authority..].find(['/', '?', '#'])?);
        }
        let url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())?;
        Some(url)
    }
}

/// Returns the key by which a request is signed: `KEY:SECRET`.
fn signing_by(scope: &str, url: &Url, credentials: Option<String>) -> Result<Signing, EvaluationError> {
    let wrong = |reason: String| EvaluationError(format!("'aws-sigv4': {reason}"));
    let scope = Scope::read(scope, url.host_str().unwrap_or_default()).map_err(|error| wrong(error.to_string()))?;
    Signing::new(scope, &credentials.unwrap_or_default())
        .map_err(|_| wrong("expected a key in the option 'user', as in user: KEY:SECRET".to_owned()))
}

/// Finds out whether a URL of a file can be one, as far as no placeholder stands in it.
fn check_literal(url: &ast::Template) -> Result<(), EvaluationError> {
    match (url.literal(), url.0.first()) {
        (Some(text), _) => parsed_url(text).map(drop),
        (None, Some(ast::Piece::Text(front)))
            if !["http://", "https://"].iter().any(|scheme| scheme.starts_with(front)) =>
        {
            // A digit may stand in a host, in a port and in a path.
            parsed_url(&format!("{front}1")).map(drop)
        }
        _ => Ok(()),
    }
}

/// Reads a URL.
fn parsed_url(text: &str) -> Result<Url, EvaluationError> {
    // A host with a port reads like a scheme with a path.
    if !text.contains("://") {
        return Err(EvaluationError(format!("missing scheme in the URL '{text}': use http://{text}")));
    }
    let url = Url::parse(text).map_err(|error| EvaluationError(format!("invalid URL '{text}': {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(EvaluationError(format!("the URL '{text}' must begin with http:// or https://")));
    }
    Ok(url)
}

/// What a path leaves as it is: all but what ends it, and what no request line can have.
const PATH: AsciiSet = CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');

/// Returns the path of a URL, or of a path with a query, as it is written.
fn written_path(url: &str) -> String {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let is_path = |at: &usize| after_scheme[*at..].starts_with('/');
    let path = after_scheme.find(['/', '?', '#']).filter(is_path).map_or("/", |at| &after_scheme[at..]);
    utf8_percent_encode(path.split(['?', '#']).next().unwrap_or(path), &PATH).to_string()
}

/// Adds the cookies of the jar and those of the entry, in one field as RFC 6265 requires (section 5.4).
fn add_cookies(fields: &mut Vec<(String, String)>, url: &Url, jar: &CookieStore, own: &[String]) {
    let of_jar = jar.get_request_values(url).map(|(name, value)| format!("{name}={value}"));
    let cookies: Vec<_> = of_jar.chain(own.iter().cloned()).collect();
    if !cookies.is_empty() {
        fields.push(("Cookie".to_owned(), cookies.join("; ")));
    }
}

impl Outgoing {
    /// Returns the path.
    pub fn path(&self) -> &str {
        self.path_as_is.as_deref().unwrap_or(self.url.path())
    }

    /// Returns the content that is sent.
    pub fn sent_content(&self) -> Option<&Bytes> {
        self.content.as_ref().filter(|_| !self.withholds_content)
    }

    /// Returns the path and the query, as the request line has them.
    pub fn target(&self) -> String {
        let query = self.url.query().map(|query| format!("?{query}"));
        format!("{}{}", self.path(), query.unwrap_or_default())
    }

    /// Returns the request that follows a redirect: as hurl does, as a GET without content after 301, 302 and 303, and without
    /// credentials for another origin.
    ///
    /// # Errors
    /// If the location is no URL of http or https.
    pub fn redirected(
        &self,
        status: u16,
        location: &str,
        jar: &CookieStore,
        trusted: bool,
    ) -> Result<Self, EvaluationError> {
        let wrong = |reason: &str| EvaluationError(format!("cannot follow the redirect to '{location}': {reason}"));
        let mut url = self.url.join(location).map_err(|error| wrong(&format!("invalid URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("not http:// or https://"));
        }
        url.set_fragment(None);
        let becomes_get = matches!(status, 301..=303) && self.method != "GET";
        let same_origin = url.origin() == self.url.origin();
        let dropped = |name: &str| {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            let of_content =
                is("content-type") || is("content-encoding") || is("content-language") || is("content-location");
            is("cookie")
                || (becomes_get && of_content)
                || (!same_origin && !trusted && (is("authorization") || is("host")))
        };
        let mut fields: Vec<_> = self.fields.iter().filter(|(name, _)| !dropped(name)).cloned().collect();
        let own_cookies = if same_origin || trusted { self.own_cookies.clone() } else { Vec::new() };
        add_cookies(&mut fields, &url, jar, &own_cookies);
        let method = if becomes_get { "GET".to_owned() } else { self.method.clone() };
        let content = if becomes_get { None } else { self.content.clone() };
        let path_as_is = match &self.path_as_is {
            Some(_) if location.starts_with('/') || location.contains("://") => Some(written_path(location)),
            _ => None,
        };
        let signing = self.signing.clone().filter(|_| same_origin || trusted);
        let digest = self.digest.clone().filter(|_| same_origin || trusted);
        Ok(Self {
            method,
            url,
            fields,
            without: self.without.clone(),
            own_cookies,
            content,
            path_as_is,
            signing,
            digest,
            withholds_content: false,
            is_http10: self.is_http10,
        })
    }
}
