//! The client behind proxies, from the fields that trusted proxies add.
//!
//! Every proxy appends the address of its own client. So the list is walked from the right: the first address that is not
//! trusted is the client's, as the client may have made up everything left of it. The fields of a peer that is not trusted
//! are ignored.
//!
//! # Which fields
//! A proxy sets *one* kind of field and forwards the others unchanged: nginx and HAProxy set `X-Forwarded-For` and leave
//! a client's own `Forwarded` alone, others the other way round. Any order of precedence between the kinds would therefore
//! let clients choose their address. So only one kind is read, that of the setting `forwarded_field`, by default the one
//! that most proxies set:
//!
//! | kind | client | scheme | host |
//! |---|---|---|---|
//! | [`ForwardedField::XForwardedFor`] | `X-Forwarded-For` | `X-Forwarded-Proto` | `X-Forwarded-Host` |
//! | [`ForwardedField::Forwarded`] | `for` of `Forwarded` (RFC 7239) | its `proto` | its `host` |
//! | [`ForwardedField::XRealIp`] | `X-Real-IP` | `X-Forwarded-Proto` | `X-Forwarded-Host` |
//!
//! Fields of scheme and host are not walked. If such a list has as many members as the list of addresses, the member at the
//! client's position is used; otherwise the last one, which the nearest proxy has set.

mod elements;
mod node;
#[cfg(test)]
mod tests;
mod trusted;

pub use trusted::{NotTrusted, Trusted};

use elements::Elements;
use node::Node;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// The kind of fields in which trusted proxies send the client's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForwardedField {
    /// `X-Forwarded-For`, `-Proto` and `-Host`.
    #[default]
    XForwardedFor,
    /// `Forwarded`, RFC 7239.
    Forwarded,
    /// `X-Real-IP`, which holds one address, with `X-Forwarded-Proto` and `-Host`.
    XRealIp,
}

impl ForwardedField {
    const ALL: [Self; 3] = [Self::XForwardedFor, Self::Forwarded, Self::XRealIp];

    const fn name(self) -> &'static str {
        match self {
            Self::XForwardedFor => "x-forwarded-for",
            Self::Forwarded => "forwarded",
            Self::XRealIp => "x-real-ip",
        }
    }
}

impl fmt::Display for ForwardedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ForwardedField {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|field| field.name() == text).ok_or(())
    }
}

/// The scheme of the client's request to the outermost trusted proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// Returns the scheme as written in a URI.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Parses a scheme, that of a WebSocket too, which some proxies send with an upgrade.
    fn parse(text: &[u8]) -> Option<Self> {
        let is = |names: [&str; 2]| names.iter().any(|name| text.eq_ignore_ascii_case(name.as_bytes()));
        if is(["https", "wss"]) {
            return Some(Self::Https);
        }
        is(["http", "ws"]).then_some(Self::Http)
    }
}

/// The client, scheme and host of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forwarded<'h> {
    /// The client, with port 0 where only its address is known. `None` for a peer on a Unix socket without a known client.
    pub client: Option<SocketAddr>,
    /// The scheme that the client used, if a trusted proxy sends it.
    pub scheme: Option<Scheme>,
    /// The host of the client's request, if a trusted proxy sends it.
    pub host: Option<&'h str>,
}

impl<'h> Forwarded<'h> {
    /// Returns the client of a request that came through no trusted proxy.
    fn direct(peer: Option<SocketAddr>) -> Self {
        let client = peer.map(|peer| match peer.ip().to_canonical() {
            ip @ IpAddr::V4(_) => SocketAddr::new(ip, peer.port()),
            // Kept as it is, with its scope.
            IpAddr::V6(_) => peer,
        });
        Self { client, scheme: None, host: None }
    }

    /// Returns the client by the peer's address (`None` on a Unix socket) and the fields of its request. If the peer is not
    /// trusted, the fields are not read.
    pub fn of(
        peer: Option<SocketAddr>,
        trusted: &Trusted,
        by: ForwardedField,
        fields: impl IntoIterator<Item = (&'h str, &'h [u8])>,
    ) -> Self {
        let mut known = Self::direct(peer);
        if trusted.trusts(known.client.map(|client| client.ip())) {
            let values = ForwardedValues::gather(by, fields);
            match by {
                ForwardedField::Forwarded => known.walk_forwarded(trusted, &values.clients),
                ForwardedField::XForwardedFor => known.walk_x_forwarded_for(trusted, &values),
                ForwardedField::XRealIp => known.take_x_real_ip(&values),
            }
        }
        known
    }

