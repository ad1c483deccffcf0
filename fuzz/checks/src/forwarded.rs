//! Fields by which proxies tell the client: no client can choose its own address, and a list in several fields is one list.
//!
//! Option: the lowest two bits choose the kind of fields. The bytes are lines: each is a field, which begins with a letter for
//! its name, or with a space where it is one more of the kind that was chosen.

use crate::input::Input;
use std::net::SocketAddr;
use std::sync::LazyLock;
use torr_serve::{Forwarded, ForwardedField, Trusted};

static TRUSTED: LazyLock<Trusted> = LazyLock::new(|| "10.0.0.0/8, fd00::/8, unix".parse().expect("it is a list"));
static NONE_TRUSTED: LazyLock<Trusted> = LazyLock::new(Trusted::default);

/// A field's name and value.
type Field<'i> = (&'static str, &'i [u8]);

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::new(bytes);
    let kind = match input.option & 3 {
        1 => ForwardedField::Forwarded,
        2 => ForwardedField::XRealIp,
        _ => ForwardedField::XForwardedFor,
    };
    let name = match kind {
        ForwardedField::Forwarded => "forwarded",
        ForwardedField::XRealIp => "x-real-ip",
        ForwardedField::XForwardedFor => "x-forwarded-for",
    };
    // No field has a line end: the server refuses the request before.
    let lines = input.wire.split(|byte| b"\r\n\0".contains(byte));
    let fields: Vec<Field<'_>> = lines
        .filter_map(|line| {
            let (first, value) = line.split_first()?;
            let name = match first {
                b' ' => name,
                b'p' => "x-forwarded-proto",
                b'h' => "x-forwarded-host",
                b'F' => "forwarded",
                b'X' => "x-forwarded-for",
                b'R' => "x-real-ip",
                _ => "x-other",
            };
            Some((name, value))
        })
        .collect();
    let proxy: SocketAddr = "10.0.0.1:5".parse().expect("it is an address");
    let stranger: SocketAddr = "192.0.2.9:6".parse().expect("it is an address");

    // Fields from a peer that is not trusted, and where no peer is, count for nothing.
    for (peer, trusted) in [(stranger, &*TRUSTED), (proxy, &*NONE_TRUSTED)] {
        let known = Forwarded::of(Some(peer), trusted, kind, fields.iter().copied());
        assert_eq!(known, Forwarded { client: Some(peer), scheme: None, host: None }, "{fields:?}");
    }

    let known = of(proxy, kind, &fields);
    let client = known.client.expect("the peer has an address");
    if let Some(host) = known.host {
        let sound = |byte: u8| byte.is_ascii_graphic() && !b"/?#@\\\"<>".contains(&byte);
        assert!(!host.is_empty() && host.len() < 260 && host.bytes().all(sound), "{host:?}");
    }
    // Fields of the other kinds have no say.
    let others = ["forwarded", "x-forwarded-for", "x-real-ip", "x-other"];
    let without: Vec<_> =
        fields.iter().copied().filter(|(field, _)| *field == name || !others.contains(field)).collect();
    assert_eq!(of(proxy, kind, &without), known, "without fields of other kinds: {fields:?}");

    if kind == ForwardedField::XRealIp {
        return;
    }
    // A trusted proxy appends the address of its client. If that client is not trusted, all before is the client's invention:
    // in the same field or in another.
    let trusted_entry: &[u8] = if kind == ForwardedField::Forwarded { b"for=192.0.2.9" } else { b"192.0.2.9" };
    let at = fields.iter().rposition(|(field, _)| *field == name);
    let mut apart = fields.clone();
    apart.push((name, trusted_entry));
    assert_eq!(of(proxy, kind, &apart).client, Some(SocketAddr::new(stranger.ip(), 0)), "behind {fields:?}");
    if let Some(at) = at {
        let glued = [fields[at].1, b", ", trusted_entry].concat();
        let mut together = fields.clone();
        together[at].1 = &glued;
        let got = of(proxy, kind, &together);
        assert_eq!(got.client, Some(SocketAddr::new(stranger.ip(), 0)), "glued to {fields:?}");
        if kind == ForwardedField::Forwarded {
            assert_eq!((got.scheme, got.host), (None, None), "glued to {fields:?}");
        }
    }
    // Where the walk has ended at a stranger, nothing at the left changes who that is.
    if !TRUSTED.trusts(Some(client.ip())) {
        for left in
            [b"for=10.0.0.7".as_slice(), b"10.0.0.7", b"203.0.113.1", b"\"", b"for=\"", b"\\", b",,", b"for=\"a\\"]
        {
            let mut more = vec![(name, left)];
            more.extend(fields.iter().copied());
            assert_eq!(of(proxy, kind, &more).client, known.client, "{} before {fields:?}", left.escape_ascii());
        }
    }
    // A proxy at the right that is trusted, and says nothing else, changes only the begin of the walk.
    let trusted: &[u8] = if kind == ForwardedField::Forwarded { b"for=\"[fd00::7]:99\"" } else { b"fd00::7" };
    let mut more = fields.clone();
    more.push((name, trusted));
    let got = of(proxy, kind, &more);
    if client != proxy {
        assert_eq!(got.client, known.client, "before one more proxy: {fields:?}");
    }
}

fn of<'i>(peer: SocketAddr, kind: ForwardedField, fields: &[Field<'i>]) -> Forwarded<'i> {
    Forwarded::of(Some(peer), &TRUSTED, kind, fields.iter().copied())
}
