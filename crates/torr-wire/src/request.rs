//! Parsing of request heads on the server's side: strict, since request smuggling depends on lenient parsers.

use crate::body::Framing;
use crate::fields::Fields;
use crate::{Header, WireError, authority};
use memchr::{memchr, memchr_iter, memmem};
use std::mem::MaybeUninit;

/// The limits of one request head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The limit in bytes of the request line with the blank lines before it, and again of the header section with its
    /// final blank line.
    pub head: usize,
    /// The limit of the number of header fields; values above [`MAX_HEADERS`] count as [`MAX_HEADERS`].
    pub headers: usize,
}

/// The connection preface of an HTTP/2 client (RFC 9113, section 3.4), which [`parse`] rejects as [`WireError::Version`].
pub const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The capacity of a [`HeaderBuffer`], and so the upper bound of [`Limits::headers`].
pub const MAX_HEADERS: usize = 256;

/// Uninitialised memory for the header fields of one head, which costs nothing to create.
pub type HeaderBuffer<'b> = [MaybeUninit<Header<'b>>; MAX_HEADERS];

/// Returns an uninitialised buffer for [`parse`].
#[inline]
pub const fn header_buffer<'b>() -> HeaderBuffer<'b> {
    [const { MaybeUninit::uninit() }; MAX_HEADERS]
}

/// A complete request head, whose parts borrow the buffer that the head was received into.
#[derive(Debug, Clone, Copy)]
pub struct RequestHead<'h, 'b> {
    /// The method, which is case-sensitive.
    pub method: &'b str,
    /// The request target in any of its four forms (RFC 9112, section 3.2).
    pub target: &'b str,
    /// Whether the version is HTTP/1.1; otherwise it is HTTP/1.0.
    pub http_1_1: bool,
    /// The header fields in their order. With a target in absolute form, `Host` holds the target's authority instead of the
    /// value received (RFC 9112, section 3.2.2).
    pub headers: &'h [Header<'b>],
    /// The framing of the body; never [`Framing::UntilClose`].
    pub framing: Framing,
    /// Whether the client allows the connection to be reused (RFC 9112, section 9.3).
    pub keep_alive: bool,
    /// Whether the client waits for `100 Continue` before the body (RFC 9110, section 10.1.1).
    pub expect_continue: bool,
    /// Whether the client offers to upgrade the connection to another protocol.
    pub upgrade: bool,
    /// The length of the head in bytes, final blank line included.
    pub len: usize,
}

impl<'b> RequestHead<'_, 'b> {
    /// Returns the path of the target without the query; `*` and the authority of `CONNECT` unchanged.
    #[inline]
    pub fn path(&self) -> &'b str {
        let target = self.target;
        let start = if target.starts_with('/') { 0 } else { absolute_path_start(target) };
        let path = &target[start..];
        let end = path.bytes().position(|b| b == b'?').unwrap_or(path.len());
        if end == 0 { "/" } else { &path[..end] }
    }

    /// Returns the value of the first field with this name, in any case.
    pub fn header(&self, name: &str) -> Option<&'b [u8]> {
        self.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name)).map(|h| h.value)
    }
}

/// Returns the offset of the path in a target of absolute form (`http://host/path`), 0 for other forms.
#[cold]
fn absolute_path_start(target: &str) -> usize {
    let Some((scheme, rest)) = target.split_once("://") else { return 0 };
    let authority = rest.find(['/', '?']).unwrap_or(rest.len());
    scheme.len() + 3 + authority
}

/// Returns the authority of a target in absolute form, `None` for other forms.
#[cold]
fn authority_of(target: &str) -> Option<&str> {
    target.split_once("://").and_then(|(_, rest)| rest.split(['/', '?']).next())
}

/// Replaces the value of `Host` by the target's authority: a server ignores `Host` beside a target in absolute form
/// (RFC 9112, section 3.2.2).
#[cold]
fn name_host<'b>(headers: &mut [Header<'b>], authority: &'b str) {
    let hosts = headers.iter_mut().filter(|field| field.name.eq_ignore_ascii_case("host"));
    hosts.for_each(|host| host.value = authority.as_bytes());
}

