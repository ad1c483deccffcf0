//! The parts of a HAR file that an import needs (HAR 1.2 specification). What a writer leaves out has a default: Firefox and
//! Chromium differ in what they give.

use serde::{Deserialize, Deserializer};
use std::time::Duration;

#[derive(Debug, Deserialize)]
pub(super) struct Archive {
    pub(super) log: Log,
}

#[derive(Debug, Deserialize)]
pub(super) struct Log {
    #[serde(default)]
    pub(super) entries: Vec<Record>,
}

/// One exchange.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// When the exchange began, in milliseconds since 1970; 0 where the file does not say.
    #[serde(default, rename = "startedDateTime", deserialize_with = "moment")]
    pub(super) started: i64,
    /// The whole exchange, in milliseconds.
    #[serde(default)]
    time: f64,
    pub(super) request: Request,
    #[serde(default)]
    pub(super) response: Response,
    /// Chromium's kind of resource.
    #[serde(default, rename = "_resourceType")]
    pub(super) resource_type: Option<String>,
    /// Chromium's frames of a WebSocket connection.
    #[serde(default, rename = "_webSocketMessages")]
    pub(super) web_socket_messages: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    #[serde(default)]
    pub(super) headers: Vec<Header>,
    #[serde(default)]
    pub(super) post_data: Option<PostData>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Header {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PostData {
    #[serde(default)]
    pub(super) mime_type: String,
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) params: Vec<Param>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Param {
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
    #[serde(default)]
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: Vec<Header>,
    #[serde(default)]
    pub(super) content: Content,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    #[serde(default)]
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
}

impl Content {
    /// Returns the content as text, if the file has it.
    pub(super) fn text(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| self.encoding.as_deref().unwrap_or_default().is_empty())
    }
}

fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok(chrono::DateTime::parse_from_rfc3339(&text).map_or(0, |moment| moment.timestamp_millis()))
}
