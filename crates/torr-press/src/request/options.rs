//! The settings of requests beside their URLs.

use super::draw::Order;
use super::encoder::Encoder;
use super::feeder::Feeder;
use super::sigv4::Signing;
use super::token::Token;

/// The settings of requests. The default is a plain GET.
#[derive(Debug, Clone)]
pub struct Options {
    /// The method; without one GET, or POST where there is a body.
    pub method: Option<String>,
    /// Fields as `Name: value`. They replace those that are sent by themselves or by another option, and an empty value
    /// leaves such a one out, as with curl.
    pub headers: Vec<String>,
    /// The value of `User-Agent` instead of Torr's own; an empty one removes the field.
    pub user_agent: Option<String>,
    /// `Referer`.
    pub referer: Option<String>,
    /// `Cookie`, each one `name=value` or several of these with `; ` between them.
    pub cookies: Vec<String>,
    /// Credentials that replace those of the URL.
    pub auth: Option<Auth>,
    /// Whether `Accept-Encoding` offers compressed content.
    pub compressed: bool,
    /// Whether the responses are to be event streams.
    pub event_streams: bool,
    /// The body, for all URLs that have none and no method of their own.
    pub body: Option<Body>,
    /// Pieces that are appended to the query of each URL.
    pub query: Vec<Data>,
    /// Whether connections are used again; otherwise `Connection: close` says that they are not.
    pub keep_alive: bool,
    /// Whether `{{...}}` is a placeholder.
    pub templates: bool,
    /// Whether several machines send these requests together: placeholders by which each would send something of its own,
    /// `{{env NAME}}` and `{{seq}}`, are mistakes then.
    pub of_several_machines: bool,
    /// The records from which placeholders take fields.
    pub feeder: Option<Feeder>,
    /// The order in which records are chosen.
    pub feeder_order: Order,
    /// The order in which URLs are chosen.
    pub url_order: Order,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            method: None,
            headers: vec![],
            user_agent: None,
            referer: None,
            cookies: vec![],
            auth: None,
            compressed: false,
            event_streams: false,
            body: None,
            query: vec![],
            keep_alive: true,
            templates: true,
            of_several_machines: false,
            feeder: None,
            feeder_order: Order::Sequence,
            url_order: Order::Random,
        }
    }
}

/// Credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// `name:password` (RFC 7617).
    Basic(String),
    /// A token (RFC 6750).
    Bearer(String),
    /// A token that is renewed during the run.
    Renewed(Token),
    /// A signature of each request by AWS Signature Version 4.
    Signed(Box<Signing>),
    /// Digest authentication (RFC 7616), by the credentials that the plan's [`Inspection`](crate::Inspection) has.
    Digest,
}

/// The content of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Pieces of a form, joined by `&`.
    Data(Vec<Data>),
    /// JSON.
    Json(Vec<u8>),
    /// `multipart/form-data`.
    Multipart(Vec<Part>),
    /// A text in JSON that is sent as something else. It goes without `Content-Length`, which only HTTP/2 allows.
    Encoded {
        /// The text, in which placeholders are escaped as in JSON.
        text: Vec<u8>,
        /// What makes the content of it.
        encoder: Encoder,
        /// The media type of the content.
        media_type: String,
    },
}

/// A piece of a form, or of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Bytes that are sent as they stand, placeholders in them replaced.
    Plain(Vec<u8>),
    /// A text to be percent-encoded, behind a name that is not, if there is one.
    Encoded {
        /// The name.
        name: Option<String>,
        /// The text.
        content: String,
    },
}

/// A part of a multipart form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The field's name.
    pub name: String,
    /// The value of the field.
    pub content: Content,
    /// The file name of the field, which makes it a file.
    pub file_name: Option<String>,
    /// The media type of the field; `None` sends none.
    pub media_type: Option<String>,
}

/// The value of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text, which may have placeholders.
    Text(String),
    /// Bytes that are sent as they are.
    File(Vec<u8>),
}