/// Parses the head at the front of `input`. `None` means that the head is incomplete: call again with more bytes.
///
/// # Errors
/// Any [`WireError`] of a request. The connection cannot carry another request after an error.
#[inline]
pub fn parse<'h, 'b>(
    input: &'b [u8],
    headers: &'h mut HeaderBuffer<'b>,
    limits: Limits,
) -> Result<Option<RequestHead<'h, 'b>>, WireError> {
    let mut request = httparse::Request::new(&mut []);
    let room = &mut headers[..limits.headers.min(MAX_HEADERS)];
    // Bytes beyond the limits are cut off: the result must not depend on how much of them has arrived.
    let most = if input.len() < limits.head { usize::MAX } else { allowed(input, limits.head) };
    let input = &input[..input.len().min(most)];
    let len = match request.parse_with_uninit_headers(input, room) {
        Ok(httparse::Status::Complete(len)) => len,
        Ok(httparse::Status::Partial) if input.len() < most => return Ok(None),
        Ok(httparse::Status::Partial) => return Err(too_large(input)),
        Err(error) => return Err(syntax(error, input)),
    };
    // httparse accepts a bare LF as a line end.
    if memchr_iter(b'\n', &input[..len]).any(|at| at == 0 || input[at - 1] != b'\r') {
        return Err(WireError::Syntax("a line ends in a bare LF"));
    }
    let invariant = "httparse sets it in every complete request";
    let (method, target, minor) =
        (request.method.expect(invariant), request.path.expect(invariant), request.version.expect(invariant));
    let headers: &'h mut [Header<'b>] = request.headers;
    let http_1_1 = minor >= 1;
    let fields = Fields::scan(headers)?;
    if fields.bad_host || fields.hosts != 1 && (http_1_1 || fields.hosts > 1) {
        return Err(WireError::Host);
    }
    if !target_fits(method, target) {
        return Err(WireError::Syntax("invalid request target"));
    }
    if !target.starts_with('/')
        && let Some(authority) = authority_of(target)
    {
        name_host(headers, authority);
    }
    let headers: &'h [Header<'b>] = headers;
    Ok(Some(RequestHead {
        method,
        target,
        http_1_1,
        headers,
        framing: framing(&fields, http_1_1)?,
        keep_alive: !fields.close && (http_1_1 || fields.keep_alive),
        expect_continue: http_1_1 && fields.expect_continue,
        upgrade: http_1_1 && fields.upgrade,
        len,
    }))
}

/// Returns a copy of the header section at the front of `input`, as far as it has arrived, that names HTTP/1.1 instead of a later
/// minor version: a recipient treats such a request as one of the latest version that it knows (RFC 9110, section 2.5). `None` if
/// the request line names any other version.
#[cold]
pub fn as_http_1_1(input: &[u8], limits: Limits) -> Option<Vec<u8>> {
    let blank = input.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    let line = input[blank..].split(|&b| b == b'\n').next()?;
    let mut words = line.split(|&b| b == b' ').skip(2);
    let version = words.next()?;
    if words.next().is_some() || !matches!(version.strip_prefix(b"HTTP/1."), Some([b'2'..=b'9'] | [b'2'..=b'9', b'\r']))
    {
        return None;
    }
    // Exactly two spaces are before the version.
    let minor = blank + line.iter().position(|&b| b == b' ')? + 1;
    let minor = minor + input[minor..].iter().position(|&b| b == b' ')? + b" HTTP/1.".len();
    let end = memmem::find(input, b"\r\n\r\n").map_or(input.len(), |at| at + 4);
    let mut copy = input[..end.min(allowed(input, limits.head))].to_vec();
    *copy.get_mut(minor)? = b'1';
    Some(copy)
}

/// Returns the framing of a request's body (RFC 9112, section 6.3). Every ambiguity is an error.
fn framing(fields: &Fields, http_1_1: bool) -> Result<Framing, WireError> {
    if fields.chunked || fields.other_coding {
        if fields.content_length.is_some() || !http_1_1 || !fields.chunked {
            return Err(WireError::TransferEncoding);
        }
        return if fields.other_coding { Err(WireError::TransferCoding) } else { Ok(Framing::Chunked) };
    }
    match fields.content_length {
        Some(_) if fields.repeated_length => Err(WireError::Length),
        Some(length) => Ok(Framing::Length(length)),
        None => Ok(Framing::None),
    }
}

