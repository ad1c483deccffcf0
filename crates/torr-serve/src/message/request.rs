//! A request, as a handler sees it.

use crate::client::request_id::RequestId;
use crate::client::{Client, Origin, Tls};
use matchit::Params;
use std::net::SocketAddr;
use torr_wire::request::RequestHead;

/// One request, borrowed from the buffer that it was received in.
#[derive(Debug)]
pub struct Request<'r> {
    pub(crate) head: &'r RequestHead<'r, 'r>,
    pub(crate) params: Params<'r, 'r>,
    pub(crate) body: &'r [u8],
    pub(crate) client: &'r Client,
}

impl<'r> Request<'r> {
    /// The method, as sent.
    pub fn method(&self) -> &'r str {
        self.head.method
    }

    /// The path, not decoded.
    pub fn path(&self) -> &'r str {
        self.head.path()
    }

    /// What stands between `?` and the end of the target, not decoded.
    pub fn query(&self) -> Option<&'r str> {
        self.head.target.split_once('?').map(|(_, query)| query)
    }

    /// What the path has in the place of `{name}`, not decoded.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name)
    }

    /// The bytes of the first header field of this name, in any case. A field may hold bytes that are no UTF-8;
    /// [`Request::header_str`] gives those that are text.
    pub fn header(&self, name: &str) -> Option<&'r [u8]> {
        self.head.header(name)
    }

    /// The text of the first header field of this name, in any case. `None` if there is no such field, or it is no UTF-8.
    ///
    /// ```
    /// use torr_serve::{App, Response};
    ///
    /// let app = App::new().get("/", |request| match request.header_str("accept-language") {
    ///     Some(languages) if languages.starts_with("de") => Response::text("Guten Tag"),
    ///     _ => Response::text("Hello"),
    /// });
    /// ```
    pub fn header_str(&self, name: &str) -> Option<&'r str> {
        self.header(name).and_then(|value| std::str::from_utf8(value).ok())
    }

    /// All header fields, in their order.
    pub fn headers(&self) -> impl Iterator<Item = (&'r str, &'r [u8])> {
        self.head.headers.iter().map(|field| (field.name, field.value))
    }

    /// The client's address; behind a trusted proxy that of the proxy's client. `None` if it has none.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.client.address
    }

    /// How the connection is secured, if it is.
    pub fn tls(&self) -> Option<&'r Tls> {
        self.client.tls.as_deref()
    }

    /// What a trusted proxy was asked for, if there is one.
    pub fn origin(&self) -> Option<&'r Origin> {
        self.client.origin.as_deref()
    }

    /// Its id, if `request_ids` is set.
    pub fn id(&self) -> Option<&'r RequestId> {
        self.client.id.as_ref()
    }

    /// The whole body; empty where there is none.
    pub fn body(&self) -> &'r [u8] {
        self.body
    }
}
