//! The requests in what a script returns: how many there are, where each ends, and their parts.

use http::{HeaderName, HeaderValue, Method, Request, Uri};
use std::fmt;
use torr_wire::body::{BodyReader, Framing};

/// The most header fields of one request.
const MOST_FIELDS: usize = 256;

/// Why bytes are no sequence of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageError {
    line: usize,
    column: usize,
    what: String,
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it returned an invalid request: {} at line {}, column {}", self.what, self.line, self.column)
    }
}

/// Returns the lengths of the requests in these bytes, one or more.
///
/// # Errors
/// If the bytes do not consist of complete requests.
pub fn lengths(bytes: &[u8]) -> Result<Vec<usize>, MessageError> {
    let (mut lengths, mut at) = (Vec::new(), 0);
    loop {
        let len = length(&bytes[at..]).map_err(|what| {
            let before = &bytes[..at];
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            let column = 1 + before.iter().rev().take_while(|&&byte| byte != b'\n').count();
            MessageError { line, column, what }
        })?;
        lengths.push(len);
        at += len;
        if at == bytes.len() {
            return Ok(lengths);
        }
    }
}

/// Returns the length of the request at the beginning of these bytes.
fn length(bytes: &[u8]) -> Result<usize, String> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(len)) => len,
        Ok(httparse::Status::Partial) => return Err("expected a blank line after the header section".into()),
        Err(error) => return Err(error.to_string()),
    };
    let content = &bytes[head..];
    match framing(request.headers)? {
        Framing::Chunked => {
            let mut body = BodyReader::new(Framing::Chunked);
            let len = body.read(content, |_| {}).map_err(|error| error.to_string())?;
            if body.is_done() { Ok(head + len) } else { Err("the chunked content is incomplete".into()) }
        }
        Framing::Length(len) => match usize::try_from(len) {
            Ok(len) if len <= content.len() => Ok(head + len),
            _ => Err(format!("Content-Length is {len}, but {} bytes follow", content.len())),
        },
        _ => Ok(head),
    }
}

fn framing(fields: &[httparse::Header<'_>]) -> Result<Framing, String> {
    let mut framing = Framing::None;
    for field in fields {
        let value = String::from_utf8_lossy(field.value);
        if field.name.eq_ignore_ascii_case("transfer-encoding") && value.to_ascii_lowercase().ends_with("chunked") {
            return Ok(Framing::Chunked);
        }
        if field.name.eq_ignore_ascii_case("content-length") {
            let len = value.trim().parse().map_err(|_| format!("Content-Length is '{value}'"))?;
            framing = Framing::Length(len);
        }
    }
    Ok(framing)
}

/// Whether the method of a request is HEAD.
#[inline]
pub fn is_head(message: &[u8]) -> bool {
    message.starts_with(b"HEAD ")
}

/// A request, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainRequest {
    /// The method.
    pub method: String,
    /// The request target.
    pub path: String,
    /// Names and values of the field lines.
    pub fields: Vec<(String, String)>,
    /// The content.
    pub content: Vec<u8>,
}

/// Reads a request that Torr wrote.
///
/// # Errors
/// If the bytes are none.
pub fn read(message: &[u8]) -> Result<PlainRequest, String> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let Ok(httparse::Status::Complete(head)) = request.parse(message) else {
        return Err("the request is not HTTP/1.1".into());
    };
    let text =
        |field: &httparse::Header<'_>| (field.name.to_owned(), String::from_utf8_lossy(field.value).into_owned());
    Ok(PlainRequest {
        method: request.method.unwrap_or("GET").to_owned(),
        path: request.path.unwrap_or("/").to_owned(),
        fields: request.headers.iter().map(text).collect(),
        content: message[head..].to_vec(),
    })
}

/// Returns a request in parts, for HTTP/2: its URI is that of the origin with the request's own path.
///
/// # Errors
/// If HTTP/2 cannot carry the request.
pub fn parts(message: &[u8], origin: &str) -> Result<(Request<()>, Vec<u8>), String> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let Ok(httparse::Status::Complete(head)) = request.parse(message) else {
        return Err("it returned an invalid request".into());
    };
    let bad = |what: &dyn fmt::Display| format!("HTTP/2 cannot carry the request: {what}");
    let (scheme, authority) = origin.split_once("://").unwrap_or(("http", origin));
    let host = request.headers.iter().find(|field| field.name.eq_ignore_ascii_case("host"));
    let authority = host.map_or(authority.into(), |host| String::from_utf8_lossy(host.value));
    let path = request.path.unwrap_or("/");
    let uri = if path.starts_with('/') { format!("{scheme}://{authority}{path}") } else { path.to_owned() };
    let mut parts = Request::new(());
    *parts.method_mut() =
        Method::from_bytes(request.method.unwrap_or("GET").as_bytes()).map_err(|error| bad(&error))?;
    *parts.uri_mut() = uri.parse::<Uri>().map_err(|error| bad(&error))?;
    for field in request.headers.iter() {
        if ["host", "connection", "keep-alive", "proxy-connection", "upgrade", "transfer-encoding"]
            .iter()
            .any(|of_http1| field.name.eq_ignore_ascii_case(of_http1))
        {
            continue;
        }
        let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|error| bad(&error))?;
        let value = HeaderValue::from_bytes(field.value).map_err(|error| bad(&error))?;
        parts.headers_mut().append(name, value);
    }
    let mut content = message[head..].to_vec();
    if let Framing::Chunked = framing(request.headers)? {
        content.clear();
        let chunks = |piece: &[u8]| content.extend_from_slice(piece);
        BodyReader::new(Framing::Chunked).read(&message[head..], chunks).map_err(|error| bad(&error))?;
    }
    Ok((parts, content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_their_framing() {
        let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
        let post = "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nGET ";
        let chunked = "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n";
        let all = [get, post, chunked, get].concat();
        assert_eq!(lengths(all.as_bytes()).unwrap(), [get, post, chunked, get].map(str::len));
    }

    #[test]
    fn what_is_no_request_is_named_with_its_position() {
        let get = "GET / HTTP/1.1\r\n\r\n";
        for (text, position) in [
            ("", "line 1, column 1"),
            ("GET / HTTP/1.1\r\nHost: h\r\n", "expected a blank line"),
            ("hello\r\n\r\n", "line 1"),
            (&format!("{get}POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n1"), "line 3, column 1"),
        ] {
            let error = lengths(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(position), "{text}: {error}");
        }
    }

    #[test]
    fn http2_has_the_request_in_parts() {
        let text = b"POST /a?b HTTP/1.1\r\nHost: other:1\r\nConnection: close\r\nX: y\r\nContent-Length: 2\r\n\r\nhi";
        let (head, content) = parts(text, "https://h:2").unwrap();
        assert_eq!((head.uri().to_string().as_str(), content.as_slice()), ("https://other:1/a?b", &b"hi"[..]));
        assert_eq!(head.headers().len(), 2);
    }
}
