//! The fields of a request's header section as `http` has them, checked (RFC 9114, sections 4.2 and 4.3).

use http::header::{CONNECTION, CONTENT_LENGTH, TE, TRANSFER_ENCODING, UPGRADE};
use http::request::Parts;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, Version};

/// The defect of a malformed message, in words.
pub type Malformed = &'static str;

/// The fields of a request, taken one after another.
#[derive(Debug, Default)]
pub struct RequestFields {
    method: Option<Method>,
    scheme: Option<Scheme>,
    authority: Option<Authority>,
    path: Option<PathAndQuery>,
    regular: Regular,
}

/// The fields of a trailer section, taken one after another.
#[derive(Debug, Default)]
pub struct TrailerFields {
    regular: Regular,
}

/// Fields without pseudo-header fields.
#[derive(Debug, Default)]
struct Regular {
    headers: HeaderMap,
    /// The number of fields.
    count: usize,
    wrong: Option<Malformed>,
}

impl Regular {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        self.count += 1;
        match checked(name, value) {
            Ok((name, value)) => match self.headers.try_append(name, value) {
                Ok(_) => {}
                Err(_) => self.fail("too many fields"),
            },
            Err(wrong) => self.fail(wrong),
        }
    }

    fn fail(&mut self, wrong: Malformed) {
        self.wrong.get_or_insert(wrong);
    }
}

/// Returns a field as `http` has it.
fn checked(name: &[u8], value: &[u8]) -> Result<(HeaderName, HeaderValue), Malformed> {
    if name.iter().any(u8::is_ascii_uppercase) {
        return Err("field name in upper case");
    }
    let name = HeaderName::from_bytes(name).map_err(|_| "invalid field name")?;
    let value = HeaderValue::from_bytes(value).map_err(|_| "invalid field value")?;
    match name {
        CONNECTION | TRANSFER_ENCODING | UPGRADE => Err("field of a connection of HTTP/1.1"),
        TE if value != "trailers" => Err("field of a connection of HTTP/1.1"),
        _ if matches!(name.as_str(), "keep-alive" | "proxy-connection") => Err("field of a connection of HTTP/1.1"),
        _ => Ok((name, value)),
    }
}

impl TrailerFields {
    /// Takes a field.
    pub fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            [b':', ..] => self.regular.fail("pseudo-header field in a trailer section"),
            _ => self.regular.take(name, value),
        }
    }

    /// Returns the fields.
    ///
    /// # Errors
    /// The first defect.
    pub fn finish(self) -> Result<HeaderMap, Malformed> {
        self.regular.wrong.map_or(Ok(self.regular.headers), Err)
    }
}

/// Sets a pseudo-header field, of which there is one.
fn set<T>(field: &mut Option<T>, value: Option<T>) -> Result<(), Malformed> {
    match (field.is_some(), value) {
        (true, _) => Err("pseudo-header field that is given twice"),
        (false, None) => Err("invalid pseudo-header field"),
        (false, value) => {
            *field = value;
            Ok(())
        }
    }
}

impl RequestFields {
    /// Takes a field.
    pub fn take(&mut self, name: &[u8], value: &[u8]) {
        let [b':', name @ ..] = name else { return self.regular.take(name, value) };
        if self.regular.count > 0 {
            return self.regular.fail("pseudo-header field behind another field");
        }
        let set = match name {
            b"method" => set(&mut self.method, Method::from_bytes(value).ok()),
            b"scheme" => set(&mut self.scheme, Scheme::try_from(value).ok()),
            b"authority" => set(&mut self.authority, Authority::try_from(value).ok()),
            b"path" => set(&mut self.path, PathAndQuery::try_from(value).ok().filter(|_| is_path(value))),
            _ => Err("unknown pseudo-header field"),
        };
        set.err().into_iter().for_each(|wrong| self.regular.fail(wrong));
    }

    /// Returns the number of fields that are no pseudo-header fields.
    pub fn count(&self) -> usize {
        self.regular.count
    }

