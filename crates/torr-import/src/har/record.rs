//! The parts of a HAR file that an import needs (HAR 1.2 specification). What a writer leaves out, or writes as null, has a
//! default: Firefox, Chromium and proxies differ in what they give.

use base64::prelude::{BASE64_STANDARD, Engine};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::time::Duration;

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object with a 'log'")]
pub(super) struct Archive {
    pub(super) log: Log,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object with 'entries'")]
pub(super) struct Log {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) pages: Vec<Page>,
    #[serde(default)]
    pub(super) entries: Vec<Record>,
}

/// A page that the browser loaded.
#[derive(Debug, Deserialize)]
pub(super) struct Page {
    /// The page's title; Chromium writes its URL.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) title: String,
    /// When the browser began to load the page, in milliseconds since 1970.
    #[serde(default, rename = "startedDateTime", deserialize_with = "moment")]
    pub(super) started: i64,
}

/// One exchange.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// When the exchange began, in milliseconds since 1970; 0 where the file does not say.
    #[serde(default, rename = "startedDateTime", deserialize_with = "moment")]
    pub(super) started: i64,
    /// The whole exchange, in milliseconds.
    #[serde(default, deserialize_with = "number")]
    time: f64,
    pub(super) request: Request,
    /// The response; `None` where the file has none, as of programs that only write requests.
    #[serde(default)]
    pub(super) response: Option<Response>,
    /// Chromium's reason for which there was no response.
    #[serde(default, rename = "_error")]
    pub(super) error: Option<IgnoredAny>,
    /// Chromium's kind of resource.
    #[serde(default, rename = "_resourceType")]
    pub(super) resource_type: Option<String>,
    /// Chromium's frames of a WebSocket connection.
    #[serde(default, rename = "_webSocketMessages")]
    pub(super) web_socket_messages: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    #[serde(default, deserialize_with = "or_default")]
    http_version: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) headers: Vec<Header>,
    /// The parameters of the URL, which some writers leave out there.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) query_string: Vec<Header>,
    /// The cookies, which programs that only write requests do not repeat among the fields.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) cookies: Vec<Header>,
    #[serde(default)]
    pub(super) post_data: Option<PostData>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Header {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) value: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PostData {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) mime_type: String,
    #[serde(default)]
    pub(super) text: Option<String>,
    /// `base64` for content that is no text, as some proxies write it.
    #[serde(default)]
    encoding: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) params: Vec<Param>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Param {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: Option<String>,
    #[serde(default)]
    pub(super) file_name: Option<String>,
    #[serde(default)]
    pub(super) content_type: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Response {
    /// The status code, of which some writers make a text or -1; 0 where there was no response, `None` where the file does not say.
    #[serde(default, deserialize_with = "status")]
    pub(super) status: Option<u16>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) headers: Vec<Header>,
    #[serde(default, rename = "redirectURL", deserialize_with = "or_default")]
    redirect_url: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) content: Content,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) mime_type: String,
    #[serde(default)]
    text: Option<String>,
    /// `base64` for content that is no text.
    #[serde(default)]
    encoding: Option<String>,
}

impl Record {
    /// Returns when the exchange ended, in milliseconds since 1970.
    pub(super) fn ended(&self) -> i64 {
        let time = Duration::try_from_secs_f64(self.time / 1000.0).unwrap_or_default();
        self.started.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    /// Whether the exchange was over HTTP/3.
    pub(super) fn is_http3(&self) -> bool {
        let version = self.request.http_version.to_ascii_lowercase();
        version.starts_with("h3") || version.starts_with("http/3")
    }

    /// Returns the status code; 0 where the recorder got no response, `None` where the file does not say.
    pub(super) fn status(&self) -> Option<u16> {
        self.response.as_ref()?.status
    }

    /// Whether the recorder blocked the request, or gave it up.
    pub(super) fn has_failed(&self) -> bool {
        self.status() == Some(0) || self.error.is_some() && self.status().is_none()
    }

    /// Returns the media type of the response's content, with its parameters.
    pub(super) fn media_type(&self) -> &str {
        self.response.as_ref().map_or("", |response| response.content.mime_type.as_str())
    }

    /// Whether the response is a page.
    pub(super) fn is_page(&self) -> bool {
        match &self.resource_type {
            Some(kind) => kind == "document",
            None => self.media_type().to_ascii_lowercase().starts_with("text/html"),
        }
    }

    /// Returns where a redirect leads; `None` for other responses.
    pub(super) fn redirect(&self) -> Option<&str> {
        let response = self.response.as_ref()?;
        let location = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("location"));
        let target = location.map_or(response.redirect_url.as_str(), |header| &header.value);
        Some(target).filter(|target| matches!(response.status, Some(300..=399)) && !target.is_empty())
    }
}

impl PostData {
    /// Makes content that the file has as base64 plain again; returns the bytes of content that is no text.
    pub(super) fn decode(&mut self) -> Option<Vec<u8>> {
        if self.encoding.as_deref() != Some("base64") {
            return None;
        }
        let bytes = BASE64_STANDARD.decode(self.text.as_deref()?.trim()).ok()?;
        match String::from_utf8(bytes) {
            Ok(text) => {
                self.text = Some(text);
                None
            }
            Err(error) => {
                self.text = None;
                Some(error.into_bytes())
            }
        }
    }
}

impl Content {
    /// Returns the content as text, if the file has it.
    pub(super) fn text(&self) -> Option<Cow<'_, str>> {
        let text = self.text.as_deref()?;
        match self.encoding.as_deref() {
            None | Some("") => Some(text.into()),
            Some("base64") if self.is_text() => {
                let bytes = BASE64_STANDARD.decode(text.trim()).ok()?;
                String::from_utf8(bytes).ok().map(Cow::Owned)
            }
            Some(_) => None,
        }
    }

    fn is_text(&self) -> bool {
        let mime_type = self.mime_type.to_ascii_lowercase();
        ["json", "text/", "xml"].iter().any(|part| mime_type.contains(part))
    }
}

fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let text: String = or_default(deserializer)?;
    Ok(chrono::DateTime::parse_from_rfc3339(&text).map_or(0, |moment| moment.timestamp_millis()))
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::Number(number) => number.as_f64().unwrap_or_default(),
        serde_json::Value::String(text) => text.trim().parse().unwrap_or_default(),
        _ => 0.0,
    })
}

fn status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    let status = match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::Number(number) => number.as_f64().unwrap_or_default(),
        serde_json::Value::String(text) => text.trim().parse().unwrap_or_default(),
        _ => return Ok(None),
    };
    Ok(Some(if (100.0..1000.0).contains(&status) { status as u16 } else { 0 }))
}
