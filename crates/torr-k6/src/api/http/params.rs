//! The parameters of a request: headers, tags, time-out, redirects, cookies.

use super::headers::{Fields, canonical, is_token};
use super::jar::Jar;
use super::value::{is_nothing, is_true, text_of};
use super::{coding, expected};
use crate::host::Host;
use crate::http_settings::TIMEOUT;
use crate::options::duration;
use crate::user::Expectation;
use rquickjs::{Class, Coerced, FromJs, Object, Value};
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
    /// Why no request can have these field lines, if there is a reason.
    pub refusal: Option<String>,
    /// The tags of the samples.
    pub tags: Vec<(String, String)>,
    /// The time after which the request has failed; without any time it fails before it is sent.
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
            refusal: None,
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

impl ParamError {
    /// Changes the line of a value that is wrong.
    fn map(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Wrong(why) => Self::Wrong(change(why)),
            Self::Thrown(error) => Self::Thrown(error),
        }
    }
}

impl From<rquickjs::Error> for ParamError {
    fn from(error: rquickjs::Error) -> Self {
        Self::Thrown(error)
    }
}

impl From<String> for ParamError {
    fn from(why: String) -> Self {
        Self::Wrong(why)
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
            match key.as_str() {
                "headers" => read.read_headers(&value)?,
                "tags" => {
                    let about = |why| format!("invalid HTTP request metric tags: {why}");
                    read.tags = tags(&value).map_err(|error| error.map(about))?;
                }
                "timeout" => read.timeout = timeout(&value)?,
                // What is no number is 0, so that no redirect is followed.
                "redirects" => read.redirects = Some(number(value)?.clamp(0.0, 1e6) as u64),
                "cookies" => read.read_cookies(&value)?,
                "jar" => read.jar = Class::<Host<Jar>>::from_value(&value).ok().map(|jar| jar.borrow().0.clone()),
                "auth" => read.auth = text_of(&value)?,
                "compression" => {
                    let text = text_of(&value)?;
                    let names = if text.trim().is_empty() { None } else { Some(text.split(',')) };
                    read.compression = names.into_iter().flatten().map(|name| name.trim().to_owned()).collect();
                    if let Some(unknown) = read.compression.iter().find(|name| !coding::is_known(name)) {
                        return Err(coding::unknown(unknown).into());
                    }
                }
                "responseType" => read.response_type = Some(response_type(&text_of(&value)?)?),
                "responseCallback" => {
                    let given = expected::given(&value);
                    read.expectation = Some(given.ok_or_else(|| "unsupported responseCallback".to_owned())?);
                }
                "throw" => read.throws = Some(is_true(&value)?),
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
                self.refusal.get_or_insert_with(|| format!("net/http: invalid header field name {name:?}"));
            } else if value.bytes().any(|byte| byte != b'\t' && (byte < b' ' || byte == 0x7f)) {
                let name = canonical(&name);
                self.refusal.get_or_insert_with(|| format!("net/http: invalid header field value for {name:?}"));
            } else {
                self.fields.set(canonical(&name), value.trim());
            }
        }
        Ok(())
    }

    fn read_cookies(&mut self, value: &Value<'_>) -> Result<(), ParamError> {
        let Some(cookies) = value.as_object() else { return Ok(()) };
        for property in cookies.props::<String, Value<'_>>() {
            let (name, value) = property?;
            if is_nothing(&value) {
                continue;
            }
            let (value, replaces) = match value.as_object().filter(|_| !value.is_string() && !value.is_array()) {
                Some(object) => {
                    let value: Value<'_> = object.get("value")?;
                    let text = if value.is_undefined() { String::new() } else { text_of(&value)? };
                    (text, is_true(&object.get("replace")?)?)
                }
                None => (text_of(&value)?, false),
            };
            self.cookies.push(RequestCookie { name, value, replaces });
        }
        Ok(())
    }
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
        // k6 has no time for what is no time.
        Some(milliseconds) if !(milliseconds > 0.0 && milliseconds.is_finite()) => Ok(Duration::ZERO),
        Some(milliseconds) => duration::from_millis(milliseconds).map_err(wrong),
        None => duration::parse(&text_of(value)?).map_err(wrong),
    }
}

/// Returns a value as a number, 0 if it is none.
fn number(value: Value<'_>) -> Result<f64, ParamError> {
    let number = Coerced::<f64>::from_js(&value.ctx().clone(), value)?.0;
    Ok(if number.is_nan() { 0.0 } else { number })
}

fn response_type(text: &str) -> Result<ResponseType, ParamError> {
    match text {
        "text" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::None),
        _ => Err(ParamError::Wrong(format!("{text} does not belong to ResponseType values: text, binary, none"))),
    }
}