    /// Returns the head of the request.
    ///
    /// # Errors
    /// The first defect.
    pub fn finish(self) -> Result<Parts, Malformed> {
        if let Some(wrong) = self.regular.wrong {
            return Err(wrong);
        }
        let method = self.method.ok_or("missing :method")?;
        let mut uri = http::uri::Parts::default();
        if method == Method::CONNECT {
            if self.scheme.is_some() || self.path.is_some() || self.authority.is_none() {
                return Err("CONNECT has :authority and neither :scheme nor :path");
            }
        } else if self.scheme.is_none() || self.path.is_none() {
            return Err("missing :scheme or :path");
        }
        (uri.scheme, uri.path_and_query) = (self.scheme, self.path);
        // A request without an authority names its host in a field. A URI with a scheme has an authority, though.
        uri.authority = self.authority;
        if uri.authority.is_none() {
            uri.scheme = None;
        }
        let uri = Uri::from_parts(uri).map_err(|_| "invalid target")?;
        let (mut parts, ()) = Request::new(()).into_parts();
        (parts.method, parts.uri, parts.headers) = (method, uri, self.regular.headers);
        parts.version = Version::HTTP_3;
        Ok(parts)
    }
}

/// Whether the bytes are a path, or the `*` of OPTIONS.
fn is_path(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'/') || bytes == b"*"
}

/// Returns the length of a request's content, if it is announced.
///
/// # Errors
/// If the field is no number, or there are two different ones.
pub fn content_length(headers: &HeaderMap) -> Result<Option<u64>, Malformed> {
    let mut values = headers.get_all(CONTENT_LENGTH).iter();
    let Some(first) = values.next() else { return Ok(None) };
    let digits = first.as_bytes();
    if values.any(|other| other != first) || digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err("invalid content-length");
    }
    let number = first.to_str().ok().and_then(|text| text.parse().ok());
    number.map(Some).ok_or("invalid content-length")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(fields: &[(&str, &str)]) -> Result<Parts, Malformed> {
        let mut request = RequestFields::default();
        fields.iter().for_each(|(name, value)| request.take(name.as_bytes(), value.as_bytes()));
        request.finish()
    }

    const GET: [(&str, &str); 4] =
        [(":method", "GET"), (":scheme", "https"), (":authority", "a.test"), (":path", "/x?y")];

    #[test]
    fn a_request_has_its_target_and_fields() {
        let parts = request(&[&GET[..], &[("cookie", "a=b"), ("te", "trailers")]].concat()).expect("it is sound");
        assert_eq!((parts.method, parts.version), (Method::GET, Version::HTTP_3));
        assert_eq!((parts.uri.to_string().as_str(), parts.headers.len()), ("https://a.test/x?y", 2));
        let by_host = request(&[GET[0], GET[1], GET[3], ("host", "b.test")]).expect("it is sound");
        assert_eq!((by_host.uri.authority(), by_host.uri.path()), (None, "/x"));
        assert!(request(&[(":method", "CONNECT"), (":authority", "a.test:443")]).is_ok());
        let all = request(&[(":method", "OPTIONS"), GET[1], GET[2], (":path", "*")]).expect("it is sound");
        assert_eq!(all.uri.path(), "*");
    }

    #[test]
    fn malformed_requests_are_refused() {
        for (more, wrong) in [
            (("Upper", "x"), "field name in upper case"),
            (("connection", "close"), "field of a connection of HTTP/1.1"),
            (("te", "gzip"), "field of a connection of HTTP/1.1"),
            (("keep-alive", "1"), "field of a connection of HTTP/1.1"),
            (("a b", "1"), "invalid field name"),
            (("a", "1\n2"), "invalid field value"),
            ((":path", "/"), "pseudo-header field that is given twice"),
            ((":status", "200"), "unknown pseudo-header field"),
        ] {
            assert_eq!(request(&[&GET[..], &[more]].concat()).err(), Some(wrong), "{more:?}");
        }
        assert_eq!(request(&GET[1..]).err(), Some("missing :method"));
        assert_eq!(request(&GET[..3]).err(), Some("missing :scheme or :path"));
        assert_eq!(request(&[("a", "b"), GET[0]]).err(), Some("pseudo-header field behind another field"));
        let relative = [GET[0], GET[1], GET[2], (":path", "x")];
        assert_eq!(request(&relative).err(), Some("invalid pseudo-header field"));
        assert!(request(&[&[(":method", "CONNECT")], &GET[1..]].concat()).is_err());
    }

    #[test]
    fn lengths_are_numbers_that_agree() {
        let length = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_LENGTH, HeaderValue::from_static(value));
            }
            content_length(&headers)
        };
        assert_eq!((length(&[]), length(&["7"]), length(&["7", "7"])), (Ok(None), Ok(Some(7)), Ok(Some(7))));
        for values in [&["7", "8"][..], &["+7"], &[""], &["99999999999999999999"]] {
            assert!(length(values).is_err(), "{values:?}");
        }
    }
}
