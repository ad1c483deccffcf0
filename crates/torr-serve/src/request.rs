//! A request, as a handler sees it.

use matchit::Params;
use torr_wire::request::RequestHead;

/// One request, borrowed from the buffer that it was received in.
#[derive(Debug)]
pub struct Request<'r> {
    pub(crate) head: &'r RequestHead<'r, 'r>,
    pub(crate) params: Params<'r, 'r>,
    pub(crate) body: &'r [u8],
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

    /// The first header field of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&'r [u8]> {
        self.head.header(name)
    }

    /// All header fields, in their order.
    pub fn headers(&self) -> impl Iterator<Item = (&'r str, &'r [u8])> {
        self.head.headers.iter().map(|field| (field.name, field.value))
    }

    /// The whole body; empty where there is none.
    pub fn body(&self) -> &'r [u8] {
        self.body
    }
}
