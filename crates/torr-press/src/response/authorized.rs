//! Requests with the credentials that a server's challenge demands.

use crate::request::SentContent;
use crate::request::digest::{Client, Credentials};
use memchr::memmem;
use torr_wire::Header;

/// What adds credentials to the requests of one connection.
#[derive(Debug)]
pub(super) struct Authorized {
    client: Client,
    /// Whether the latest request went without its content.
    withheld: bool,
}

impl Authorized {
    pub fn new(credentials: &Credentials) -> Self {
        Self { client: Client::new(credentials.clone()), withheld: false }
    }

    /// Returns what is sent of a request in HTTP/1.1 with more content than stands in it, and whether that content is sent as well.
    /// While a challenge is awaited a request goes without content, as with curl.
    pub fn sent(&mut self, request: &[u8], more: &SentContent) -> (Vec<u8>, bool) {
        let head = memmem::find(request, b"\r\n\r\n").unwrap_or(request.len());
        let line = memmem::find(request, b"\r\n").unwrap_or(request.len());
        let text = String::from_utf8_lossy(&request[..line]);
        let mut words = text.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let content = || SentContent::whole(request.get(head + 4..).unwrap_or_default(), Some(more));
        let authorization = self.client.authorization(method, target, &content);
        let has_content = head + 4 < request.len() || !more.is_empty();
        self.withheld = has_content && self.client.withholds_content();
        match authorization {
            Some(value) => {
                let field = format!("\r\nAuthorization: {value}");
                ([&request[..line], field.as_bytes(), &request[line..]].concat(), true)
            }
            None if self.withheld => (without_content(&request[..head]), false),
            None => (request.to_vec(), true),
        }
    }

    /// Takes the head of a response. Returns whether the same request is to be sent again.
    pub fn sees(&mut self, status: u16, fields: &[Header<'_>]) -> bool {
        let challenges = fields.iter().filter(|field| field.name.eq_ignore_ascii_case("www-authenticate"));
        self.client.sees(status, std::mem::take(&mut self.withheld), challenges.map(|field| field.value))
    }

    /// Forgets the request in flight, which has failed.
    pub fn forget(&mut self) {
        self.client.forgets_request();
    }
}

/// Returns a request of this header section without content.
fn without_content(head: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(head.len() + 4);
    for line in head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)) {
        let is_length = line.get(..15).is_some_and(|name| name.eq_ignore_ascii_case(b"content-length:"));
        bytes.extend_from_slice(if is_length { b"Content-Length: 0" } else { line });
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}
