//! A request, as a handler receives it.

use crate::client::request_id::RequestId;
use crate::client::{Client, Origin, Tls};
use matchit::Params;
use std::net::SocketAddr;
use torr_wire::request::RequestHead;

/// A request, borrowed from the receive buffer.
#[derive(Debug)]
pub struct Request<'r> {
    pub(crate) head: &'r RequestHead<'r, 'r>,
    pub(crate) params: Params<'r, 'r>,
    pub(crate) body: &'r [u8],
    pub(crate) client: &'r Client,
}

impl<'r> Request<'r> {
    /// Returns the method, as sent.
    pub fn method(&self) -> &'r str {
        self.head.method
    }

    /// Returns the path, not percent-decoded.
    pub fn path(&self) -> &'r str {
        self.head.path()
    }

    /// Returns the query component of the target, not percent-decoded.
    pub fn query(&self) -> Option<&'r str> {
        self.head.target.split_once('?').map(|(_, query)| query)
    }

    /// Returns the value of the path's parameter `{name}`, not percent-decoded.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name)
    }

    /// Returns the value of the first header field of this name, which is case-insensitive. The value may not be UTF-8; see
    /// [`Request::header_str`].
    pub fn header(&self, name: &str) -> Option<&'r [u8]> {
        self.head.header(name)
    }

    /// Returns the value of the first header field of this name, which is case-insensitive. `None` if there is no such field, or
    /// its value is not UTF-8.
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

    /// Returns all header fields in their order.
    pub fn headers(&self) -> impl Iterator<Item = (&'r str, &'r [u8])> {
        self.head.headers.iter().map(|field| (field.name, field.value))
    }

    /// Returns the client's address; behind a trusted proxy that of the proxy's client. `None` if the client has no address.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.client.address
    }

    /// Returns the parameters of TLS, if the connection is secured.
    pub fn tls(&self) -> Option<&'r Tls> {
        self.client.tls.as_deref()
    }

    /// Returns the scheme and host of the client's request to a trusted proxy, if there is one.
    pub fn origin(&self) -> Option<&'r Origin> {
        self.client.origin.as_deref()
    }

    /// Returns the request's id, if `request_ids` is set.
    pub fn id(&self) -> Option<&'r RequestId> {
        self.client.id.as_ref()
    }

    /// Returns the whole content; empty where there is none.
    pub fn body(&self) -> &'r [u8] {
        self.body
    }
}
