//! The fields of a router's response, in the order and the case in which hyper writes them: a program that moves here from
//! `axum::serve` responds byte by byte as before.

use crate::message::stream::Framing;
use http::header::{CONNECTION, CONTENT_LENGTH, TRAILER, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue};
use torr_wire::encode;

/// The persistence of a connection after a response.
#[derive(Debug, Clone, Copy)]
pub(super) struct Persistence {
    pub keep_alive: bool,
    pub http_1_1: bool,
}

impl Persistence {
    /// Returns the option of `Connection` that tells the client, where the protocol's default is another.
    #[inline]
    pub fn option(self) -> Option<&'static [u8]> {
        match self {
            Self { keep_alive: false, .. } => Some(b"close"),
            Self { http_1_1: false, .. } => Some(b"keep-alive"),
            _ => None,
        }
    }
}

/// Appends a router's fields and what frames the content. `None` stands for a response that must not have content, and `is_empty` for
/// one whose body is known to be empty. The server decides on the framing and on the connection, whatever the router's fields have.
pub(super) fn write(
    out: &mut Vec<u8>,
    fields: &HeaderMap,
    framing: Option<Framing>,
    is_empty: bool,
    persistence: Persistence,
) {
    let option = persistence.option();
    // Whether there is a field that frames the content, and one with the options of the connection.
    let (mut is_framed, mut is_settled) = (false, false);
    for (name, value) in fields {
        match *name {
            // Where the router has the field that frames the content, it stands there, but for that of an empty body.
            CONTENT_LENGTH | TRANSFER_ENCODING => {
                let is_length = matches!(framing, Some(Framing::Length(_))) && !is_empty;
                let is_chunked = framing == Some(Framing::Chunked);
                if !is_framed && (if *name == CONTENT_LENGTH { is_length } else { is_chunked }) {
                    is_framed = write_framing(out, framing);
                }
            }
            CONNECTION => {
                if !is_settled {
                    write_options(out, fields, option);
                }
                is_settled = true;
            }
            TRAILER if framing != Some(Framing::Chunked) => {}
            _ => encode::header(out, name.as_str(), value.as_bytes()),
        }
    }
    if let (Some(option), false) = (option, is_settled) {
        encode::header(out, CONNECTION.as_str(), option);
    }
    if !is_framed {
        write_framing(out, framing);
    }
}

/// Appends the options of the connection that the router has, in one field, and the server's own behind them.
#[cold]
fn write_options(out: &mut Vec<u8>, fields: &HeaderMap, option: Option<&'static [u8]>) {
    let mut options: Vec<_> = fields.get_all(CONNECTION).iter().map(HeaderValue::as_bytes).collect();
    let has = |option: &[u8]| {
        let mut given = options.iter().flat_map(|value| value.split(|&b| b == b','));
        given.any(|given| given.trim_ascii().eq_ignore_ascii_case(option))
    };
    if let Some(option) = option.filter(|option| !has(option)) {
        options.push(option);
    }
    encode::header(out, CONNECTION.as_str(), &options.join(&b", "[..]));
}

/// Appends the field that frames the content. Returns whether there is one.
#[inline]
fn write_framing(out: &mut Vec<u8>, framing: Option<Framing>) -> bool {
    match framing {
        Some(Framing::Length(length)) => encode::content_length_in_lower_case(out, length),
        Some(Framing::Chunked) => encode::header(out, TRANSFER_ENCODING.as_str(), b"chunked"),
        Some(Framing::UntilClose | Framing::Nothing) | None => return false,
    }
    true
}
