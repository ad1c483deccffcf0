//! Why requests cannot be made.

use crate::servers::target::TargetError;
use thiserror::Error;

/// An error in the description of requests, for the user to mend.
#[derive(Debug, Error)]
pub enum RequestError {
    /// A URL that is none.
    #[error(transparent)]
    Url(#[from] TargetError),
    /// A path or a query with something that cannot stand there.
    #[error("invalid URL '{url}': {why}")]
    Path {
        /// The whole URL.
        url: String,
        /// The defect of the path or query.
        why: String,
    },
    /// A line that is no header, by its number among all that are given, from 1. It may hold a secret, so it is not shown.
    #[error("header {0} must be 'Name: value' (not shown, as it may hold a secret)")]
    Header(usize),
    /// A header, by its name, whose value cannot be sent. The value may hold a secret, so it is not shown.
    #[error("the value of header '{0}' contains a line break or another forbidden character")]
    HeaderValue(String),
    /// A header, by its name, that the engine must set itself.
    #[error("header '{0}' follows from the body: drop it")]
    OwnHeader(String),
    /// A header, by its name, that belongs to the opening handshake of WebSocket.
    #[error(
        "header '{0}' belongs to the WebSocket handshake: drop it (for subprotocols use --subprotocol, for compression --compressed)"
    )]
    HandshakeHeader(String),
    /// A name of a subprotocol that is not one.
    #[error("invalid subprotocol '{0}': it must be a token such as 'graphql-ws'")]
    Subprotocol(String),
    /// A text that is no rule of the value by which messages are matched.
    #[error("expected a JSONPath such as '$.id', found '{text}': {why}")]
    Match {
        /// The rule as given.
        text: String,
        /// The defect of the rule.
        why: String,
    },
    /// A WebSocket has no message to send.
    #[error("a ws:// URL needs a message to send: pass it with --data, or receive with --listen")]
    NoMessage,
    /// A message that is to be text has other bytes.
    #[error("the message is not UTF-8 text: use --binary")]
    NotText,
    /// A message that is larger than this limit, in bytes.
    #[error("a message must have at most {0} bytes")]
    LargeMessage(usize),
    /// A method that is not one.
    #[error("invalid HTTP method '{0}'")]
    Method(String),
    /// A placeholder that means nothing.
    #[error("'{text}' {why}")]
    Template {
        /// The placeholder as it stands.
        text: String,
        /// The defect of the placeholder, and what is available instead.
        why: String,
    },
    /// A line of a list of URLs.
    #[error("list of URLs, line {line}: {why}")]
    UrlList {
        /// The number of the line, from 1.
        line: usize,
        /// The defect of the line.
        why: String,
    },
    /// The list of URLs is empty.
    #[error("the list of URLs is empty")]
    NoUrls,
    /// A URL of another scheme, host or port than the first.
    #[error("'{url}' is not on {first}: all URLs of a run must have the same scheme, host and port")]
    OtherOrigin {
        /// The URL.
        url: String,
        /// Scheme, host and port of the first.
        first: String,
    },
    /// A feeder that cannot be read.
    #[error("cannot read records from {file}: {why}")]
    Feeder {
        /// The name of the file.
        file: String,
        /// The defect of the file.
        why: String,
    },
    /// A field of a feeder whose value is not valid where its placeholder stands.
    #[error("field '{name}' of record {record}: {why}")]
    Field {
        /// The field.
        name: String,
        /// The record, counted from 1.
        record: usize,
        /// The defect of the value.
        why: String,
    },
    /// A text of which no content can be made.
    #[error("{0}")]
    Content(String),
    /// A text of which no content can be made with the fields of a record.
    #[error("record {record}: {why}")]
    ContentOfRecord {
        /// The record, counted from 1.
        record: usize,
        /// The defect of the text.
        why: String,
    },
    /// A part of a form that cannot be sent.
    #[error("form part '{part}': {why}")]
    Form {
        /// The name of the part.
        part: String,
        /// The defect of the part.
        why: String,
    },
}
