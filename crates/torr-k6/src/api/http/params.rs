//! The parameters of a request: headers, tags, time-out, redirects, cookies.

use super::expected;
use super::headers::{Fields, canonical};
use super::jar::Jar;
use super::value::{is_nothing, text_of};
use crate::host::Host;
use crate::http_settings::TIMEOUT;
use crate::options::duration;
use crate::user::Expectation;
use rquickjs::{Class, Object, Value};
use std::time::Duration;

/// The form in which a script gets the content of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseType {
    /// As a string.
    Text,
    /// As an ArrayBuffer.
    Binary,
    /// Not at all.
    None,
}

/// A cookie that goes with one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestCookie {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
    /// Whether the cookie takes the place of one of the jar.
    pub replaces: bool,
}

/// The parameters of a request.
#[derive(Debug, Clone)]
pub struct Params {
    /// The field lines, their names canonical.
    pub fields: Fields,
    /// The tags of the samples.
    pub tags: Vec<(String, String)>,
    /// The time after which the request has failed.
    pub timeout: Duration,
    /// The number of redirects that are followed, if it is given.
    pub redirects: Option<u64>,
    /// The cookies beside those of the jar.
    pub cookies: Vec<RequestCookie>,
    /// The jar, if it is not the user's.
    pub jar: Option<Jar>,
    /// The kind of authentication.
    pub auth: String,
    /// The content codings of the request, the first applied first.
    pub compression: Vec<String>,
    /// The form of the response's content, if it is given.
    pub response_type: Option<ResponseType>,
    /// Which statuses are expected, if it is given.
    pub expectation: Option<Expectation>,
    /// Whether a failed request is an exception, if it is given.
    pub throws: Option<bool>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            fields: Fields::default(),
            tags: Vec::new(),
            timeout: TIMEOUT,
            redirects: None,
            cookies: Vec::new(),
            jar: None,
            auth: String::new(),
            compression: Vec::new(),
            response_type: None,
            expectation: None,
            throws: None,
        }
    }
}

/// The reason why parameters cannot be used.
#[derive(Debug)]
pub enum ParamError {
    /// A value that is wrong, in one line.
    Wrong(String),
    /// An error that the script has thrown.
    Thrown(rquickjs::Error),
}

impl From<rquickjs::Error> for ParamError {
    fn from(error: rquickjs::Error) -> Self {
        Self::Thrown(error)
    }
}

impl Params {
    /// Reads the parameters of a script.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(params: Option<&Object<'_>>) -> Result<Self, ParamError> {
        let mut read = Self::default();
        let Some(params) = params else { return Ok(read) };
        for property in params.props::<String, Value<'_>>() {
            let (key, value) = property?;
            if is_nothing(&value) && key != "responseCallback" {
                continue;
            }
            match key.as_str() {
                "headers" => read.read_headers(&value)?,
                "tags" => read.tags = tags(&value)?,
                "timeout" => read.timeout = timeout(&value)?,
                "redirects" => read.redirects = Some(value.as_number().unwrap_or(0.0).clamp(0.0, 1e6) as u64),
                "cookies" => read.read_cookies(&value)?,
                "jar" => read.jar = Class::<Host<Jar>>::from_value(&value).ok().map(|jar| jar.borrow().0.clone()),
                "auth" => read.auth = text_of(&value)?.to_ascii_lowercase(),
                "compression" => {
                    let text = text_of(&value)?;
                    let names = text.split(',').map(|name| name.trim().to_ascii_lowercase());
                    read.compression = names.filter(|name| !name.is_empty()).collect();
                }
                "responseType" => read.response_type = Some(response_type(&text_of(&value)?)?),
                "responseCallback" => read.expectation = Some(expected::given(&value)?),
                "throw" => read.throws = value.as_bool(),
                _ => {}
            }
        }
        Ok(read)
    }

    fn read_headers(&mut self, value: &Value<'_>) -> Result<(), ParamError> {
        let Some(headers) = value.as_object() else { return Ok(()) };
        for property in headers.props::<String, Value<'_>>() {
            let (name, value) = property?;
            let value = text_of(&value)?;
            if !is_token(&name) {
                return Err(ParamError::Wrong(format!("net/http: invalid header field name {name:?}")));
            }
            if value.bytes().any(|byte| byte != b'\t' && (byte < b' ' || byte == 0x7f)) {
                return Err(ParamError::Wrong(format!("net/http: invalid header field value for {name:?}")));
            }
            self.fields.set(canonical(&name), value.trim());
        }
        Ok(())
    }

    fn read_cookies(&mut self, value: &Value<'_>) -> Result<(), ParamError> {
        let Some(cookies) = value.as_object() else { return Ok(()) };
        for property in cookies.props::<String, Value<'_>>() {
            let (name, value) = property?;
            let (value, replaces) = match value.as_object().filter(|_| !value.is_string()) {
                Some(object) => {
                    let replaces = object.get::<_, Option<bool>>("replace").ok().flatten().unwrap_or(false);
                    (text_of(&object.get("value")?)?, replaces)
                }
                None => (text_of(&value)?, false),
            };
            self.cookies.push(RequestCookie { name, value, replaces });
        }
        Ok(())
    }
}

/// Returns whether a text is a token (RFC 9110), as methods and names of fields are.
pub(super) fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Reads tags: their values are strings, numbers or booleans.
///
/// # Errors
/// What is wrong with them.
pub fn tags(value: &Value<'_>) -> Result<Vec<(String, String)>, ParamError> {
    let mut tags = Vec::new();
    let Some(object) = value.as_object() else { return Ok(tags) };
    for property in object.props::<String, Value<'_>>() {
        let (name, value) = property?;
        if is_nothing(&value) {
            continue;
        }
        if !value.is_string() && !value.is_number() && !value.is_bool() {
            let why = format!(
                "invalid value for metric tag '{name}': only String, Boolean and Number types are accepted as a metric tag values"
            );
            return Err(ParamError::Wrong(why));
        }
        tags.push((name, text_of(&value)?));
    }
    Ok(tags)
}

fn timeout(value: &Value<'_>) -> Result<Duration, ParamError> {
    let wrong = |why: String| ParamError::Wrong(format!("invalid timeout value: {why}"));
    match value.as_number() {
        Some(milliseconds) => duration::from_millis(milliseconds).map_err(wrong),
        None => duration::parse(&text_of(value)?).map_err(wrong),
    }
}

fn response_type(text: &str) -> Result<ResponseType, ParamError> {
    match text {
        "text" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::None),
        _ => {
            Err(ParamError::Wrong(format!("{text} is an invalid response type, valid options are: text, binary, none")))
        }
    }
}
