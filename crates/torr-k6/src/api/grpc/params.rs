//! The parameters of connections and of calls.

use crate::api::bytes;
use crate::api::http::params::{ParamError, tags};
use crate::api::http::value::{is_nothing, is_true, text_of};
use crate::host::go_error;
use crate::options::duration;
use crate::sockets::grpc::{GrpcTls, Metadata};
use rquickjs::{Ctx, Object, Result, Value};
use std::time::Duration;

/// The time after which opening a connection has failed, unless the script sets it.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The size of the largest message that is received, unless the script sets it, in bytes.
const MOST_RECEIVED: usize = 4 << 20;
/// The size of the largest message that is sent, unless the script sets it, in bytes.
const MOST_SENT: usize = i32::MAX as usize;

/// What is wrong, or what the script has thrown.
type Read<T> = std::result::Result<T, ParamError>;

/// The parameters of a connection.
#[derive(Debug)]
pub(super) struct ConnectParams {
    pub is_plaintext: bool,
    /// Whether the server describes its services.
    pub reflects: bool,
    pub reflect_metadata: Metadata,
    pub timeout: Duration,
    pub most_received: usize,
    pub most_sent: usize,
    pub tls: GrpcTls,
    pub authority: Option<String>,
}

impl ConnectParams {
    /// Reads the parameters of a script.
    pub fn read(ctx: &Ctx<'_>, given: &Value<'_>) -> Result<Self> {
        Self::of(given).map_err(|error| thrown(ctx, error, "invalid grpc.connect() parameters"))
    }

    fn of(given: &Value<'_>) -> Read<Self> {
        let mut read = Self {
            is_plaintext: false,
            reflects: false,
            reflect_metadata: Metadata::new(),
            timeout: TIMEOUT,
            most_received: MOST_RECEIVED,
            most_sent: MOST_SENT,
            tls: GrpcTls::default(),
            authority: None,
        };
        for (key, value) in properties(given)? {
            match key.as_str() {
                "plaintext" => read.is_plaintext = boolean(&key, &value)?,
                "reflect" => read.reflects = boolean(&key, &value)?,
                "reflectMetadata" => {
                    let about = |why| format!("invalid reflectMetadata param: {why}");
                    read.reflect_metadata = metadata(&value).map_err(|error| of_param(error, about))?;
                }
                "timeout" => read.timeout = timeout(&value)?,
                "maxReceiveSize" => read.most_received = size(&key, &value)?.unwrap_or(MOST_RECEIVED),
                "maxSendSize" => read.most_sent = size(&key, &value)?.unwrap_or(MOST_SENT),
                "tls" => read.tls = tls(&value)?,
                "authority" => read.authority = Some(string(&key, &value)?).filter(|text| !text.is_empty()),
                _ => return Err(format!("unknown connect param: {key:?}").into()),
            }
        }
        Ok(read)
    }
}

/// The parameters of a call.
#[derive(Debug, Default)]
pub(super) struct CallParams {
    pub metadata: Metadata,
    pub tags: Vec<(String, String)>,
    /// The time after which the call has failed, if the script sets it.
    pub timeout: Option<Duration>,
    /// Whether the message of the response is not needed.
    pub discards: bool,
}

impl CallParams {
    /// Reads the parameters of a script.
    pub fn read(ctx: &Ctx<'_>, given: &Value<'_>, about: &str) -> Result<Self> {
        Self::of(given).map_err(|error| thrown(ctx, error, about))
    }

    fn of(given: &Value<'_>) -> Read<Self> {
        let mut read = Self::default();
        for (key, value) in properties(given)? {
            match key.as_str() {
                "metadata" => {
                    let about = |why| format!("invalid metadata param: {why}");
                    read.metadata = metadata(&value).map_err(|error| of_param(error, about))?;
                }
                "tags" => {
                    let about = |why| format!("metric tags: {why}");
                    read.tags = tags(&value).map_err(|error| of_param(error, about))?;
                }
                "timeout" => read.timeout = Some(timeout(&value)?).filter(|timeout| !timeout.is_zero()),
                "discardResponseMessage" => read.discards = is_true(&value)?,
                _ => return Err(format!("unknown param: {key:?}").into()),
            }
        }
        Ok(read)
    }
}

/// Throws what is wrong with parameters.
fn thrown(ctx: &Ctx<'_>, error: ParamError, about: &str) -> rquickjs::Error {
    match error {
        ParamError::Thrown(error) => error,
        ParamError::Wrong(why) => go_error(ctx, &format!("{about}: {why}")),
    }
}

fn of_param(error: ParamError, about: impl FnOnce(String) -> String) -> ParamError {
    match error {
        ParamError::Thrown(error) => ParamError::Thrown(error),
        ParamError::Wrong(why) => ParamError::Wrong(about(why)),
    }
}

