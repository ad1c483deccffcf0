//! The line of a request. Everything that a client sends is escaped, so that it can neither end the line or a quotation nor
//! control a terminal.
//!
//! Common and combined follow Apache's `mod_log_config` and its escapes, JSON follows RFC 8259.

use super::dates::Dates;
use super::settings::LogFormat;
use crate::client::request_id::RequestId;
use std::io::Write;
use std::net::IpAddr;
use std::time::Duration;

/// The data of a request whose response has been sent.
#[derive(Debug, Clone)]
pub(crate) struct Entry<'a> {
    /// The time of the request's first byte, in milliseconds since the Unix epoch.
    pub unix_ms: u64,
    /// The client; `None` on a Unix socket.
    pub client: Option<IpAddr>,
    /// The request line; `None` if the header section was malformed.
    pub request: Option<RequestLine<'a>>,
    pub status: u16,
    /// Bytes of the response's content that were sent, without framing.
    pub body_bytes: u64,
    /// The time from the request's first byte to the response's last.
    pub duration: Duration,
    pub host: Option<&'a [u8]>,
    pub referer: Option<&'a [u8]>,
    pub user_agent: Option<&'a [u8]>,
    pub request_id: Option<&'a RequestId>,
    /// The version of TLS, such as `TLSv1.3`.
    pub tls: Option<&'a str>,
}

/// The most bytes that a line has of a target or a field. With four of these, a method and all else, a line fits in
/// `PIPE_BUF`, which a pipe takes as a whole.
const MOST: usize = 890;
/// The most bytes that a line has of a method. Registered methods are much shorter.
const MOST_OF_METHOD: usize = 64;
/// The mark of a text that was cut.
const CUT: &[u8] = b"...";

/// The first line of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestLine<'a> {
    pub method: &'a str,
    pub target: &'a str,
    /// The protocol, such as `HTTP/1.1`.
    pub protocol: &'a str,
}

/// Appends the line of a request with its line end.
pub(super) fn line(format: LogFormat, entry: &Entry<'_>, dates: &mut Dates, out: &mut Vec<u8>) {
    match format {
        LogFormat::Common => apache(entry, dates, out),
        LogFormat::Combined => {
            apache(entry, dates, out);
            for field in [entry.referer, entry.user_agent] {
                out.push(b' ');
                quoted(field, out);
            }
        }
        LogFormat::Json => json(entry, dates, out),
    }
    out.push(b'\n');
}

/// Appends `%h %l %u %t "%r" %>s %b`. The user is always a hyphen, as only the application knows it.
fn apache(entry: &Entry<'_>, dates: &mut Dates, out: &mut Vec<u8>) {
    match entry.client {
        Some(ip) => print(out, format_args!("{}", ip.to_canonical())),
        None => out.push(b'-'),
    }
    out.extend_from_slice(b" - - ");
    out.extend_from_slice(dates.of(entry.unix_ms).as_bytes());
    out.push(b' ');
    match entry.request {
        Some(RequestLine { method, target, protocol }) => {
            out.push(b'"');
            escaped(method.as_bytes(), MOST_OF_METHOD, out);
            out.push(b' ');
            escaped(target.as_bytes(), MOST, out);
            out.push(b' ');
            escaped(protocol.as_bytes(), MOST, out);
            out.push(b'"');
        }
        None => quoted(None, out),
    }
    print(out, format_args!(" {} ", entry.status));
    match entry.body_bytes {
        0 => out.push(b'-'),
        bytes => print(out, format_args!("{bytes}")),
    }
}

/// Appends a field between quotation marks, a hyphen for a missing one.
fn quoted(field: Option<&[u8]>, out: &mut Vec<u8>) {
    out.push(b'"');
    escaped(field.unwrap_or(b"-"), MOST, out);
    out.push(b'"');
}