    /// Reads `Forwarded` (RFC 7239, section 4), in which each element was added by one proxy.
    fn walk_forwarded(&mut self, trusted: &Trusted, values: &[&'h [u8]]) {
        for element in values.iter().rev().flat_map(|value| Elements::of(value)) {
            // A trusted proxy added this element.
            let Some(element) = element else { return };
            self.scheme = element.proto.and_then(Scheme::parse).or(self.scheme);
            self.host = element.host.and_then(host).or(self.host);
            let Node::Address(address) = element.client.map_or(Node::Hidden, Node::parse) else { return };
            self.client = Some(address);
            if !trusted.trusts(Some(address.ip())) {
                return;
            }
        }
    }

    fn walk_x_forwarded_for(&mut self, trusted: &Trusted, values: &ForwardedValues<'h>) {
        let mut position = 0;
        for (number, text) in members(&values.clients).enumerate() {
            position = number;
            let Node::Address(address) = Node::parse(unquoted(text)) else { break };
            self.client = Some(address);
            if !trusted.trusts(Some(address.ip())) {
                break;
            }
        }
        let count = members(&values.clients).count();
        self.take_scheme_and_host(values, position, count);
    }

    /// Reads `X-Real-IP`, which a proxy replaces. A field with several addresses was not set by the proxy and is ignored.
    fn take_x_real_ip(&mut self, values: &ForwardedValues<'h>) {
        if let [value] = values.clients[..]
            && let Node::Address(address) = Node::parse(value.trim_ascii())
        {
            self.client = Some(address);
        }
        self.take_scheme_and_host(values, 0, 1);
    }

    /// Reads scheme and host. `position` is the client's among `count` addresses, counted from the right.
    fn take_scheme_and_host(&mut self, values: &ForwardedValues<'h>, position: usize, count: usize) {
        let pick = |values: &[&'h [u8]]| {
            let position = if members(values).count() == count { position } else { 0 };
            members(values).nth(position).map(unquoted)
        };
        self.scheme = pick(&values.schemes).and_then(Scheme::parse);
        self.host = pick(&values.hosts).and_then(host);
    }
}

/// The values of the fields of the chosen kind, in the order of the request.
#[derive(Default)]
struct ForwardedValues<'h> {
    clients: Vec<&'h [u8]>,
    schemes: Vec<&'h [u8]>,
    hosts: Vec<&'h [u8]>,
}

impl<'h> ForwardedValues<'h> {
    fn gather(by: ForwardedField, fields: impl IntoIterator<Item = (&'h str, &'h [u8])>) -> Self {
        let mut values = Self::default();
        for (name, value) in fields {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            // `Forwarded` has scheme and host in its own elements.
            let apart = by != ForwardedField::Forwarded;
            match () {
                () if is(by.name()) => values.clients.push(value),
                () if apart && is("x-forwarded-proto") => values.schemes.push(value),
                () if apart && is("x-forwarded-host") => values.hosts.push(value),
                () => {}
            }
        }
        values
    }
}

/// Returns the members of a list in several fields, last to first, without empty ones (RFC 9110, section 5.6.1.2).
fn members<'h>(values: &[&'h [u8]]) -> impl Iterator<Item = &'h [u8]> {
    let split = |value: &&'h [u8]| value.rsplit(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    values.iter().rev().flat_map(split).filter(|member| !member.is_empty())
}

/// Removes quotation marks, which some proxies put around IPv6 addresses here as well.
fn unquoted(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text)
}

/// Returns a host that is safe in a URI: the characters of RFC 3986's `host [ ":" port ]`, at most as long as a domain name.
fn host(text: &[u8]) -> Option<&str> {
    const LONGEST: usize = 253 + ":65535".len();
    let sound = |&byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(&byte);
    let sound = (1..=LONGEST).contains(&text.len()) && text.iter().all(sound);
    std::str::from_utf8(text).ok().filter(|_| sound)
}