/// Returns the properties of an object; none for what is none.
fn properties<'js>(given: &Value<'js>) -> Result<Vec<(String, Value<'js>)>> {
    let object: Option<&Object<'js>> = given.as_object();
    object.map_or(Ok(Vec::new()), |object| object.props::<String, Value<'js>>().collect())
}

/// Returns a value as an error shows it.
fn shown(value: &Value<'_>) -> Read<String> {
    let text = text_of(value)?;
    Ok(if value.is_string() { format!("{text:?}") } else { text })
}

fn boolean(key: &str, value: &Value<'_>) -> Read<bool> {
    match value.as_bool() {
        Some(value) => Ok(value),
        None => Err(format!("invalid {key} value: '{}', it needs to be boolean", shown(value)?).into()),
    }
}

fn string(key: &str, value: &Value<'_>) -> Read<String> {
    match value.is_string() {
        true => Ok(text_of(value)?),
        false => Err(format!("invalid {key} value: '{}', it needs to be a string", shown(value)?).into()),
    }
}

/// Reads a size in bytes; 0 stands for the usual one.
fn size(key: &str, value: &Value<'_>) -> Read<Option<usize>> {
    match value.as_number().filter(|number| number.fract() == 0.0) {
        Some(number) if number < 0.0 => {
            Err(format!("invalid {key} value: '{number}', it needs to be a positive integer").into())
        }
        Some(number) => Ok(Some(number.min(MOST_SENT as f64) as usize).filter(|size| *size > 0)),
        None => Err(format!("invalid {key} value: '{}', it needs to be an integer", shown(value)?).into()),
    }
}

fn timeout(value: &Value<'_>) -> Read<Duration> {
    let read = match value.as_number() {
        Some(milliseconds) => duration::from_millis(milliseconds),
        None => duration::parse(&text_of(value)?),
    };
    read.map_err(|why| format!("invalid timeout value: {why}").into())
}

/// Reads metadata. The names are in lower case; values are strings, but for those whose name ends in `-bin`, which are bytes.
fn metadata(value: &Value<'_>) -> Read<Metadata> {
    let mut read = Metadata::new();
    if is_nothing(value) {
        return Ok(read);
    }
    if !value.is_object() || value.is_array() {
        return Err("must be an object with key-value pairs".to_owned().into());
    }
    for (name, value) in properties(value)? {
        let bytes = match name.ends_with("-bin") {
            true if !value.is_string() => bytes::of(&value)?.ok_or_else(|| format!("{name:?} value must be binary"))?,
            true => return Err(format!("{name:?} value must be binary").into()),
            false if value.is_string() => text_of(&value)?.into_bytes(),
            false => return Err(format!("{name:?} value must be a string").into()),
        };
        read.push((name.to_ascii_lowercase(), bytes));
    }
    Ok(read)
}

/// Returns why metadata cannot be sent, if there is a reason.
pub(super) fn unsendable(metadata: &Metadata) -> Option<String> {
    metadata.iter().find_map(|(name, value)| {
        let is_plain = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase() || b"-_.".contains(&byte);
        if name.starts_with(':') {
            return None;
        }
        if name.is_empty() {
            return Some("there is an empty key in the header".to_owned());
        }
        if !name.bytes().all(is_plain) {
            return Some(format!("header key {name:?} contains illegal characters not in [0-9a-z-_.]"));
        }
        let is_printable = name.ends_with("-bin") || value.iter().all(|byte| (0x20..=0x7e).contains(byte));
        (!is_printable).then(|| format!("header key {name:?} contains value with non-printable ASCII characters"))
    })
}

fn tls(value: &Value<'_>) -> Read<GrpcTls> {
    let keys = "expected (optional) keys: cert, key, password, and cacerts";
    if !value.is_object() || value.is_array() {
        return Err(format!("invalid tls value: '{}', {keys}", shown(value)?).into());
    }
    let (mut read, mut chain, mut private) = (GrpcTls::default(), None, None);
    for (key, value) in properties(value)? {
        let wrong = |what: &str| ParamError::Wrong(format!("invalid tls {key} value: it needs to be {what}"));
        let text =
            |what: &str| -> Read<String> { if value.is_string() { Ok(text_of(&value)?) } else { Err(wrong(what)) } };
        match key.as_str() {
            "cert" => chain = Some(text("a PEM formatted string")?),
            "key" => private = Some(text("a PEM formatted string")?),
            "password" => read.password = Some(text("a string")?).filter(|password| !password.is_empty()),
            "cacerts" => {
                let what = "a string or an array of PEM formatted strings";
                let array = value.as_array().cloned();
                let items = match array {
                    Some(array) => crate::host::items(&array)?.collect::<Result<Vec<_>>>()?,
                    None => vec![value.clone()],
                };
                for item in items {
                    if !item.is_string() {
                        return Err(wrong(what));
                    }
                    read.signers.push_str(&text_of(&item)?);
                    read.signers.push('\n');
                }
            }
            _ => {}
        }
    }
    read.identity = chain.zip(private).filter(|(chain, key)| !chain.is_empty() && !key.is_empty());
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_that_cannot_be_sent_has_a_reason() {
        let why = |name: &str, value: &str| unsendable(&vec![(name.to_owned(), value.as_bytes().to_vec())]);
        assert_eq!(why("x-a", "b c~"), None);
        assert_eq!(why("x-bin", "\n"), None);
        assert_eq!(why(":authority", "b"), None);
        assert_eq!(
            why("a b", "").as_deref(),
            Some("header key \"a b\" contains illegal characters not in [0-9a-z-_.]")
        );
        let printable = "header key \"x-a\" contains value with non-printable ASCII characters";
        assert_eq!(why("x-a", "a\nb").as_deref(), Some(printable));
        assert_eq!(why("x-a", "\u{fc}").as_deref(), Some(printable));
    }
}
