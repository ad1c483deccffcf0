//! Tests of the client's address: cases, and that no client can take another's.

use super::ForwardedField::{Forwarded as Rfc, XForwardedFor as Xff, XRealIp};
use super::*;
use proptest::prelude::*;

const TRUSTED: &str = "10.0.0.0/8, 2001:db8:1::/48, unix";

fn look<'h>(peer: &str, by: ForwardedField, fields: &[(&'h str, &'h [u8])]) -> Forwarded<'h> {
    let peer = (peer != "unix").then(|| peer.parse().expect("it is an address"));
    Forwarded::of(peer, &TRUSTED.parse().expect("it is a list"), by, fields.iter().copied())
}

fn client(peer: &str, by: ForwardedField, values: &[&str]) -> String {
    let name = by.name().to_uppercase();
    let fields: Vec<_> = values.iter().map(|value| (&*name, value.as_bytes())).collect();
    look(peer, by, &fields).client.map_or_else(|| "name".into(), |client| client.to_string())
}

#[test]
fn the_client_is_the_first_from_the_right_that_is_not_trusted() {
    for (values, is) in [
        (&["1.1.1.1"][..], "1.1.1.1:0"),
        (&["6.6.6.6, 1.1.1.1"], "1.1.1.1:0"),
        (&["6.6.6.6, 1.1.1.1, 10.0.0.2"], "1.1.1.1:0"),
        (&["6.6.6.6", "1.1.1.1,10.0.0.2", " 10.0.0.3"], "1.1.1.1:0"),
        (&["10.0.0.2, 10.0.0.3"], "10.0.0.2:0"),
        (&[""], "10.0.0.1:5"),
        (&[], "10.0.0.1:5"),
        (&["6.6.6.6, nonsense, 10.0.0.2"], "10.0.0.2:0"),
        (&["6.6.6.6, unknown"], "10.0.0.1:5"),
        (&["6.6.6.6, _x, 2001:db8:1::7"], "[2001:db8:1::7]:0"),
        (&["::ffff:1.1.1.1, ::ffff:10.0.0.2"], "1.1.1.1:0"),
        (&["1.1.1.1:99, 10.0.0.2:98"], "1.1.1.1:99"),
        (&["\"[2001:db8::1]:7\""], "[2001:db8::1]:7"),
    ] {
        assert_eq!(client("10.0.0.1:5", Xff, values), is, "{values:?}");
        assert_eq!(client("[::ffff:10.0.0.1]:5", Xff, values), is, "{values:?}");
    }
    for (values, is) in [
        (&["for=1.1.1.1"][..], "1.1.1.1:0"),
        (&["for=6.6.6.6, For=\"[2001:db8::1]:7\";proto=http", "for=10.0.0.2"], "[2001:db8::1]:7"),
        (&["for=6.6.6.6, proto=https"], "10.0.0.1:5"),
        (&["for=6.6.6.6, for=unknown, for=10.0.0.2"], "10.0.0.2:0"),
        (&["for=6.6.6.6, for=1.1.1.1;for=2.2.2.2, for=10.0.0.2"], "10.0.0.2:0"),
        (&["for=\"", "for=1.1.1.1, for=10.0.0.2"], "1.1.1.1:0"),
    ] {
        assert_eq!(client("10.0.0.1:5", Rfc, values), is, "{values:?}");
    }
    for (values, is) in [
        (&["1.1.1.1"][..], "1.1.1.1:0"),
        (&["10.0.0.2"], "10.0.0.2:0"),
        (&["1.1.1.1, 2.2.2.2"], "10.0.0.1:5"),
        (&["1.1.1.1", "2.2.2.2"], "10.0.0.1:5"),
        (&["_x"], "10.0.0.1:5"),
    ] {
        assert_eq!(client("10.0.0.1:5", XRealIp, values), is, "{values:?}");
    }
}

#[test]
fn a_unix_socket_has_no_address_without_a_trusted_field() {
    assert_eq!(client("unix", Xff, &["1.1.1.1"]), "1.1.1.1:0");
    assert_eq!(client("unix", Xff, &["unknown"]), "name");
}

#[test]
fn only_the_chosen_kind_of_field_is_looked_at() {
    let fields: &[(&str, &[u8])] = &[
        ("Forwarded", b"for=1.1.1.1;proto=http;host=one"),
        ("X-Forwarded-For", b"2.2.2.2"),
        ("X-Real-IP", b"3.3.3.3"),
        ("x-forwarded-proto", b"HTTPS"),
        ("x-forwarded-host", b"two:8080"),
    ];
    for (by, ip, scheme, host) in [
        (Rfc, "1.1.1.1:0", Scheme::Http, "one"),
        (Xff, "2.2.2.2:0", Scheme::Https, "two:8080"),
        (XRealIp, "3.3.3.3:0", Scheme::Https, "two:8080"),
    ] {
        let is = Forwarded { client: ip.parse().ok(), scheme: Some(scheme), host: Some(host) };
        assert_eq!(look("10.0.0.1:5", by, fields), is);
        let direct = Forwarded { client: "11.0.0.1:5".parse().ok(), scheme: None, host: None };
        assert_eq!(look("11.0.0.1:5", by, fields), direct, "an untrusted peer");
        let direct = Forwarded { client: "10.0.0.1:5".parse().ok(), ..direct };
        let none = Trusted::default();
        assert_eq!(Forwarded::of(direct.client, &none, by, fields.iter().copied()), direct, "without trusted proxies");
    }
}

