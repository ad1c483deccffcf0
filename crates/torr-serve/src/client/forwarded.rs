//! Who the client is behind proxies, by what those of them say that are trusted.
//!
//! Every proxy adds at the right whom it got the request from. So the list is walked from the right: the first address
//! that is not trusted is the client's, since what stands left of it may be its own invention. From a peer that is not
//! trusted nothing is believed at all.
//!
//! # Which fields
//! A proxy sets *one* kind of field and passes the others on as they came: nginx and HAProxy set `X-Forwarded-For` and leave
//! a client's own `Forwarded` alone, others the other way round. An order of precedence between the kinds would therefore let
//! clients choose their address, whichever way it goes. So only one kind is looked at, the setting `forwarded_field`, by
//! default the one that most proxies set:
//!
//! | kind | client | scheme | host |
//! |---|---|---|---|
//! | [`ForwardedField::XForwardedFor`] | `X-Forwarded-For` | `X-Forwarded-Proto` | `X-Forwarded-Host` |
//! | [`ForwardedField::Forwarded`] | `for` of `Forwarded` (RFC 7239) | its `proto` | its `host` |
//! | [`ForwardedField::XRealIp`] | `X-Real-IP` | `X-Forwarded-Proto` | `X-Forwarded-Host` |
//!
//! Scheme and host in fields of their own have no walk. Where they are lists with as many members as that of the addresses, the
//! member in the client's place holds; else the last one, which the nearest proxy has set.

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

/// The kind of fields that trusted proxies tell the client by.
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

/// How the client reached the outermost proxy that is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Unencrypted.
    Http,
    /// By TLS.
    Https,
}

impl Scheme {
    /// As it stands in a URI.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Some proxies name a WebSocket's scheme where they upgrade.
    fn parse(text: &[u8]) -> Option<Self> {
        let is = |names: [&str; 2]| names.iter().any(|name| text.eq_ignore_ascii_case(name.as_bytes()));
        if is(["https", "wss"]) {
            return Some(Self::Https);
        }
        is(["http", "ws"]).then_some(Self::Http)
    }
}

/// Who sent a request, and to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forwarded<'h> {
    /// The client; port 0 where only its address is told. `None` for a peer on a Unix socket of which nothing is known.
    pub client: Option<SocketAddr>,
    /// The scheme that the client used, if a trusted proxy tells.
    pub scheme: Option<Scheme>,
    /// The host that the client asked for, if a trusted proxy tells.
    pub host: Option<&'h str>,
}

impl<'h> Forwarded<'h> {
    /// What is known without any proxy.
    fn direct(peer: Option<SocketAddr>) -> Self {
        let client = peer.map(|peer| match peer.ip().to_canonical() {
            ip @ IpAddr::V4(_) => SocketAddr::new(ip, peer.port()),
            // With its scope.
            IpAddr::V6(_) => peer,
        });
        Self { client, scheme: None, host: None }
    }

    /// By the peer's address (`None` on a Unix socket) and the fields of its request. Without trusted proxies the fields are
    /// not even looked at.
    pub fn of(
        peer: Option<SocketAddr>,
        trusted: &Trusted,
        by: ForwardedField,
        fields: impl IntoIterator<Item = (&'h str, &'h [u8])>,
    ) -> Self {
        let mut known = Self::direct(peer);
        if trusted.trusts(known.client.map(|client| client.ip())) {
            let told = ForwardedValues::gather(by, fields);
            match by {
                ForwardedField::Forwarded => known.walk_forwarded(trusted, &told.clients),
                ForwardedField::XForwardedFor => known.walk_x_forwarded_for(trusted, &told),
                ForwardedField::XRealIp => known.take_x_real_ip(&told),
            }
        }
        known
    }

    /// RFC 7239, section 4: each element is of one proxy, and tells what that one saw.
    fn walk_forwarded(&mut self, trusted: &Trusted, values: &[&'h [u8]]) {
        for element in values.iter().rev().flat_map(|value| Elements::of(value)) {
            // Whoever added this element is trusted.
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

    fn walk_x_forwarded_for(&mut self, trusted: &Trusted, told: &ForwardedValues<'h>) {
        let mut place = 0;
        for (number, text) in members(&told.clients).enumerate() {
            place = number;
            let Node::Address(address) = Node::parse(unquoted(text)) else { break };
            self.client = Some(address);
            if !trusted.trusts(Some(address.ip())) {
                break;
            }
        }
        let count = members(&told.clients).count();
        self.take_scheme_and_host(told, place, count);
    }

    /// There is no chain here: a proxy replaces the field. If more than one address stands there, it did not.
    fn take_x_real_ip(&mut self, told: &ForwardedValues<'h>) {
        if let [value] = told.clients[..]
            && let Node::Address(address) = Node::parse(value.trim_ascii())
        {
            self.client = Some(address);
        }
        self.take_scheme_and_host(told, 0, 1);
    }

    /// `place` is the client's, counted from the right, among `count` addresses.
    fn take_scheme_and_host(&mut self, told: &ForwardedValues<'h>, place: usize, count: usize) {
        let pick = |values: &[&'h [u8]]| {
            let place = if members(values).count() == count { place } else { 0 };
            members(values).nth(place).map(unquoted)
        };
        self.scheme = pick(&told.schemes).and_then(Scheme::parse);
        self.host = pick(&told.hosts).and_then(host);
    }
}

/// The values of the fields that count, in their order.
#[derive(Default)]
struct ForwardedValues<'h> {
    clients: Vec<&'h [u8]>,
    schemes: Vec<&'h [u8]>,
    hosts: Vec<&'h [u8]>,
}

impl<'h> ForwardedValues<'h> {
    fn gather(by: ForwardedField, fields: impl IntoIterator<Item = (&'h str, &'h [u8])>) -> Self {
        let mut told = Self::default();
        for (name, value) in fields {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            // `Forwarded` tells them itself.
            let apart = by != ForwardedField::Forwarded;
            match () {
                () if is(by.name()) => told.clients.push(value),
                () if apart && is("x-forwarded-proto") => told.schemes.push(value),
                () if apart && is("x-forwarded-host") => told.hosts.push(value),
                () => {}
            }
        }
        told
    }
}

/// The members of a list in several fields, from the last to the first. Empty ones are none (RFC 9110, section 5.6.1.2).
fn members<'h>(values: &[&'h [u8]]) -> impl Iterator<Item = &'h [u8]> {
    let split = |value: &&'h [u8]| value.rsplit(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    values.iter().rev().flat_map(split).filter(|member| !member.is_empty())
}

/// Some proxies quote IPv6 addresses here as well.
fn unquoted(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text)
}

/// A host that does no harm in a URI: the characters of RFC 3986's `host [ ":" port ]`, and no more than a name may have.
fn host(text: &[u8]) -> Option<&str> {
    const LONGEST: usize = 253 + ":65535".len();
    let sound = |&byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(&byte);
    let sound = (1..=LONGEST).contains(&text.len()) && text.iter().all(sound);
    std::str::from_utf8(text).ok().filter(|_| sound)
}