/// Appends a text with the escapes of `ap_escape_logitem`: all but printable ASCII is escaped. A text that would take more than
/// `most` bytes is cut.
fn escaped(text: &[u8], most: usize, out: &mut Vec<u8>) {
    const LONGEST_ESCAPE: usize = r"\x00".len();
    let (mut rest, full) = (text, out.len() + most);
    loop {
        let special = |byte: &u8| !(b' '..=b'~').contains(byte) || b"\"\\".contains(byte);
        let at = rest.iter().position(special).unwrap_or(rest.len());
        let room = full - out.len();
        out.extend_from_slice(&rest[..at.min(room)]);
        if at > room || (at < rest.len() && at + LONGEST_ESCAPE > room) {
            return out.extend_from_slice(CUT);
        }
        let Some(&special) = rest.get(at) else { return };
        match special {
            byte @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            0x08 => out.extend_from_slice(b"\\b"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x0b => out.extend_from_slice(b"\\v"),
            byte => print(out, format_args!("\\x{byte:02x}")),
        }
        rest = &rest[at + 1..];
    }
}

/// Appends a JSON object with keys in a fixed order. Unknown values are left out.
fn json(entry: &Entry<'_>, dates: &mut Dates, out: &mut Vec<u8>) {
    let date = dates.of(entry.unix_ms);
    print(out, format_args!("{{\"time\":\"{date}.{:03}Z\"", entry.unix_ms % 1000));
    if let Some(ip) = entry.client {
        print(out, format_args!(",\"client\":\"{}\"", ip.to_canonical()));
    }
    let text = |key: &str, value: Option<&[u8]>, out: &mut Vec<u8>| {
        if let Some(value) = value {
            print(out, format_args!(",\"{key}\":\""));
            json_text(value, if key == "method" { MOST_OF_METHOD } else { MOST }, out);
            out.push(b'"');
        }
    };
    text("method", entry.request.map(|line| line.method.as_bytes()), out);
    text("target", entry.request.map(|line| line.target.as_bytes()), out);
    text("protocol", entry.request.map(|line| line.protocol.as_bytes()), out);
    print(out, format_args!(",\"status\":{},\"bytes\":{}", entry.status, entry.body_bytes));
    print(out, format_args!(",\"duration_us\":{}", entry.duration.as_micros()));
    text("host", entry.host, out);
    text("referer", entry.referer, out);
    text("user_agent", entry.user_agent, out);
    if let Some(id) = entry.request_id {
        out.extend_from_slice(b",\"request_id\":\"");
        // A token needs no escapes.
        id.write(out);
        out.push(b'"');
    }
    text("tls", entry.tls.map(str::as_bytes), out);
    out.push(b'}');
}

/// Appends the content of a JSON string. Beyond the escapes of RFC 8259, section 7, all control characters are escaped, since
/// terminals interpret some outside of ASCII, and line separators, at which some readers break lines. Invalid UTF-8 becomes
/// U+FFFD. A text that would take more than `most` bytes is cut.
fn json_text(text: &[u8], most: usize, out: &mut Vec<u8>) {
    const LONGEST_ESCAPE: usize = r"\u0000".len();
    let full = out.len() + most;
    for chunk in text.utf8_chunks() {
        let mut rest = chunk.valid();
        let special = |c: char| matches!(c, '"' | '\\' | '\u{2028}' | '\u{2029}') || c.is_control();
        loop {
            let at = rest.find(special).unwrap_or(rest.len());
            let room = full - out.len();
            if at > room || (at < rest.len() && at + LONGEST_ESCAPE > room) {
                out.extend_from_slice(whole_characters(rest, at.min(room)));
                return out.extend_from_slice(CUT);
            }
            out.extend_from_slice(&rest.as_bytes()[..at]);
            rest = &rest[at..];
            let Some(c) = rest.chars().next() else { break };
            match c {
                '"' => out.extend_from_slice(b"\\\""),
                '\\' => out.extend_from_slice(b"\\\\"),
                // Each of them has at most 16 bits.
                _ => print(out, format_args!("\\u{:04x}", u32::from(c))),
            }
            rest = &rest[c.len_utf8()..];
        }
        if !chunk.invalid().is_empty() {
            const UNKNOWN: &[u8] = "\u{fffd}".as_bytes();
            if out.len() + UNKNOWN.len() > full {
                return out.extend_from_slice(CUT);
            }
            out.extend_from_slice(UNKNOWN);
        }
    }
}

/// Returns the beginning of a text in whole characters, at most `most` bytes.
fn whole_characters(text: &str, most: usize) -> &[u8] {
    let end = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    &text.as_bytes()[..end]
}

fn print(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to memory does not fail");
}
