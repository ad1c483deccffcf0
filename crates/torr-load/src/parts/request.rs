//! What is sent.

use crate::data_kind::DataKind;
use crate::file_source::FileSource;
use crate::parsed::Parsed;
use std::path::PathBuf;
use torr_press::request::Order;

/// The request, or many.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestPart {
    pub headers: Vec<String>,
    pub method: Option<String>,
    /// The pieces of a body in their order.
    pub data: Vec<(DataKind, String)>,
    pub json_body: Vec<String>,
    pub form: Vec<String>,
    pub get: bool,
    pub head: bool,
    pub url_query: Vec<String>,
    pub user: Option<String>,
    pub oauth2_bearer: Option<String>,
    pub oauth2_client: Option<String>,
    pub oauth2_token_url: Option<String>,
    pub oauth2_scope: Option<String>,
    pub oauth2_params: Vec<String>,
    pub digest: bool,
    pub aws_sigv4: Option<String>,
    pub cookies: Vec<String>,
    pub user_agent: Option<String>,
    pub referer: Option<String>,
    pub range: Option<String>,
    pub compressed: bool,
    pub urls: Option<PathBuf>,
    pub log: Option<PathBuf>,
    pub log_format: Option<String>,
    pub log_methods: Option<String>,
    pub log_hosts: Vec<String>,
    pub order: Option<Parsed<Order>>,
    pub feeder: Option<PathBuf>,
    pub feeder_order: Option<Parsed<Order>>,
    pub no_template: bool,
    /// Whether messages of WebSockets are binary.
    pub binary: bool,
    /// The value that a message of a WebSocket and its response have in common.
    pub matching: Option<String>,
    /// The subprotocols that WebSockets offer.
    pub subprotocols: Vec<String>,
    /// Whether each message of a WebSocket is compressed by itself.
    pub no_context_takeover: bool,
    /// Where files come from, which is no setting.
    pub files: FileSource,
}

impl RequestPart {
    /// Returns how URLs are chosen.
    pub fn order(&self) -> Order {
        self.order.as_deref().copied().unwrap_or(Order::Random)
    }

    /// Returns how records are chosen.
    pub fn feeder_order(&self) -> Order {
        self.feeder_order.as_deref().copied().unwrap_or(Order::Sequence)
    }

    /// Returns whether requests have a body.
    pub fn has_body(&self) -> bool {
        let has_data = !self.data.is_empty() || !self.json_body.is_empty() || !self.form.is_empty();
        has_data && !self.get
    }
}
