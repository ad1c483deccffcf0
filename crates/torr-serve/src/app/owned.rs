//! An owned copy of a request's header section, for a handler on another thread.

use http::Version;
use http::request::Parts;
use torr_wire::Header;
use torr_wire::body::Framing;
use torr_wire::request::RequestHead;

#[derive(Debug)]
pub(crate) struct OwnedHead {
    method: String,
    target: String,
    http_1_1: bool,
    fields: Vec<(String, Vec<u8>)>,
}

impl OwnedHead {
    /// Returns a copy.
    pub fn new(head: &RequestHead<'_, '_>) -> Self {
        let fields = head.headers.iter().map(|field| (field.name.to_owned(), field.value.to_vec()));
        Self {
            method: head.method.to_owned(),
            target: head.target.to_owned(),
            http_1_1: head.http_1_1,
            fields: fields.collect(),
        }
    }

    /// Returns the header section that a request of HTTP/2 would have in HTTP/1.1 (RFC 9113, section 8.3.1): the authority becomes
    /// `Host`.
    pub fn of_parts(parts: &Parts) -> Self {
        let fields = parts.headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()));
        let mut fields: Vec<_> = fields.collect();
        if let (Some(authority), false) = (parts.uri.authority(), parts.headers.contains_key(http::header::HOST)) {
            fields.insert(0, ("host".to_owned(), authority.as_str().as_bytes().to_vec()));
        }
        join_cookies(&mut fields);
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        Self {
            method: parts.method.as_str().to_owned(),
            target: if path.is_empty() { "/".to_owned() } else { path.to_owned() },
            http_1_1: parts.version != Version::HTTP_10,
            fields,
        }
    }

    /// Calls `see` with a borrowed header section. Its framing is not meaningful.
    pub fn with<T>(&self, see: impl FnOnce(&RequestHead<'_, '_>) -> T) -> T {
        let fields: Vec<_> = self.fields.iter().map(|(name, value)| Header { name, value }).collect();
        see(&RequestHead {
            method: &self.method,
            target: &self.target,
            http_1_1: self.http_1_1,
            headers: &fields,
            framing: Framing::None,
            keep_alive: true,
            expect_continue: false,
            upgrade: false,
            len: 0,
        })
    }
}

/// Joins fields of `Cookie` into one (RFC 9113, section 8.2.3).
fn join_cookies(fields: &mut Vec<(String, Vec<u8>)>) {
    let Some(first) = fields.iter().position(|(name, _)| name == "cookie") else { return };
    let (kept, cookies): (Vec<_>, Vec<_>) = fields.drain(first..).partition(|(name, _)| name != "cookie");
    let values: Vec<_> = cookies.into_iter().map(|(_, value)| value).collect();
    fields.push(("cookie".to_owned(), values.join(&b"; "[..])));
    fields.extend(kept);
}