/// Returns whether the target has a form that the method allows: origin form, absolute form, `*` for `OPTIONS`, an
/// authority for `CONNECT` (RFC 9112, section 3.2).
///
/// A fragment is invalid: servers disagree whether it belongs to the path. UTF-8 that is not percent-encoded is valid in a
/// path or query, as in hyper, nginx and HTTP/2: some clients send it, and framing does not depend on it. `httparse`
/// rejects all other bytes beyond ASCII.
#[inline]
fn target_fits(method: &str, target: &str) -> bool {
    match target.as_bytes().first() {
        Some(b'/') => method != "CONNECT" && !target.contains('#'),
        Some(b'*') => method == "OPTIONS" && target == "*",
        Some(_) if method == "CONNECT" => authority::split(target.as_bytes()).is_some_and(|(host, port)| {
            // An empty or invalid port must be rejected (RFC 9110, section 9.3.6), and port 0 cannot be connected to.
            !host.is_empty() && port.iter().any(|&digit| digit != b'0')
        }),
        Some(_) => target.split_once("://").is_some_and(|(scheme, rest)| {
            let authority = rest.split(['/', '?']).next().unwrap_or_default();
            (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"))
                && authority::split(authority.as_bytes()).is_some_and(|(host, _)| !host.is_empty())
                && !rest.contains('#')
        }),
        None => false,
    }
}

/// Returns the number of bytes that the head at the front of `input` may have, given the limit `most` of each part.
#[cold]
fn allowed(input: &[u8], most: usize) -> usize {
    // Blank lines before a request are skipped, but count against the limit.
    let blank = input.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    match memchr(b'\n', &input[blank..]) {
        Some(end) if blank + end < most => (blank + end + 1).saturating_add(most),
        _ => most,
    }
}

/// Returns which limit an incomplete head of the greatest allowed length exceeds.
#[cold]
fn too_large(input: &[u8]) -> WireError {
    if input.trim_ascii_start().contains(&b'\n') { WireError::HeadTooLarge } else { WireError::TargetTooLong }
}

#[cold]
fn syntax(error: httparse::Error, input: &[u8]) -> WireError {
    use httparse::Error;
    match error {
        Error::TooManyHeaders => WireError::TooManyHeaders,
        Error::Version if names_other_version(input) => WireError::Version,
        Error::Version => WireError::Syntax("no HTTP version in the request line"),
        Error::Token => WireError::Syntax("invalid request line"),
        Error::HeaderName => WireError::Syntax("invalid field name"),
        Error::HeaderValue => WireError::Syntax("invalid field value"),
        Error::NewLine => WireError::Syntax("invalid line ending"),
        _ => WireError::Syntax("invalid header section"),
    }
}

/// Returns whether the third word of the request line is another version of HTTP.
///
/// The word may be incomplete: the parser rejects a major version other than 1 at its first digit, and the bytes after
/// it must not change the result.
fn names_other_version(input: &[u8]) -> bool {
    let line = input.trim_ascii_start().split(|&b| b == b'\n').next().unwrap_or_default();
    let version = line.split(|&b| b == b' ').nth(2).unwrap_or_default();
    match version.strip_prefix(b"HTTP/") {
        Some([b'1', b'.', minor, ..]) => minor.is_ascii_digit(),
        Some([major, ..]) => major.is_ascii_digit() && *major != b'1',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { head: 1024, headers: 10 };

    fn check<T>(input: &str, with: impl FnOnce(Result<Option<RequestHead<'_, '_>>, WireError>) -> T) -> T {
        with(parse(input.as_bytes(), &mut header_buffer(), LIMITS))
    }

    fn error(input: &str) -> WireError {
        check(input, |got| got.err()).unwrap_or_else(|| panic!("was taken: {input:?}"))
    }

    #[test]
    fn a_later_minor_version_is_taken_for_the_latest_known() {
        let copied = |input: &str| as_http_1_1(input.as_bytes(), LIMITS).map(|copy| String::from_utf8(copy).unwrap());
        for (input, copy) in [
            ("GET /a HTTP/1.2\r\nHost: x\r\n\r\nrest", Some("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")),
            ("\r\nGET / HTTP/1.9\r\nHo", Some("\r\nGET / HTTP/1.1\r\nHo")),
            ("GET /a HTTP/1.2", Some("GET /a HTTP/1.1")),
            ("GET /a HTTP/1.1\r\n", None),
            ("GET /a HTTP/2.0\r\n", None),
            ("GET /a HTTP/1.22\r\n", None),
            ("GET /a b HTTP/1.2\r\n", None),
            ("GET /a HTTP/1.2 \r\n", None),
            ("GET  HTTP/1.2\r\n", Some("GET  HTTP/1.1\r\n")),
            ("GET /a", None),
        ] {
            assert_eq!(copied(input).as_deref(), copy, "{input:?}");
        }
        let long = format!("GET / HTTP/1.2\r\nA: {}", "a".repeat(9999));
        assert!(copied(&long).is_some_and(|copy| copy.len() < 2 * LIMITS.head), "limits hold");
    }

    #[test]
    fn a_plain_request() {
        let head = "GET /a?b=1 HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n";
        let head_len = head.len();
        check(&format!("{head}rest"), |got| {
            let head = got.unwrap().unwrap();
            assert_eq!((head.method, head.target, head.path()), ("GET", "/a?b=1", "/a"));
            assert!(head.http_1_1 && head.keep_alive && !head.expect_continue && !head.upgrade);
            assert_eq!(head.framing, Framing::None);
            assert_eq!(head.header("ACCEPT"), Some(&b"*/*"[..]));
            assert_eq!(head.len, head_len);
        });
    }

    #[test]
    fn persistence_follows_version_and_options() {
        for (head, keeps) in [
            ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, CLOSE\r\n\r\n", false),
            ("GET / HTTP/1.0\r\n\r\n", false),
            ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true),
            ("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", false),
        ] {
            check(head, |got| assert_eq!(got.unwrap().unwrap().keep_alive, keeps, "{head:?}"));
        }
    }

    #[test]
    fn targets_of_every_form() {
        for (line, path) in [
            ("GET http://x HTTP/1.1", "/"),
            ("GET http://x?q HTTP/1.1", "/"),
            ("GET http://x/p?q HTTP/1.1", "/p"),
            ("OPTIONS * HTTP/1.1", "*"),
            ("CONNECT x:443 HTTP/1.1", "x:443"),
            ("GET /? HTTP/1.1", "/"),
        ] {
            check(&format!("{line}\r\nHost: x\r\n\r\n"), |got| {
                assert_eq!(got.unwrap().unwrap().path(), path, "{line}")
            });
        }
    }

    #[test]
    fn an_absolute_target_names_the_host() {
        for (line, host) in [
            ("GET http://a.example:80/p HTTP/1.1", "a.example:80"),
            ("GET https://a.example?q HTTP/1.1", "a.example"),
            ("OPTIONS http://a.example HTTP/1.0", "a.example"),
            ("GET /http://a.example/ HTTP/1.1", "b.example"),
            ("OPTIONS * HTTP/1.1", "b.example"),
            ("CONNECT a.example:443 HTTP/1.1", "b.example"),
        ] {
            check(&format!("{line}\r\nhOst: b.example\r\n\r\n"), |got| {
                assert_eq!(got.unwrap().unwrap().header("host"), Some(host.as_bytes()), "{line}");
            });
        }
    }

    #[test]
    fn the_line_and_the_fields_have_a_limit_each() {
        // Bytes of the request line with its end, and of the header section with the blank line.
        for (line, section, expected) in [
            (1024, 1024, None),
            (1025, 11, Some(WireError::TargetTooLong)),
            (16, 1025, Some(WireError::HeadTooLarge)),
            (1024, 1025, Some(WireError::HeadTooLarge)),
        ] {
            let line = format!("GET /{} HTTP/1.1\r\n", "a".repeat(line - 16));
            let head = format!("{line}Host: {}\r\n\r\n", "x".repeat(section - 10));
            for behind in ["", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"] {
                check(&format!("{head}{behind}"), |got| match &expected {
                    None => assert_eq!(got.unwrap().unwrap().len, head.len()),
                    Some(error) => assert_eq!(got.unwrap_err(), *error),
                });
            }
            // The result stays, whatever follows.
            let first = (1..=head.len()).map(|len| check(&head[..len], |got| got.map(|_| ()))).find(Result::is_err);
            assert_eq!(first.map(Result::unwrap_err), expected);
        }
    }

    #[test]
    fn utf_8_in_a_target_is_taken() {
        for (line, path) in
            [("GET /\u{e9}?\u{e9} HTTP/1.1", "/\u{e9}"), ("GET http://x/\u{20ac} HTTP/1.1", "/\u{20ac}")]
        {
            check(&format!("{line}\r\nHost: x\r\n\r\n"), |got| {
                assert_eq!(got.unwrap().unwrap().path(), path, "{line}")
            });
        }
        for target in ["http://\u{e9}/", "\u{e9}"] {
            error(&format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
        }
        for bytes in [&b"\xff"[..], b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80"] {
            let request = [b"GET /", bytes, b" HTTP/1.1\r\nHost: x\r\n\r\n"].concat();
            assert!(parse(&request, &mut header_buffer(), LIMITS).is_err(), "{bytes:x?}");
        }
    }

    #[test]
    fn the_end_must_be_in_sight() {
        check("GET / HTTP/1.1\r\nHost: x\r\n", |got| assert!(got.unwrap().is_none()));
        assert_eq!(error(&format!("GET /{} HTTP/1.1\r\n", "a".repeat(1100))), WireError::TargetTooLong);
        assert_eq!(error(&format!("GET / HTTP/1.1\r\nHost: {}", "a".repeat(1100))), WireError::HeadTooLarge);
        assert_eq!(error(&format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(11))), WireError::TooManyHeaders);
    }
}