#[test]
fn scheme_and_host_are_those_of_the_outermost_trusted_proxy() {
    for (value, scheme, host) in [
        ("for=1.1.1.1;proto=https;host=a, for=10.0.0.2;proto=http;host=b", Some(Scheme::Https), Some("a")),
        ("for=1.1.1.1, for=10.0.0.2;proto=http;host=b", Some(Scheme::Http), Some("b")),
        ("for=6.6.6.6;proto=https;host=evil, for=1.1.1.1", None, None),
        ("for=_x;proto=wss;host=\"[::1]:80\"", Some(Scheme::Https), Some("[::1]:80")),
        ("for=1.1.1.1;proto=gopher;host=\"a/b\"", None, None),
    ] {
        let seen = look("10.0.0.1:5", Rfc, &[("forwarded", value.as_bytes())]);
        assert_eq!((seen.scheme, seen.host), (scheme, host), "{value}");
    }
    for (addresses, schemes, scheme) in [
        ("1.1.1.1, 10.0.0.2", "https, http", Some(Scheme::Https)),
        ("6.6.6.6, 1.1.1.1, 10.0.0.2", "http, https, http", Some(Scheme::Https)),
        ("6.6.6.6, 1.1.1.1", "http", Some(Scheme::Http)),
        ("1.1.1.1", "https, http", Some(Scheme::Http)),
        ("", "https", Some(Scheme::Https)),
        ("1.1.1.1", "httpss", None),
        ("1.1.1.1", "", None),
    ] {
        let fields: &[(&str, &[u8])] =
            &[("x-forwarded-for", addresses.as_bytes()), ("x-forwarded-proto", schemes.as_bytes())];
        assert_eq!(look("10.0.0.1:5", Xff, fields).scheme, scheme, "{addresses} by {schemes}");
    }
}

#[test]
fn hosts_do_no_harm() {
    for bad in ["", "a b", "a/b", "a@b", "a?b", "a#b", "a\\b", "a\"b", "<a>", "\u{e9}", "a\r\nb"] {
        assert_eq!(host(bad.as_bytes()), None, "{bad}");
    }
    assert_eq!(host(&[b'a'; 260]), None);
    assert_eq!(host(b"xn--e1.example:80"), Some("xn--e1.example:80"));
}

#[test]
fn kinds_have_names() {
    for field in ForwardedField::ALL {
        assert_eq!(field.to_string().parse(), Ok(field));
    }
    assert_eq!("X-Forwarded-For".parse::<ForwardedField>(), Err(()));
}

/// Returns a value that a client may send: anything that can stand in a field, with a preference for what has a meaning here.
fn anything() -> impl Strategy<Value = String> {
    const PIECES: &[&str] =
        &["for=", "\"", "\\", ",", ";", " ", "10.0.0.9", "6.6.6.6", "[::1]", "_x", "unknown", "proto=https", "host=e"];
    let piece = prop_oneof![prop::sample::select(PIECES).prop_map(str::to_owned), "[ -~]{0,4}"];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn real() -> impl Strategy<Value = SocketAddr> {
    let ip = prop_oneof![any::<[u8; 4]>().prop_map(IpAddr::from), any::<[u8; 16]>().prop_map(IpAddr::from)];
    let trusted: Trusted = TRUSTED.parse().expect("it is a list");
    (ip, any::<u16>())
        .prop_map(|(ip, port)| SocketAddr::new(ip.to_canonical(), port))
        .prop_filter("the client is no proxy", move |real| !trusted.trusts(Some(real.ip())))
}

proptest! {
    /// A client sends what it likes; then one trusted proxy or two add what they see, in the same field or in one of their own.
    #[test]
    fn no_client_can_be_another(lies in anything(), more in anything(), real in real(), hops in 1..3, apart: bool, quoted: bool) {
        let rest = if hops == 2 { ", for=10.0.0.2;proto=http;host=inner" } else { "" };
        let own = if quoted || real.is_ipv6() { format!("for=\"{real}\"") } else { format!("for={real}") };
        let own = format!("{own};proto=http;host=real{rest}");
        let joined = format!("{lies}, {own}");
        let fields = if apart { vec![("forwarded", lies.as_bytes()), ("forwarded", own.as_bytes())] } else { vec![("forwarded", joined.as_bytes())] };
        let is = Forwarded { client: Some(real), scheme: Some(Scheme::Http), host: Some("real") };
        prop_assert_eq!(look("10.0.0.1:5", Rfc, &fields), is);

        let own = format!("{real}{}", if hops == 2 { ", 10.0.0.2" } else { "" });
        let joined = format!("{lies}, {own}");
        let schemes = format!("{more}, http{}", if hops == 2 { ", http" } else { "" });
        let mut fields = if apart { vec![("x-forwarded-for", lies.as_bytes()), ("x-forwarded-for", own.as_bytes())] } else { vec![("x-forwarded-for", joined.as_bytes())] };
        fields.push(("x-forwarded-proto", schemes.as_bytes()));
        let seen = look("10.0.0.1:5", Xff, &fields);
        prop_assert_eq!((seen.client, seen.scheme), (Some(real), Some(Scheme::Http)));
    }

    #[test]
    fn anything_is_taken_without_a_panic(values: Vec<(u8, Vec<u8>)>, text in anything(), real in real()) {
        const NAMES: [&str; 5] = ["forwarded", "x-forwarded-for", "x-real-ip", "x-forwarded-proto", "x-forwarded-host"];
        let mut fields: Vec<_> = values.iter().map(|(name, value)| (NAMES[usize::from(*name) % 5], &value[..])).collect();
        fields.extend(NAMES.map(|name| (name, text.as_bytes())));
        for by in ForwardedField::ALL {
            look("10.0.0.1:5", by, &fields);
            let direct = Forwarded { client: Some(real), scheme: None, host: None };
            prop_assert_eq!(look(&real.to_string(), by, &fields), direct);
        }
    }
}
